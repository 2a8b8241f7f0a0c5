import { type Dtype, sizeOf } from "../../autograd/dtype.ts";
import type { Storage, Tensor } from "../../autograd/tensor.ts";
import type { Torch } from "../../autograd/torch.ts";
import type { Around } from "../../nets/net.ts";
import { Kind } from "../../tape/vocabulary.ts";
import { type Group, hold, occupy, retype, shardGroups, vacate } from "./shards.ts";
import type { Placed, Strategy } from "./strategy.ts";

export interface FsdpOptions {
  readonly ranks: number;
  /** MixedPrecisionPolicy: the type parameters are gathered in, and the one gradients are reduced in. */
  readonly mixed: { readonly gathered: Dtype; readonly reduced: Dtype } | null;
  /** reshard_after_forward; null is PyTorch's default: the layers' parameters, not the root's. */
  readonly reshard: boolean | null;
  /** Tensors of a shard's size that the optimizer keeps for it. */
  readonly moments: number;
  /** CPUOffloadPolicy: shards, their gradients and the optimizer in host memory. */
  readonly offload: boolean;
}

/** A parameter group's life within a step (FSDPParamGroup). */
interface Unit extends Group {
  readonly reshards: boolean;
  state: "idle" | "forward" | "pre-backward" | "post-backward";
  whole: boolean;
  /** The all-gather's output, until it is copied out. */
  gathered: Storage | null;
  /** Places in the order of forwards. */
  readonly places: number[];
}

/**
 * FSDP2, `fully_shard` on each decoder layer and on the root (torch/distributed/fsdp/_fully_shard, torch 2.11).
 * The weights of the model are given without memory; shards are made for them here.
 */
