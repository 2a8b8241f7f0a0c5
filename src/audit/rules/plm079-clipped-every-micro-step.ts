import { contains } from "../../python/nodes.ts";
import { optimizerSteps } from "../facts/training.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM079",
    name: "clipped-every-micro-step",
    summary: "Gradients are clipped on every micro-step of an accumulation",
    severity: "warning",
    fix: "none",
    patterns: [79],
  },
  *check(facts) {
    if (!/clip_grad/.test(facts.file.text)) return;
    const { file } = facts;
    for (const call of file.all("Call")) {
      if (
        !/^torch\.nn\.utils\.(?:clip_grad\.)?clip_grad_(?:norm|value)_?$/.test(file.dotted(call.func) ?? "")
      )
        continue;
      const loop = facts.stepLoop(call);
      if (!loop || facts.frequency(call, loop) !== "every") continue;
      const steps = optimizerSteps(file).filter((step) => contains(loop, step));
      if (steps.length === 0 || !steps.every((step) => facts.frequency(step, loop) === "throttled")) continue;
      yield {
        at: call,
        message:
          "Half-summed gradients are clipped on every micro-step: the norm is computed many times, and the later batches count for more; clip once, before the step",
      };
    }
  },
};
