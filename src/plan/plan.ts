import { parseSettings } from "../allocator/settings.ts";
import { type Simulation, simulate } from "../allocator/simulate.ts";
import { numel } from "../autograd/tensor.ts";
import { UserError } from "../base/errors.ts";
import type { Bytes } from "../base/units.ts";
import { type Peak, peakOf, phasePeaks } from "../tape/curve.ts";
import { lifetimes } from "../tape/lifetimes.ts";
import type { Tape } from "../tape/tape.ts";
import type { PhaseName } from "../tape/vocabulary.ts";
import { type Budget, makeUp } from "./budget.ts";
import { type Card, CONTEXT } from "./cards.ts";
import { execute } from "./execute.ts";
import { type HostBudget, hostBudget } from "./host.ts";
import { checkRecipe, LEVERS } from "./levers.ts";
import { type Moment, momentAt } from "./moment.ts";
import type { Recipe } from "./recipe.ts";

export interface Verdict {
  readonly fits: boolean;
  /** Memory PyTorch can have on the card: its total less the context. */
  readonly usable: Bytes;
  /** Left at the peak, or missing (negative). */
  readonly spare: Bytes;
  /** Fits only because the allocator gives back cached memory under pressure, this many times. */
  readonly retries: number;
}

/** One rank's need. */
export interface RankPlan {
  readonly rank: number;
  /** Bytes handed out at the highest, as torch.cuda.max_memory_allocated counts. */
  readonly peakAllocated: Bytes;
  /** Bytes held by the caching allocator at the highest, with no limit on memory. */
  readonly peakReserved: Bytes;
  readonly budget: Budget;
  readonly verdict: Verdict | null;
}

export interface Plan extends RankPlan {
  readonly recipe: Recipe;
  /** Every rank of a parallel run; this plan is that of the one that needs most. */
  readonly ranks: readonly RankPlan[];
  readonly tape: Tape;
  /** Elements that train. */
  readonly trainable: number;
  readonly moment: Moment;
  readonly phases: readonly (Peak & { readonly phase: PhaseName })[];
  /** Allocated after each row. */
  readonly allocated: Float64Array;
  /** Reserved after each row, with no limit on memory. */
  readonly reserved: Float64Array;
  readonly host: HostBudget | null;
}

/** Model × recipe → tape → budget, and whether it fits the card. */
export function plan(recipe: Recipe, card: Card | null = null): Plan {
  checkRecipe(recipe, card);
  const { kind, ranks } = recipe.parallel;
  // The stages of a pipeline differ; elsewhere every rank holds the same, shards padded to equal size.
  if (kind !== "pipeline" || ranks < 2) {
    const one = planRank(recipe, card);
    return { ...one, ranks: Array.from({ length: Math.max(1, ranks) }, (_, rank) => rankOf(one, rank)) };
  }
  const stages = Array.from({ length: ranks }, (_, rank) =>
    planRank({ ...recipe, parallel: { ...recipe.parallel, rank } }, card),
  );
  const worst = stages.reduce((a, b) => (b.peakReserved > a.peakReserved ? b : a));
  return { ...worst, ranks: stages.map((stage) => rankOf(stage, stage.rank)) };
}

function rankOf({ peakAllocated, peakReserved, budget, verdict }: RankPlan, rank: number): RankPlan {
  return { rank, peakAllocated, peakReserved, budget, verdict };
}

function planRank(recipe: Recipe, card: Card | null): Omit<Plan, "ranks"> {
  const settings = parseSettings(recipe.allocConf);
  const { tape, trainable, hostPeak } = execute(recipe, undefined, card?.capability);
  const simulation = simulate(tape, { settings, observe: true });
  const allocated = simulation.allocated!;
  const peak = peakOf(allocated);
  const lives = lifetimes(tape);
  const parts = makeUp(tape, peak.row, lives);
  const requested = Object.values(parts).reduce((a, b) => a + b, 0);
  const peakReserved = simulation.stats.reserved.peak;
  return {
    recipe,
    rank: recipe.parallel.rank ?? 0,
    tape,
    trainable: trainable.reduce((sum, p) => sum + numel(p.shape), 0),
    peakAllocated: peak.bytes,
    peakReserved,
    budget: { ...parts, fragmentation: peakReserved - requested, "outside PyTorch": CONTEXT },
    moment: momentAt(recipe, tape, lives, peak.row),
    phases: phasePeaks(tape, allocated),
    allocated,
    reserved: simulation.reserved!,
    verdict: card ? judge(tape, simulation, card, recipe) : null,
    host: hostBudget(recipe, trainable, hostPeak),
  };
}

/** Whether a run that was simulated without a limit fits the card. */
export function judge(tape: Tape, free: Simulation, card: Card, recipe: Recipe): Verdict {
  const usable = card.memory - CONTEXT;
  const needed = free.stats.reserved.peak;
  if (needed <= usable) return { fits: true, usable, spare: usable - needed, retries: 0 };
  const capped = simulate(tape, { settings: parseSettings(recipe.allocConf), capacity: usable });
  if (capped.oom) return { fits: false, usable, spare: usable - needed, retries: capped.stats.retries };
  return { fits: true, usable, spare: usable - capped.stats.reserved.peak, retries: capped.stats.retries };
}

/** What one lever alone would change. */
export interface Effect {
  readonly name: string;
  readonly cost: string;
  readonly recipe: Recipe;
  readonly peakAllocated: Bytes;
  readonly peakReserved: Bytes;
  /** Null without a card. */
  readonly fits: boolean | null;
}

/** Tries each lever alone; the lowest peak first. */
export function leverEffects(recipe: Recipe, card: Card | null): Effect[] {
  return LEVERS.flatMap(({ name, cost, apply }) => {
    const changed = apply(recipe);
    if (!changed || !allowed(changed, card)) return [];
    const { tape } = execute(changed, undefined, card?.capability);
    const settings = parseSettings(changed.allocConf);
    const simulation = simulate(tape, { settings });
    const { allocated, reserved } = simulation.stats;
    return {
      name,
      cost,
      recipe: changed,
      peakAllocated: allocated.peak,
      peakReserved: reserved.peak,
      fits: card && judge(tape, simulation, card, changed).fits,
    };
  }).sort((a, b) => a.peakReserved - b.peakReserved || a.peakAllocated - b.peakAllocated);
}

function allowed(recipe: Recipe, card: Card | null): boolean {
  try {
    checkRecipe(recipe, card);
    return true;
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}
