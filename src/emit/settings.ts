import type { Dtype } from "../autograd/dtype.ts";
import type { OptimizerName } from "../optimizers/optimizers.ts";
import { dataRanks, effectiveBatch, type Recipe } from "../plan/recipe.ts";
import { checkpointingKind } from "./emitter.ts";
import type { Line } from "./lines.ts";

/** TrainingArguments' `optim` (transformers 5.17, training_args.py, OptimizerNames). */
export const OPTIM: Partial<Record<OptimizerName, string>> = {
  adamw_fused: "adamw_torch_fused",
  adamw_foreach: "adamw_torch",
  adamw_torchao_8bit: "adamw_torch_8bit",
  adamw_bnb_8bit: "adamw_bnb_8bit",
  paged_adamw: "paged_adamw_32bit",
  paged_adamw_8bit: "paged_adamw_8bit",
  lion: "lion_32bit",
  lion_8bit: "lion_8bit",
  adafactor: "adafactor",
  sgd: "sgd",
};

export const TORCH_DTYPE: Partial<Record<Dtype, string>> = {
  bf16: "bfloat16",
  fp16: "float16",
  fp32: "float32",
};

export function optimizerWhy({ optimizer }: Recipe): string {
  if (optimizer.startsWith("paged"))
    return "its state may move to host memory page by page when the card is full";
  if (optimizer.endsWith("8bit"))
    return "moments in 8 bits: about 2 bytes a trained parameter instead of 8; not bit-exact";
  if (optimizer === "adamw_fused") return "AdamW in one kernel: no temporaries in the step";
  return "the optimizer that was planned";
}

export function batchWhy(recipe: Recipe): string {
  const { batch, accumulation, seq, parallel } = recipe;
  const tokens = effectiveBatch(recipe) * seq;
  const cards = dataRanks(parallel);
  return `${batch} × ${accumulation}${cards > 1 ? ` × ${cards} cards` : ""} sequences of ${seq} are a step: ${tokens} tokens`;
}

export function checkpointingWhy({ checkpointing }: Recipe): string {
  switch (checkpointingKind(checkpointing)) {
    case "none":
      return "off: what layers save for backward fits, and nothing is computed twice";
    case "every":
      return `one layer in ${checkpointing.every} keeps only its input and is computed again in backward`;
    case "selective":
      return "the dear results are kept, the cheap ones computed again in backward";
    case "offload":
      return "layers keep only their inputs, and those wait in host memory";
    case "full":
    case "reentrant":
      return "layers keep only their inputs and are computed again in backward";
  }
}

/** What TrainingArguments and SFTConfig share; also LLaMA-Factory, which passes them on. */
export function trainerLines(recipe: Recipe): Line[] {
  const { batch, accumulation, optimizer, clip, autocast, checkpointing, loss } = recipe;
  const kind = checkpointingKind(checkpointing);
  const lines: Line[] = [
    { key: "per_device_train_batch_size", value: batch, why: `micro-batch: ${batchWhy(recipe)}` },
    {
      key: "gradient_accumulation_steps",
      value: accumulation,
      why: "micro-batches whose gradients are added up before a step",
    },
    { key: "optim", value: OPTIM[optimizer]!, why: optimizerWhy(recipe) },
    {
      key: "max_grad_norm",
      value: clip ? 1 : 0,
      why: clip ? "clip the gradients' norm, as planned" : "no clipping, as planned",
    },
    {
      key: "bf16",
      value: autocast === "bf16",
      why: autocast === "bf16" ? "bf16 autocast" : "no bf16 autocast: the weights' own type is used",
    },
  ];
  if (autocast === "fp16") lines.push({ key: "fp16", value: true, why: "fp16 autocast with a scaler" });
  if (kind !== "every")
    lines.push({
      key: "gradient_checkpointing",
      value: kind !== "none",
      why: checkpointingWhy(recipe),
    });
  if (kind === "full" || kind === "reentrant" || kind === "offload")
    lines.push({
      key: "gradient_checkpointing_kwargs",
      value: { use_reentrant: checkpointing.reentrant },
      why: "said, because PyTorch warns when it is not",
    });
  if (kind === "selective")
    lines.push({
      key: "gradient_checkpointing_kwargs",
      value: { selective: true, use_reentrant: checkpointing.reentrant },
      why: "TRL's own key: keep matrix products and attention, compute the rest again",
    });
  if (loss === "fused")
    lines.push({
      key: "use_liger_kernel",
      value: true,
      why: "cross-entropy fused with the head: the logits never exist whole",
    });
  return lines;
}

export function loraLines(recipe: Recipe): Line[] {
  if (recipe.method.kind !== "lora") return [];
  const { rank, dropout, targets, dora } = recipe.method.adapter;
  const lines: Line[] = [
    { key: "r", value: rank, why: "rank of the adapters, as asked for" },
    { key: "lora_alpha", value: 2 * rank, why: "scale 2: a usual choice; it costs no memory" },
    {
      key: "target_modules",
      value: targets,
      why: targets === "all-linear" ? "every linear layer but the head" : "the layers asked for",
    },
  ];
  lines.push({
    key: "lora_dropout",
    value: dropout,
    why:
      dropout > 0 ? "keeps a masked copy of each adapted input" : "none: a dropout keeps copies for backward",
  });
  if (dora) lines.push({ key: "use_dora", value: true, why: "weight-decomposed, as asked for" });
  return lines;
}

export function quantizationLines(recipe: Recipe): Line[] {
  const quantization = recipe.method.kind === "lora" ? recipe.method.quantization : null;
  if (!quantization) return [];
  return [
    { key: "load_in_4bit", value: true, why: "frozen weights in 4 bits" },
    {
      key: "bnb_4bit_quant_type",
      value: quantization.type,
      why: "BitsAndBytesConfig would take fp4 if not told",
    },
    {
      key: "bnb_4bit_use_double_quant",
      value: quantization.doubleQuant,
      why: "the scales quantised too: about 0.4 bits a weight less; off if not told",
    },
    {
      key: "bnb_4bit_compute_dtype",
      value: `torch.${TORCH_DTYPE[quantization.computeDtype]!}`,
      why: "products in half precision; float32 if not told",
    },
  ];
}
