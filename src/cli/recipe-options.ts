import { UserError } from "../base/errors.ts";
import type { LossName } from "../losses/losses.ts";
import type { Attention } from "../nets/net.ts";
import type { OptimizerName } from "../optimizers/optimizers.ts";
import type { Dtype } from "../autograd/dtype.ts";
import {
  type Adapter,
  type Checkpointing,
  DEFAULT_RECIPE,
  type Evaluation,
  type Loop,
  type Method,
  type Parallel,
  type Quantization,
  type Recipe,
} from "../plan/recipe.ts";
import type { Input, Option } from "./command.ts";
import { nearest } from "./suggest.ts";

type Values = Input["options"];

const METHODS = ["full", "lora", "qlora", "qat"] as const;
const QUANTIZATIONS = ["nf4", "nf4-double", "fp4", "fp4-double"] as const;

/** What a user may write for each optimizer: TrainingArguments' `optim` names work too. */
const OPTIMIZER_WORDS: Readonly<Record<string, OptimizerName>> = {
  adamw: "adamw_fused",
  "adamw-fused": "adamw_fused",
  "adamw-foreach": "adamw_foreach",
  "adamw-loop": "adamw_loop",
  "adamw-8bit": "adamw_bnb_8bit",
  "adamw-8bit-torchao": "adamw_torchao_8bit",
  "paged-adamw": "paged_adamw",
  "paged-adamw-8bit": "paged_adamw_8bit",
  adafactor: "adafactor",
  lion: "lion",
  "lion-8bit": "lion_8bit",
  sgd: "sgd",
  "sgd-momentum": "sgd_momentum",
  adamw_torch: "adamw_foreach",
  adamw_torch_fused: "adamw_fused",
  adamw_torch_8bit: "adamw_torchao_8bit",
  adamw_bnb_8bit: "adamw_bnb_8bit",
  adamw_8bit: "adamw_bnb_8bit",
  paged_adamw_32bit: "paged_adamw",
  paged_adamw_8bit: "paged_adamw_8bit",
  lion_32bit: "lion",
  lion_8bit: "lion_8bit",
};

