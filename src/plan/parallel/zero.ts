import { sizeOf } from "../../autograd/dtype.ts";
import { type Storage, type Tensor, numel } from "../../autograd/tensor.ts";
import type { Torch } from "../../autograd/torch.ts";
import type { Around } from "../../nets/net.ts";
import type { OptimizerName } from "../../optimizers/optimizers.ts";
import { Kind } from "../../tape/vocabulary.ts";
import { hold, occupy, vacate } from "./shards.ts";
import { layerOf, type Placed, type Strategy } from "./strategy.ts";

/** Elements, the defaults of deepspeed/runtime/zero/config.py. */
const REDUCE_BUCKET = 5e8;
const PREFETCH = 5e7;
const PERSISTENT = 1e5;
const MAX_REUSE_DISTANCE = 1e9;
const SUB_GROUP = 1e9;

export interface ZeroOptions {
  readonly ranks: number;
  readonly offload: boolean;
  readonly optimizer: OptimizerName;
}

/** Tensors of a parameter's size that an optimizer keeps; Adafactor's rows and columns are small beside it. */
export function momentsOf(name: OptimizerName): number {
  if (name === "sgd" || name === "adafactor") return 0;
  return name === "sgd_momentum" || name.startsWith("lion") ? 1 : 2;
}

/** Bytes of state an optimizer keeps for an element of the fp32 partition. */
function stateBytes(name: OptimizerName): number {
  return momentsOf(name) * (name.includes("8bit") ? 1 : 4);
}

/** This rank's part of the flattened fp32 weights and of the optimizer's state, made when the engine is. */
function masterPartition(torch: Torch, part: number, { offload, optimizer }: ZeroOptions): void {
  const state = part * stateBytes(optimizer);
  if (offload) {
    // Weights, state and gradients in fp32, all in host memory.
    torch.host.add(part * 4 + state + part * 4);
    return;
  }
  hold(torch, part * 4, Kind["optimizer state"]);
  if (state > 0) hold(torch, state, Kind["optimizer state"]);
}

/**
 * DeepSpeed's ZeRO stages 1 and 2 (deepspeed/runtime/zero/stage_1_and_2.py): weights whole, fp32 weights and
 * state partitioned, each gradient copied into a bucket and this rank's part of it into a buffer. With contiguous
 * gradients, the default, both stages keep the same.
 */
export function zero12(torch: Torch, trainable: readonly Tensor[], options: ZeroOptions): Strategy {
  const { ranks, offload } = options;
  const size = trainable[0] ? sizeOf(trainable[0].dtype) : 2;
  const part = Math.ceil(trainable.reduce((sum, p) => sum + numel(p.shape), 0) / ranks);
  masterPartition(torch, part, options);
  if (offload) {
    const largest = Math.max(...trainable.map((p) => numel(p.shape)));
    hold(torch, largest * size, Kind.workspace);
  }
  let bucket: Storage | null = null;
  let own: Storage | null = null;

  torch.onGradient = (leaf) => {
    bucket ??= hold(torch, REDUCE_BUCKET * size, Kind.gradient);
    if (!offload) own ??= hold(torch, part * size, Kind.gradient);
    torch.unref(leaf.grad!);
    leaf.grad = null;
  };
  return {
    trainable: [],
    stepsItself: true,
    afterBackward() {
      if (bucket) torch.release(bucket);
      bucket = null;
    },
    beforeStep() {
      if (!own) return;
      const flat = hold(torch, part * size, Kind.gradient);
      const wide = hold(torch, part * 4, Kind.gradient);
      torch.release(flat);
      torch.release(own);
      own = null;
      torch.release(wide);
    },
  };
}

interface Unit {
  readonly members: readonly Placed[];
  readonly elements: number;
}

/**
 * ZeRO stage 3 (deepspeed/runtime/zero/stage3.py, partitioned_param_coordinator.py): a layer's weights are gathered
 * for its use, the next ones prefetched, and released unless they are used again within a distance.
 */
