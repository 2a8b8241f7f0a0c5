import { UserError } from "../base/errors.ts";
import type { Card } from "./cards.ts";
import { positions } from "./model.ts";
import type { Recipe } from "./recipe.ts";

/** What excludes what. */
export interface Rule {
  readonly id: string;
  readonly broken: (recipe: Recipe, card: Card | null) => boolean;
  readonly message: string;
  /** What is accepted. */
  readonly hint: string;
  /** Where the rule comes from. */
  readonly source: string;
}

const lora = (r: Recipe): boolean => r.method.kind === "lora";
const quantized = (r: Recipe): boolean => r.method.kind === "lora" && r.method.quantization !== null;
const autocastAdapters = (r: Recipe): boolean =>
  r.method.kind === "lora" && r.method.adapter.autocast === true;
const half = (r: Recipe): boolean => r.autocast !== null || r.dtype !== "fp32";
const bitsandbytes = (r: Recipe): boolean =>
  /bnb|paged|lion/.test(r.optimizer) && !r.optimizer.includes("torchao");

export const RULES: readonly Rule[] = [
  {
    id: "in-backward-accumulation",
    broken: (r) => r.optimizerInBackward && r.accumulation > 1,
    message: "--optimizer-in-backward uses each gradient at once, so it cannot accumulate",
    hint: "--accumulation 1, or drop --optimizer-in-backward",
    source: "PyTorch tutorial: how to save memory by fusing the optimizer step into the backward pass",
  },
  {
    id: "in-backward-clip",
    broken: (r) => r.optimizerInBackward && r.clip,
    message: "--optimizer-in-backward never has all gradients at once, so their norm cannot be clipped",
    hint: "add --no-clip, or drop --optimizer-in-backward",
    source: "PyTorch tutorial: how to save memory by fusing the optimizer step into the backward pass",
  },
  {
    id: "in-backward-trainer",
    broken: (r) => r.optimizerInBackward && r.loop !== "plain",
    message: "--optimizer-in-backward needs hooks that transformers' Trainer does not set",
    hint: "--loop plain",
    source: "transformers/trainer.py: one optimizer.step() after each accumulated batch",
  },
  {
    id: "host-clip",
    broken: (r) => r.optimizerOnHost && r.clip,
    message: "--optimizer-host steps each parameter as its gradient arrives: no clipping",
    hint: "add --no-clip, or drop --optimizer-host",
    source: "torchao/optim/README.md: gradient clipping is not supported with CPUOffloadOptimizer",
  },
  {
    id: "host-optimizer",
    broken: (r) => r.optimizerOnHost && !/^adamw_(foreach|fused|loop)$/.test(r.optimizer),
    message: "--optimizer-host is planned for AdamW in full precision only",
    hint: "--optimizer adamw",
    source: "the host optimizer simulated is torchao's CPUOffloadOptimizer over AdamW",
  },
  {
    id: "flash-fp32",
    broken: (r) => r.attention === "flash_attention_2" && !half(r),
    message: "--attention flash_attention_2 takes half precision only",
    hint: "--dtype bf16, --dtype fp16 or --autocast bf16; or --attention sdpa",
    source: "flash-attn README: datatype fp16 and bf16",
  },
  {
    id: "flash-card",
    broken: (r, card) => r.attention === "flash_attention_2" && card !== null && card.capability < 8,
    message: "--attention flash_attention_2 needs a card of compute capability 8.0 or above",
    hint: "--attention sdpa, or another card",
    source: "flash-attn README: Ampere, Ada or Hopper GPUs",
  },
  {
    id: "scaler-fp16-weights",
    broken: (r) => r.autocast === "fp16" && r.dtype === "fp16" && !lora(r),
    message: "--autocast fp16 over fp16 weights: the gradient scaler refuses to unscale fp16 gradients",
    hint: "--dtype fp32 with --autocast fp16, or --autocast bf16",
    source: "torch/amp/grad_scaler.py: Attempting to unscale FP16 gradients",
  },
  {
    id: "dora-nonlinearity",
    broken: (r) =>
      r.method.kind === "lora" && r.method.adapter.dora && r.method.adapter.nonlinearity !== "none",
    message: "--dora and --nonlinearity change the same bottleneck",
    hint: "one of them",
    source: "PEFT: a LoRA variant replaces the layer's forward",
  },
  {
    id: "autocast-adapters",
    broken: (r) =>
      autocastAdapters(r) &&
      (r.dtype === "fp32" ||
        r.autocast !== null ||
        r.loop !== "plain" ||
        !/^(?:none|ddp)$/.test(r.parallel.kind) ||
        (r.method.kind === "lora" && (r.method.adapter.dora || r.method.adapter.nonlinearity !== "none"))),
    message: "--autocast-adapters is for plain LoRA beside weights in half precision, in a loop of one's own",
    hint: "--dtype bf16 --loop plain, on one card or with --ddp",
    source: "peft.helpers.disable_input_dtype_casting: autocast, or something else, has to cast in its place",
  },
  {
    id: "bnb-fsdp2",
    broken: (r) => r.parallel.kind === "fsdp2" && bitsandbytes(r),
    message: "bitsandbytes' optimizers do not work on FSDP2's sharded tensors",
    hint: "--optimizer adamw-8bit-torchao",
    source: "torchao/optim/README.md: comparison with bitsandbytes; DTensor support",
  },
  {
    id: "peft-zero3-reentrant",
    broken: (r) =>
      r.parallel.kind === "zero3" && lora(r) && r.checkpointing.kind !== "none" && !r.checkpointing.reentrant,
    message: "PEFT under ZeRO-3 needs reentrant checkpointing",
    hint: "--checkpointing=reentrant",
    source: "PEFT documentation, DeepSpeed guide: use_reentrant=True with ZeRO-3",
  },
  {
    id: "parallel-quantized",
    broken: (r) => /^(?:fsdp2|zero3|tensor|pipeline)$/.test(r.parallel.kind) && quantized(r),
    message: "weights in 4 bits that are sharded over cards are not planned",
    hint: "--ddp or --zero 2 with QLoRA, or LoRA without 4-bit weights",
    source: "bitsandbytes' packed weights need quant_storage and a loader of their own to be sharded",
  },
  {
    id: "pipeline-frozen",
    broken: (r) => r.parallel.kind === "pipeline" && r.method.kind === "full" && r.method.frozenLayers > 0,
    message: "--freeze is not planned with --pipeline",
    hint: "--fsdp or --ddp with frozen layers",
    source: "a stage of frozen layers alone has nothing to send back; torch's stages expect a gradient",
  },
  {
    id: "parallel-in-backward",
    broken: (r) => r.parallel.kind !== "none" && (r.optimizerInBackward || r.optimizerOnHost),
    message: "--optimizer-in-backward and --optimizer-host are planned on one card only",
    hint: "drop it, or --cards of one",
    source: "DDP, FSDP2 and DeepSpeed reduce gradients before the optimizer may see them",
  },
];

