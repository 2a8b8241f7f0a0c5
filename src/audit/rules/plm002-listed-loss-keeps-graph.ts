import { appendCall } from "../edits.ts";
import { keptArguments } from "../facts/keepers.ts";
import { isBackwarded, keeps, keptForBackward } from "../facts/kept.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM002",
    name: "listed-loss-keeps-graph",
    summary: "A loss or output with its graph is kept in a list that is never differentiated",
    severity: "error",
    fix: "safe",
    patterns: [2, 17],
  },
  *check(facts) {
    for (const keep of keeps(facts)) {
      const { added, at, root, loop } = keep;
      if (keep.how !== "list" || (root.kind !== "Name" && loop === null)) continue;
      if (facts.value(added).graph !== "yes" || facts.gradMode(at) === "off") continue;
      const freed = isBackwarded(added, loop, facts);
      if (!freed && keptForBackward(keep, facts)) continue;
      // A term of what is differentiated after the loop: that backward frees the activations.
      if (!freed && isBackwarded(added, null, facts)) continue;
      const name = facts.file.textOf(root);
      const scalar = facts.value(added).what === "tensor" && freed;
      yield {
        at,
        severity: scalar ? "warning" : "error",
        message: freed
          ? `\`${name}\` keeps every step's ${scalar ? "loss" : "outputs"} on the device with their graph nodes`
          : `\`${name}\` keeps every turn's whole graph, activations included, alive: memory grows until it runs out`,
        fix: {
          grade: scalar ? "safe" : "unsafe",
          title: "Detach what is kept",
          edits: appendCall(added, ".detach()"),
        },
      };
    }
    for (const { arg, into } of keptArguments(facts, "list"))
      yield {
        at: arg,
        message: `\`${into}\` puts this into a list it keeps, with the graph that comes with it`,
        fix: { grade: "unsafe", title: "Detach what is kept", edits: appendCall(arg, ".detach()") },
      };
  },
};
