import type { Call, Node } from "../../python/tree.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM029",
    name: "many-host-reads",
    summary: "Several device scalars are read one by one where one transfer would do",
    severity: "note",
    fix: "none",
    patterns: [29],
  },
  *check(facts) {
    const groups = new Map<Node, Call[]>();
    for (const call of facts.file.all("Call")) {
      if (
        call.func.kind !== "Attribute" ||
        call.func.attr !== "item" ||
        call.args.length > 0 ||
        !facts.onAccelerator(call.func.value)
      )
        continue;
      const hot = facts.hot(call);
      if (!hot) continue;
      const group = groups.get(hot.within);
      if (group) group.push(call);
      else groups.set(hot.within, [call]);
    }
    // One after the other, each is a round trip; the second already finds an empty queue.
    for (const group of groups.values())
      if (group.length >= 3)
        yield {
          at: group[0]!,
          message: `${group.length} scalars are read one after the other here, a round trip each; \`torch.stack([...]).tolist()\` is one`,
        };
  },
};
