import { positional } from "../../python/file.ts";
import { contains } from "../../python/nodes.ts";
import { appendCall } from "../edits.ts";
import { mayBeDifferentiated } from "../facts/flow.ts";
import { loopsAround } from "../facts/training.ts";
import type { Rule } from "../rule.ts";
import { isBackwarded } from "./plm001-summed-loss-keeps-graph.ts";

export const rule: Rule = {
  meta: {
    code: "PLM002",
    name: "listed-loss-keeps-graph",
    summary: "A loss with its graph is appended to a list that is never differentiated",
    severity: "error",
    fix: "safe",
    patterns: [2],
  },
  *check(facts) {
    for (const call of facts.file.all("Call")) {
      if (call.func.kind !== "Attribute" || call.func.attr !== "append" || call.func.value.kind !== "Name")
        continue;
      const added = positional(call, 0);
      const [loop] = loopsAround(call);
      if (!added || !loop || facts.value(added).graph !== "yes" || facts.gradMode(call) === "off") continue;
      const lists = facts.file.scopes.reaching(call.func.value);
      // A list made inside the loop dies with the turn.
      if (lists.length === 0 || lists.some((list) => list.how === "param" || contains(loop, list.node)))
        continue;
      const freed = isBackwarded(added, loop, facts);
      if (!freed && lists.some((list) => mayBeDifferentiated(list, facts))) continue;
      yield {
        at: call,
        severity: freed ? "warning" : "error",
        message: freed
          ? `\`${call.func.value.id}\` keeps every step's loss on the device with its graph nodes`
          : `\`${call.func.value.id}\` keeps every turn's whole graph, activations included, alive: memory grows until it runs out`,
        fix: {
          grade: freed ? "safe" : "unsafe",
          title: "Detach what is appended",
          edits: appendCall(added, ".detach()"),
        },
      };
    }
  },
};
