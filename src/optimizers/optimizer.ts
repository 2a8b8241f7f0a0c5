import type { Tensor } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";

/** One optimizer, one file: what it keeps for a parameter and what a step takes for a moment. */
export interface Optimizer {
  /** `optimizer.step()` over the parameters that have a gradient. */
  step(torch: Torch, parameters: readonly Tensor[]): void;
  /** The same for one parameter, when it is stepped inside backward. */
  readonly perParameter?: boolean;
}
