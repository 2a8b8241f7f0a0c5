import type { Storage, Tensor } from "./tensor.ts";

/** Stands for a saved tensor that a checkpoint dropped and will recompute. */
export interface Holder {
  /** Gives the recomputed storage, recomputing first if needed. The caller releases it. */
  unpack(): Storage;
  release(): void;
}

export type Saved = { readonly storage: Storage } | { readonly holder: Holder };

/** Where a node sends one of its gradients: a node and which of its outputs the gradient belongs to. */
export interface Edge {
  readonly node: Node;
  readonly output: number;
}

/** Gradients in, gradients out; null is "no gradient". The node does not own what it is given. */
export type Backward = (grads: readonly (Tensor | null)[], needs: readonly boolean[]) => (Tensor | null)[];

/** What validate_outputs reduces or casts a gradient to. */
export interface InputMeta {
  readonly shape: readonly number[];
  readonly dtype: Tensor["dtype"];
}

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
  readonly edges: readonly (Edge | null)[];
  readonly inputs: readonly (InputMeta | null)[];
  readonly outputs: number;
  saved: Saved[];
  backward: Backward;
  refs: number;
  /** Tensors a Python closure of the node keeps alive until the node itself is gone. */
  readonly held: Tensor[];
  /** For AccumulateGrad: the leaf. */
  readonly leaf: Tensor | null;
}
