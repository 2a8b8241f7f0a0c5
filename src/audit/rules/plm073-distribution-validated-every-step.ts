import { isTrue, keyword } from "../../python/file.ts";
import { addKeyword } from "../edits.ts";
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
    for (const call of file.calls.matching(CLASSES)) {
      const name = file.dotted(call.func) ?? "";
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
