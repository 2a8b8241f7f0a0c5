import type { Dtype } from "../autograd/dtype.ts";
import type { Work } from "../autograd/work.ts";
import type { Seconds } from "../base/units.ts";
import type { Card } from "../plan/cards.ts";
import type { Execution } from "../plan/execute.ts";
import type { Recipe } from "../plan/recipe.ts";
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
/** Fixed host time a step: the loop, clipping, the first launches. */
const HOST_STEP: Seconds = 6e-3;
/** How sharply the longer of device and host time wins: they overlap, but not perfectly. */
const OVERLAP = 4;
/** Host memory bandwidth an optimizer on the CPU works at, a server's share measured with torch's CPU AdamW. */
const HOST_BANDWIDTH = 60e9;

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

/** Seconds a step takes on a card, from the run's own kernels. */
export function speedOf(execution: Execution, recipe: Recipe, card: Card): Speed {
  const rates = ratesOf(card);
  let device = 0;
  let host = HOST_STEP;
  for (let micro = 0; micro < recipe.accumulation; micro++) {
    const block = execution.blocks[Math.min(micro, execution.blocks.length - 1)]!;
    for (let i = block.work[0]; i < block.work[1]; i++)
      device += execution.work[i]!.times * timeOf(execution.work[i]!, card, rates);
    const kernels = countKernels(execution, block.ranges);
    device += (TRAFFIC * kernels.bytes) / rates.bandwidth + KERNEL * (kernels.forward + kernels.backward);
    host += HOST_FORWARD * kernels.forward + HOST_BACKWARD * kernels.backward;
  }
  const parameterBytes = execution.trainable.reduce((n, t) => n + t.storage.bytes, 0);
  const [traffic, perTensor] = OPTIMIZER_COST[recipe.optimizer]!;
  host += perTensor * execution.trainable.length;
  if (recipe.optimizerOnHost) {
    // Gradients down, parameters up, and the update at the host's memory bandwidth, after the device is done.
    device += (2 * parameterBytes) / card.hostLink + (7 * parameterBytes) / HOST_BANDWIDTH;
  } else {
    device += (traffic * parameterBytes) / rates.bandwidth;
  }
  if (recipe.checkpointing.offload)
    device = Math.max(device, device * 0.5 + (2 * execution.hostPeak) / card.hostLink);
  const step = (device ** OVERLAP + host ** OVERLAP) ** (1 / OVERLAP);
  return { step, device, host, tokensPerSecond: (recipe.batch * recipe.seq * recipe.accumulation) / step };
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
