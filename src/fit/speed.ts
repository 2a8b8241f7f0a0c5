import type { Dtype } from "../autograd/dtype.ts";
import type { Work } from "../autograd/work.ts";
import type { Seconds } from "../base/units.ts";
import type { Card } from "../plan/cards.ts";
import type { Execution } from "../plan/execute.ts";
import { effectiveBatch, type Recipe } from "../plan/recipe.ts";
import { Action, Phase } from "../tape/vocabulary.ts";

/**
 * What a card reaches of its datasheet, and what the host pays to feed it. Set once, for all models and recipes,
 * on the 40 idle-GPU runs summarised in evidence/speed (one H200, torch 2.11): no constant belongs to a case, a
 * family or a lever. Other cards take the same shares of their own datasheet.
 */
const REACHED = {
  /** Dense products of a full wave of tiles, share of peak. */
  halfProduct: 0.83,
  singleProduct: 0.9,
  attentionForward: 0.44,
  attentionBackward: 0.5,
  bandwidth: 0.8,
} as const;

/** Bytes moved for each byte a memory-bound kernel writes: its inputs as well. */
const TRAFFIC = 2.1;
/** Shortest kernel. */
const KERNEL: Seconds = 1e-6;
/** Host time a kernel costs: from Python in the forward (and in a recomputation), from the engine in backward. */
const HOST_FORWARD: Seconds = 35e-6;
const HOST_BACKWARD: Seconds = 24e-6;
/**
 * Under selective checkpointing every operator passes through a Python dispatch mode, in the forward and again in
 * the recomputation: 2.1 to 2.2 times the host time of full checkpointing (tiny model on a CPU), and the three
 * selective runs of evidence/fit.
 */
const SELECTIVE_HOST = 2.15;
/** Fixed host time a step: the loop, clipping, the first launches. */
const HOST_STEP: Seconds = 6e-3;
/** How sharply the longer of device and host time wins: they overlap, but not perfectly. */
const OVERLAP = 4;
/** Host memory bandwidth an optimizer on the CPU works at, a server's share measured with torch's CPU AdamW. */
const HOST_BANDWIDTH = 60e9;

/** Share of the host link at which paged optimizer state moves (bitsandbytes' documentation, paged optimizers). */
const PAGING = 0.5;

/** Tiles cuBLAS chooses from: rows × columns of the result a thread block computes. */
const TILES = [
  [128, 256],
  [128, 128],
  [128, 64],
  [64, 64],
  [128, 32],
  [64, 32],
] as const;

/**
 * Share of a product's arithmetic that is useful: tiles hang over the edge, the last wave is not full, and
 * smaller tiles reuse less of what they load.
 */
function tiling(rows: number, columns: number, batch: number, multiprocessors: number): number {
  let best = Infinity;
  for (const [r, c] of TILES) {
    const down = Math.ceil(rows / r);
    const across = Math.ceil(columns / c);
    const tiles = down * across * batch;
    const waves = (Math.ceil(tiles / multiprocessors) * multiprocessors) / tiles;
    const overhang = (down * r * across * c) / (rows * columns);
    best = Math.min(best, waves * overhang * (1 + 24 / r + 24 / c));
  }
  return 1 / best;
}

/** Splitting the inner dimension rescues products with few tiles and a long sum. */
const SPLIT_INNER = 4096;
const SPLIT_SHARE = 0.35;

interface Rates {
  readonly half: number;
  readonly single: number;
  readonly bandwidth: number;
  readonly multiprocessors: number;
}

/**
 * Streaming multiprocessors, from fp32 throughput: 128 lanes each at about 1.95 GHz, but 64 lanes at about
 * 1.4 GHz on Volta, Turing and the A100 and A30.
 */
function multiprocessorsOf(card: Card): number {
  const each = card.capability <= 8.0 ? 0.18e12 : 0.507e12;
  return Math.max(1, Math.round(card.single / each));
}

