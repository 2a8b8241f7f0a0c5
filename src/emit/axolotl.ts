import type { Recipe } from "../plan/recipe.ts";
import { checkpointingKind, type Emitter, unsayable, type Vocabulary } from "./emitter.ts";
import { type Line, yaml } from "./lines.ts";
import { batchWhy, checkpointingWhy, loraLines, OPTIM, optimizerWhy } from "./settings.ts";

/** axolotl 0.19, utils/schemas. */
const CAN: Vocabulary = {
  loop: "trainer",
  optimizers: OPTIM,
  checkpointings: ["none", "full", "reentrant", "selective"],
  losses: ["default", "chunked", "fused"],
  inBackward: false,
  prepares: true,
  spread: ["none", "ddp"],
};

function cannot(recipe: Recipe): string | null {
  const { method, dtype, autocast } = recipe;
  if (dtype !== "bf16") return "weights in another type than bf16";
  // Documented as bf16: full, but utils/schemas/config.py takes only true, false and auto.
  if (autocast !== "bf16") return "bf16 weights without bf16 autocast";
  if (method.kind === "lora" && method.quantization) {
    const { type, doubleQuant, computeDtype } = method.quantization;
    if (type !== "nf4" || !doubleQuant || computeDtype !== dtype)
      return "4-bit weights other than NF4, doubled";
  }
  return unsayable(recipe, CAN);
}

const RENAMED: Readonly<Record<string, string>> = { r: "lora_r", use_dora: "peft_use_dora" };

function adapter(recipe: Recipe): Line[] {
  if (recipe.method.kind !== "lora") return [];
  const quantized = recipe.method.quantization !== null;
  return [
    {
      key: "adapter",
      value: quantized ? "qlora" : "lora",
      why: quantized ? "adapters over packed weights" : "adapters train, the weights do not",
    },
    ...(quantized ? [{ key: "load_in_4bit", value: true, why: "NF4 with quantised scales" }] : []),
    ...loraLines(recipe).map(({ key, value, why }): Line => {
      if (key !== "target_modules") return { key: RENAMED[key] ?? key, value, why };
      return value === "all-linear"
        ? { key: "lora_target_linear", value: true, why }
        : { key: "lora_target_modules", value, why };
    }),
  ];
}

function lines(recipe: Recipe): Line[] {
  const { loss, checkpointing, clip } = recipe;
  const kind = checkpointingKind(checkpointing);
  const result: Line[] = [
    { key: "base_model", value: recipe.model.name, why: "the model that was planned" },
    { key: "output_dir", value: "./out", why: "checkpoints go here" },
    { key: "sequence_len", value: recipe.seq, why: "tokens in a sequence; 512 if not told" },
    {
      key: "sample_packing",
      value: !recipe.mask,
      why: recipe.mask ? "one sample a row, padded" : "rows are filled with samples: no padding, no mask",
    },
    { key: "micro_batch_size", value: recipe.batch, why: `micro-batch: ${batchWhy(recipe)}` },
    {
      key: "gradient_accumulation_steps",
      value: recipe.accumulation,
      why: "micro-batches whose gradients are added up before a step",
    },
    { key: "optimizer", value: OPTIM[recipe.optimizer]!, why: optimizerWhy(recipe) },
    { key: "learning_rate", value: recipe.method.kind === "lora" ? 2e-4 : 1e-5, why: "yours to choose" },
    { key: "num_epochs", value: 1, why: "yours to choose" },
    { key: "max_grad_norm", value: clip ? 1 : 0, why: clip ? "clip the gradients' norm" : "no clipping" },
    { key: "bf16", value: true, why: "bf16 weights under autocast" },
    { key: "attn_implementation", value: recipe.attention, why: "as planned" },
    { key: "gradient_checkpointing", value: kind !== "none", why: checkpointingWhy(recipe) },
  ];
  if (kind !== "none")
    result.push({
      key: "gradient_checkpointing_kwargs",
      value: { use_reentrant: checkpointing.reentrant },
      why: "said, because PyTorch warns when it is not",
    });
  if (kind === "selective")
    result.push({ key: "selective_checkpointing", value: true, why: "keep what is dear to compute again" });
  if (loss === "chunked")
    result.push({ key: "chunked_cross_entropy", value: true, why: "logits a chunk at a time" });
  if (loss === "fused")
    result.push(
      { key: "plugins", value: ["axolotl.integrations.liger.LigerPlugin"], why: "brings Liger's kernels" },
      {
        key: "liger_fused_linear_cross_entropy",
        value: true,
        why: "cross-entropy fused with the head: the logits never exist whole",
      },
    );
  return [...result, ...adapter(recipe)];
}

export const axolotl: Emitter = {
  name: "axolotl",
  summary: "axolotl's YAML",
  loop: "trainer",
  always: { autocast: "bf16" },
  cannot,
  files: (recipe) => [
    {
      name: "axolotl.yaml",
      text: `# Written by plimsoll fit. Usage: axolotl train axolotl.yaml\n${yaml(lines(recipe))}# Yours: any dataset, in any of axolotl's formats.\ndatasets:\n  - path: ./data.jsonl\n    type: completion\n`,
    },
  ],
};