/** Every choice of a recipe as an option, the same in each command that takes one. */
export const RECIPE_OPTIONS: Readonly<Record<string, Option>> = {
  model: { type: "string", value: "MODEL", summary: "the model, where FILE names none or another is meant" },
  method: { type: "string", value: "NAME", summary: "what trains", choices: METHODS },
  rank: { type: "string", value: "N", summary: "LoRA's rank (default 16)" },
  "lora-dropout": { type: "string", value: "P", summary: "LoRA's dropout (default 0)" },
  targets: {
    type: "string",
    value: "NAMES",
    summary: "layers LoRA adapts: a comma list, or all-linear (default all-linear)",
  },
  dora: { type: "boolean", summary: "weight-decomposed LoRA" },
  nonlinearity: {
    type: "string",
    value: "NAME",
    summary: "a learned function on LoRA's bottleneck",
    choices: ["none", "fourier"],
  },
  "autocast-adapters": {
    type: "boolean",
    summary: "LoRA computes in the model's half precision, its weights stay fp32 (PEFT casts inputs to fp32)",
  },
  quant: {
    type: "string",
    value: "TYPE",
    summary: "QLoRA's 4-bit type (default nf4-double)",
    choices: QUANTIZATIONS,
  },
  "kbit-prepared": {
    type: "boolean",
    summary: "QLoRA after prepare_model_for_kbit_training: the other weights in fp32",
  },
  bits: {
    type: "string",
    value: "LIST",
    summary: "quantisation-aware training: bit-widths it switches between, such as 4,8 (alone: 8)",
  },
  freeze: {
    type: "string",
    value: "N",
    summary: "full training without the first N layers and the embedding",
  },
  dtype: {
    type: "string",
    value: "TYPE",
    summary: "type the weights are loaded in (default bf16)",
    choices: ["bf16", "fp16", "fp32"],
  },
  autocast: {
    type: "string",
    value: "TYPE",
    summary: "compute under autocast",
    choices: ["bf16", "fp16"],
  },
  attention: {
    type: "string",
    value: "NAME",
    summary: "attention implementation (default sdpa)",
    choices: ["sdpa", "eager", "flash_attention_2"],
  },
  batch: { type: "string", value: "N", summary: "sequences in a micro-batch (default 1)" },
  seq: {
    type: "string",
    value: "N",
    summary: "tokens in a sequence (default 2048, or the model's positions)",
  },
  accumulation: { type: "string", value: "N", summary: "micro-batches in a step (default 1)" },
  mask: { type: "boolean", summary: "an attention mask is passed with the batch" },
  labelled: { type: "string", value: "SHARE", summary: "share of the tokens that have a label (default 1)" },
  "logits-to-keep": {
    type: "string",
    value: "N",
    summary: "positions from the end that get logits (default all)",
  },
  save: { type: "boolean", summary: "a checkpoint is written at the end: show what stands on the card then" },
  "eval-batch": { type: "string", value: "N", summary: "evaluate after the steps, N sequences at a time" },
  "eval-kept-logits": {
    type: "string",
    value: "N",
    summary: "evaluation batches whose logits stay on the card (default 0)",
  },
  checkpointing: {
    type: "string",
    alone: "full",
    value: "KIND",
    summary: "recompute layers in backward: full, reentrant, every:K, selective or offload (alone: full)",
  },
  optimizer: {
    type: "string",
    value: "NAME",
    summary: "optimizer (default adamw; adamw-8bit, adafactor, lion …)",
  },
  "optimizer-host": { type: "boolean", summary: "optimizer state and a copy of the weights in host memory" },
  "optimizer-in-backward": {
    type: "boolean",
    summary: "step each parameter as soon as its gradient is ready",
  },
  loss: {
    type: "string",
    value: "KIND",
    summary: "cross-entropy: transformers' own, in chunks, or Liger's fused",
    choices: ["default", "chunked", "fused"],
  },
  "no-clip": { type: "boolean", summary: "do not clip the gradients' norm" },
  loop: {
    type: "string",
    value: "NAME",
    summary: "training loop: plain PyTorch, transformers' Trainer, TRL's SFTTrainer (default plain)",
    choices: ["plain", "trainer", "sft"],
  },
  zero: { type: "string", value: "STAGE", summary: "DeepSpeed ZeRO", choices: ["1", "2", "3"] },
  fsdp: { type: "boolean", summary: "FSDP2: parameters, gradients and optimizer state sharded" },
  ddp: { type: "boolean", summary: "a whole copy on each card, gradients averaged" },
  tensor: { type: "boolean", summary: "tensor parallel: each layer divided over the cards" },
  pipeline: {
    type: "boolean",
    summary: "layers divided over the cards, 1F1B; --accumulation is its micro-batches",
  },
  offload: {
    type: "boolean",
    summary: "with --zero or --fsdp: what is sharded rests in host memory",
  },
  "alloc-conf": { type: "string", value: "SETTINGS", summary: "as in PYTORCH_CUDA_ALLOC_CONF" },
};

/** The recipe that the options describe; what they do not say is taken from `base`. */
export function recipeFrom(
  values: Values,
  model: Recipe["model"],
  cards: number,
  base: Omit<Recipe, "model"> = DEFAULT_RECIPE,
): Recipe {
  return {
    ...base,
    model,
    method: methodFrom(values, base.method),
    dtype: (values["dtype"] as Dtype | undefined) ?? base.dtype,
    autocast: (values["autocast"] as Recipe["autocast"] | undefined) ?? base.autocast,
    attention: (values["attention"] as Attention | undefined) ?? base.attention,
    checkpointing: checkpointingFrom(values["checkpointing"] as string | undefined, base.checkpointing),
    loss: (values["loss"] as LossName | undefined) ?? base.loss,
    optimizer: optimizerFrom(values["optimizer"] as string | undefined, base.optimizer),
    optimizerOnHost: values["optimizer-host"] === true || base.optimizerOnHost,
    optimizerInBackward: values["optimizer-in-backward"] === true || base.optimizerInBackward,
    clip: values["no-clip"] !== true && base.clip,
    batch: whole(values, "batch", base.batch),
    seq: whole(values, "seq", base.seq),
    accumulation: whole(values, "accumulation", base.accumulation),
    mask: values["mask"] === true || base.mask,
    labelled: number(values, "labelled", base.labelled),
    logitsToKeep: "logits-to-keep" in values ? whole(values, "logits-to-keep", 0) : base.logitsToKeep,
    evaluation: evaluationFrom(values, base.evaluation),
    ...(values["save"] === true || base.saves ? { saves: true } : {}),
    loop: (values["loop"] as Loop | undefined) ?? base.loop,
    parallel: parallelFrom(values, cards, base.parallel),
    allocConf: (values["alloc-conf"] as string | undefined) ?? base.allocConf,
  };
}

