import { parseSettings } from "../allocator/settings.ts";
import { simulate } from "../allocator/simulate.ts";
import { UserError } from "../base/errors.ts";
import type { Bytes, Seconds } from "../base/units.ts";
import type { Budget } from "../plan/budget.ts";
import { type Card, CARDS, CONTEXT } from "../plan/cards.ts";
import { execute } from "../plan/execute.ts";
import type { HostBudget } from "../plan/host.ts";
import { checkRecipe, LEVERS } from "../plan/levers.ts";
import type { Moment } from "../plan/moment.ts";
import { plan, type Plan, type Verdict } from "../plan/plan.ts";
import { effectiveBatch, type Recipe } from "../plan/recipe.ts";
import { parametersOf, type RecipeSource } from "../plan/result.ts";
import { changesOf, GRADES } from "./changes.ts";
import { type Counts, type Found, search, type Searched } from "./search.ts";
import { abridged, allowed, axesOf, type Keepable, refusal, type Space } from "./space.ts";
import { speedOf } from "./speed.ts";

type Settings = Omit<Recipe, "model">;

/** A recipe with what it needs and how fast it is predicted to be. */
export interface Rated {
  readonly recipe: Settings;
  readonly peak: { readonly allocated: Bytes; readonly reserved: Bytes };
  readonly verdict: Verdict;
  readonly tokensPerSecond: number;
  readonly stepSeconds: Seconds;
  readonly host: HostBudget | null;
}

export interface Ranked extends Rated {
  /** With what predictions of its kind have been off by to spare, and no retries. */
  readonly safe: boolean;
  readonly exactness: (typeof GRADES)[number];
  readonly changes: readonly { readonly name: string; readonly gives: string }[];
}

/** What one change does to the chosen recipe: how it would be without. */
export interface Marginal {
  readonly name: string;
  readonly exactness: (typeof GRADES)[number];
  readonly gives: string;
  /** Reserved bytes and time a step that the change saves (negative: costs). Null: the rules forbid to undo it alone. */
  readonly memory: Bytes | null;
  readonly time: Seconds | null;
  readonly fitsWithout: boolean | null;
}

export interface Detail extends Rated {
  readonly budget: Budget;
  readonly moment: Moment;
}

export interface Unused {
  readonly name: string;
  readonly why: string;
}

/** What `plimsoll fit` found: plain data, the `--json` output as it is. */
export interface FitResult {
  readonly schema: "plimsoll.fit/1";
  readonly model: { readonly name: string; readonly parameters: number; readonly known: boolean };
  readonly card: { readonly name: string; readonly memory: Bytes; readonly context: Bytes };
  readonly cards: number;
  readonly nodes: number;
  readonly hostMemory: Bytes | null;
  readonly effectiveBatch: number;
  readonly before: Detail;
  readonly chosen: Detail | null;
  readonly changes: readonly Marginal[];
  readonly unused: readonly Unused[];
  readonly recipes: readonly Ranked[];
  readonly front: readonly {
    readonly recipe: Settings;
    readonly peak: Bytes;
    readonly tokensPerSecond: number;
  }[];
  /** When nothing fits. */
  readonly miss: {
    readonly nearest: Ranked;
    readonly short: Bytes;
    /** Memory a card would need to have, and the smallest that has it. */
    readonly needs: Bytes;
    readonly smallestCard: string | null;
    /** How many of the card hold it under FSDP2 with checkpointing, of 2, 4, 8, 16 and 32. */
    readonly cards: number | null;
  } | null;
  readonly counts: Counts;
  readonly notes: readonly string[];
  readonly source: RecipeSource | null;
}

export interface FitAsk {
  readonly recipe: Recipe;
  readonly known: boolean;
  readonly notes: readonly string[];
  readonly source: RecipeSource | null;
  readonly card: Card;
  /** In all, and the machines they are in. */
  readonly cards: number;
  readonly nodes: number;
  readonly host: Bytes | null;
  readonly keep: ReadonlySet<Keepable>;
  readonly mayShrinkSeq: boolean;
  readonly mayPack: boolean;
  readonly mayAutocastAdapters: boolean;
  readonly sayable?: (recipe: Recipe) => boolean;
}