export function fsdp(torch: Torch, placed: readonly Placed[], options: FsdpOptions): Strategy {
  const { ranks, mixed, offload } = options;
  // FSDPCommContext's streams; each has memory of its own in the allocator.
  const GATHER = torch.tape.streamIndex(1);
  const SCATTER = torch.tape.streamIndex(2);
  const groups = shardGroups(torch, placed, ranks, offload);
  const { members } = groups;
  if (mixed) for (const { tensor } of members) retype(tensor, mixed.gathered);
  const unit = (group: Group, reshards: boolean): Unit => ({
    ...group,
    reshards,
    state: "idle",
    whole: false,
    gathered: null,
    places: [],
  });
  const root = unit(groups.root, options.reshard ?? false);
  const layers = groups.layers.map((group) => unit(group, options.reshard ?? true));
  const byLayer = new Map(layers.map((u) => [u.layer, u]));
  const order: Unit[] = [];
  /** Kept until the next forward's copy-out, so that the two overlap. */
  let lastGather: Storage | null = null;
  /** A reduce-scatter's input is kept until the next one begins. */
  let lastScatter: Storage | null = null;

  const release = (storage: Storage | null): void => {
    if (storage) torch.release(storage);
  };

  function flush(): void {
    release(lastGather);
    lastGather = null;
  }

  function gather(u: Unit): void {
    if (u.gathered || u.whole) return;
    torch.stream = GATHER;
    const inputs: Storage[] = [];
    let bytes = 0;
    for (const { tensor, shard, part } of u.members) {
      const size = sizeOf(tensor.dtype);
      bytes += part * size;
      if (!offload) continue;
      const copy = hold(torch, part * sizeOf(shard.dtype), Kind.temporary);
      if (tensor.dtype === shard.dtype) inputs.push(copy);
      else {
        inputs.push(hold(torch, part * size, Kind.temporary));
        torch.release(copy);
      }
    }
    if (mixed && !offload) inputs.push(hold(torch, bytes, Kind.temporary));
    u.gathered = hold(torch, bytes * ranks, Kind.temporary);
    for (const input of inputs) torch.release(input);
    torch.stream = 0;
  }

  function copyOut(u: Unit): void {
    const { gathered } = u;
    if (!gathered) return;
    for (const member of u.members) occupy(torch, member, member.part * ranks * sizeOf(member.tensor.dtype));
    u.whole = true;
    u.gathered = null;
    if (u.state === "forward") {
      release(lastGather);
      lastGather = gathered;
    } else torch.release(gathered);
  }

  function reshard(u: Unit): void {
    if (!u.whole) return;
    for (const { tensor } of u.members) vacate(torch, tensor.storage);
    u.whole = false;
  }

  function preForward(u: Unit): void {
    u.state = "forward";
    gather(u);
    copyOut(u);
  }

  function postForward(u: Unit): void {
    // A reentrant checkpoint's recomputation runs inside backward, which keeps the parameters.
    if (torch.thread === "main") {
      if (u.reshards) reshard(u);
      u.places.push(order.length);
      order.push(u);
    }
    u.state = "idle";
  }

  function preBackward(u: Unit): void {
    if (u.state === "pre-backward") return;
    u.state = "pre-backward";
    gather(u);
    copyOut(u);
    const place = u.places.pop();
    if (place !== undefined && place > 0) {
      const target = order[place - 1]!;
      gather(target);
    }
  }

  function postBackward(u: Unit): void {
    u.state = "post-backward";
    const ready = u.members.filter(({ tensor }) => tensor.grad);
    const grads = ready.map(({ tensor }) => tensor.grad!);
    for (const { tensor } of ready) tensor.grad = null;
    reshard(u);
    release(lastScatter);
    lastScatter = null;
    if (ready.length === 0) return;
    const parts = ready.reduce((sum, { part }) => sum + part, 0);
    const original = ready[0]!.shard.dtype;
    const reduced = mixed?.reduced ?? grads[0]!.dtype;
    lastScatter = hold(torch, parts * ranks * sizeOf(reduced), Kind.temporary);
    for (const grad of grads.slice(0, -1)) torch.unref(grad);
    torch.stream = SCATTER;
    let output = torch.empty([parts], reduced, Kind.gradient);
    output.floating = false;
    if (reduced !== original) {
      const cast = torch.empty([parts], original, Kind.gradient);
      cast.floating = false;
      torch.unref(output);
      output = cast;
    }
    torch.stream = 0;
    for (const { shard } of ready) keep(shard, output);
    torch.unref(output);
    torch.unref(grads[grads.length - 1]!);
  }

  const onHost = new Set<Tensor>();

  function keep(shard: Tensor, output: Tensor): void {
    if (offload) {
      if (onHost.has(shard)) return;
      onHost.add(shard);
      torch.host.add((1 + options.moments) * shard.storage.bytes);
    } else if (!shard.grad) {
      shard.grad = torch.alias(output, shard.shape, shard.strides);
      shard.grad.floating = false;
    }
  }

  const around: Around = (index, x, layer) => {
    const u = byLayer.get(index)!;
    // A recomputation finds the parameters gathered by the hook on the layer's output.
    if (u.state === "pre-backward") return layer(x);
    preForward(u);
    const input = torch.tracks([x]) ? afterBackwardOf(torch, x, () => postBackward(u)) : x;
    const result = layer(input);
    postForward(u);
    // Recomputed inside backward, the layer is the root of its forward, and flushes what a root does.
    if (torch.thread === "autograd") flush();
    for (const t of Array.isArray(result) ? (result as readonly Tensor[]) : [result as Tensor]) {
      if (torch.gradEnabled && t.node) hook(t, () => preBackward(u));
    }
    return result;
  };

  return {
    trainable: members.filter((m) => m.tensor.requiresGrad).map((m) => m.shard),
    stepsItself: offload,
    around,
    beforeForward: () => preForward(root),
    afterForward(loss) {
      postForward(root);
      hook(loss, () => preBackward(root));
      flush();
    },
    afterBackward() {
      for (const u of [root, ...layers]) {
        if (u.state !== "post-backward") postBackward(u);
        u.state = "idle";
        u.places.length = 0;
        release(u.gathered);
        u.gathered = null;
      }
      order.length = 0;
      release(lastScatter);
      lastScatter = null;
    },
  };
}

function hook(t: Tensor, call: () => void): void {
  if (t.node) t.node.before = call;
}

/** RegisterPostBackwardFunction: passes its input on, and is called when the gradient comes back. */
function afterBackwardOf(torch: Torch, x: Tensor, call: () => void): Tensor {
  const out = torch.alias(x, x.shape, x.strides);
  torch.record("RegisterPostBackwardFunctionBackward", [out], [x], [], (grads) => {
    call();
    const grad = grads[0] ?? null;
    if (grad) torch.ref(grad);
    return [grad];
  });
  return out;
}
