import type { Recipe } from "../plan/recipe.ts";
import { checkpointingKind, type Emitter, unsayable, type Vocabulary } from "./emitter.ts";
import { type Line, yaml } from "./lines.ts";
import { checkpointingWhy, loraLines, OPTIM, trainerLines } from "./settings.ts";

/** LLaMA-Factory 0.9, hparams. */
const CAN: Vocabulary = {
  loop: "trainer",
  optimizers: OPTIM,
  checkpointings: ["none", "full", "reentrant"],
  losses: ["default", "fused"],
  inBackward: false,
  prepares: false,
  spread: ["none", "ddp"],
};

const ATTENTION = { eager: "disabled", sdpa: "sdpa", flash_attention_2: "fa2" } as const;

/** Its own keys stand for these of TrainingArguments. */
const OWN = new Set(["gradient_checkpointing", "gradient_checkpointing_kwargs", "use_liger_kernel"]);

function cannot(recipe: Recipe): string | null {
  const { method, dtype, autocast } = recipe;
  const quantization = method.kind === "lora" ? method.quantization : null;
  // model/adapter.py: trained weights are float32 unless pure_bf16.
  const loaded = autocast === "bf16" && method.kind === "full" ? "fp32" : "bf16";
  if (autocast === "fp16" || dtype !== loaded)
    return `${dtype} weights ${autocast ? `under ${autocast}` : ""}`;
  if (quantization && quantization.computeDtype !== "bf16")
    return "4-bit weights computed in another type than bf16";
  return unsayable(recipe, CAN);
}

function adapter(recipe: Recipe): Line[] {
  if (recipe.method.kind !== "lora") return [];
  const { quantization } = recipe.method;
  return [
    ...loraLines(recipe).map(({ key, value, why }): Line => {
      if (key === "r") return { key: "lora_rank", value, why };
      if (key !== "target_modules") return { key, value, why };
      const names = Array.isArray(value) ? value.join(",") : "all";
      return { key: "lora_target", value: names, why };
    }),
    ...(quantization
      ? [
          { key: "quantization_method", value: "bnb", why: "bitsandbytes packs the frozen weights" },
          { key: "quantization_bit", value: 4, why: "into 4 bits" },
          { key: "quantization_type", value: quantization.type, why: "of this kind" },
          {
            key: "double_quantization",
            value: quantization.doubleQuant,
            why: "the scales are quantised too",
          },
        ]
      : []),
  ];
}

function lines(recipe: Recipe): Line[] {
  const kind = checkpointingKind(recipe.checkpointing);
  const result: Line[] = [
    { key: "model_name_or_path", value: recipe.model.name, why: "the model that was planned" },
    { key: "stage", value: "sft", why: "supervised fine-tuning" },
    { key: "do_train", value: true, why: "train" },
    { key: "finetuning_type", value: recipe.method.kind, why: "what trains" },
    ...adapter(recipe),
    { key: "dataset", value: "alpaca_en_demo", why: "yours: a name in data/dataset_info.json" },
    { key: "template", value: "default", why: "yours: the chat template of the model" },
    { key: "cutoff_len", value: recipe.seq, why: "tokens in a sequence" },
    {
      key: "packing",
      value: !recipe.mask,
      why: recipe.mask ? "one sample a row, padded" : "rows are filled with samples: no padding",
    },
    { key: "output_dir", value: "./out", why: "checkpoints go here" },
    {
      key: "pure_bf16",
      value: recipe.autocast === null,
      why: recipe.autocast === null ? "bf16 throughout, without autocast" : "autocast is used instead",
    },
    { key: "flash_attn", value: ATTENTION[recipe.attention], why: "as planned" },
    {
      key: "disable_gradient_checkpointing",
      value: kind === "none",
      why: checkpointingWhy(recipe),
    },
    {
      key: "use_reentrant_gc",
      value: recipe.checkpointing.reentrant,
      why: "which of PyTorch's two ways; the reentrant one if not told",
    },
    ...trainerLines(recipe).filter(({ key }) => !OWN.has(key)),
  ];
  if (recipe.loss === "fused")
    result.push({
      key: "enable_liger_kernel",
      value: true,
      why: "cross-entropy fused with the head: the logits never exist whole",
    });
  return result;
}

export const llamaFactory: Emitter = {
  name: "llamafactory",
  summary: "LLaMA-Factory's YAML",
  loop: "trainer",
  cannot,
  files: (recipe) => [
    {
      name: "llamafactory.yaml",
      text: `# Written by plimsoll fit. Usage: llamafactory-cli train llamafactory.yaml\n${yaml(lines(recipe))}`,
    },
  ],
};