export function zero3(torch: Torch, placed: readonly Placed[], options: ZeroOptions): Strategy {
  const { ranks, offload } = options;
  const units = new Map<number, Placed[]>();
  let parts = 0;
  let trained = 0;
  for (const p of placed) {
    const count = numel(p.tensor.shape);
    const part = Math.ceil(count / ranks);
    if (p.tensor.requiresGrad) trained += part;
    if (count < PERSISTENT) {
      occupy(torch, p, p.tensor.storage.bytes);
      continue;
    }
    parts += part * sizeOf(p.tensor.dtype);
    const layer = layerOf(torch, p.module);
    // Embeddings come before the layers, everything else outside of them after.
    const place =
      layer < 0 ? (/embed|wte|wpe/.test(torch.tape.modules.text(p.module)) ? -1 : Infinity) : layer;
    units.set(place, [...(units.get(place) ?? []), p]);
  }
  if (offload) torch.host.add(parts);
  else hold(torch, parts, Kind.weight);
  masterPartition(torch, trained, options);
  const size = placed[0] ? sizeOf(placed[0].tensor.dtype) : 2;
  // grad_partitions_flat_buffer, and the bucket that gradients are copied into.
  if (!offload) hold(torch, trained * size, Kind.gradient);
  const order: Unit[] = [...units]
    .sort(([a], [b]) => a - b)
    .map(([, members]) => ({ members, elements: members.reduce((n, p) => n + numel(p.tensor.shape), 0) }));
  const placeOf = new Map([...units.keys()].sort((a, b) => a - b).map((place, i) => [place, i]));
  const tied = !placeOf.has(Infinity);
  let bucket: Storage | null = null;

  const gather = (at: number): void => {
    for (const p of order[at]?.members ?? [])
      if (p.tensor.storage.row < 0) occupy(torch, p, p.tensor.storage.bytes);
  };
  const use = (at: number, step: 1 | -1): void => {
    gather(at);
    for (let next = at + step, ahead = 0; order[next] && ahead < PREFETCH; next += step) {
      gather(next);
      ahead += order[next]!.elements;
    }
  };
  const release = (at: number): void => {
    for (const { tensor } of order[at]?.members ?? []) vacate(torch, tensor.storage);
  };
  /** Elements used between a layer's forward and its backward. */
  const distance = (at: number): number => 2 * order.slice(at + 1).reduce((sum, u) => sum + u.elements, 0);
  const leave = (at: number): void => {
    if (distance(at) >= MAX_REUSE_DISTANCE) release(at);
  };

  torch.onGradient = (leaf) => {
    bucket ??= hold(torch, REDUCE_BUCKET * size, Kind.gradient);
    torch.unref(leaf.grad!);
    leaf.grad = null;
  };
  const around: Around = (index, x, layer) => {
    const at = placeOf.get(index);
    if (at === undefined) return layer(x);
    if (torch.thread === "autograd") {
      use(at, -1);
      return layer(x);
    }
    if (at === (placeOf.has(-1) ? 1 : 0) && placeOf.has(-1)) leave(0);
    use(at, 1);
    const result = layer(x);
    leave(at);
    const first = Array.isArray(result) ? (result[0] as Tensor) : (result as Tensor);
    if (first.node) {
      const before = first.node.before;
      first.node.before = () => {
        before?.();
        // The layer after this one in forward has been through its backward.
        if (order[at + 1] && at + 1 < order.length) release(at + 1);
        use(at, -1);
      };
    }
    return result;
  };
  return {
    trainable: [],
    stepsItself: true,
    around,
    beforeForward: () => use(0, 1),
    afterForward() {
      if (tied) gather(0);
    },
    afterBackward() {
      order.forEach((_, at) => release(at));
      if (bucket) torch.release(bucket);
      bucket = null;
    },
    beforeStep() {
      if (!offload) torch.release(hold(torch, Math.min(trained, SUB_GROUP) * 4, Kind.gradient));
    },
  };
}
