import { isTrue, keyword, positional } from "../../python/file.ts";
import { contains, walk } from "../../python/nodes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { addKeyword } from "../edits.ts";
import type { Facts } from "../facts/facts.ts";
import { loadersOf } from "../facts/loaders.ts";
import { loopsAround } from "../facts/training.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM037",
    name: "blocking-copy-from-pinned",
    summary: "A pinned batch is copied to the device without `non_blocking=True`",
    severity: "warning",
    fix: "unsafe",
    patterns: [37],
  },
  *check(facts) {
    if (facts.stepLoops.size === 0 || !facts.file.mentions("pin_memory")) return;
    for (const call of facts.file.callsNamed("to", "cuda")) {
      if (
        call.func.kind !== "Attribute" ||
        (call.func.attr !== "to" && call.func.attr !== "cuda") ||
        keyword(call, "non_blocking") ||
        call.args.length > 1
      )
        continue;
      const device = keyword(call, "device")?.value ?? positional(call, 0);
      if (call.func.attr === "to" && !facts.isAccelerator(facts.device(device))) continue;
      const loop = facts.stepLoop(call);
      if (loop?.kind !== "For" || loopsAround(call)[0] !== loop || facts.frequency(call, loop) !== "every")
        continue;
      if (!isBatch(call.func.value, loop.target, facts) || !isPinned(loop.iter, facts)) continue;
      yield {
        at: call,
        message:
          "The loader pins its batches, yet the host waits for this copy; with `non_blocking=True` it goes on and the copy overlaps",
        fix: {
          grade: "unsafe",
          title: "Copy without waiting",
          edits: addKeyword(call, "non_blocking=True", facts.file),
        },
      };
    }
  },
};

/** The loop's own variable, a part of it, or what a comprehension takes out of it. */
function isBatch(expr: Expr, target: Expr, facts: Facts): boolean {
  if (expr.kind === "Subscript") return isBatch(expr.value, target, facts);
  if (expr.kind !== "Name") return false;
  const definitions = facts.file.scopes.reaching(expr);
  const [one] = definitions;
  if (definitions.length !== 1 || one?.how !== "iterate")
    return one?.how === "unpack" && one.value?.kind === "Name" && isBatch(one.value, target, facts);
  if (contains(target, one.node)) return true;
  let found = false;
  if (one.value)
    walk(one.value, (node) => {
      if (
        node.kind === "Name" &&
        facts.file.scopes.reaching(node).some((outer) => contains(target, outer.node))
      )
        found = true;
      return !found;
    });
  return found;
}

/** Every loader it may come from, as this file shows them, has `pin_memory=True`. */
function isPinned(iter: Expr, facts: Facts): boolean {
  const loaders: readonly Call[] | null = loadersOf(iter, facts);
  return loaders !== null && loaders.every((call) => isTrue(keyword(call, "pin_memory")?.value ?? null));
}
