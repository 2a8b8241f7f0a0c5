import type { Tensor } from "../autograd/tensor.ts";
import type { Forward, Net } from "../nets/net.ts";

/**
 * From the last hidden states to the loss, one file a kind. What the model's output object keeps (logits) is
 * pushed on `f.outputs`.
 */
export type Loss = (f: Forward, net: Net, hidden: Tensor) => Tensor;
