import type { Expr } from "../../python/tree.ts";
import type { Facts } from "../facts/facts.ts";
import type { Rule } from "../rule.ts";

const READS =
  /^(?:math\.\w+|builtins\.(?:any|all|sum|range|list|round|sorted)|numpy\.(?:isnan|isfinite|isinf|mean|array|asarray|sum|exp|log|sqrt))$/;

export const rule: Rule = {
  meta: {
    code: "PLM068",
    name: "hidden-host-read",
    summary: "A device tensor is handed to Python's or NumPy's own functions, which read it on the host",
    severity: "warning",
    fix: "none",
    patterns: [68],
  },
  *check(facts) {
    for (const call of facts.file.all("Call")) {
      const name = facts.file.dotted(call.func) ?? "";
      if (
        !READS.test(name) ||
        !call.args.some((arg) => arg.star === 0 && isTensor(arg.value, facts)) ||
        !facts.everyStep(call)
      )
        continue;
      const each = /^builtins\.(?:any|all|sum|list|sorted)$/.test(name);
      const short = name.replace("builtins.", "");
      yield {
        at: call,
        message: each
          ? `\`${short}\` goes through the device tensor element by element on the host: a wait for each, on every step; torch has its own`
          : `\`${short}\` reads the device tensor on the host, with a wait, on every step; torch has its own`,
      };
    }
  },
};

/** `list(x.chunk(4))` goes through a tuple of tensors, not through a tensor. */
function isTensor(expr: Expr, facts: Facts): boolean {
  return facts.value(expr).what === "tensor" && facts.onAccelerator(expr);
}
