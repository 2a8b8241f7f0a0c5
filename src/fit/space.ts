import type { Bytes } from "../base/units.ts";
import type { OptimizerName } from "../optimizers/optimizers.ts";
import type { Card } from "../plan/cards.ts";
import { RULES } from "../plan/levers.ts";
import type { Checkpointing, Loop, Method, ParallelKind, Recipe } from "../plan/recipe.ts";

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
  /** Where the search starts; its batch × accumulation × ranks is the effective batch. */
  readonly base: Recipe;
  readonly card: Card;
  readonly ranks: number;
  readonly keep: ReadonlySet<Keepable>;
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
  readonly parallels: readonly Recipe["parallel"][];
  readonly steppings: readonly Stepping[];
  readonly allocators: readonly string[];
}

const unique = <T>(values: readonly T[]): T[] => {
  const seen = new Map(values.map((value) => [JSON.stringify(value), value]));
  return [...seen.values()];
};

/** Every axis with the base's own value first. */
export function axesOf({ base, ranks, keep, host }: Space): Axes {
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
    methods: free("quantization", base.method, quantized(base)),
    attentions: free("attention", base.attention, base.attention === "eager" ? ["sdpa"] : []),
    parallels: parallels(base, ranks, host !== null && !keep.has("offload")),
    steppings: steppings(base, keep),
    allocators: free("allocator", base.allocConf, expandable(base.allocConf)),
  };
}

function precisions({ dtype, autocast }: Recipe): Pick<Recipe, "dtype" | "autocast">[] {
  if (dtype !== "fp32") return [];
  const under = autocast === null ? [{ dtype, autocast: "bf16" as const }] : [];
  return [...under, { dtype: "bf16", autocast: null }];
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
const SPREADS: readonly ParallelKind[] = ["ddp", "zero2", "fsdp2"];

function parallels({ parallel }: Recipe, ranks: number, offload: boolean): Recipe["parallel"][] {
  if (ranks === 1) return [parallel];
  const kinds = parallel.kind === "none" ? SPREADS : [parallel.kind];
  return kinds.flatMap((kind) => [
    { kind, ranks, offload: false },
    ...(offload && (kind === "fsdp2" || kind === "zero3") ? [{ kind, ranks, offload: true }] : []),
  ]);
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

/** Micro-batches that divide what one rank has to do in a step, the largest first. */
export function microBatches({ base, ranks, keep }: Space): number[] {
  if (keep.has("micro-batch")) return [base.batch];
  const each = (base.batch * base.accumulation * base.parallel.ranks) / ranks;
  return Array.from({ length: each }, (_, i) => each - i).filter((b) => each % b === 0);
}

/** Whether the rules allow it: the same table that `plan` refuses by. */
export function allowed(recipe: Recipe, card: Card): boolean {
  return !RULES.some(({ broken }) => broken(recipe, card));
}

/** The rule that speaks against every way to spread a run over several cards, where there is one. */
export function refusal(recipe: Recipe, card: Card): string | null {
  return RULES.find(({ broken }) => broken(recipe, card))?.message ?? null;
}