/** The bounds of what is counted; beyond them a number is a slip. */
const BOUNDS = [
  { option: "--batch", value: (r: Recipe): number => r.batch, most: 65_536 },
  { option: "--seq", value: (r: Recipe): number => r.seq, most: 1 << 24 },
  { option: "--accumulation", value: (r: Recipe): number => r.accumulation, most: 4096 },
  { option: "--logits-to-keep", value: (r: Recipe): number => r.logitsToKeep ?? 1, most: 1 << 24 },
  { option: "--eval-batch", value: (r: Recipe): number => r.evaluation?.batch ?? 1, most: 65_536 },
] as const;

/** More tokens than any card has room for the ids of, and more than sizes can be added up exactly for. */
const MOST_TOKENS = 1 << 28;

/** Throws a UserError that names the first thing wrong with a recipe. */
export function checkRecipe(recipe: Recipe, card: Card | null): void {
  for (const { option, value, most } of BOUNDS) {
    const number = value(recipe);
    if (!Number.isInteger(number) || number < 1 || number > most) {
      throw new UserError(
        `${option} is ${number}`,
        `Expected a whole number from 1 to ${most.toLocaleString("en")}.`,
      );
    }
  }
  if (recipe.batch * recipe.seq > MOST_TOKENS) {
    throw new UserError(
      `--batch ${recipe.batch} × --seq ${recipe.seq} is ${(recipe.batch * recipe.seq).toLocaleString("en")} tokens`,
      `Expected at most ${MOST_TOKENS.toLocaleString("en")} in a micro-batch.`,
    );
  }
  if (!(recipe.labelled > 0 && recipe.labelled <= 1)) {
    throw new UserError(`--labelled is ${recipe.labelled}`, "Expected a share above 0, up to 1.");
  }
  if (recipe.logitsToKeep !== null && recipe.logitsToKeep > recipe.seq) {
    throw new UserError(
      `--logits-to-keep is ${recipe.logitsToKeep}`,
      `Expected 1 to ${recipe.seq}, the --seq.`,
    );
  }
  const most = positions(recipe.model.config);
  if (most !== null && recipe.seq > most.value) {
    throw new UserError(
      `--seq ${recipe.seq} is beyond the model's positions: "${most.key}" is ${most.value}`,
      `Expected 1 to ${most.value}.`,
    );
  }
  checkMethod(recipe);
  for (const rule of RULES) if (rule.broken(recipe, card)) throw new UserError(rule.message, rule.hint);
}

function checkMethod({ method, model }: Recipe): void {
  const layers = Number(model.config["num_hidden_layers"] ?? model.config["n_layer"]);
  if (method.kind === "full" && (method.frozenLayers < 0 || method.frozenLayers > layers)) {
    throw new UserError(`--freeze is ${method.frozenLayers}`, `Expected 0 to ${layers}, the model's layers.`);
  }
  const adapter = method.kind === "full" ? null : method.adapter;
  if (!adapter) return;
  const { rank, dropout } = adapter;
  if (!Number.isInteger(rank) || rank < 1 || rank > 65_536)
    throw new UserError(`--rank is ${rank}`, "Expected a whole number from 1 to 65,536.");
  if (!(dropout >= 0 && dropout < 1))
    throw new UserError(`--lora-dropout is ${dropout}`, "Expected a number from 0 to below 1.");
}

