import { walk } from "../../python/nodes.ts";
import type { Call, FunctionDef, Node } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { unrecorded } from "./looks.ts";

/** A loop over modules or parameters that turns tensor expressions into numbers and nothing else. */
export function inspection(
  fn: FunctionDef,
  facts: Facts,
): { at: Node; message: string; severity: "note" } | null {
  if (facts.functionFacts(fn.body[0] ?? fn).hot !== null) return null;
  for (const loop of fn.body) {
    if (loop.kind !== "For") continue;
    const over = loop.iter.kind === "Call" && loop.iter.func.kind === "Attribute" ? loop.iter.func.attr : "";
    if (!/^(?:named_)?(?:modules|parameters)$/.test(over)) continue;
    let found: Call | null = null;
    walk(loop, (node) => {
      // Reading one stored element is no computation; arithmetic before the read is what records.
      if (
        node.kind === "Call" &&
        node.func.kind === "Attribute" &&
        node.func.attr === "item" &&
        node.args.length === 0 &&
        computes(node.func.value) &&
        !unrecorded(node, facts)
      )
        found ??= node;
      return found === null;
    });
    if (found)
      return {
        at: found,
        severity: "note",
        message: "Parameters are only inspected here, yet every expression on them records a graph",
      };
  }
  return null;
}

function computes(node: Node): boolean {
  let found = false;
  walk(node, (inner) => {
    if (inner.kind === "Binary") found = true;
    if (
      inner.kind === "Attribute" &&
      (inner.attr === "detach" || inner.attr === "data" || inner.attr === "grad")
    )
      return false;
    return !found;
  });
  let base = node;
  while (base.kind === "Call" && base.func.kind === "Attribute") base = base.func.value;
  return found && !/\b(?:detach|data|grad)\b/.test(base.kind === "Attribute" ? base.attr : "");
}
