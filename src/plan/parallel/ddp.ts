import type { Storage, Tensor } from "../../autograd/tensor.ts";
import type { Torch } from "../../autograd/torch.ts";
import type { Bytes } from "../../base/units.ts";
import { Kind } from "../../tape/vocabulary.ts";
import { hold } from "./shards.ts";
import type { Strategy } from "./strategy.ts";

/** Limits of the first bucket and of the others (torch/nn/parallel/distributed.py: 1 MiB, bucket_cap_mb 25). */
const FIRST: Bytes = 1024 * 1024;
const BUCKET: Bytes = 25 * 1024 * 1024;
/** `broadcast_bucket_size`: parameters are flattened and sent from rank 0 in pieces of so many bytes. */
const BROADCAST: Bytes = 250 * 1024 * 1024;

/**
 * DistributedDataParallel: beside the gradients, buckets as large as all of them. The first backward uses one
 * bucket a type; then they are made anew in the order in which gradients came (Reducer::rebuild_buckets).
 */
export function ddp(torch: Torch, trainable: readonly Tensor[], bucketView: boolean): Strategy {
  const total = trainable.reduce((sum, p) => sum + p.storage.bytes, 0);
  torch.release(hold(torch, Math.min(total, BROADCAST), Kind.temporary));
  let buckets: Storage[] = bucketsOf(torch, trainable, Infinity, Infinity);
  const home = new Map<Tensor, Storage>();
  place(trainable, Infinity, Infinity, (leaf, bucket) => home.set(leaf, buckets[bucket]!));
  let arrived: Tensor[] = [];
  let rebuilt = false;

  torch.onGradient = (leaf) => {
    if (!rebuilt && !arrived.includes(leaf)) arrived.push(leaf);
    const bucket = home.get(leaf);
    if (!bucketView || !bucket) return;
    torch.unref(leaf.grad!);
    leaf.grad = torch.adopt(leaf, bucket);
  };
  return {
    trainable,
    stepsItself: false,
    beforeForward() {
      if (rebuilt || arrived.length === 0) return;
      rebuilt = true;
      for (const bucket of buckets) torch.release(bucket);
      buckets = bucketsOf(torch, arrived, FIRST, BUCKET);
      place(arrived, FIRST, BUCKET, (leaf, bucket) => home.set(leaf, buckets[bucket]!));
      arrived = [];
    },
  };
}

/** compute_bucket_assignment_by_size: a bucket is full once it has reached its limit; types do not mix. */
function place(
  leaves: readonly Tensor[],
  first: Bytes,
  later: Bytes,
  assign: (leaf: Tensor, bucket: number) => void,
): Bytes[] {
  const sizes: Bytes[] = [];
  const open = new Map<string, { bucket: number; limit: Bytes }>();
  for (const leaf of leaves) {
    let current = open.get(leaf.dtype);
    if (!current || sizes[current.bucket]! >= current.limit) {
      current = { bucket: sizes.push(0) - 1, limit: current ? later : first };
      open.set(leaf.dtype, current);
    }
    sizes[current.bucket]! += leaf.storage.bytes;
    assign(leaf, current.bucket);
  }
  return sizes;
}

function bucketsOf(torch: Torch, leaves: readonly Tensor[], first: Bytes, later: Bytes): Storage[] {
  return place(leaves, first, later, () => {}).map((bytes) => hold(torch, bytes, Kind.gradient));
}
