import { parseSettings } from "../allocator/settings.ts";
import { simulate } from "../allocator/simulate.ts";
import { numel } from "../autograd/tensor.ts";
import type { Bytes } from "../base/units.ts";
import { bandOf } from "../plan/band.ts";
import { CONTEXT } from "../plan/cards.ts";
import { type Execution, execute } from "../plan/execute.ts";
import { type HostBudget, hostBudget, MIN_OFFLOADED } from "../plan/host.ts";
import { judge, type Verdict } from "../plan/plan.ts";
import { dataRanks, effectiveBatch, type Parallel, type Recipe } from "../plan/recipe.ts";
import { type Change, changesOf, type Grade, gradeOf } from "./changes.ts";
import { type Estimate, Estimates } from "./estimates.ts";
import { abridged, allowed, type Axes, axesOf, microBatches, type Space, type Stepping } from "./space.ts";
import { type Speed, speedFrom, speedOf, UNPACKING } from "./speed.ts";
import { type Footprint, footprintOf, leastPeak } from "./structure.ts";

export interface SearchOptions extends Space {
  /** Whether the model's family is known, which decides how close to the card's limit a recipe may come. */
  readonly known: boolean;
  /** How many recipes to rank. */
  readonly wanted: number;
  /** Leaves out what the files to be written cannot say. */
  readonly sayable?: (recipe: Recipe) => boolean;
}

/** A recipe whose memory was simulated on the card. */
export interface Found {
  readonly recipe: Recipe;
  readonly speed: Speed;
  readonly allocated: Bytes;
  readonly reserved: Bytes;
  readonly verdict: Verdict;
  /** Fits, with what predictions of this kind have been off by to spare, and without emptying the cache. */
  readonly safe: boolean;
  readonly host: HostBudget | null;
  readonly changes: readonly Change[];
  readonly grade: Grade;
}

export interface Counts {
  /** Recipes of the whole space. */
  readonly considered: number;
  /** Of them left out: by a rule, */
  readonly rules: number;
  /** for want of host memory, */
  readonly host: number;
  /** because another is no worse in speed, memory, host memory or exactness, */
  readonly dominance: number;
  /** or because no run of them can fit. The others are slower than what was found. */
  readonly memory: number;
  /** Nets executed on shapes, and recipes run through the allocator. */
  readonly executed: number;
  readonly simulated: number;
}

export interface Searched {
  /** The best first. */
  readonly ranked: readonly Found[];
  /** Nothing both leaner and faster was seen: the fastest first. */
  readonly front: readonly {
    readonly recipe: Recipe;
    readonly peak: Bytes;
    readonly tokensPerSecond: number;
  }[];
  /** What comes nearest when nothing fits. */
  readonly nearest: Found | null;
  readonly counts: Counts;
}

/**
 * Among speeds closer than this, which is less than the model's own median error, the more exact recipe leads, then
 * the one changed less, then the faster by a percent, then the leaner.
 */
const SAME_SPEED = 0.04;
const percents = (speed: number): number => Math.round(100 * Math.log(speed));

/** Everything but the micro-batch that the net's own run depends on. */
type Family = Pick<
  Recipe,
  "checkpointing" | "loss" | "dtype" | "autocast" | "method" | "attention" | "mask" | "parallel"
>;

type Node =
  | { readonly kind: "family"; readonly bound: number; readonly family: Family }
  | { readonly kind: "recipe"; readonly bound: number; readonly recipe: Recipe; readonly grade: Grade };

/**
 * Best first: what could be fastest is looked at next, so the first recipes that pass their simulation are the
 * fastest of the whole space.
 */
export function search(options: SearchOptions): Searched {
  return new Search(options).run();
}

const keyOf = (value: unknown): string => JSON.stringify(value);

const familyOf = (recipe: Recipe): Family => {
  const { parallel, dtype, autocast, attention, mask, method, loss, checkpointing } = recipe;
  return { parallel, dtype, autocast, attention, mask, method, loss, checkpointing };
};

const quantized = ({ method }: Family): boolean => method.kind === "lora" && method.quantization !== null;

