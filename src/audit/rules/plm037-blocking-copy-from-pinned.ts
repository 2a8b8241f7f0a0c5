import { isTrue, keyword, positional } from "../../python/file.ts";
import { functionOf, walk } from "../../python/nodes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { addKeyword } from "../edits.ts";
import type { Facts } from "../facts/facts.ts";
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
    if (!/pin_memory/.test(facts.file.text)) return;
    for (const call of facts.file.all("Call")) {
      if (
        call.func.kind !== "Attribute" ||
        (call.func.attr !== "to" && call.func.attr !== "cuda") ||
        keyword(call, "non_blocking") ||
        call.args.length > 1
      )
        continue;
      if (
        call.func.attr === "to" &&
        facts.device(keyword(call, "device")?.value ?? positional(call, 0)) !== "accelerator"
      )
        continue;
      const loop = facts.stepLoop(call);
      if (
        loop?.kind !== "For" ||
        loopsAround(call)[0] !== loop ||
        !isBatch(call.func.value, loop.target, facts) ||
        !isPinned(loop.iter, facts)
      )
        continue;
      if (facts.frequency(call, loop) !== "every") continue;
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

/** The loop's own variable, or a part of it. */
function isBatch(expr: Expr, target: Expr, facts: Facts): boolean {
  if (expr.kind === "Subscript") return isBatch(expr.value, target, facts);
  if (expr.kind !== "Name") return false;
  const definitions = facts.file.scopes.reaching(expr);
  return (
    definitions.length === 1 &&
    definitions[0]!.how === "iterate" &&
    target.start <= definitions[0]!.node.start &&
    definitions[0]!.node.end <= target.end
  );
}

/** The iterated value is a DataLoader made in this file with `pin_memory=True`, wrapped or not. */
function isPinned(iter: Expr, facts: Facts, depth = 0): boolean {
  if (depth > 5) return false;
  if (iter.kind === "Name") {
    const definitions = facts.file.scopes.reaching(iter);
    if (definitions.length === 1 && definitions[0]!.how === "param")
      return isPinnedArgument(iter.id, iter, facts);
    return (
      definitions.length === 1 &&
      definitions[0]!.how === "assign" &&
      definitions[0]!.value !== null &&
      isPinned(definitions[0]!.value, facts, depth + 1)
    );
  }
  if (iter.kind !== "Call") return false;
  const name = facts.file.dotted(iter.func) ?? "";
  if (/^torch\.utils\.data\.(?:dataloader\.)?DataLoader$/.test(name))
    return isTrue(keyword(iter, "pin_memory")?.value ?? null);
  const inner = positional(iter, 0);
  return (
    inner !== null &&
    (name === "builtins.enumerate" || /(?:^|\.)tqdm(?:\.|$)/.test(name)) &&
    isPinned(inner, facts, depth + 1)
  );
}

/** Every call of this function in the file passes a pinned loader there. */
function isPinnedArgument(param: string, at: Expr, facts: Facts): boolean {
  const fn = functionOf(at);
  if (fn?.kind !== "FunctionDef" || fn.parent?.kind !== "Module") return false;
  const index = fn.params.findIndex((one) => one.name === param);
  const calls: Call[] = [];
  walk(facts.file.tree.module, (node) => {
    if (node.kind === "Call" && node.func.kind === "Name" && node.func.id === fn.name) calls.push(node);
  });
  return (
    calls.length > 0 &&
    calls.every((call) => {
      const given = keyword(call, param)?.value ?? positional(call, index);
      return given !== null && given.kind !== "Call" && isPinnedValue(given, facts);
    })
  );
}

function isPinnedValue(expr: Expr, facts: Facts): boolean {
  if (expr.kind !== "Name") return false;
  const definitions = facts.file.scopes.reaching(expr);
  return (
    definitions.length > 0 &&
    definitions.every(
      (one) =>
        one.how === "assign" && one.value !== null && one.value.kind === "Call" && isPinned(one.value, facts),
    )
  );
}