/** Bit-widths of the fake quantisers: they change the numbers, not the memory. */
function bitsFrom(text: string | undefined): number[] {
  const bits = (text ?? "8").split(",").map(Number);
  if (bits.every((n) => Number.isInteger(n) && n >= 2 && n <= 16)) return bits;
  throw new UserError(`--bits is ${text}`, "whole numbers from 2 to 16, such as 4,8");
}

function methodFrom(values: Values, base: Method): Method {
  const given = values["method"] as (typeof METHODS)[number] | undefined;
  const adapting = ["rank", "lora-dropout", "targets", "dora", "nonlinearity", "autocast-adapters"].filter(
    (name) => name in values,
  );
  const packing = ["quant", "kbit-prepared"].filter((name) => name in values);
  const other = ["freeze", "bits"].some((name) => name in values);
  if (given === undefined && packing.length + adapting.length === 0 && !other) return base;
  const usual =
    base.kind === "lora" && base.quantization ? "qlora" : base.kind === "full" ? "lora" : base.kind;
  const method = given ?? (packing.length > 0 ? "qlora" : adapting.length > 0 ? usual : "full");
  const adapter = base.kind === "full" ? null : base.adapter;
  if (method === "full" && adapting.length > 0)
    throw new UserError(`--${adapting[0]} has no meaning with --method full`, "--method lora or qlora");
  if (method !== "qlora" && packing.length > 0)
    throw new UserError(`--${packing[0]} has no meaning with --method ${method}`, "--method qlora");
  if (method !== "qat" && "bits" in values)
    throw new UserError(`--bits has no meaning with --method ${method}`, "--method qat");
  if (method !== "full" && "freeze" in values)
    throw new UserError(`--freeze has no meaning with --method ${method}`, "--method full");
  switch (method) {
    case "full":
      return { kind: "full", frozenLayers: whole(values, "freeze", 0) };
    case "qat":
      return {
        kind: "qat",
        bits: bitsFrom(values["bits"] as string | undefined),
        adapter: adapting.length > 0 ? adapterFrom(values, adapter) : null,
      };
    case "lora":
    case "qlora":
      return {
        kind: "lora",
        adapter: adapterFrom(values, adapter),
        quantization: method === "qlora" ? quantizationFrom(values) : null,
      };
  }
}

function adapterFrom(values: Values, base: Adapter | null): Adapter {
  const targets = values["targets"] as string | undefined;
  const names = targets?.split(",").map((name) => name.trim());
  if (names?.includes(""))
    throw new UserError(`--targets "${targets}" has an empty name`, "q_proj,v_proj or all-linear");
  return {
    rank: whole(values, "rank", base?.rank ?? 16),
    dropout: number(values, "lora-dropout", base?.dropout ?? 0),
    targets: targets === "all-linear" ? targets : (names ?? base?.targets ?? "all-linear"),
    dora: values["dora"] === true || (base?.dora ?? false),
    nonlinearity:
      (values["nonlinearity"] as Adapter["nonlinearity"] | undefined) ?? base?.nonlinearity ?? "none",
    ...(values["autocast-adapters"] === true || base?.autocast ? { autocast: true } : {}),
  };
}

function quantizationFrom(values: Values): Quantization {
  const given = (values["quant"] as (typeof QUANTIZATIONS)[number] | undefined) ?? "nf4-double";
  return {
    type: given.startsWith("nf4") ? "nf4" : "fp4",
    doubleQuant: given.endsWith("-double"),
    computeDtype: (values["dtype"] as Dtype | undefined) ?? DEFAULT_RECIPE.dtype,
    prepared: values["kbit-prepared"] === true,
  };
}