class Search {
  readonly #options: SearchOptions;
  readonly #axes: Axes;
  readonly #usable: Bytes;
  readonly #estimates: Estimates;
  readonly #footprints = new Map<string, Footprint>();
  readonly #open: Node[] = [];
  readonly #found: Found[] = [];
  readonly #points: { recipe: Recipe; peak: Bytes; tokensPerSecond: number }[] = [];
  readonly #decided = { rules: 0, host: 0, dominance: 0, memory: 0 };
  #nearest: { recipe: Recipe; peak: Bytes } | null = null;
  #simulated = 0;

  constructor(options: SearchOptions) {
    this.#options = options;
    this.#axes = axesOf(options);
    this.#usable = options.card.memory - CONTEXT;
    const { base, card } = options;
    this.#estimates = new Estimates(base, this.#axes, (parallel) => this.#batches(parallel), card);
  }

  #batches(parallel: Parallel): readonly number[] {
    return microBatches(this.#options, parallel);
  }

  run(): Searched {
    for (const family of this.#families()) {
      // Unpacking its weights is work on top of what the same net does without.
      const bound = quantized(family) && !quantized(this.#options.base) ? this.#plainBound(family) : Infinity;
      this.#open.push({ kind: "family", bound, family });
    }
    for (let node = this.#next(); node && !this.#proven(node.bound); node = this.#next()) {
      if (node.kind === "family") this.#openFamily(node.family);
      else this.#verify(node);
    }
    return {
      ranked: this.#ranking(),
      front: front(this.#points),
      nearest: this.#found.length > 0 ? null : this.#nearestMiss(),
      counts: this.#counts(),
    };
  }

  /** Settled when nothing left can come into the rank, nor among those as fast as the fastest. */
  #proven(bound: number): boolean {
    const speeds = this.#found.filter(({ safe }) => safe).map(({ speed }) => speed.tokensPerSecond);
    return speeds.length >= this.#options.wanted && bound < Math.max(...speeds) * (1 - SAME_SPEED);
  }

  #next(): Node | undefined {
    let at = -1;
    for (let i = 0; i < this.#open.length; i++)
      if (at < 0 || this.#open[i]!.bound > this.#open[at]!.bound) at = i;
    return at < 0 ? undefined : this.#open.splice(at, 1)[0];
  }

  #families(): Family[] {
    const { checkpointings, losses, precisions, methods, attentions, masks, parallels } = this.#axes;
    let families: Partial<Family>[] = [{}];
    const cross = (choices: readonly Partial<Family>[]): void => {
      families = families.flatMap((family) => choices.map((choice) => ({ ...family, ...choice })));
    };
    cross(parallels.map((parallel) => ({ parallel })));
    cross(precisions);
    cross(attentions.map((attention) => ({ attention })));
    cross(masks.map((mask) => ({ mask })));
    cross(methods.map((method) => ({ method })));
    cross(losses.map((loss) => ({ loss })));
    cross(checkpointings.map((checkpointing) => ({ checkpointing })));
    return families as Family[];
  }

  #recipe(family: Family, batch: number, stepping: Stepping): Recipe {
    const { base } = this.#options;
    const accumulation = effectiveBatch(base) / dataRanks(family.parallel) / batch;
    return { ...base, ...family, ...stepping, batch, accumulation };
  }

