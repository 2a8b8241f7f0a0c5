import type { Bytes } from "../base/units.ts";
import type { OptimizerName } from "../optimizers/optimizers.ts";
import type { Card } from "../plan/cards.ts";
import { RULES } from "../plan/levers.ts";
import { undivided } from "../plan/parallel/tensor.ts";
import {
  type Checkpointing,
  dataRanks,
  effectiveBatch,
  type Loop,
  type Method,
  type Parallel,
  type ParallelKind,
  type Recipe,
} from "../plan/recipe.ts";

/** What a search may not touch beyond model, method, rank, sequence and effective batch. */
export const KEEPABLE = [
  "checkpointing",
  "loss",
  "optimizer",
  "clipping",
  "micro-batch",
  "precision",
  "quantization",
  "offload",
  "allocator",
  "attention",
] as const;
export type Keepable = (typeof KEEPABLE)[number];

export interface Space {
  /** Where the search starts; its effective batch is kept. */
  readonly base: Recipe;
  readonly card: Card;
  /** Cards in all, and the machines they are in. */
  readonly ranks: number;
  readonly nodes: number;
  readonly keep: ReadonlySet<Keepable>;
  /** Whether rows may be filled with samples instead of padding: a step then sees more of them. */
  readonly mayPack: boolean;
  /** Whether LoRA may compute under autocast instead of in fp32. */
  readonly mayAutocastAdapters: boolean;
  /** Host memory the run may have; null: nothing may be placed there. */
  readonly host: Bytes | null;
}

const checkpoint = (more: Partial<Checkpointing>): Checkpointing => ({
  kind: "full",
  reentrant: false,
  every: 1,
  offload: false,
  ...more,
});

const NONE = checkpoint({ kind: "none" });

/** From the fastest to the leanest. Layers are checkpointed whole or not, so every other and three in four too. */
const CHECKPOINTINGS: readonly Checkpointing[] = [
  NONE,
  checkpoint({ every: 4 }),
  checkpoint({ every: 3 }),
  checkpoint({ every: 2 }),
  checkpoint({ kind: "selective" }),
  checkpoint({}),
  checkpoint({ offload: true }),
];

/** A rank of several is executed layer by layer, which is dear: none or all. ZeRO-3 with LoRA needs the reentrant one. */
const SPREAD_CHECKPOINTINGS: readonly Checkpointing[] = [
  NONE,
  checkpoint({}),
  checkpoint({ reentrant: true }),
];

/** What each loop can be told: transformers' Trainer knows Liger's kernels, TRL's SFTTrainer has one of its own. */
const LOSSES: Readonly<Record<Loop, readonly Recipe["loss"][]>> = {
  plain: ["default", "chunked", "fused"],
  trainer: ["default", "fused"],
  sft: ["default"],
};

/** Optimizers with the same update rule: one may stand for another. */
const EQUIVALENTS: readonly (readonly OptimizerName[])[] = [
  [
    "adamw_fused",
    "adamw_foreach",
    "adamw_loop",
    "adamw_torchao_8bit",
    "adamw_bnb_8bit",
    "paged_adamw",
    "paged_adamw_8bit",
  ],
  ["lion", "lion_8bit"],
];

/** What the optimizer is and where, with what the rules make it give up. */
export interface Stepping {
  readonly optimizer: OptimizerName;
  readonly optimizerOnHost: boolean;
  readonly optimizerInBackward: boolean;
  readonly clip: boolean;
}

export interface Axes {
  readonly checkpointings: readonly Checkpointing[];
  readonly losses: readonly Recipe["loss"][];
  readonly precisions: readonly Pick<Recipe, "dtype" | "autocast">[];
  readonly methods: readonly Method[];
  readonly attentions: readonly Recipe["attention"][];
  readonly masks: readonly boolean[];
  readonly parallels: readonly Recipe["parallel"][];
  readonly steppings: readonly Stepping[];
  readonly allocators: readonly string[];
}

const unique = <T>(values: readonly T[]): T[] => {
  const seen = new Map(values.map((value) => [JSON.stringify(value), value]));
  return [...seen.values()];
};

/** Every axis with the base's own value first. */
export function axesOf(space: Space): Axes {
  const { base, ranks, keep, host, mayPack, mayAutocastAdapters } = space;
  const free = <T>(name: Keepable, own: T, others: readonly T[]): T[] =>
    unique(keep.has(name) ? [own] : [own, ...others]);
  return {
    checkpointings: free(
      "checkpointing",
      base.checkpointing,
      ranks > 1 ? SPREAD_CHECKPOINTINGS : CHECKPOINTINGS,
    ).filter((c) => !c.offload || base.checkpointing.offload || !keep.has("offload")),
    losses: free("loss", base.loss, LOSSES[base.loop]),
    precisions: free("precision", { dtype: base.dtype, autocast: base.autocast }, precisions(base)),
    methods: [base.method, ...(mayAutocastAdapters ? autocastAdapters(base) : [])].flatMap((method) =>
      free("quantization", method, quantized({ ...base, method })),
    ),
    attentions: free("attention", base.attention, base.attention === "eager" ? ["sdpa"] : []),
    // Attention without a mask is leaner and faster.
    masks: unique(mayPack ? [base.mask, false] : [base.mask]),
    parallels: parallels(space, host !== null && !keep.has("offload")),
    steppings: steppings(base, keep),
    allocators: free("allocator", base.allocConf, expandable(base.allocConf)),
  };
}