function checkpointingFrom(text: string | undefined, base: Checkpointing): Checkpointing {
  const none = DEFAULT_RECIPE.checkpointing;
  const every = /^every:(\d+)$/.exec(text ?? "");
  if (every && Number(every[1]) >= 1 && Number(every[1]) <= 1024)
    return { ...none, kind: "full", every: Number(every[1]) };
  switch (text) {
    case undefined:
      return base;
    case "none":
      return none;
    case "full":
      return { ...none, kind: "full" };
    case "reentrant":
      return { ...none, kind: "full", reentrant: true };
    case "selective":
      return { ...none, kind: "selective" };
    case "offload":
      return { ...none, kind: "full", offload: true };
    default:
      throw new UserError(
        `--checkpointing cannot be "${text}"`,
        "one of: none, full, reentrant, every:K, selective, offload",
      );
  }
}

function optimizerFrom(text: string | undefined, base: OptimizerName): OptimizerName {
  if (text === undefined) return base;
  const word = text.toLowerCase();
  const found = OPTIMIZER_WORDS[word] ?? OPTIMIZER_WORDS[word.replaceAll("_", "-")];
  if (found) return found;
  const words = Object.keys(OPTIMIZER_WORDS);
  const guess = nearest(word, words);
  throw new UserError(
    `--optimizer cannot be "${text}"${guess ? ` (did you mean ${guess}?)` : ""}`,
    `one of: ${words.filter((name) => !name.includes("_")).join(", ")}`,
  );
}

function evaluationFrom(values: Values, base: Evaluation | null): Evaluation | null {
  if (!("eval-batch" in values || "eval-kept-logits" in values)) return base;
  if (!("eval-batch" in values) && !base)
    throw new UserError("--eval-kept-logits needs an evaluation", "--eval-batch N");
  return {
    batch: whole(values, "eval-batch", base?.batch ?? 1),
    keptLogits: whole(values, "eval-kept-logits", base?.keptLogits ?? 0),
  };
}

/** The ways to spread a run, as their options. */
const SPREADS = "--ddp, --zero 1|2|3, --fsdp, --tensor or --pipeline";

function parallelFrom(values: Values, ranks: number, base: Parallel): Parallel {
  const kinds = [
    ...(values["zero"] ? ([`zero${String(values["zero"]) as "1" | "2" | "3"}`] as const) : []),
    ...(values["fsdp"] ? (["fsdp2"] as const) : []),
    ...(values["ddp"] ? (["ddp"] as const) : []),
    ...(values["tensor"] ? (["tensor"] as const) : []),
    ...(values["pipeline"] ? (["pipeline"] as const) : []),
  ];
  if (kinds.length > 1) throw new UserError("only one way to spread the run is planned", SPREADS);
  const kind = kinds[0] ?? base.kind;
  const offload = values["offload"] === true || (kinds.length === 0 && base.offload);
  if (kind === "none" && ranks > 1)
    throw new UserError(`--cards names ${ranks} cards`, `say how the run is spread: ${SPREADS}`);
  if (offload && !/^(?:zero[123]|fsdp2)$/.test(kind))
    throw new UserError("--offload moves what is sharded to host memory", "with --zero 1|2|3 or --fsdp");
  if (kinds.length === 0) return { ...base, offload, ranks: ranks > 1 ? ranks : base.ranks };
  if (ranks < 2) throw new UserError(`${spreadWord(values)} needs several cards`, "--cards 2xA5000");
  return { kind, ranks, offload };
}

const spreadWord = (values: Values): string =>
  `--${["zero", "fsdp", "ddp", "tensor", "pipeline"].find((name) => values[name])}`;

function number(values: Values, name: string, otherwise: number): number {
  const text = values[name];
  if (text === undefined) return otherwise;
  const value = String(text).trim() === "" ? NaN : Number(text);
  if (!Number.isFinite(value)) throw new UserError(`--${name} takes a number, not "${String(text)}"`);
  return value;
}

function whole(values: Values, name: string, otherwise: number): number {
  const value = number(values, name, otherwise);
  if (!Number.isInteger(value) || value < 0)
    throw new UserError(`--${name} takes a whole number, not "${String(values[name])}"`);
  return value;
}