function ratesOf(card: Card): Rates {
  return {
    half: card.half * REACHED.halfProduct,
    single: card.single * REACHED.singleProduct,
    bandwidth: card.bandwidth * REACHED.bandwidth,
    multiprocessors: multiprocessorsOf(card),
  };
}

const isHalf = (dtype: Dtype): boolean => dtype === "bf16" || dtype === "fp16";

function timeOf(work: Work, card: Card, rates: Rates): Seconds {
  if (work.kind === "attention") {
    const peak = isHalf(work.dtype) ? card.half : card.single;
    return work.flops / (peak * (work.backward ? REACHED.attentionBackward : REACHED.attentionForward));
  }
  const { rows, columns, inner, batch, dtype } = work;
  const peak = isHalf(dtype) ? rates.half : rates.single;
  let share = tiling(rows, columns, batch, rates.multiprocessors);
  const few = rows * columns * batch < 128 * 128 * rates.multiprocessors;
  if (few && inner > SPLIT_INNER) share = Math.max(share, SPLIT_SHARE);
  const bytes = (rows * inner + inner * columns + rows * columns) * batch * (isHalf(dtype) ? 2 : 4);
  return Math.max((2 * rows * columns * inner * batch) / (peak * share), bytes / rates.bandwidth, KERNEL);
}

/** Bytes an optimizer moves a byte of parameter, clipping's two passes included; and its host time a tensor. */
const OPTIMIZER_COST: Readonly<Record<string, readonly [traffic: number, host: Seconds]>> = {
  adamw_foreach: [18, 2e-6],
  adamw_fused: [11, 2e-6],
  adamw_loop: [20, 59e-6],
  adamw_bnb_8bit: [9, 20e-6],
  adamw_torchao_8bit: [14, 60e-6],
  paged_adamw: [15, 20e-6],
  paged_adamw_8bit: [9, 20e-6],
  lion: [9, 20e-6],
  lion_8bit: [7, 20e-6],
  adafactor: [28, 613e-6],
  sgd: [7, 2e-6],
  sgd_momentum: [9, 2e-6],
};

export interface Speed {
  /** One optimizer step. */
  readonly step: Seconds;
  readonly device: Seconds;
  readonly host: Seconds;
  readonly tokensPerSecond: number;
}

/** A micro-batch's kernels. */
export interface NetWork {
  readonly work: readonly Work[];
  readonly forward: number;
  readonly backward: number;
  readonly bytes: number;
}

/** The kernels of each block of a run: the first micro-batch, and a later one where gradients accumulate. */
export function workOf(execution: Execution): NetWork[] {
  return execution.blocks.map((block) => ({
    work: execution.work.slice(...block.work),
    ...countKernels(execution, block.ranges),
  }));
}

const between = (a: number, b: number, share: number): number => a + (b - a) * share;

/**
 * The kernels at another micro-batch: every dimension grows in proportion. Null where the two runs do not have
 * the same kernels (a loss in chunks has more of them the more tokens there are).
 */
export function workBetween(a: NetWork, b: NetWork, share: number): NetWork | null {
  if (a.work.length !== b.work.length) return null;
  const work = a.work.map((x, i): Work | null => {
    const y = b.work[i]!;
    if (x.kind === "attention")
      return y.kind === "attention" ? { ...x, flops: between(x.flops, y.flops, share) } : null;
    if (y.kind === "attention") return null;
    return {
      ...x,
      rows: between(x.rows, y.rows, share),
      columns: between(x.columns, y.columns, share),
      inner: between(x.inner, y.inner, share),
      batch: between(x.batch, y.batch, share),
    };
  });
  if (work.includes(null)) return null;
  return {
    work: work as Work[],
    forward: between(a.forward, b.forward, share),
    backward: between(a.backward, b.backward, share),
    bytes: between(a.bytes, b.bytes, share),
  };
}

