import { dropout, mul } from "../autograd/pointwise.ts";
import { split } from "../autograd/views.ts";
import type { Tensor } from "../autograd/tensor.ts";
import type { Activation } from "./activations.ts";
import { type Builder, type Linear, callLinear } from "./layers.ts";
import type { Forward } from "./net.ts";

/** A layer's feed-forward module, weights made, ready to be called as `mlp`. */
export type Mlp = (f: Forward, x: Tensor) => Tensor;

export interface MlpShape {
  readonly hidden: number;
  readonly inner: number;
  readonly bias: boolean;
  readonly activation: Activation;
}

/** `down(act(gate(x)) * up(x))`. */
export function gatedMlp(b: Builder, s: MlpShape): Mlp {
  const [gate, up, down] = b.in("mlp", () => [
    b.linear("gate_proj", s.hidden, s.inner, s.bias),
    b.linear("up_proj", s.hidden, s.inner, s.bias),
    b.linear("down_proj", s.inner, s.hidden, s.bias),
  ]) as [Linear, Linear, Linear];
  return ({ torch }, x) =>
    torch.module("mlp", [x], () => {
      const gated = s.activation(torch, callLinear(torch, gate, x));
      return callLinear(torch, down, mul(torch, gated, callLinear(torch, up, x)));
    });
}

/** Phi-3: gate and up in one product, taken apart by chunk. */
export function fusedGatedMlp(b: Builder, s: MlpShape): Mlp {
  const [gateUp, down] = b.in("mlp", () => [
    b.linear("gate_up_proj", s.hidden, 2 * s.inner, s.bias),
    b.linear("down_proj", s.inner, s.hidden, s.bias),
  ]) as [Linear, Linear];
  return ({ torch }, x) =>
    torch.module("mlp", [x], () => {
      const both = torch.let(callLinear(torch, gateUp, x));
      const [gate, upper] = split(torch, both, [s.inner, s.inner], -1) as [Tensor, Tensor];
      torch.let(gate);
      let up = torch.set(both, upper);
      up = torch.set(up, mul(torch, up, s.activation(torch, gate)));
      return callLinear(torch, down, up);
    });
}

/** Starcoder 2: two products with an activation between. */
export function plainMlp(b: Builder, s: MlpShape, residualDropout: number): Mlp {
  const [inward, outward] = b.in("mlp", () => [
    b.linear("c_fc", s.hidden, s.inner, s.bias),
    b.linear("c_proj", s.inner, s.hidden, s.bias),
  ]) as [Linear, Linear];
  return ({ torch, training }, x) =>
    torch.module("mlp", [x], () => {
      let hidden = torch.let(callLinear(torch, inward, x));
      hidden = torch.set(hidden, s.activation(torch, hidden));
      hidden = torch.set(hidden, callLinear(torch, outward, hidden));
      return dropout(torch, hidden, training ? residualDropout : 0);
    });
}