const RANKED = 6;
/** Tried in turn, as shares of the sequence, until one fits. */
const SHORTER = [7 / 8, 3 / 4, 5 / 8, 1 / 2, 3 / 8, 1 / 4, 1 / 8, 1 / 16];

export interface Fitted {
  readonly result: FitResult;
  /** The chosen recipe, model and all: what is emitted. */
  readonly recipe: Recipe | null;
}

/** The fastest recipes that fit, and what each lever is worth in the first. */
export function fit(ask: FitAsk): Fitted {
  const { recipe: base, card, cards: ranks, nodes, keep, host, mayPack, mayAutocastAdapters, known } = ask;
  const start = {
    base,
    card,
    ranks,
    nodes,
    keep,
    host,
    mayPack,
    mayAutocastAdapters,
    sayable: ask.sayable ?? ((): boolean => true),
  };
  checkSpread(start);
  const before = abridged(base);
  if (ranks === 1) checkRecipe(base, card);
  let searched = search({ ...start, known, wanted: RANKED });
  if (searched.ranked.length === 0 && ask.mayShrinkSeq) {
    for (const share of SHORTER) {
      const seq = Math.floor((base.seq * share) / 8) * 8;
      if (seq < 8) break;
      searched = search({ ...start, base: { ...base, seq }, known, wanted: RANKED });
      if (searched.ranked.length > 0) break;
    }
  }
  return assemble(ask, before, searched);
}

function assemble(ask: FitAsk, before: Recipe, searched: Searched): Fitted {
  const { recipe: base, card, known, notes, source } = ask;
  const first = searched.ranked[0] ?? null;
  const chosen = first && plan(abridged(first.recipe), card);
  const seq = first?.recipe.seq ?? base.seq;
  const result: FitResult = {
    schema: "plimsoll.fit/1",
    model: { name: base.model.name, parameters: parametersOf(base.model.config), known },
    card: { name: card.name, memory: card.memory, context: CONTEXT },
    cards: ask.cards,
    nodes: ask.nodes,
    hostMemory: ask.host,
    effectiveBatch: effectiveBatch(base),
    before: detail(plan(before, ask.cards === 1 ? card : null), base, card),
    chosen: chosen && first ? { ...detail(chosen, first.recipe, card), ...rate(first) } : null,
    changes: first && chosen ? marginals(first, card) : [],
    unused: first && chosen && ask.cards === 1 ? unused(first, chosen, card) : [],
    recipes: searched.ranked.map(ranked),
    front: searched.front.map(({ recipe, peak, tokensPerSecond }) => ({
      recipe: settings(recipe),
      peak,
      tokensPerSecond,
    })),
    miss: first || !searched.nearest ? null : missed(searched.nearest, ask),
    counts: searched.counts,
    notes: [...notes, ...(seq < base.seq ? [`sequences shortened from ${base.seq} to ${seq} tokens`] : [])],
    source,
  };
  return { result, recipe: first?.recipe ?? null };
}

function checkSpread(space: Space): void {
  const { base, card, ranks } = space;
  if (ranks === 1) return;
  const sequences = effectiveBatch(base);
  const spread = axesOf(space).parallels.map((parallel) => ({ ...base, parallel }));
  if (spread.length === 0)
    throw new UserError(
      `an effective batch of ${sequences} cannot be shared by ${ranks} cards`,
      `--effective-batch ${ranks * Math.ceil(sequences / ranks)}`,
    );
  if (spread.some((recipe) => allowed(recipe, card))) return;
  throw new UserError(refusal(spread[0]!, card)!, "fit one card: --card");
}

function settings(recipe: Recipe): Settings {
  const { model, ...rest } = recipe;
  void model;
  return rest;
}

function detail(made: Plan, recipe: Recipe, card: Card): Detail {
  // Stepped inside backward, the first step is not like the others.
  const speed = speedOf(execute(abridged(recipe), 2, card.capability), recipe, card);
  const usable = card.memory - CONTEXT;
  const spare = usable - made.peakReserved;
  return {
    recipe: settings(recipe),
    peak: { allocated: made.peakAllocated, reserved: made.peakReserved },
    verdict: made.verdict ?? { fits: spare >= 0, usable, spare, retries: 0 },
    tokensPerSecond: speed.tokensPerSecond,
    stepSeconds: speed.step,
    host: made.host,
    budget: made.budget,
    moment: made.moment,
  };
}