  /** The best speed of the same family with its base as it was. */
  #plainBound(family: Family): number {
    const { base, card } = this.#options;
    const plain = { ...family, method: base.method };
    return Math.max(
      ...this.#batches(family.parallel).map((batch) => {
        const recipe = this.#recipe(family, batch, this.#axes.steppings[0]!);
        const { micro, trained } = this.#estimates.of(plain, batch);
        const unpacked = { device: micro.device * UNPACKING, host: micro.host };
        return speedFrom([unpacked], trained, { ...recipe, optimizer: "sgd" }, card).tokensPerSecond;
      }),
    );
  }

  #footprint(family: Family, stepping: Stepping, { trainable }: Estimate): Footprint {
    const key = keyOf([family.method, family.dtype, family.parallel, stepping]);
    let footprint = this.#footprints.get(key);
    if (!footprint) {
      const plain = this.#options.base.loop === "plain";
      const alone = footprintOf(trainable, stepping, (shape) => plain || shape.length > 1);
      footprint = family.parallel.ranks > 1 ? sharded(alone, family.parallel) : alone;
      this.#footprints.set(key, footprint);
    }
    return footprint;
  }

  #openFamily(family: Family): void {
    for (const batch of this.#batches(family.parallel)) this.#openStructure(family, batch);
  }

  /** Every stepping the rules allow, without those another is no worse than in any respect. */
  #openStructure(family: Family, batch: number): void {
    const { base, card, host } = this.#options;
    const estimate = this.#estimates.of(family, batch);
    const rated = this.#axes.steppings.flatMap((stepping) => {
      const recipe = this.#recipe(family, batch, stepping);
      if (!allowed(recipe, card) || this.#options.sayable?.(recipe) === false) {
        this.#decided.rules++;
        return [];
      }
      const needs = this.#hostOf(recipe, estimate)?.total ?? 0;
      if (needs > (host ?? 0)) {
        this.#decided.host++;
        return [];
      }
      const peak = leastPeak(estimate.levels, this.#footprint(family, stepping, estimate), recipe);
      const speed = speedFrom([estimate.micro], estimate.trained, recipe, card).tokensPerSecond;
      return { recipe, peak, speed, needs, grade: gradeOf(changesOf(base, recipe)) };
    });
    for (const [at, one] of rated.entries()) {
      if (!this.#nearest || one.peak < this.#nearest.peak) this.#nearest = one;
      if (
        rated.some((other, i) => other !== one && noWorse(other, one) && (i < at || !noWorse(one, other)))
      ) {
        this.#decided.dominance++;
      } else if (one.peak > this.#usable) {
        this.#decided.memory++;
      } else {
        this.#points.push({ recipe: one.recipe, peak: one.peak, tokensPerSecond: one.speed });
        this.#open.push({ kind: "recipe", bound: one.speed, recipe: one.recipe, grade: one.grade });
      }
    }
  }

  #hostOf(recipe: Recipe, { trainable, trained }: Estimate): HostBudget | null {
    const state = recipe.optimizerOnHost
      ? trainable.reduce((sum, t) => sum + (numel(t.shape) >= MIN_OFFLOADED ? 4 * t.storage.bytes : 0), 0)
      : 0;
    // What ranks place there is known once one is run.
    if (recipe.parallel.ranks > 1) return null;
    return hostBudget(recipe, trainable, state + trained.offloaded);
  }

  /** The least changed allocator setting under which it fits. */
  #verify({ recipe, grade }: Extract<Node, { kind: "recipe" }>): void {
    const structure = keyOf([familyOf(recipe), recipe.batch]);
    const better = this.#found.some(
      (one) =>
        one.safe && one.grade <= grade && keyOf([familyOf(one.recipe), one.recipe.batch]) === structure,
    );
    if (better) {
      this.#decided.dominance++;
      return;
    }
    const tries = this.#simulate(recipe);
    const best = tries.find(({ safe }) => safe) ?? tries.find(({ verdict }) => verdict.fits);
    if (best && (best.host?.total ?? 0) <= (this.#options.host ?? 0)) this.#found.push(best);
  }

  /**
   * A run under each allocator setting, until one is safe. The first micro-batch makes gradients, the second adds
   * to them and the others repeat it; the second step has the optimizer's state and the others repeat it.
   */
  #simulate(recipe: Recipe): Found[] {
    const { base, card, known } = this.#options;
    const executions = stages(abridged(recipe)).map((one) => execute(one, 2, card.capability));
    const { trainable, hostPeak } = executions[0]!;
    const speed = this.#speed(executions[0]!, recipe);
    const host = hostBudget(recipe, trainable, hostPeak);
    const tries: Found[] = [];
    const { allocators } = this.#axes;
    for (const [at, allocConf] of allocators.entries()) {
      this.#simulated++;
      const tried = { ...recipe, allocConf };
      const settings = parseSettings(allocConf);
      const [simulation, tape] = executions
        .map((one) => [simulate(one.tape, { settings }), one.tape] as const)
        .reduce((a, b) => (b[0].stats.reserved.peak > a[0].stats.reserved.peak ? b : a));
      const { allocated, reserved } = simulation.stats;
      const hopeless = allocated.peak > this.#usable;
      // What fits only by giving back cached memory is not safe: the next setting is tried first.
      if (!hopeless && reserved.peak > this.#usable && at < allocators.length - 1) continue;
      const spare = this.#usable - reserved.peak;
      const verdict = hopeless
        ? { fits: false, usable: this.#usable, spare, retries: 0 }
        : judge(tape, simulation, card, tried);
      const margin = bandOf(tried, known).reserved.worst * reserved.peak;
      const safe = verdict.fits && verdict.retries === 0 && verdict.spare >= margin;
      const changes = changesOf(base, tried);
      tries.push({
        recipe: tried,
        speed,
        host,
        allocated: allocated.peak,
        reserved: reserved.peak,
        verdict,
        safe,
        changes,
        grade: gradeOf(changes),
      });
      if (safe || hopeless) break;
    }
    return tries;
  }

  #speed(execution: Execution, recipe: Recipe): Speed {
    const { card } = this.#options;
    if (recipe.parallel.ranks === 1) return speedOf(execution, recipe, card);
    const { micro, trained } = this.#estimates.of(familyOf(recipe), recipe.batch);
    return speedFrom([micro], trained, recipe, card);
  }

  #ranking(): Found[] {
    const order = this.#found.toSorted((a, b) => b.speed.tokensPerSecond - a.speed.tokensPerSecond);
    const safe = order.filter((found) => found.safe);
    const tight = order.filter((found) => !found.safe);
    const near = (safe[0]?.speed.tokensPerSecond ?? 0) * (1 - SAME_SPEED);
    const head = safe
      .filter(({ speed }) => speed.tokensPerSecond >= near)
      .toSorted(
        (a, b) =>
          a.grade - b.grade ||
          a.changes.length - b.changes.length ||
          percents(b.speed.tokensPerSecond) - percents(a.speed.tokensPerSecond) ||
          a.reserved - b.reserved,
      );
    return [...head, ...safe.filter((found) => !head.includes(found)), ...tight].slice(
      0,
      this.#options.wanted,
    );
  }

  #nearestMiss(): Found | null {
    if (!this.#nearest) return null;
    return this.#simulate(this.#nearest.recipe).toSorted((a, b) => a.reserved - b.reserved)[0]!;
  }

  #counts(): Counts {
    const {
      checkpointings,
      losses,
      precisions,
      methods,
      attentions,
      masks,
      parallels,
      steppings,
      allocators,
    } = this.#axes;
    const nets = [checkpointings, losses, precisions, methods, attentions, masks].reduce(
      (product, axis) => product * axis.length,
      1,
    );
    const times = allocators.length;
    const spread = parallels.reduce((sum, parallel) => sum + this.#batches(parallel).length, 0);
    const considered = nets * spread * steppings.length * times;
    const { rules, host, dominance, memory } = this.#decided;
    return {
      considered,
      rules: rules * times,
      host: host * times,
      dominance: dominance * times,
      memory: memory * times,
      executed: this.#estimates.executed,
      simulated: this.#simulated,
    };
  }
}

