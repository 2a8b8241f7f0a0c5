import type { Call, Expr } from "../../python/tree.ts";
import type { Facts } from "../facts/facts.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM069",
    name: "tensor-logged-every-step",
    summary: "Device tensors are handed to a logger or meter on every step, which reads each of them",
    severity: "warning",
    fix: "none",
    patterns: [69],
  },
  *check(facts) {
    if (!/add_scalar|add_histogram|log/.test(facts.file.text)) return;
    for (const call of facts.file.all("Call")) {
      if (!isLogger(call, facts)) continue;
      for (const value of handed(call))
        if (facts.onAccelerator(value) && facts.everyStep(call))
          yield {
            at: value,
            message:
              "The logger reads this device tensor on the host, with a wait, on every step; log every N steps, or collect on the device",
          };
    }
  },
};

function isLogger(call: Call, facts: Facts): boolean {
  const name = facts.file.dotted(call.func) ?? "";
  if (/^(?:wandb|mlflow|neptune|comet_ml|swanlab|trackio)\.(?:log|log_metric|log_metrics)$/.test(name))
    return true;
  if (name !== "" || call.func.kind !== "Attribute") return false;
  return (
    /^(?:add_scalar|add_scalars|add_histogram)$/.test(call.func.attr) ||
    (/^log(?:_metrics)?$/.test(call.func.attr) &&
      /wandb|run|tracker/i.test(facts.file.textOf(call.func.value)))
  );
}

function handed(call: Call): Expr[] {
  return call.args.flatMap(({ value }) => (value.kind === "Dict" ? [...value.values] : [value]));
}
