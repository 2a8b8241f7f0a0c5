import { add, gelu, mul, pow, relu, scale, shift, sigmoid, silu, tanh } from "../autograd/pointwise.ts";
import type { Tensor } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";
import { UserError } from "../base/errors.ts";

export type Activation = (torch: Torch, x: Tensor) => Tensor;

/** transformers' NewGELUActivation, written out in Python: nine tensors where the fused gelu takes one. */
function newGelu(torch: Torch, x: Tensor): Tensor {
  return torch.module("act", [x], () => {
    const half = torch.let(scale(torch, x));
    const inner = scale(torch, add(torch, x, scale(torch, pow(torch, x))));
    return mul(torch, half, shift(torch, tanh(torch, inner)));
  });
}

/** transformers' GELUActivation and PytorchGELUTanh: one kernel. */
const fusedGelu: Activation = (torch, x) => torch.module("act", [x], () => gelu(torch, x));

function quickGelu(torch: Torch, x: Tensor): Tensor {
  return torch.module("act", [x], () => mul(torch, x, sigmoid(torch, scale(torch, x))));
}

/** ACT2FN, by `hidden_act`. */
const ACTIVATIONS: Readonly<Record<string, Activation>> = {
  gelu: fusedGelu,
  gelu_new: newGelu,
  gelu_fast: newGelu,
  gelu_pytorch_tanh: fusedGelu,
  quick_gelu: quickGelu,
  relu: (torch, x) => torch.module("act", [x], () => relu(torch, x)),
  silu: (torch, x) => torch.module("act", [x], () => silu(torch, x)),
  swish: (torch, x) => torch.module("act", [x], () => silu(torch, x)),
};

export function activation(name: string): Activation {
  const found = ACTIVATIONS[name];
  if (!found) {
    throw new UserError(
      `config: activation "${name}" is not known`,
      `One of: ${Object.keys(ACTIVATIONS).join(", ")}.`,
    );
  }
  return found;
}