/** What a micro-batch takes the card and the host. */
export interface MicroTime {
  readonly device: Seconds;
  readonly host: Seconds;
}

/**
 * A base in 4 bits is unpacked before each product. No measured run of this kind stands behind the model: the
 * factor is the lower end of what is published for QLoRA against LoRA (1.5 to 2 times), as in plan's levers.
 */
export const UNPACKING = 1.5;

export function microTime(
  { work, forward, backward, bytes }: NetWork,
  recipe: Recipe,
  card: Card,
): MicroTime {
  const rates = ratesOf(card);
  let device = 0;
  for (const one of work) device += one.times * timeOf(one, card, rates);
  device += (TRAFFIC * bytes) / rates.bandwidth + KERNEL * (forward + backward);
  if (recipe.method.kind === "lora" && recipe.method.quantization) device *= UNPACKING;
  const slower = recipe.checkpointing.kind === "selective" ? SELECTIVE_HOST : 1;
  return { device, host: slower * (HOST_FORWARD * forward + HOST_BACKWARD * backward) };
}

/** What a step takes beside its micro-batches. */
export interface Trained {
  /** Bytes and number of the trained tensors. */
  readonly bytes: number;
  readonly tensors: number;
  /** Activations of a micro-batch that go to the host and come back. */
  readonly offloaded: number;
  /** Bytes of all weights and adapters. */
  readonly weights: number;
}

export function trainedOf(execution: Execution, recipe: Recipe): Trained {
  const bytes = execution.trainable.reduce((n, t) => n + t.storage.bytes, 0);
  // A host optimizer keeps two moments, the parameter and its gradient there as well.
  const kept = recipe.optimizerOnHost ? 4 * bytes : 0;
  const offloaded = recipe.checkpointing.offload ? Math.max(0, execution.hostPeak - kept) : 0;
  const { action, bytes: sizes, phase } = execution.tape.columns;
  let weights = 0;
  for (let row = 0; row < execution.tape.length && phase[row] === Phase.load; row++)
    weights += action[row] === Action.alloc ? sizes[row]! : action[row] === Action.free ? -sizes[row]! : 0;
  return { bytes, tensors: execution.trainable.length, offloaded, weights };
}

/** Seconds a step takes on a card, from the run's own kernels. */
export function speedOf(execution: Execution, recipe: Recipe, card: Card): Speed {
  const micro = workOf(execution).map((work) => microTime(work, recipe, card));
  return speedFrom(micro, trainedOf(execution, recipe), recipe, card);
}

export function speedFrom(
  micro: readonly MicroTime[],
  { bytes, tensors, offloaded, weights }: Trained,
  recipe: Recipe,
  card: Card,
): Speed {
  const { parallel, accumulation } = recipe;
  const first = micro[0]!;
  const later = micro[1] ?? first;
  const { part, slots } = stagesOf(recipe);
  let device = part * (first.device + (slots - 1) * later.device) + summing(recipe, card);
  let host = HOST_STEP + part * (first.host + (accumulation - 1) * later.host);
  const [traffic, perTensor] = OPTIMIZER_COST[recipe.optimizer]!;
  const share = parallel.kind === "ddp" ? 1 : 1 / parallel.ranks;
  host += perTensor * tensors;
  if (recipe.optimizerOnHost || parallel.offload) {
    // Gradients down, parameters up, and the update at the host's memory bandwidth, after the device is done.
    device += (2 * share * bytes) / card.hostLink + (7 * bytes) / HOST_BANDWIDTH;
  } else {
    device += (share * traffic * bytes) / (card.bandwidth * REACHED.bandwidth);
  }
  // A plan leaves no room on the card for state that is paged: it comes and goes in each step.
  if (recipe.optimizer.startsWith("paged")) {
    const elements = bytes / (recipe.dtype === "fp32" ? 4 : 2);
    device += (2 * elements * (recipe.optimizer.endsWith("8bit") ? 2 : 8)) / (PAGING * card.hostLink);
  }
  if (recipe.checkpointing.offload)
    device = Math.max(device, device * 0.5 + (2 * offloaded * accumulation) / card.hostLink);
  const links = linkTime(recipe, bytes, weights, card);
  const step = (device ** OVERLAP + host ** OVERLAP + links ** OVERLAP) ** (1 / OVERLAP);
  return { step, device, host, tokensPerSecond: (effectiveBatch(recipe) * recipe.seq) / step };
}

