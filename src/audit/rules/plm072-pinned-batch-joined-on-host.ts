import { isTrue, keyword, positional } from "../../python/file.ts";
import { contains, walk } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr, For } from "../../python/tree.ts";
import type { Facts } from "../facts/facts.ts";
import { loadersOf } from "../facts/loaders.ts";
import { METHODS } from "../facts/torch-names.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM072",
    name: "pinned-batch-joined-on-host",
    summary: "Pinned batches are joined on the host before the copy: the result is not pinned",
    severity: "warning",
    fix: "none",
    patterns: [72],
  },
  *check(facts) {
    if (facts.stepLoops.size === 0 || !facts.file.mentions("pin_memory")) return;
    for (const call of facts.file.callsNamed("cat", "concat", "concatenate", "stack", "hstack", "vstack")) {
      if (!/^torch\.(?:cat|concat|concatenate|stack|hstack|vstack)$/.test(facts.file.dotted(call.func) ?? ""))
        continue;
      const loop = facts.stepLoop(call);
      const parts = positional(call, 0);
      if (loop?.kind !== "For" || !parts || !isMoved(call, facts)) continue;
      const items = itemsOf(parts);
      if (!items.every((item) => isBatch(item, loop, facts)) || !isPinned(loop, facts)) continue;
      yield {
        at: call,
        message:
          "The parts are pinned, what they are joined into is not: the copy to the device goes through a staging buffer and the host waits; move the parts, then join them there",
      };
    }
  },
};

/** `[x] + [torch.rot90(x, k) for k in (1, 2, 3)]` too. */
function itemsOf(parts: Expr): readonly Expr[] {
  if (parts.kind === "Binary" && parts.op === "+") return [...itemsOf(parts.left), ...itemsOf(parts.right)];
  return parts.kind === "List" || parts.kind === "Tuple" ? parts.items : [parts];
}

/** Sent to the device as it is, or through the name it is given. */
function isMoved(call: Call, facts: Facts): boolean {
  const moves = (expr: Expr): boolean => {
    const attribute = expr.parent;
    if (attribute?.kind !== "Attribute" || attribute.value !== expr || attribute.parent?.kind !== "Call")
      return false;
    if (attribute.attr === "cuda") return true;
    const device = keyword(attribute.parent, "device")?.value ?? positional(attribute.parent, 0);
    return attribute.attr === "to" && facts.isAccelerator(facts.device(device));
  };
  // `torch.stack(…).flatten(0, 1).to(device)`
  let last: Expr = call;
  while (
    last.parent?.kind === "Attribute" &&
    METHODS.has(last.parent.attr) &&
    last.parent.parent?.kind === "Call" &&
    last.parent.parent.func === last.parent
  )
    last = last.parent.parent;
  if (moves(last)) return true;
  const statement = last.parent;
  const target = statement?.kind === "Assign" && statement.value === last ? statement.targets[0] : null;
  const made = target?.kind === "Name" ? facts.file.scopes.definitionAt(target) : null;
  return made !== null && facts.file.scopes.uses(made).some(moves);
}

/** What the loop hands out, as it is: not yet moved or computed with. */
function isBatch(expr: Expr, loop: For, facts: Facts): boolean {
  if (expr.kind === "Subscript") return isBatch(expr.value, loop, facts);
  // Computed from it on the host: `images.flip(-1)`.
  if (expr.kind === "Call") {
    const name = expr.func.kind === "Attribute" ? facts.file.dotted(expr.func) : null;
    const of =
      name?.startsWith("torch.") === true
        ? expr.args[0]?.value
        : expr.func.kind === "Attribute" && name === null && METHODS.has(expr.func.attr)
          ? expr.func.value
          : undefined;
    return of !== undefined && isBatch(of, loop, facts);
  }
  // `[b["image"] for b in (weak, strong)]`
  if (expr.kind === "Comp")
    return (
      expr.value === null &&
      expr.clauses.length === 1 &&
      (isBatch(expr.element, loop, facts) ||
        (expr.clauses[0]!.iter.kind === "Tuple" || expr.clauses[0]!.iter.kind === "List"
          ? expr.clauses[0]!.iter.items
          : [expr.clauses[0]!.iter]
        ).every((item) => isBatch(item, loop, facts)))
    );
  if (expr.kind !== "Name") return false;
  const isFrom = ({ how, node, value }: Definition): boolean => {
    if (how === "iterate") return contains(loop.target, node);
    return (
      (how === "unpack" || how === "assign") &&
      value !== null &&
      (value.kind === "Name" || value.kind === "Subscript") &&
      isBatch(value, loop, facts)
    );
  };
  const definitions = facts.file.scopes.reaching(expr);
  // A comprehension sees every definition of a name around it, also those that come later.
  return expr.scope?.kind === "Comp"
    ? definitions.some(isFrom)
    : definitions.length > 0 && definitions.every(isFrom);
}

function isPinned(loop: For, facts: Facts): boolean {
  const loaders = loadersOf(loop.iter, facts);
  let host = true;
  walk(loop.iter, (node) => {
    if (node.kind === "Attribute" && node.attr === "prepare") host = false;
  });
  return (
    host && loaders !== null && loaders.every((call) => isTrue(keyword(call, "pin_memory")?.value ?? null))
  );
}
