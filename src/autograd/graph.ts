import type { Storage, Tensor } from "./tensor.ts";

/** Stands for a saved tensor that a checkpoint dropped and will recompute. */
export interface Holder {
  /** Gives the recomputed storage, recomputing first if needed. The caller releases it. */
  unpack(): Storage;
  release(): void;
}

/** What a node keeps of a tensor: its memory, or what stands for it. */
export type Saved = Storage | Holder;

export function isHolder(saved: Saved): saved is Holder {
  return "unpack" in saved;
}

/** Where a node sends one of its gradients: a node and which of its outputs the gradient belongs to. */
export interface Edge {
  readonly node: Node;
  readonly output: number;
}

/**
 * Gradients in, gradients out; null is "no gradient". The engine drops what it gave once the node returns; a
 * node that drops one earlier puts what it has instead in its place.
 */
export type Backward = (grads: (Tensor | null)[], needs: readonly boolean[]) => (Tensor | null)[];

/**
 * One function of the autograd graph. Alive while a tensor or a later node refers to it: dropping an output
 * that never meets backward frees what it saved.
 */
export interface Node {
  readonly name: string;
  /** Creation order; backward runs the youngest ready node first. AccumulateGrad outranks all. */
  readonly sequence: number;
  /** Module it was created in, so that backward's allocations can be attributed. */
  readonly module: number;
  /** Decoder layer it was created in; -1 outside of them. */
  readonly layer: number;
  readonly edges: readonly (Edge | null)[];
  /** Whose shape and type a gradient must take (validate_outputs). */
  readonly inputs: readonly (Tensor | null)[];
  readonly outputs: number;
  saved: Saved[];
  backward: Backward;
  refs: number;
  /** While backward runs: gradients still to come, and those that have arrived. */
  waiting: number;
  buffer: (Tensor | null)[] | null;
  /** Tensors a Python closure of the node keeps alive until the node itself is gone. */
  held: Tensor[] | null;
  /** A hook on one of its outputs: called when the gradients have arrived. */
  before?: () => void;
  /** For AccumulateGrad: the leaf. */
  readonly leaf: Tensor | null;
}
