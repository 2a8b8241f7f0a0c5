import { blocksOf, contains, functionOf, walk } from "../../python/nodes.ts";
import type { Call, Stmt } from "../../python/tree.ts";
import type { Facts } from "../facts/facts.ts";
import { optimizerSteps } from "../facts/training.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM023",
    name: "gradients-kept-for-evaluation",
    summary: "The last step's gradients stay allocated while the model is evaluated",
    severity: "note",
    fix: "none",
    patterns: [23],
  },
  *check(facts) {
    if (facts.backwards.length === 0) return;
    for (const loop of facts.stepLoops) {
      const block = loop.parent ? blocksOf(loop.parent).find((list) => list.includes(loop)) : undefined;
      const step = optimizerSteps(facts.file).find(
        (call) => contains(loop, call) && functionOf(call) === functionOf(loop),
      );
      const backward = facts.backwards.find(({ call }) => contains(loop, call));
      if (!block || !step || !backward) continue;
      const clears = facts.file
        .all("Call")
        .filter(
          (call) =>
            call.func.kind === "Attribute" &&
            call.func.attr === "zero_grad" &&
            functionOf(call) === functionOf(loop),
        );
      const inside = clears.filter((call) => contains(loop, call));
      // Cleared before the forward or the backward, never after the step: the last gradients stay.
      if (inside.length === 0 || inside.some((call) => call.start > backward.call.start)) continue;
      const evaluation = firstEvaluation(block.slice(block.indexOf(loop) + 1), facts);
      if (!evaluation || clears.some((call) => call.start > loop.end && call.start < evaluation.start))
        continue;
      yield {
        at: evaluation,
        message:
          "The last step's gradients, as large as the trainable parameters, stay allocated during the evaluation; call `zero_grad()` after the step instead",
      };
    }
  },
};

/** The first call after the loop that evaluates: `evaluate(model, …)`, `validate(…)`, `model.eval()`. */
function firstEvaluation(statements: readonly Stmt[], facts: Facts): Call | null {
  let found: Call | null = null;
  for (const statement of statements)
    walk(statement, (node) => {
      if (node.kind === "FunctionDef" || node.kind === "ClassDef") return false;
      if (node.kind === "Call" && !found) {
        const text = facts.file.textOf(node.func);
        const names =
          /(?:^|[._])(?:evaluate|validate|validation|eval_model|evaluation)$/.test(text) &&
          node.args.length > 0;
        if (names || (node.func.kind === "Attribute" && node.func.attr === "eval" && node.args.length === 0))
          found = node;
      }
      return found === null;
    });
  return found;
}
