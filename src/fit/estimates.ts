import type { Tensor } from "../autograd/tensor.ts";
import type { Card } from "../plan/cards.ts";
import type { Recipe } from "../plan/recipe.ts";
import type { Axes } from "./space.ts";
import { type MicroTime, microTime, type Trained, workBetween } from "./speed.ts";
import { type Levels, type Profile, profileOf } from "./structure.ts";

type Net = Pick<
  Recipe,
  "checkpointing" | "loss" | "dtype" | "autocast" | "method" | "attention" | "mask" | "parallel"
>;

/** What is known of a net at a micro-batch before it is run there. */
export interface Estimate {
  readonly levels: Levels;
  readonly micro: MicroTime;
  readonly trained: Trained;
  readonly trainable: readonly Tensor[];
}

/**
 * Every net of a search from few runs. Time and memory are sums and maxima of parts that do not see each other:
 * the layers under one kind of checkpointing, and one kind of loss. Each is executed at the two smallest
 * micro-batches; from there kernels and bytes grow in proportion.
 */
export class Estimates {
  readonly #base: Recipe;
  readonly #axes: Axes;
  readonly #card: Card;
  /** The micro-batches of a layout. */
  readonly #batches: (parallel: Recipe["parallel"]) => readonly number[];
  readonly #profiles = new Map<string, Profile>();
  readonly #parts = new Map<string, Estimate>();

  constructor(
    base: Recipe,
    axes: Axes,
    batches: (parallel: Recipe["parallel"]) => readonly number[],
    card: Card,
  ) {
    this.#base = base;
    this.#axes = axes;
    this.#card = card;
    this.#batches = batches;
  }

  get executed(): number {
    return this.#profiles.size;
  }

  of(net: Net, batch: number): Estimate {
    const own = this.#axes.losses[0]!;
    const layers = this.#part({ ...net, loss: own }, batch);
    if (net.loss === own) return layers;
    const plain = {
      ...net,
      method: this.#axes.methods[0]!,
      checkpointing: this.#axes.checkpointings[0]!,
    };
    const mine = this.#part(plain, batch);
    const theirs = this.#part({ ...plain, loss: own }, batch);
    return {
      ...layers,
      levels: { ...layers.levels, loss: mine.levels.loss },
      micro: {
        device: layers.micro.device + mine.micro.device - theirs.micro.device,
        host: layers.micro.host + mine.micro.host - theirs.micro.host,
      },
    };
  }

  #part(net: Net, batch: number): Estimate {
    const key = JSON.stringify([net, batch]);
    let part = this.#parts.get(key);
    if (!part) this.#parts.set(key, (part = this.#extrapolated(net, batch)));
    return part;
  }

  #extrapolated(net: Net, batch: number): Estimate {
    const recipe = { ...this.#base, ...net };
    const [a, b] = this.#batches(net.parallel).slice(-2).toReversed();
    const first = this.#profile(net, a!);
    if (batch === a || b === undefined) return this.#estimate(first, this.#workProfile(net, a!), recipe);
    const second = this.#profile(net, b);
    if (batch === b) return this.#estimate(second, this.#workProfile(net, b), recipe);
    const [one, two] = [this.#workProfile(net, a!), this.#workProfile(net, b)];
    const share = (batch - a!) / (b - a!);
    const along = (x: number, y: number): number => x + (y - x) * share;
    const work = workBetween(one.work, two.work, share);
    const times = [one, two].map(({ work: known }) => microTime(known, recipe, this.#card));
    const micro = work
      ? microTime(work, recipe, this.#card)
      : {
          device: along(times[0]!.device, times[1]!.device),
          host: along(times[0]!.host, times[1]!.host),
        };
    return {
      micro,
      trainable: first.trainable,
      trained: { ...one.trained, offloaded: along(one.trained.offloaded, two.trained.offloaded) },
      levels: {
        plain: along(first.plain, second.plain),
        graded: along(first.graded, second.graded),
        before: along(first.before, second.before),
        // In chunks it stops growing.
        loss: whole(net.loss) ? along(first.loss, second.loss) : second.loss,
        standing: first.standing,
        gradients: first.gradients,
      },
    };
  }

  /**
   * A rank of several computes what one card alone would (a pipeline's stages do so between them): its kernels are
   * taken from there. Where layers are divided it has kernels of its own.
   */
  #workProfile(net: Net, batch: number): Profile {
    if (net.parallel.kind === "tensor") return this.#profile(net, batch);
    return this.#profile({ ...net, parallel: { kind: "none", ranks: 1, offload: false } }, batch);
  }

  #estimate(profile: Profile, alone: Profile, recipe: Recipe): Estimate {
    const { trainable, trained: _trained, work: _work, ...levels } = profile;
    return { levels, micro: microTime(alone.work, recipe, this.#card), trained: alone.trained, trainable };
  }

  #profile(net: Net, batch: number): Profile {
    const key = JSON.stringify([net, batch]);
    let profile = this.#profiles.get(key);
    if (!profile)
      this.#profiles.set(key, (profile = profileOf(lastStage({ ...this.#base, ...net, batch }), this.#card)));
    return profile;
  }
}

/** Of a pipeline's ranks, the one that also has the loss. */
function lastStage(recipe: Recipe): Recipe {
  const { parallel } = recipe;
  if (parallel.kind !== "pipeline") return recipe;
  return { ...recipe, parallel: { ...parallel, rank: parallel.ranks - 1 } };
}

/** A loss that holds all logits at once. */
const whole = (loss: Recipe["loss"]): boolean => loss === "default";
