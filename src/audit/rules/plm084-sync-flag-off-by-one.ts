import { contains, functionOf, walk } from "../../python/nodes.ts";
import type { Expr } from "../../python/tree.ts";
import type { Facts } from "../facts/facts.ts";
import { optimizerSteps } from "../facts/training.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM084",
    name: "sync-flag-off-by-one",
    summary: "Gradients are reduced across ranks in another micro-step than the one the optimizer steps in",
    severity: "error",
    fix: "none",
    patterns: [84],
  },
  *check(facts) {
    if (!/require_backward_grad_sync/.test(facts.file.text)) return;
    const { file } = facts;
    for (const statement of file.all("Assign")) {
      const [target] = statement.targets;
      if (target?.kind !== "Attribute" || target.attr !== "require_backward_grad_sync") continue;
      const synced = remainder(statement.value, facts);
      const loop = facts.stepLoop(statement);
      if (!synced || !loop) continue;
      for (const step of optimizerSteps(file)) {
        if (!contains(loop, step) || functionOf(step) !== functionOf(statement)) continue;
        const guard = guardOf(step, facts);
        if (guard && guard.by === synced.by && guard.of !== synced.of)
          yield {
            at: statement.value,
            message: `Ranks exchange gradients when \`${synced.of} % ${synced.by}\` is 0, but the optimizer steps when \`${guard.of} % ${guard.by}\` is: it steps with gradients that no other rank has seen`,
          };
      }
    }
  },
};

/** `a % n == 0` as the texts of a and n. */
function remainder(expr: Expr, facts: Facts): { readonly of: string; readonly by: string } | null {
  if (
    expr.kind !== "Compare" ||
    expr.ops[0] !== "==" ||
    expr.rights[0]?.kind !== "Num" ||
    expr.rights[0].text !== "0"
  )
    return null;
  const { left } = expr;
  if (left.kind !== "Binary" || left.op !== "%") return null;
  const bare = (node: Expr): string =>
    facts.file
      .textOf(node)
      .replace(/\s+/g, " ")
      .replace(/^\((.*)\)$/, "$1");
  return { of: bare(left.left), by: bare(left.right) };
}

function guardOf(step: Expr, facts: Facts): { readonly of: string; readonly by: string } | null {
  for (let at = step.parent; at; at = at.parent) {
    if (at.kind === "For" || at.kind === "While" || at.kind === "FunctionDef") return null;
    if (at.kind !== "If") continue;
    let found: { readonly of: string; readonly by: string } | null = null;
    walk(at.test, (node) => {
      if (node.kind === "Compare") found ??= remainder(node, facts);
    });
    return found;
  }
  return null;
}
