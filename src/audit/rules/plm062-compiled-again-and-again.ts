import { contains } from "../../python/nodes.ts";
import { loopsAround } from "../facts/training.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM062",
    name: "compiled-again-and-again",
    summary: "`torch.compile` is called on every step or epoch",
    severity: "warning",
    fix: "none",
    patterns: [62],
  },
  *check(facts) {
    if (!/compile/.test(facts.file.text)) return;
    for (const call of facts.file.all("Call")) {
      if (facts.file.dotted(call.func) !== "torch.compile") continue;
      // A decorator of a function defined in the loop compiles each time too, but may be meant.
      const epoch = loopsAround(call).find(
        (loop) =>
          [...facts.stepLoops].some((inner) => inner !== loop && contains(loop, inner)) &&
          loop.kind === "For" &&
          /epoch/i.test(facts.file.textOf(loop.target)),
      );
      if (facts.everyStep(call) || (epoch && facts.frequency(call, epoch) === "every"))
        yield {
          at: call,
          message:
            "A new compiled wrapper each time: its guards are checked, or the graph compiled, from the start; compile once before the loop",
        };
    }
  },
};
