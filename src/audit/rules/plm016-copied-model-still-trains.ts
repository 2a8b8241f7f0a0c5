import { positional } from "../../python/file.ts";
import { classOf, statementOf } from "../../python/nodes.ts";
import type { Expr } from "../../python/tree.ts";
import { isNetwork } from "../facts/networks.ts";
import type { Rule } from "../rule.ts";

/** What a copy is called that plays a part in training. */
const PART = /ema|ref|teacher|target|avg|average|old|frozen|anchor/i;

export const rule: Rule = {
  meta: {
    code: "PLM016",
    name: "copied-model-still-trains",
    summary:
      "A copy of the model, for averaging or reference, stays on the device, or still requires gradients",
    severity: "note",
    fix: "none",
    patterns: [16],
  },
  *check(facts) {
    const { file } = facts;
    if (file.callsNamed("deepcopy").length === 0 || !facts.accelerator) return;
    for (const call of file.callsNamed("deepcopy")) {
      if (file.dotted(call.func) !== "copy.deepcopy") continue;
      const source = positional(call, 0);
      const statement = statementOf(call);
      if (
        !source ||
        !isNetwork(source, facts) ||
        statement?.kind !== "Assign" ||
        bare(statement.value) !== call ||
        statement.targets.length !== 1
      )
        continue;
      const copy = file.textOf(statement.targets[0]!);
      // Only a copy that plays a part in training: an average, a teacher, a reference.
      const owner = classOf(call)?.name ?? "";
      if (!PART.test(copy) && !(copy.startsWith("self.") && PART.test(owner))) continue;
      const escaped = copy.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
      const frozen =
        /requires_grad_\(/.test(file.textOf(statement.value)) ||
        new RegExp(
          `${escaped}\\.(?:requires_grad_|eval\\(\\)\\.requires_grad_)|in ${escaped}\\.(?:named_)?parameters\\(|(?:requires_grad|freeze)\\w*\\(\\s*${escaped}\\b`,
        ).test(file.text);
      // Kept on the host it costs the device nothing.
      if (frozen && /\.cpu\(|["']cpu["']/.test(file.textOf(statement.value))) continue;
      yield {
        at: call,
        message: frozen
          ? `\`${copy}\` is a whole second model on the device: an average can be kept on the host, and a reference of an adapter is the base with the adapter switched off`
          : `\`${copy}\` is a whole second model on the device, and its parameters require gradients like the first's: freeze it, or keep it on the host or as an adapter switched off`,
      };
    }
  },
};

/** `deepcopy(model).to(device).eval()` → the copy. */
function bare(expr: Expr): Expr {
  let at = expr;
  while (
    at.kind === "Call" &&
    at.func.kind === "Attribute" &&
    /^(?:to|cpu|cuda|eval|train|half|bfloat16|requires_grad_)$/.test(at.func.attr)
  )
    at = at.func.value;
  return at;
}
