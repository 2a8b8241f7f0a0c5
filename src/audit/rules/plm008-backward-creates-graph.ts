import { isTrue, keyword, positional } from "../../python/file.ts";
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
      const flag = keyword(call, "create_graph")?.value ?? positional(call, 2);
      if (flag && isTrue(flag))
        yield {
          at: flag,
          message:
            "Each gradient keeps the graph that made it, and the graph its parameter: a cycle that lives until the gradients are set to None; use `torch.autograd.grad`",
        };
    }
  },
};
