import { contains } from "../../python/nodes.ts";
import type { Call } from "../../python/tree.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM071",
    name: "barrier-every-step",
    summary: "All ranks wait for each other on every step, or reduce one scalar after another",
    severity: "warning",
    fix: "none",
    patterns: [71],
  },
  *check(facts) {
    if (!/barrier|all_reduce/.test(facts.file.text)) return;
    const { file } = facts;
    const reduces: Call[] = [];
    for (const call of file.all("Call")) {
      const name = file.dotted(call.func) ?? "";
      if (/^torch\.distributed\.(?:distributed_c10d\.)?barrier$/.test(name) && facts.everyStep(call))
        yield {
          at: call,
          message:
            "Every rank waits here for the slowest, on every step; the reduction of the gradients already keeps them together",
        };
      if (/^torch\.distributed\.(?:distributed_c10d\.)?all_reduce$/.test(name) && facts.everyStep(call))
        reduces.push(call);
    }
    for (const loop of facts.stepLoops) {
      const here = reduces.filter(
        (call) =>
          contains(loop, call) &&
          facts.stepLoop(call) === loop &&
          call.args[0] !== undefined &&
          facts.value(call.args[0].value).what === "tensor",
      );
      if (here.length > 2)
        yield {
          at: here[1]!,
          severity: "note",
          message: `${here.length} separate reductions on every step, each as slow as one; stack the values and reduce once`,
        };
    }
  },
};
