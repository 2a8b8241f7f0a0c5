import { add, dropout, scale } from "../autograd/pointwise.ts";
import type { Tensor } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";
import { clone, to } from "../autograd/views.ts";
import { UserError } from "../base/errors.ts";
import { Kind } from "../tape/vocabulary.ts";
import { type LoraWeights, bottleneck } from "./adapter.ts";
import { doraForward, doraMagnitude } from "./dora.ts";
import { type Builder, type Linear, type LinearWrapper, plainLinear } from "./layers.ts";

export interface LoraOptions {
  readonly rank: number;
  readonly dropout: number;
  readonly targets: readonly string[] | "all-linear";
  readonly dora: boolean;
  readonly nonlinearity: "none" | "fourier";
  /** peft.helpers.disable_input_dtype_casting: the input is left as it is, for autocast to cast the weights. */
  readonly autocast?: boolean;
}

function dropped(torch: Torch, x: Tensor, p: number): Tensor {
  return torch.module("lora_dropout", [x], () => dropout(torch, x, p));
}

const base = (torch: Torch, layer: Linear, x: Tensor): Tensor =>
  torch.module("base_layer", [x], () => plainLinear(torch, layer, x));

/** peft.tuners.lora.layer.Linear.forward: the input is cast to the adapter's type, the result cast back. */
function plainForward(
  torch: Torch,
  layer: Linear,
  weights: LoraWeights,
  { dropout: p, autocast }: LoraOptions,
  x: Tensor,
): Tensor {
  let result = torch.let(base(torch, layer, x));
  const dtype = result.dtype;
  const wide = autocast ? x : torch.let(to(torch, x, weights.a.dtype));
  result = weights.magnitude
    ? torch.set(result, doraForward(torch, layer, weights, wide, result))
    : torch.set(
        result,
        add(torch, result, scale(torch, bottleneck(torch, weights, dropped(torch, wide, p)))),
      );
  return to(torch, result, dtype);
}

/** peft.tuners.lora.bnb.Linear4bit.forward: clones the base's result, and casts the adapter's before adding. */
function quantizedForward(
  torch: Torch,
  layer: Linear,
  weights: LoraWeights,
  { dropout: p }: LoraOptions,
  x: Tensor,
): Tensor {
  let result = torch.let(base(torch, layer, x));
  result = torch.set(result, clone(torch, result));
  const dtype = result.dtype;
  const wide = torch.autocast ? x : torch.let(to(torch, x, weights.a.dtype));
  if (weights.magnitude) {
    result = torch.set(result, doraForward(torch, layer, weights, wide, result));
    return torch.autocast ? result : to(torch, result, dtype);
  }
  let output = torch.let(scale(torch, bottleneck(torch, weights, dropped(torch, wide, p))));
  if (!torch.autocast) output = torch.set(output, to(torch, output, dtype));
  return add(torch, result, output);
}

/** "all-linear" is every linear layer but the head. */
function targeted(layer: Linear, targets: readonly string[] | "all-linear"): boolean {
  return targets === "all-linear" ? layer.name !== "lm_head" : targets.includes(layer.name);
}

function wrapper(weights: LoraWeights, options: LoraOptions): LinearWrapper {
  return {
    forward: (torch, layer, x) =>
      (layer.quant ? quantizedForward : plainForward)(torch, layer, weights, options, x),
  };
}

/** `get_peft_model`: freezes the model, adds adapters, keeps them in fp32. Returns what trains. */
export function wrapLora(
  torch: Torch,
  builder: Builder,
  options: LoraOptions,
  inputsRequireGrad: boolean,
): Tensor[] {
  for (const p of builder.parameters) p.tensor.requiresGrad = false;
  const wrapped: { readonly weights: LoraWeights; readonly module: number }[] = [];
  for (const layer of builder.linears) {
    if (!targeted(layer, options.targets)) continue;
    const module = torch.tape.modules.id(layer.path);
    const weights = torch.within(module, () => makeWeights(torch, layer, options));
    layer.wrapper = wrapper(weights, options);
    wrapped.push({ weights, module });
  }
  if (wrapped.length === 0) {
    const names = [...new Set(builder.linears.map((l) => l.name))].join(", ");
    throw new UserError(
      `no layer is named ${String(options.targets)}`,
      `This model's linear layers: ${names}.`,
    );
  }
  const trainable = wrapped.flatMap(({ weights, module }) =>
    torch.within(module, () => widen(torch, weights)),
  );
  torch.inputsRequireGrad = inputsRequireGrad;
  return trainable;
}

function makeWeights(torch: Torch, layer: Linear, options: LoraOptions): LoraWeights {
  // An adapter is made in its base weight's type; beside a packed weight that is the compute type.
  const dtype = layer.quant ? layer.quant.computeDtype : layer.weight.dtype;
  const make = (shape: readonly number[]): Tensor => {
    const t = torch.empty(shape, dtype, Kind.adapter);
    t.floating = false;
    return t;
  };
  const weights: LoraWeights = {
    a: make([options.rank, layer.inputs]),
    b: make([layer.outputs, options.rank]),
    magnitude: null,
    fourier: options.nonlinearity === "fourier" ? { coefficients: make([4]), sigma: make([1]) } : null,
  };
  if (options.dora) {
    weights.magnitude = doraMagnitude(torch, layer, weights);
    weights.magnitude.floating = false;
  }
  return weights;
}

/** cast_adapter_dtype: adapters in half precision are cast to fp32, one by one. */
function widen(torch: Torch, weights: LoraWeights): Tensor[] {
  const wide = (narrow: Tensor): Tensor => {
    let tensor = narrow;
    if (narrow.dtype !== "fp32") {
      tensor = torch.empty(narrow.shape, "fp32", Kind.adapter);
      tensor.floating = false;
      torch.unref(narrow);
    }
    tensor.requiresGrad = true;
    return tensor;
  };
  weights.a = wide(weights.a);
  weights.b = wide(weights.b);
  if (weights.magnitude) weights.magnitude = wide(weights.magnitude);
  if (weights.fourier) {
    const { coefficients, sigma } = weights.fourier;
    weights.fourier = { coefficients: wide(coefficients), sigma: wide(sigma) };
  }
  const extra = weights.fourier ? [weights.fourier.coefficients, weights.fourier.sigma] : [];
  return [weights.a, weights.b, ...(weights.magnitude ? [weights.magnitude] : []), ...extra];
}
