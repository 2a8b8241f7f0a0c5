import { isTrue, keyword } from "../../python/file.ts";
import { isNetwork } from "../facts/networks.ts";
import type { Rule } from "../rule.ts";

const WANTED: ReadonlyMap<string, RegExp> = new Map([
  ["output_hidden_states", /hidden_states\b/g],
  ["output_attentions", /attentions\b/g],
]);

export const rule: Rule = {
  meta: {
    code: "PLM047",
    name: "hidden-states-asked-for",
    summary: "Training asks the network for all hidden states or attentions and reads none",
    severity: "warning",
    fix: "unsafe",
    patterns: [47],
  },
  *check(facts) {
    if (!/output_(?:attentions|hidden_states)/.test(facts.file.text)) return;
    const { file } = facts;
    for (const call of file.all("Call"))
      for (const [key, pattern] of WANTED) {
        const flag = keyword(call, key);
        if (!flag || !isTrue(flag.value)) continue;
        const step = isNetwork(call.func, facts) && facts.hot(call) !== null;
        const loads =
          call.func.kind === "Attribute" &&
          call.func.attr === "from_pretrained" &&
          /\bTrainer\b|\.backward\(/.test(file.text);
        if (!(step || loads) || facts.gradMode(call) === "off") continue;
        // Read by name, or by position out of the tuple: then somebody wants them.
        const mentions = file.text.match(pattern)?.length ?? 0;
        const asked = file.text.match(new RegExp(`${key}\\b`, "g"))?.length ?? 0;
        if (mentions > asked || /outputs?\[[-\d]/.test(file.text)) continue;
        // Taken apart by position: a model of its own make, such as one with a value head, that may need them.
        if (call.parent?.kind === "Assign" && call.parent.targets.some((target) => target.kind === "Tuple"))
          continue;
        yield {
          at: flag,
          // Loaded with it, the network may be another than the one that trains.
          ...(step ? {} : { severity: "note" as const }),
          message:
            key === "output_attentions"
              ? "The attention matrices of all layers are built and kept for nobody, and the fused attention cannot be used"
              : "The hidden states of all layers are kept until the outputs go, and nobody reads them",
          fix: {
            grade: "unsafe",
            title: "Do not ask for them",
            edits: [{ start: flag.value.start, end: flag.value.end, text: "False" }],
          },
        };
      }
  },
  *checkConfig(config) {
    for (const setting of config.named("output_attentions"))
      if (setting.value === true)
        yield {
          at: setting.valueAt,
          severity: "note",
          message:
            "The attention matrices of all layers are built and kept, and the fused attention cannot be used",
        };
  },
};
