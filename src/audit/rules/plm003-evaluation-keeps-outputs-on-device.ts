import { positional } from "../../python/file.ts";
import { contains, functionOf } from "../../python/nodes.ts";
import { appendCall } from "../edits.ts";
import { networkCall } from "../facts/networks.ts";
import { loopsAround } from "../facts/training.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM003",
    name: "evaluation-keeps-outputs-on-device",
    summary: "An evaluation loop collects a network's outputs on the device, for the whole dataset",
    severity: "warning",
    fix: "unsafe",
    patterns: [3],
  },
  *check(facts) {
    if (!/append\(/.test(facts.file.text)) return;
    if (!facts.accelerator) return;
    for (const call of facts.file.all("Call")) {
      if (
        call.func.kind !== "Attribute" ||
        call.func.attr !== "append" ||
        call.func.value.kind !== "Name" ||
        call.args.length !== 1
      )
        continue;
      const added = positional(call, 0);
      const [loop] = loopsAround(call);
      if (!added || loop?.kind !== "For" || facts.gradMode(call) !== "off" || facts.hot(call)) continue;
      const source = networkCall(added, facts);
      if (!source || !contains(loop, source)) continue;
      // Over the batches of a loader; over a handful of heads or scales it is small.
      const over = facts.file.textOf(loop.iter);
      if (!/load|batch|dataset|dl\b/i.test(over)) continue;
      const lists = facts.file.scopes.reaching(call.func.value);
      if (
        lists.length === 0 ||
        lists.some(
          (list) =>
            list.how === "param" || contains(loop, list.node) || functionOf(list.node) !== functionOf(call),
        )
      )
        continue;
      yield {
        at: added,
        message: `\`${call.func.value.id}\` keeps the outputs of every batch on the device: its memory grows with the dataset`,
        fix: { grade: "unsafe", title: "Keep them on the host", edits: appendCall(added, ".cpu()") },
      };
    }
  },
};
