import { isTrue, positional } from "../../python/file.ts";
import { contains, functionOf } from "../../python/nodes.ts";
import type { Call } from "../../python/tree.ts";
import { given } from "../facts/arguments.ts";
import type { Facts } from "../facts/facts.ts";
import { loopsAround } from "../facts/training.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM008",
    name: "backward-creates-graph",
    summary: "`backward(create_graph=True)` makes a cycle between parameters and their gradients",
    severity: "warning",
    fix: "none",
    patterns: [8],
  },
  *check(facts) {
    for (const { call } of facts.backwards) {
      const passed = given(call, "create_graph", facts.file) ?? positional(call, 2);
      const flag = passed?.kind === "Name" ? facts.file.scopes.onlyValue(passed) : passed;
      if (passed && flag && isTrue(flag))
        yield {
          ...(isClearedAfter(call, facts) ? { severity: "note" as const } : {}),
          at: contains(call, passed) ? passed : call,
          message:
            "Each gradient keeps the graph that made it, and the graph its parameter: a cycle that lives until the gradients are set to None; use `torch.autograd.grad`",
        };
    }
  },
};

/** Cleared right after, below it in the same turn: the cycle ends there. */
function isClearedAfter(call: Call, { file }: Facts): boolean {
  const loop = loopsAround(call)[0];
  return file
    .callsNamed("zero_grad")
    .some(
      (clear) =>
        clear.start > call.end && functionOf(clear) === functionOf(call) && (!loop || contains(loop, clear)),
    );
}
