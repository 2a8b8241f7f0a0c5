import { argument, isFalse } from "../../python/file.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM021",
    name: "zero-grad-to-zeros",
    summary: "`zero_grad(set_to_none=False)` keeps every gradient allocated and fills it with zeros",
    severity: "warning",
    fix: "unsafe",
    patterns: [21],
  },
  *check({ file }) {
    if (!/zero_grad/.test(file.text)) return;
    // Gradients that are added to by hand must be there to add to.
    if (file.all("AugAssign").some(({ target }) => target.kind === "Attribute" && target.attr === "grad"))
      return;
    for (const call of file.all("Call")) {
      if (call.func.kind !== "Attribute" || call.func.attr !== "zero_grad" || call.args.length !== 1)
        continue;
      const flag = argument(call, "set_to_none", 0);
      if (!flag || !isFalse(flag)) continue;
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
