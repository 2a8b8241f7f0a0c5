import type { OptimizerName } from "../optimizers/optimizers.ts";
import type { Recipe } from "../plan/recipe.ts";
import { checkpointingKind, type Emitter, unsayable, type Vocabulary } from "./emitter.ts";
import { type Line, type Value, yaml } from "./lines.ts";
import { batchWhy, checkpointingWhy, optimizerWhy } from "./settings.ts";

/** Components that make the same optimizers. */
const OPTIMIZERS: Partial<Record<OptimizerName, { readonly [key: string]: Value }>> = {
  adamw_fused: { _component_: "torch.optim.AdamW", fused: true },
  adamw_foreach: { _component_: "torch.optim.AdamW" },
  adamw_bnb_8bit: { _component_: "bitsandbytes.optim.AdamW8bit" },
  paged_adamw: { _component_: "bitsandbytes.optim.PagedAdamW" },
  paged_adamw_8bit: { _component_: "bitsandbytes.optim.PagedAdamW8bit" },
};

/** torchtune 0.6.1, recipes/*_single_device.py. Its chunked loss still holds all logits: plans have no such loss. */
const CAN: Vocabulary = {
  loop: "plain",
  optimizers: Object.fromEntries(Object.keys(OPTIMIZERS).map((name) => [name, name])),
  checkpointings: ["none", "full", "offload"],
  losses: ["default"],
  inBackward: true,
  prepares: false,
  spread: ["none"],
};

interface Builder {
  readonly package: string;
  readonly model: string;
  readonly tokenizer: { readonly [key: string]: string };
  readonly type: string;
}

const QWEN = {
  _component_: "torchtune.models.qwen2_5.qwen2_5_tokenizer",
  path: "vocab.json",
  merges_file: "merges.txt",
};
const LLAMA3 = { _component_: "torchtune.models.llama3.llama3_tokenizer", path: "original/tokenizer.model" };
const LLAMA2 = { _component_: "torchtune.models.llama2.llama2_tokenizer", path: "tokenizer.model" };

const builder = (pack: string, model: string, tokenizer: Builder["tokenizer"], type: string): Builder => ({
  package: pack,
  model,
  tokenizer,
  type,
});

/** torchtune/models: a builder for each size it knows. */
const BUILDERS: Readonly<Record<string, Builder>> = {
  "Qwen2.5-0.5B": builder("qwen2_5", "qwen2_5_0_5b", QWEN, "QWEN2"),
  "Qwen2.5-1.5B": builder("qwen2_5", "qwen2_5_1_5b_base", QWEN, "QWEN2"),
  "Qwen2.5-3B": builder("qwen2_5", "qwen2_5_3b", QWEN, "QWEN2"),
  "Qwen2.5-7B": builder("qwen2_5", "qwen2_5_7b_base", QWEN, "QWEN2"),
  "Qwen2.5-14B": builder("qwen2_5", "qwen2_5_14b_base", QWEN, "QWEN2"),
  "Llama-3.1-8B": builder("llama3_1", "llama3_1_8b", LLAMA3, "LLAMA3"),
  "Llama-3.1-70B": builder("llama3_1", "llama3_1_70b", LLAMA3, "LLAMA3"),
  "Llama-3.2-1B": builder("llama3_2", "llama3_2_1b", LLAMA3, "LLAMA3_2"),
  "Llama-3.2-3B": builder("llama3_2", "llama3_2_3b", LLAMA3, "LLAMA3_2"),
  "Llama-2-7b-hf": builder("llama2", "llama2_7b", LLAMA2, "LLAMA2"),
  "Llama-2-13b-hf": builder("llama2", "llama2_13b", LLAMA2, "LLAMA2"),
};

const shortName = ({ model }: Recipe): string => model.name.slice(model.name.lastIndexOf("/") + 1);

const ATTENTION = ["q_proj", "k_proj", "v_proj", "o_proj"];
const MLP = ["gate_proj", "up_proj", "down_proj"];

function cannot(recipe: Recipe): string | null {
  const { method } = recipe;
  if (!BUILDERS[shortName(recipe)]) return `the model ${recipe.model.name}: no builder is known for it`;
  if (recipe.dtype === "fp16" || recipe.autocast !== null) return "autocast";
  if (recipe.attention !== "sdpa") return `${recipe.attention} attention`;
  if (recipe.mask) return "a padding mask";
  if (method.kind === "lora") {
    const { targets } = method.adapter;
    const named = targets === "all-linear" ? [...ATTENTION, ...MLP] : targets;
    const mlp = MLP.filter((name) => named.includes(name)).length;
    if (mlp !== 0 && mlp !== MLP.length) return "adapters on a part of the MLP";
    if (named.some((name) => !ATTENTION.includes(name) && !MLP.includes(name))) return "those LoRA targets";
    if (method.quantization && !method.quantization.doubleQuant)
      return "4-bit weights without double quantisation";
    if (recipe.optimizerInBackward) return "LoRA stepped inside backward";
  }
  return unsayable(recipe, CAN);
}