const rate = ({ speed }: Found): Pick<Rated, "tokensPerSecond" | "stepSeconds"> => ({
  tokensPerSecond: speed.tokensPerSecond,
  stepSeconds: speed.step,
});

function ranked({ recipe, speed, allocated, reserved, verdict, safe, host, changes, grade }: Found): Ranked {
  return {
    recipe: settings(recipe),
    peak: { allocated, reserved },
    verdict,
    tokensPerSecond: speed.tokensPerSecond,
    stepSeconds: speed.step,
    host,
    safe,
    exactness: GRADES[grade],
    changes: changes.map(({ name, gives }) => ({ name, gives })),
  };
}

/** Undoes each change alone. */
function marginals({ recipe, changes, reserved, speed }: Found, card: Card): Marginal[] {
  return changes.map(({ name, grade, gives, undo }) => {
    const undone = undo(recipe);
    const said = { name, exactness: GRADES[grade], gives };
    if (!allowed(undone, card)) return { ...said, memory: null, time: null, fitsWithout: null };
    const execution = execute(abridged(undone), 2, card.capability);
    const simulated = simulate(execution.tape, { settings: parseSettings(undone.allocConf) });
    const peak = simulated.stats.reserved.peak;
    return {
      ...said,
      memory: peak - reserved,
      // Ranks of several cards have no kernels of their own to time.
      time: recipe.parallel.ranks > 1 ? null : speedOf(execution, undone, card).step - speed.step,
      fitsWithout: peak <= card.memory - CONTEXT,
    };
  });
}

/** Levers that the chosen recipe leaves alone, with what they would do to it. */
function unused({ recipe, reserved, speed }: Found, { moment }: Plan, card: Card): Unused[] {
  return LEVERS.flatMap(({ name, apply }) => {
    const changed = apply(recipe);
    if (!changed || changed.method.kind !== recipe.method.kind) return [];
    if (!allowed(changed, card)) return { name, why: refusal(changed, card)! };
    const execution = execute(abridged(changed), 2, card.capability);
    const simulated = simulate(execution.tape, { settings: parseSettings(changed.allocConf) });
    const saved = reserved - simulated.stats.reserved.peak;
    const slower = speedOf(execution, changed, card).step / speed.step - 1;
    if (saved <= 0) return { name, why: `it does not lower the peak, which is in ${moment.when}` };
    const time = slower > 0.005 ? `${(100 * slower).toFixed(0)} % slower` : "as fast";
    const given = changesOf(recipe, changed).map(({ gives }) => gives);
    return {
      name,
      why: `not needed: it would free ${(saved / 1e9).toFixed(2)} GB (${[time, ...given].join("; ")})`,
    };
  });
}

function missed(nearest: Found, { recipe: base, card, cards }: FitAsk): NonNullable<FitResult["miss"]> {
  const needs = nearest.reserved + CONTEXT;
  const smallest = CARDS.toSorted((a, b) => a.memory - b.memory).find(({ memory }) => memory >= needs);
  return {
    nearest: ranked(nearest),
    short: -nearest.verdict.spare,
    needs,
    smallestCard: smallest?.name ?? null,
    cards: enoughCards(base, nearest.recipe, card, cards),
  };
}

/** How many such cards hold the run sharded as far as it goes; null: not even the most that are tried. */
function enoughCards(base: Recipe, nearest: Recipe, card: Card, cards: number): number | null {
  for (const ranks of [2, 4, 8, 16, 32]) {
    if (ranks <= cards) continue;
    const recipe: Recipe = {
      ...base,
      seq: nearest.seq,
      loss: nearest.loss,
      batch: 1,
      accumulation: 1,
      checkpointing: { kind: "full", reentrant: false, every: 1, offload: false },
      optimizer: base.optimizer.startsWith("adamw") ? "adamw_fused" : base.optimizer,
      optimizerOnHost: false,
      optimizerInBackward: false,
      parallel: { kind: "fsdp2", ranks, offload: false },
    };
    if (!allowed(recipe, card)) return null;
    const { tape } = execute(recipe, 2, card.capability);
    if (simulate(tape).stats.reserved.peak <= card.memory - CONTEXT) return ranks;
  }
  return null;
}
