import { Torch } from "../autograd/torch.ts";
import { numel } from "../autograd/tensor.ts";
import type { Bytes } from "../base/units.ts";
import type { Config } from "../nets/config.ts";
import { familyOf } from "../nets/families.ts";
import { Builder } from "../nets/layers.ts";
import { Tape } from "../tape/tape.ts";
import { type Band, bandOf } from "./band.ts";
import type { Budget } from "./budget.ts";
import { type Card, CONTEXT, CONTEXT_SPREAD } from "./cards.ts";
import { type HostBudget, type HostVerdict, judgeHost } from "./host.ts";
import { cautions } from "./levers.ts";
import type { Moment } from "./moment.ts";
import { type Effect, leverEffects, plan, type Plan, type RankPlan, type Verdict } from "./plan.ts";
import type { Recipe } from "./recipe.ts";

export interface LeverResult {
  readonly name: string;
  readonly cost: string;
  readonly allocated: Bytes;
  readonly reserved: Bytes;
  readonly fits: boolean | null;
}

export interface RankResult {
  readonly rank: number;
  readonly allocated: Bytes;
  readonly reserved: Bytes;
  readonly fits: boolean | null;
  readonly budget: Budget;
}

/** Where a recipe was read from, and what had to be assumed. */
export interface RecipeSource {
  readonly file: string;
  /** Whose file it is: "axolotl", "TRL's SFTTrainer". */
  readonly framework: string;
  readonly found: readonly {
    readonly field: string;
    readonly value: unknown;
    readonly key: string;
    readonly place: string;
  }[];
  readonly assumed: readonly { readonly field: string; readonly value: unknown; readonly why: string }[];
  readonly warnings: readonly string[];
}

/** What `plimsoll plan` found: plain data, the `--json` output as it is. */
export interface PlanResult {
  readonly schema: "plimsoll.plan/1";
  readonly model: {
    readonly name: string;
    readonly type: string;
    readonly parameters: number;
    /** False when another family's code stands in for the model's own. */
    readonly known: boolean;
  };
  readonly trainable: number;
  readonly recipe: Omit<Recipe, "model">;
  readonly card: {
    readonly name: string;
    readonly memory: Bytes;
    readonly context: Bytes;
    readonly capability: number;
  } | null;
  /** `margin`: the worst error seen in this kind of prediction and the context's own spread; `close`: spare is within it. */
  readonly verdict: (Verdict & { readonly margin: Bytes; readonly close: boolean }) | null;
  readonly peak: { readonly allocated: Bytes; readonly reserved: Bytes };
  /** Every rank of a run over several cards; the rest of the result is of `worst`. Null on one card. */
  readonly ranks: { readonly worst: number; readonly all: readonly RankResult[] } | null;
  readonly budget: Budget;
  readonly moment: Moment;
  readonly phases: readonly { readonly phase: string; readonly allocated: Bytes }[];
  /** The lowest peak first. */
  readonly levers: readonly LeverResult[];
  readonly band: Band;
  readonly host: (HostBudget & { readonly verdict: HostVerdict | null }) | null;
  readonly notes: readonly string[];
  /** Null when the recipe was given by options alone. */
  readonly source: RecipeSource | null;
}

/** What a command asks for beside the recipe. */
export interface Ask {
  readonly recipe: Recipe;
  readonly known: boolean;
  readonly notes: readonly string[];
  readonly source?: RecipeSource | null;
  readonly card: Card | null;
  readonly host: Bytes | null;
}

export interface Planned {
  readonly result: PlanResult;
  readonly plan: Plan;
  readonly effects: readonly Effect[];
}

/** The plan, each lever alone, and the band, as one result. */
export function planResult({ recipe, known, notes, source = null, card, host }: Ask): Planned {
  const made = plan(recipe, card);
  const effects = leverEffects(made.recipe, card);
  const band = bandOf(recipe, known);
  const { model, ...rest } = recipe;
  const { verdict } = made;
  const margin = Math.round(band.reserved.worst * made.peakReserved + CONTEXT_SPREAD);
  const result: PlanResult = {
    schema: "plimsoll.plan/1",
    model: {
      name: model.name,
      type: String(model.config["model_type"]),
      parameters: parametersOf(model.config),
      known,
    },
    trainable: made.trainable,
    recipe: rest,
    card: card && { name: card.name, memory: card.memory, context: CONTEXT, capability: card.capability },
    verdict: verdict && {
      ...verdict,
      margin,
      close: Math.abs(verdict.spare) < margin,
    },
    peak: { allocated: made.peakAllocated, reserved: made.peakReserved },
    ranks: made.ranks.length < 2 ? null : { worst: made.rank, all: made.ranks.map(rankResult) },
    budget: made.budget,
    moment: made.moment,
    phases: made.phases.map(({ phase, bytes }) => ({ phase, allocated: bytes })),
    levers: effects.map(({ name, cost, peakAllocated, peakReserved, fits }) => ({
      name,
      cost,
      allocated: peakAllocated,
      reserved: peakReserved,
      fits,
    })),
    band,
    host: made.host && { ...made.host, verdict: host === null ? null : judgeHost(made.host, host) },
    notes: [...notes, ...cautions(recipe, card)],
    source,
  };
  return { result, plan: made, effects };
}

const rankResult = ({ rank, peakAllocated, peakReserved, verdict, budget }: RankPlan): RankResult => ({
  rank,
  allocated: peakAllocated,
  reserved: peakReserved,
  fits: verdict && verdict.fits,
  budget,
});

/** Parameters of the model as it is published, before any adapter. */
export function parametersOf(config: Config): number {
  const builder = new Builder(new Torch(new Tape()), "bf16");
  familyOf(config).build(config, builder);
  return builder.parameters.reduce((sum, { tensor }) => sum + numel(tensor.shape), 0);
}