/**
 * A pipeline's stage does its part of every micro-batch, and waits for the others while the pipeline fills and
 * empties: 1F1B (Narayanan et al. 2021, section 2.2).
 */
function stagesOf({ parallel: { kind, ranks }, accumulation }: Recipe): { part: number; slots: number } {
  return kind === "pipeline"
    ? { part: 1 / ranks, slots: accumulation + ranks - 1 }
    : { part: 1, slots: accumulation };
}

const around = (ranks: number): number => (ranks - 1) / ranks;

/**
 * What the card waits for in the middle of its work: where layers are divided, two sums over the ranks in a layer's
 * forward, two in its backward, and again where the forward is computed twice; between a pipeline's stages, what
 * one hands to the next and gets back.
 */
function summing(
  { parallel, checkpointing, model, batch, seq, accumulation, dtype, autocast }: Recipe,
  card: Card,
): Seconds {
  const { kind, ranks } = parallel;
  if (kind !== "tensor" && kind !== "pipeline") return 0;
  const { config } = model;
  const hidden = Number(config["hidden_size"] ?? config["n_embd"]);
  const layers = Number(config["num_hidden_layers"] ?? config["n_layer"]);
  const bytes = batch * seq * hidden * (isHalf(autocast ?? dtype) ? 2 : 4);
  if (kind === "pipeline") return (accumulation * 2 * bytes) / linkOf(parallel, card);
  const sums = layers * (checkpointing.kind === "none" ? 4 : 6);
  return (accumulation * sums * 2 * around(ranks) * bytes) / linkOf(parallel, card);
}

/** A ring is as fast as its slowest link. */
function linkOf({ nodes = 1, replicas = 1 }: Recipe["parallel"], { peerLink, networkLink }: Card): number {
  return nodes > replicas ? Math.min(peerLink, networkLink) : peerLink;
}

/**
 * Between cards, in rings: gradients are reduced once a step; sharded weights are gathered in forward and in
 * backward and their gradients scattered, in each micro-batch, and come from the host where they rest there;
 * copies on several nodes average their shards. Not measured: no run of several cards stands behind the model.
 */
function linkTime({ parallel, accumulation }: Recipe, trained: number, weights: number, card: Card): Seconds {
  const { kind, ranks, offload, replicas = 1 } = parallel;
  if (ranks === 1 || !/^(?:ddp|zero|fsdp)/.test(kind)) return 0;
  const link = linkOf(parallel, card);
  if (kind !== "fsdp2" && kind !== "zero3") return (2 * around(ranks) * trained) / link;
  const gathered = accumulation * around(ranks) * (2 * weights + trained);
  const fetched = offload ? (accumulation * 2 * weights) / ranks / card.hostLink : 0;
  const averaged = (2 * around(replicas) * trained) / ranks / card.networkLink;
  return gathered / link + fetched + averaged;
}

function countKernels(
  { tape }: Execution,
  ranges: readonly (readonly [number, number])[],
): { forward: number; backward: number; bytes: number } {
  const { action, phase, bytes } = tape.columns;
  const sum = { forward: 0, backward: 0, bytes: 0 };
  for (const [from, to] of ranges) {
    for (let row = from; row < to; row++) {
      if (action[row] !== Action.alloc) continue;
      if (phase[row] === Phase.backward) sum.backward++;
      else sum.forward++;
      sum.bytes += bytes[row]!;
    }
  }
  return sum;
}
