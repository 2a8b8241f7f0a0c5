import { isTrue } from "../../python/file.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM064",
    name: "cudnn-benchmark-with-varying-shapes",
    summary: "cuDNN searches for its fastest algorithm, yet the shapes of the batches vary",
    severity: "note",
    fix: "unsafe",
    patterns: [64],
  },
  *check({ file }) {
    if (!/benchmark/.test(file.text)) return;
    for (const statement of file.all("Assign")) {
      const [target] = statement.targets;
      if (!target || file.dotted(target) !== "torch.backends.cudnn.benchmark" || !isTrue(statement.value))
        continue;
      // Batches padded to their own longest member: each length is a new shape.
      const varying = file.all("Call").some((call) => {
        const name = file.dotted(call.func) ?? "";
        return (
          name === "torch.nn.utils.rnn.pad_sequence" ||
          /^transformers\.DataCollatorWithPadding$/.test(name) ||
          call.args.some(
            (arg) => arg.name === "padding" && arg.value.kind === "Str" && arg.value.value === "longest",
          )
        );
      });
      if (!varying) continue;
      yield {
        at: statement,
        message:
          "For every new shape cuDNN tries all its algorithms, with their workspaces, before it runs one; batches padded to their longest member keep bringing new shapes",
        fix: {
          grade: "unsafe",
          title: "Switch the search off",
          edits: [{ start: statement.value.start, end: statement.value.end, text: "False" }],
        },
      };
    }
  },
};
