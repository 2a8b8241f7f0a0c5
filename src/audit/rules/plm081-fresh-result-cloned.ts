import { FUNCTIONS, last } from "../facts/torch-names.ts";
import type { Expr } from "../../python/tree.ts";
import type { Facts } from "../facts/facts.ts";
import type { Rule } from "../rule.ts";

/** These return views, or may return their argument itself. */
const VIEWS =
  /^(?:reshape|flatten|squeeze|unsqueeze|transpose|permute|t|swapaxes|moveaxis|movedim|narrow|diagonal|chunk|split|unbind|broadcast_to|real|imag|view_as_real|view_as_complex|conj|dropout|clone|meshgrid|take)$/;

export const rule: Rule = {
  meta: {
    code: "PLM081",
    name: "fresh-result-cloned",
    summary: "`clone()` of a result that nobody else holds",
    severity: "note",
    fix: "unsafe",
    patterns: [81],
  },
  *check(facts) {
    if (!/clone\(/.test(facts.file.text)) return;
    if (/torch\.compile|cudagraph|CUDAGraph/.test(facts.file.text)) return;
    for (const call of facts.file.all("Call")) {
      if (
        call.func.kind !== "Attribute" ||
        call.func.attr !== "clone" ||
        call.args.length > 0 ||
        !isFresh(call.func.value, facts) ||
        !facts.hot(call)
      )
        continue;
      yield {
        at: call,
        message:
          "The result is new and nobody else holds it: the clone is a second copy of it, made and then thrown away",
        fix: {
          grade: "unsafe",
          title: "Remove the clone",
          edits: [{ start: call.func.value.end, end: call.end, text: "" }],
        },
      };
    }
  },
};

function isFresh(expr: Expr, facts: Facts): boolean {
  if (expr.kind !== "Call") return false;
  const name = facts.file.dotted(expr.func) ?? "";
  return (
    name === `torch.${last(name)}` &&
    FUNCTIONS.has(last(name)) &&
    !VIEWS.test(last(name)) &&
    facts.file.text[expr.end] === "."
  );
}
