import { isTrue } from "../../python/file.ts";
import { functionOf } from "../../python/nodes.ts";
import { checkpointingSwitches } from "../facts/checkpointing.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM052",
    name: "reentrant-checkpoint-frozen-inputs",
    summary: "Reentrant checkpointing of a LoRA model whose embeddings are frozen: no gradient gets through",
    severity: "error",
    fix: "unsafe",
    patterns: [52],
  },
  *check({ file }) {
    if (!/get_peft_model/.test(file.text)) return;
    const wraps = file.all("Call").filter((call) => file.dotted(call.func) === "peft.get_peft_model");
    // Each of these makes the embeddings' output require gradients, or trains the embeddings.
    if (
      wraps.length === 0 ||
      /enable_input_require_grads|make_inputs_require_grad|prepare_model_for_(?:kbit|int8)_training|modules_to_save|requires_grad_?\(\s*True|embed_tokens|unsloth|^\s*(?:from|import) trl\b/m.test(
        file.text,
      )
    )
      return;
    for (const { at, call, useReentrant } of checkpointingSwitches(file)) {
      // Before the wrapping peft itself sees that checkpointing is on, and makes the inputs require gradients.
      const enabling = at === call;
      if (
        !useReentrant ||
        !isTrue(useReentrant) ||
        (enabling && !wraps.some((wrap) => wrap.start < call.start && functionOf(wrap) === functionOf(call)))
      )
        continue;
      yield {
        at: useReentrant,
        message:
          "Under LoRA the embeddings are frozen, so no input of a reentrant checkpoint requires gradients: the adapters get none, or backward raises",
        fix: {
          grade: "unsafe",
          title: "Pass use_reentrant=False",
          edits: [{ start: useReentrant.start, end: useReentrant.end, text: "False" }],
        },
      };
    }
  },
};