function precisions({ dtype, autocast }: Recipe): Pick<Recipe, "dtype" | "autocast">[] {
  if (dtype !== "fp32") return [];
  const under = autocast === null ? [{ dtype, autocast: "bf16" as const }] : [];
  return [...under, { dtype: "bf16", autocast: null }];
}

function autocastAdapters({ method }: Recipe): Method[] {
  return method.kind === "lora" ? [{ ...method, adapter: { ...method.adapter, autocast: true } }] : [];
}

function quantized({ method, dtype }: Recipe): Method[] {
  if (method.kind !== "lora" || method.quantization || dtype === "fp32") return [];
  // With the constants quantised too, which costs nothing measurable and is always leaner.
  return [
    { ...method, quantization: { type: "nf4", doubleQuant: true, computeDtype: dtype, prepared: false } },
  ];
}

/**
 * ZeRO-1 shards less than ZeRO-2 for the same traffic, and ZeRO-3 needs what FSDP2 needs and more: they are
 * planned when asked for.
 */
const SPREADS: readonly ParallelKind[] = ["ddp", "zero2", "fsdp2", "tensor", "pipeline"];

/** Layouts of the cards that can share out the effective batch. */
function parallels({ base, ranks, nodes }: Space, offload: boolean): Parallel[] {
  if (ranks === 1) return [base.parallel];
  const kinds = base.parallel.kind === "none" ? SPREADS : [base.parallel.kind];
  const over = nodes > 1 ? { nodes } : {};
  const each = ranks / nodes;
  const flat = kinds
    .filter((kind) => divides(kind, base.model.config, ranks, nodes))
    .flatMap((kind): Parallel[] => [
      { kind, ranks, offload: false, ...over },
      ...(offload && (kind === "fsdp2" || kind === "zero3") ? [{ kind, ranks, offload: true, ...over }] : []),
    ]);
  const hybrid = nodes > 1 && each > 1 && kinds.includes("fsdp2");
  const all: Parallel[] = hybrid
    ? [...flat, { kind: "fsdp2", ranks: each, offload: false, nodes, replicas: nodes }]
    : flat;
  return all.filter((parallel) => effectiveBatch(base) % dataRanks(parallel) === 0);
}

/**
 * Whether the model can be cut that way. Tensor parallelism stays within a machine: its sums wait for the link in
 * every layer (Megatron-LM's advice, Narayanan et al. 2021, section 3).
 */
function divides(
  kind: ParallelKind,
  config: Recipe["model"]["config"],
  ranks: number,
  nodes: number,
): boolean {
  if (kind === "tensor") return nodes === 1 && undivided(config, ranks) === null;
  if (kind === "pipeline") return Number(config["num_hidden_layers"] ?? config["n_layer"]) >= ranks;
  return true;
}

function steppings(base: Recipe, keep: ReadonlySet<Keepable>): Stepping[] {
  const own: Stepping = {
    optimizer: base.optimizer,
    optimizerOnHost: base.optimizerOnHost,
    optimizerInBackward: base.optimizerInBackward,
    clip: base.clip,
  };
  if (keep.has("optimizer")) return [own];
  const kinds = EQUIVALENTS.find((group) => group.includes(base.optimizer)) ?? [base.optimizer];
  const clips = keep.has("clipping") ? [base.clip] : [base.clip, false];
  const hosts = keep.has("offload") ? [base.optimizerOnHost] : [base.optimizerOnHost, true];
  const all = kinds.flatMap((optimizer) =>
    hosts.flatMap((optimizerOnHost) =>
      [base.optimizerInBackward, true].flatMap((optimizerInBackward) =>
        clips.map((clip) => ({ optimizer, optimizerOnHost, optimizerInBackward, clip })),
      ),
    ),
  );
  // Clipping goes only where a rule demands it.
  const needed = ({ optimizerOnHost, optimizerInBackward, clip }: Stepping): boolean =>
    clip === base.clip || optimizerOnHost || optimizerInBackward;
  return unique([own, ...all.filter(needed)]);
}

function expandable(conf: string): string[] {
  if (conf.includes("expandable_segments")) return [];
  return [[conf, "expandable_segments:True"].filter(Boolean).join(",")];
}

/** Micro-batches that divide what a rank of the layout has to do in a step, the largest first. */
export function microBatches({ base, keep }: Space, parallel: Parallel): number[] {
  const each = effectiveBatch(base) / dataRanks(parallel);
  if (keep.has("micro-batch")) return each % base.batch === 0 ? [base.batch] : [];
  return Array.from({ length: each }, (_, i) => each - i).filter((b) => each % b === 0);
}

/**
 * Two micro-batches stand for all that are accumulated: later ones repeat the second. A pipeline has as many under
 * way as it has stages.
 */
export function abridged(recipe: Recipe): Recipe {
  const { kind, ranks } = recipe.parallel;
  const most = kind === "pipeline" ? Math.max(2, ranks) : 2;
  return { ...recipe, accumulation: Math.min(recipe.accumulation, most) };
}

/** Whether the rules allow it: the same table that `plan` refuses by. */
export function allowed(recipe: Recipe, card: Card): boolean {
  return !RULES.some(({ broken }) => broken(recipe, card));
}

/** The rule that speaks against every way to spread a run over several cards, where there is one. */
export function refusal(recipe: Recipe, card: Card): string | null {
  return RULES.find(({ broken }) => broken(recipe, card))?.message ?? null;
}