/** What runs, but not as its author may expect. */
export function cautions(recipe: Recipe, card: Card | null): string[] {
  const { method, dtype, attention } = recipe;
  const { config } = recipe.model;
  const experts = config["num_local_experts"] ?? config["num_experts"];
  return [
    // transformers 5.17, models/bloom/modeling_bloom.py: neither is supported.
    ...(config["model_type"] === "bloom" && attention !== "eager"
      ? [`bloom has no ${attention} attention: planned as eager, which holds the whole score matrix`]
      : []),
    ...(method.kind === "lora" && method.quantization && experts
      ? [`the experts stay in ${dtype}: they are not linear layers, so bitsandbytes does not quantise them`]
      : []),
    ...(dtype === "bf16" && card !== null && card.capability < 8
      ? [`the ${card.name} has no bf16 units: fp16 is much faster on it`]
      : []),
  ];
}

/** One change to a recipe that may lower its peak. */
export interface Lever {
  readonly name: string;
  /** What it costs, in words. */
  readonly cost: string;
  /** The changed recipe, or null where it does not apply. */
  readonly apply: (recipe: Recipe) => Recipe | null;
}

const plainAdam = (r: Recipe): boolean =>
  /^adamw_(foreach|fused|loop)$/.test(r.optimizer) && !r.optimizerOnHost;

/** Tried one by one on every plan. Costs: measured on one H200 where a number stands (docs/accuracy.md). */
export const LEVERS: readonly Lever[] = [
  {
    name: "full gradient checkpointing",
    cost: "30 to 43 % more time a step",
    apply: (r) =>
      r.checkpointing.kind === "full" && r.checkpointing.every === 1
        ? null
        : { ...r, checkpointing: { kind: "full", reentrant: false, every: 1, offload: false } },
  },
  {
    name: "chunked cross-entropy",
    cost: "about 2 % more time a step",
    apply: (r) => (r.loss === "default" && r.loop !== "sft" ? { ...r, loss: "chunked" } : null),
  },
  {
    name: "half the micro-batch, twice the accumulation",
    cost: "more, smaller kernels",
    apply: (r) =>
      r.batch > 1 && r.batch % 2 === 0 && !r.optimizerInBackward
        ? { ...r, batch: r.batch / 2, accumulation: r.accumulation * 2 }
        : null,
  },
  {
    name: "8-bit optimizer",
    cost: "not bit-exact",
    apply: (r) => (plainAdam(r) ? { ...r, optimizer: "adamw_bnb_8bit" } : null),
  },
  {
    name: "QLoRA (NF4, double quantisation)",
    cost: "1.5 to 2 times slower, not exact",
    apply: (r) =>
      r.method.kind === "lora" && !r.method.quantization && r.dtype !== "fp32"
        ? {
            ...r,
            method: {
              ...r.method,
              quantization: { type: "nf4", doubleQuant: true, computeDtype: r.dtype, prepared: false },
            },
          }
        : null,
  },
  {
    name: "LoRA, rank 16, on all linear layers",
    cost: "trains adapters instead of the weights",
    apply: (r) =>
      r.method.kind === "full"
        ? {
            ...r,
            optimizerInBackward: false,
            method: {
              kind: "lora",
              quantization: null,
              adapter: { rank: 16, dropout: 0, targets: "all-linear", dora: false, nonlinearity: "none" },
            },
          }
        : null,
  },
  {
    name: "bf16 weights",
    cost: "updates round to bf16",
    apply: (r) => (r.dtype === "fp32" ? { ...r, dtype: "bf16", autocast: null } : null),
  },
  {
    name: "optimizer state in host memory, no clipping",
    cost: "host memory and PCIe traffic",
    apply: (r) => (plainAdam(r) ? { ...r, optimizerOnHost: true, clip: false } : null),
  },
  {
    name: "optimizer stepped inside backward, no clipping",
    cost: "no accumulation",
    apply: (r) =>
      !r.optimizerInBackward && r.accumulation === 1 && r.loop === "plain"
        ? { ...r, optimizerInBackward: true, clip: false }
        : null,
  },
  {
    name: "checkpoints in host memory",
    cost: "host memory and PCIe traffic",
    apply: (r) =>
      r.checkpointing.kind === "full" && !r.checkpointing.offload
        ? { ...r, checkpointing: { ...r.checkpointing, reentrant: false, offload: true } }
        : null,
  },
  {
    name: "fused attention (sdpa)",
    cost: "none",
    apply: (r) => (r.attention === "eager" ? { ...r, attention: "sdpa" } : null),
  },
  {
    name: "expandable segments",
    cost: "none measured",
    apply: (r) =>
      r.allocConf.includes("expandable_segments")
        ? null
        : { ...r, allocConf: [r.allocConf, "expandable_segments:True"].filter(Boolean).join(",") },
  },
];
