import type { Dtype } from "./dtype.ts";

/**
 * Arithmetic of a run, for the speed model: every matrix product and fused attention in order. What is not
 * listed moves memory and does little else; its kernels are the tape's other allocations.
 */
export type Work =
  | {
      readonly kind: "product";
      readonly rows: number;
      readonly columns: number;
      readonly inner: number;
      readonly batch: number;
      readonly dtype: Dtype;
      /** How often it is done: a layer that stands for others counts for them. */
      readonly times: number;
    }
  | {
      readonly kind: "attention";
      readonly flops: number;
      readonly dtype: Dtype;
      readonly backward: boolean;
      readonly times: number;
    };
