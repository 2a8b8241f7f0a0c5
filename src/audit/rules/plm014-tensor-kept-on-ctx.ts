import { classOf, functionOf, walk } from "../../python/nodes.ts";
import type { Expr, FunctionDef } from "../../python/tree.ts";
import type { Facts } from "../facts/facts.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM014",
    name: "tensor-kept-on-ctx",
    summary: "An autograd function keeps a tensor as an attribute of ctx instead of saving it",
    severity: "warning",
    fix: "none",
    patterns: [14],
  },
  *check(facts) {
    if (!/Function/.test(facts.file.text)) return;
    for (const statement of facts.file.all("Assign")) {
      const [target] = statement.targets;
      if (target?.kind !== "Attribute" || target.value.kind !== "Name") continue;
      const fn = functionOf(statement);
      const cls = classOf(statement);
      if (
        fn?.kind !== "FunctionDef" ||
        !cls ||
        facts.role(cls) !== "function" ||
        (fn.name !== "forward" && fn.name !== "setup_context")
      )
        continue;
      if (target.value.id !== fn.params[0]?.name || !isTensor(statement.value, fn, facts)) continue;
      yield {
        at: statement,
        message: `\`ctx.${target.attr}\` keeps the tensor past its backward, out of sight of checkpointing and offloading; \`save_for_backward\` is freed with the graph`,
      };
    }
  },
};

/** A tensor as far as this file shows: known as one, or an argument that torch computes with. */
function isTensor(expr: Expr, fn: FunctionDef, facts: Facts): boolean {
  const { what } = facts.value(expr);
  if (what === "tensor") return true;
  if (what !== "unknown" || expr.kind !== "Name") return false;
  const definitions = facts.file.scopes.reaching(expr);
  if (definitions.length !== 1 || definitions[0]!.how !== "param") return false;
  let found = false;
  walk(fn, (node) => {
    if (node.kind !== "Name" || node.id !== expr.id || node === expr) return !found;
    const parent = node.parent;
    if (
      parent?.kind === "Attribute" &&
      parent.value === node &&
      /^(?:shape|size|dtype|device|contiguous|view|t|clone|detach|matmul|mm|transpose|float)$/.test(
        parent.attr,
      )
    )
      found = true;
    if (parent?.kind === "Binary" && parent.op === "@") found = true;
    return !found;
  });
  return found;
}