function modelTable(recipe: Recipe, { package: pack, model }: Builder): { readonly [key: string]: Value } {
  const { method } = recipe;
  if (method.kind !== "lora") return { _component_: `torchtune.models.${pack}.${model}` };
  const { targets, rank, dropout, dora } = method.adapter;
  const named = targets === "all-linear" ? [...ATTENTION, ...MLP] : targets;
  return {
    _component_: `torchtune.models.${pack}.lora_${model}`,
    lora_attn_modules: ATTENTION.filter((name) => named.includes(name)).map((name) =>
      name === "o_proj" ? "output_proj" : name,
    ),
    apply_lora_to_mlp: named.includes("gate_proj"),
    lora_rank: rank,
    lora_alpha: 2 * rank,
    lora_dropout: dropout,
    ...(dora ? { use_dora: true } : {}),
    ...(method.quantization ? { quantize_base: true } : {}),
  };
}

function lines(recipe: Recipe): Line[] {
  const made = BUILDERS[shortName(recipe)]!;
  const folder = `./${shortName(recipe)}`;
  const kind = checkpointingKind(recipe.checkpointing);
  const { _component_, ...paths } = made.tokenizer;
  const files = Object.fromEntries(Object.entries(paths).map(([key, name]) => [key, `${folder}/${name}`]));
  return [
    { key: "output_dir", value: "./out", why: "checkpoints go here" },
    { key: "model", value: modelTable(recipe, made), why: "the model that was planned, and what trains" },
    {
      key: "tokenizer",
      value: { _component_: _component_!, ...files, max_seq_len: recipe.seq },
      why: "tokens in a sequence",
    },
    {
      key: "checkpointer",
      value: {
        _component_: "torchtune.training.FullModelHFCheckpointer",
        checkpoint_dir: folder,
        checkpoint_files: {
          filename_format: "model-{}-of-{}.safetensors",
          max_filename: "00004",
        },
        output_dir: "./out",
        model_type: made.type,
      },
      why: `filled by: tune download ${recipe.model.name} --output-dir ${folder} (max_filename: as many files as there are)`,
    },
    {
      key: "dataset",
      value: { _component_: "torchtune.datasets.alpaca_cleaned_dataset", packed: false },
      why: "yours; packed rows would carry a block mask",
    },
    { key: "shuffle", value: true, why: "yours to choose" },
    { key: "seed", value: 0, why: "yours to choose" },
    { key: "epochs", value: 1, why: "yours to choose" },
    { key: "batch_size", value: recipe.batch, why: `micro-batch: ${batchWhy(recipe)}` },
    {
      key: "gradient_accumulation_steps",
      value: recipe.accumulation,
      why: "micro-batches whose gradients are added up before a step",
    },
    {
      key: "optimizer",
      value: { ...OPTIMIZERS[recipe.optimizer]!, lr: recipe.method.kind === "lora" ? 2e-4 : 1e-5 },
      why: optimizerWhy(recipe),
    },
    {
      key: "optimizer_in_bwd",
      value: recipe.optimizerInBackward,
      why: recipe.optimizerInBackward
        ? "each gradient is used and freed at once"
        : "gradients wait for the step",
    },
    {
      key: "clip_grad_norm",
      value: recipe.clip ? 1 : null,
      why: recipe.clip ? "clip the gradients' norm" : "no clipping",
    },
    {
      key: "loss",
      value: { _component_: "torch.nn.CrossEntropyLoss" },
      why: "all logits at once",
    },
    { key: "enable_activation_checkpointing", value: kind !== "none", why: checkpointingWhy(recipe) },
    {
      key: "enable_activation_offloading",
      value: kind === "offload",
      why: kind === "offload" ? "layer inputs wait in host memory" : "nothing waits in host memory",
    },
    { key: "compile", value: false, why: "eager, as planned" },
    { key: "device", value: "cuda", why: "the card" },
    { key: "dtype", value: recipe.dtype, why: "type of weights and arithmetic" },
    {
      key: "metric_logger",
      value: { _component_: "torchtune.training.metric_logging.DiskLogger", log_dir: "./out/logs" },
      why: "where the loss goes",
    },
  ];
}

export const torchtune: Emitter = {
  name: "torchtune",
  summary: "torchtune's YAML",
  loop: "plain",
  cannot,
  files: (recipe) => {
    const program =
      recipe.method.kind === "lora" ? "lora_finetune_single_device" : "full_finetune_single_device";
    return [
      {
        name: "torchtune.yaml",
        text: `# Written by plimsoll fit. Usage: tune run ${program} --config torchtune.yaml\n${yaml(lines(recipe))}`,
      },
    ];
  },
};