/** At the least: state is shared out, or rests on the host. What divides the model has its own part only. */
function sharded({ state }: Footprint, { kind, ranks, offload }: Parallel): Footprint {
  const whole = kind === "ddp" || kind === "tensor" || kind === "pipeline";
  return { state: offload ? 0 : whole ? state : state / ranks, temporaries: 0 };
}

/** The recipe as each rank runs it, where they differ: a pipeline's stages. */
function stages(recipe: Recipe): Recipe[] {
  const { parallel } = recipe;
  if (parallel.kind !== "pipeline") return [recipe];
  return Array.from({ length: parallel.ranks }, (_, rank) => ({
    ...recipe,
    parallel: { ...parallel, rank },
  }));
}

interface Rated {
  readonly peak: Bytes;
  readonly speed: number;
  readonly grade: Grade;
  readonly needs: Bytes;
}

/** Peaks closer than this are one: a step counter a parameter is no reason to look at a recipe. */
const SAME_PEAK: Bytes = 2 ** 24;
const level = (peak: Bytes): number => Math.round(peak / SAME_PEAK);

function noWorse(a: Rated, b: Rated): boolean {
  return level(a.peak) <= level(b.peak) && a.speed >= b.speed && a.grade <= b.grade && a.needs <= b.needs;
}

function front(
  points: readonly { readonly recipe: Recipe; readonly peak: Bytes; readonly tokensPerSecond: number }[],
): Searched["front"] {
  const kept: (typeof points)[number][] = [];
  let least = Number.POSITIVE_INFINITY;
  for (const point of points.toSorted((a, b) => b.tokensPerSecond - a.tokensPerSecond || a.peak - b.peak)) {
    if (point.peak >= least) continue;
    least = point.peak;
    kept.push(point);
  }
  return kept;
}
