import { statementOf } from "../../python/nodes.ts";
import type { Rule } from "../rule.ts";

const HOOKS = new Set([
  "register_forward_hook",
  "register_forward_pre_hook",
  "register_full_backward_hook",
  "register_full_backward_pre_hook",
  "register_backward_hook",
  "register_state_dict_pre_hook",
]);

export const rule: Rule = {
  meta: {
    code: "PLM012",
    name: "hook-registered-every-step",
    summary: "A module's hook is registered on every step and its handle thrown away",
    severity: "error",
    fix: "none",
    patterns: [12],
  },
  *check(facts) {
    if (!/_hook\(/.test(facts.file.text)) return;
    for (const call of facts.file.all("Call")) {
      if (call.func.kind !== "Attribute" || !HOOKS.has(call.func.attr)) continue;
      const statement = statementOf(call);
      // A kept handle can be removed; whether it is, we cannot tell.
      if (statement?.kind !== "ExprStmt" || statement.value !== call) continue;
      const hot = facts.everyStep(call);
      if (!hot) continue;
      yield {
        at: call,
        message: `One more hook ${hot.why.startsWith("in ") ? "on every step" : `on every step (${hot.why})`}, and nothing can remove it: all of them run from now on, and keep what they captured`,
      };
    }
  },
};
