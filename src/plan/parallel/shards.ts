import { type Dtype, sizeOf } from "../../autograd/dtype.ts";
import { type Storage, type Tensor, numel } from "../../autograd/tensor.ts";
import type { Torch } from "../../autograd/torch.ts";
import { Action, Kind } from "../../tape/vocabulary.ts";
import { layerOf, type Placed } from "./strategy.ts";

/** A parameter that is whole only while it is used. */
export interface Member extends Placed {
  /** What stays: this rank's part. */
  readonly shard: Tensor;
  /** Elements of a rank's part, the last rank's padding included. */
  readonly part: number;
}

/** Parameters that are gathered and released together: a decoder layer's, or all others. */
export interface Group {
  readonly layer: number;
  readonly members: readonly Member[];
}

/** `resize_` of a storage to nothing: whoever refers to it keeps doing so. */
export function vacate(torch: Torch, storage: Storage): void {
  if (storage.row < 0) return;
  const { kind, module } = torch.tape.columns;
  torch.tape.append(
    Action.free,
    storage.id,
    storage.bytes,
    0,
    torch.phase,
    kind[storage.row]!,
    module[storage.row]!,
    torch.step,
  );
  storage.row = -1;
}

/** `resize_` back to its size, on fresh memory. */
export function occupy(torch: Torch, { tensor, module }: Placed, bytes: number): void {
  const fresh = torch.within(module, () => torch.storage(bytes, Kind.weight));
  tensor.storage.id = fresh.id;
  tensor.storage.row = fresh.row;
  tensor.storage.bytes = bytes;
}

/** A storage of its own, referred to once. */
export function hold(torch: Torch, bytes: number, kind: number): Storage {
  const storage = torch.storage(bytes, kind);
  torch.retain(storage);
  return storage;
}

/** Gives a parameter that has no memory yet another type. */
export function retype(t: Tensor, dtype: Dtype): void {
  t.dtype = dtype;
  t.storage.bytes = numel(t.shape) * sizeOf(dtype);
}

/** Splits a parameter by its first dimension, as FSDP2 does; each part is padded to the largest. */
function shardByRows(torch: Torch, { tensor, module }: Placed, ranks: number, onHost: boolean): Member {
  const [rows = 1, ...rest] = tensor.shape;
  const shape = [Math.ceil(rows / ranks), ...rest];
  const shard = torch.within(module, () => torch.empty(shape, tensor.dtype, Kind.weight));
  shard.floating = false;
  shard.requiresGrad = tensor.requiresGrad;
  if (onHost) {
    vacate(torch, shard.storage);
    torch.host.add(shard.storage.bytes);
  }
  return { tensor, module, shard, part: numel(shape) };
}

/** Shards group by group: the decoder layers, then all others; a group's whole parameters go once it is done. */
export function shardGroups(
  torch: Torch,
  placed: readonly Placed[],
  ranks: number,
  onHost: boolean,
): { layers: Group[]; root: Group; members: Member[] } {
  const byLayer = new Map<number, Placed[]>([[-1, []]]);
  for (const p of placed) {
    const layer = layerOf(torch, p.module);
    const group = byLayer.get(layer);
    if (group) group.push(p);
    else byLayer.set(layer, [p]);
  }
  const made = new Map<Tensor, Member>();
  const shard = (layer: number): Group => {
    const members = byLayer.get(layer)!.map((p) => shardByRows(torch, p, ranks, onHost));
    for (const member of members) {
      vacate(torch, member.tensor.storage);
      made.set(member.tensor, member);
    }
    return { layer, members };
  };
  const layers = [...byLayer.keys()].filter((layer) => layer >= 0).map(shard);
  const root = shard(-1);
  return { layers, root, members: placed.map((p) => made.get(p.tensor)!) };
}
