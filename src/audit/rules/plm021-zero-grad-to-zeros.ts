import { argument, isFalse } from "../../python/file.ts";
import { given } from "../facts/arguments.ts";
import type { Facts } from "../facts/facts.ts";
import type { Finding, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM021",
    name: "zero-grad-to-zeros",
    summary: "`zero_grad(set_to_none=False)` keeps every gradient allocated and fills it with zeros",
    severity: "warning",
    fix: "unsafe",
    patterns: [21],
  },
  *check(facts) {
    const { file } = facts;
    yield* byHand(facts);
    const clears = file.callsNamed("zero_grad");
    if (clears.length === 0) return;
    // Gradients that are added to by hand, or put somewhere, must be there.
    if (
      file.all("AugAssign").some(({ target }) => target.kind === "Attribute" && target.attr === "grad") ||
      file
        .all("Assign")
        .some(
          ({ targets: [target], value }) =>
            target?.kind === "Attribute" && target.attr === "grad" && value.kind !== "Const",
        )
    )
      return;
    for (const call of clears) {
      if (call.func.kind !== "Attribute" || call.func.attr !== "zero_grad" || call.args.length !== 1)
        continue;
      const flag = given(call, "set_to_none", file) ?? argument(call, "set_to_none", 0);
      const value = flag?.kind === "Name" ? file.scopes.onlyValue(flag) : flag;
      if (!flag || !value || !(isFalse(value) || (value.kind === "Num" && value.text === "0"))) continue;
      yield {
        at: flag,
        message:
          "The gradients stay allocated through the next forward, are filled with zeros and then added to, instead of being freed and written",
        fix: {
          grade: "unsafe",
          title: "Let them be freed",
          edits: [{ start: flag.start, end: flag.end, text: "True" }],
        },
      };
    }
  },
};

/** `for p in model.parameters(): p.grad.zero_()`, on every step. */
function* byHand(facts: Facts): Generator<Finding> {
  for (const call of facts.file.callsNamed("_foreach_zero_"))
    if (
      facts.file.dotted(call.func) === "torch._foreach_zero_" &&
      /\.grad\b/.test(facts.file.textOf(call)) &&
      facts.hot(call)
    )
      yield {
        at: call,
        message:
          "The gradients stay allocated through the next forward, are filled with zeros and then added to, instead of being freed and written",
      };
  for (const call of facts.file.callsNamed("zero_")) {
    if (call.func.kind !== "Attribute" || call.func.attr !== "zero_" || call.args.length > 0) continue;
    const data = call.func.value;
    const grad = data.kind === "Attribute" && data.attr === "data" ? data.value : data;
    if (grad.kind !== "Attribute" || grad.attr !== "grad" || grad.value.kind !== "Name") continue;
    const [one, ...more] = facts.file.scopes.reaching(grad.value);
    if (
      !one?.value ||
      more.length > 0 ||
      one.how !== "iterate" ||
      !/parameters\(|\["params"\]/.test(facts.file.textOf(one.value))
    )
      continue;
    if (!facts.hot(call)) continue;
    const statement = call.parent;
    yield {
      at: call,
      message:
        "The gradients stay allocated through the next forward, are filled with zeros and then added to, instead of being freed and written",
      ...(statement?.kind === "ExprStmt"
        ? {
            fix: {
              grade: "unsafe" as const,
              title: "Let them be freed",
              edits: [{ start: grad.end, end: call.end, text: " = None" }],
            },
          }
        : {}),
    };
  }
}
