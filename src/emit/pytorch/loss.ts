import type { Recipe } from "../../plan/recipe.ts";

/** A loss that a script computes itself, from the last hidden states. */
export interface OwnLoss {
  readonly imports: readonly string[];
  readonly setup: readonly string[];
}

/** Chunks of the sequence, as planned (losses/chunked.ts). */
const CHUNKS = 8;

export function ownLoss({ loss, mask, method }: Recipe): OwnLoss | null {
  if (loss !== "chunked" && loss !== "fused") return null;
  const base = method.kind === "lora" ? "model.get_base_model()" : "model";
  const head = [
    "",
    "",
    `def loss_of(ids${mask ? ", attention_mask" : ""}):`,
    `    base = ${base}`,
    `    hidden = base.model(input_ids=ids, ${mask ? "attention_mask=attention_mask, " : ""}use_cache=False).last_hidden_state`,
    "    # Each position predicts the next token; the last has none.",
    mask
      ? "    labels = torch.nn.functional.pad(ids.masked_fill(attention_mask == 0, -100), (0, 1), value=-100)[..., 1:]"
      : "    labels = torch.nn.functional.pad(ids, (0, 1), value=-100)[..., 1:]",
  ];
  if (loss === "fused")
    return {
      imports: ["from liger_kernel.transformers import LigerFusedLinearCrossEntropyLoss"],
      setup: [
        "# Liger's kernel computes head, loss and gradient a chunk at a time: the logits never exist whole.",
        ...head.slice(2),
        "    rows = hidden.view(-1, hidden.size(-1))",
        '    softcap = getattr(base.config, "final_logit_softcapping", None)',
        "    return LigerFusedLinearCrossEntropyLoss(softcap=softcap)(base.lm_head.weight, rows, labels.contiguous().view(-1))",
      ],
    };
  return {
    imports: ["from torch.utils.checkpoint import checkpoint"],
    setup: [
      "# Cross-entropy over chunks of the sequence, each computed again in backward: the logits never exist whole.",
      "def chunk_loss(head, hidden, labels):",
      "    logits = head(hidden).float()",
      '    return torch.nn.functional.cross_entropy(logits.view(-1, logits.size(-1)), labels.reshape(-1), reduction="sum")',
      ...head,
      "    parts = zip(hidden.chunk(CHUNKS, dim=1), labels.chunk(CHUNKS, dim=1))".replaceAll(
        "CHUNKS",
        String(CHUNKS),
      ),
      "    total = sum(checkpoint(chunk_loss, base.lm_head, h, y, use_reentrant=False) for h, y in parts)",
      "    return total / (labels != -100).sum()",
    ],
  };
}
