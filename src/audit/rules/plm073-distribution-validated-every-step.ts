import { isTrue, keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf } from "../../python/nodes.ts";
import type { Expr } from "../../python/tree.ts";
import { addKeyword } from "../edits.ts";
import { attributesOf, selfAttribute } from "../facts/classes.ts";
import { last } from "../facts/torch-names.ts";
import type { Rule } from "../rule.ts";

const CLASSES = /^[A-Z]/;

export const rule: Rule = {
  meta: {
    code: "PLM073",
    name: "distribution-validated-every-step",
    summary: "A distribution made on every step checks its arguments on the host",
    severity: "note",
    fix: "unsafe",
    patterns: [73],
    hotOnly: true,
  },
  *check(facts) {
    const { file } = facts;
    if (!facts.accelerator || file.callsNamed("set_default_validate_args").length > 0) return;
    const others = file.mentions("distributions") ? file.all("Call") : [];
    for (const call of new Set([...file.calls.matching(CLASSES), ...others])) {
      const name = file.dotted(call.func) ?? classBehind(call.func, file) ?? "";
      if (
        !/^torch\.distributions\.(?:\w+\.)*[A-Z]\w*$/.test(name) ||
        /Transform$|Independent$|constraints/.test(name) ||
        (keyword(call, "validate_args") && !isTrue(keyword(call, "validate_args")!.value)) ||
        call.args.length === 0 ||
        call.args.some((arg) => arg.star !== 0)
      )
        continue;
      const asked = keyword(call, "validate_args");
      // Of host arrays they cost no wait.
      if (call.args.every(({ value }) => facts.value(value).device === "cpu")) continue;
      const hot = facts.hot(call);
      if (hot && facts.frequency(call, hot.within) !== "throttled")
        yield {
          at: call,
          message: `\`${last(name)}\` tests its arguments, and each value given to \`log_prob\`, on the host: a wait each, on every step`,
          fix: {
            grade: "unsafe",
            title: "Do not validate",
            edits: asked
              ? [{ start: asked.value.start, end: asked.value.end, text: "False" }]
              : addKeyword(call, "validate_args=False", file),
          },
        };
    }
  },
};

/** The class of `family = Categorical`, of `Normal if continuous else Categorical` the first, under a name or on self. */
function classBehind(callee: Expr, file: PythonFile): string | null {
  const own = selfAttribute(callee);
  const cls = own === null ? null : classOf(callee);
  const writes = cls ? attributesOf(cls, file).get(own!)?.writes : undefined;
  const made =
    callee.kind === "Name"
      ? file.scopes.onlyValue(callee)
      : writes?.length === 1
        ? (writes[0]!.value ?? null)
        : null;
  if (made?.kind !== "IfExp") return made && file.dotted(made);
  const [one, other] = [file.dotted(made.body), file.dotted(made.orelse)];
  return other?.startsWith("torch.distributions.") === true ? one : null;
}
