import { add, dropout, scale } from "../autograd/pointwise.ts";
import type { Tensor } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";
import { to } from "../autograd/views.ts";
import { linear } from "../autograd/matmul.ts";
import { Kind } from "../tape/vocabulary.ts";
import { type Builder, type Linear, type LinearWrapper, plainLinear } from "./layers.ts";

interface LoraOptions {
  readonly rank: number;
  readonly dropout: number;
  readonly targets: readonly string[] | "all-linear";
}

class LoraLinear implements LinearWrapper {
  a: Tensor;
  b: Tensor;
  readonly #dropout: number;

  constructor(a: Tensor, b: Tensor, dropout: number) {
    this.a = a;
    this.b = b;
    this.#dropout = dropout;
  }

  /** peft.tuners.lora.layer.Linear.forward: the input is cast to the adapter's type, the result cast back. */
  forward(torch: Torch, layer: Linear, x: Tensor): Tensor {
    let result = torch.let(torch.module("base_layer", [x], () => plainLinear(torch, layer, x)));
    const dtype = result.dtype;
    const wide = torch.let(to(torch, x, this.a.dtype));
    const dropped = torch.module("lora_dropout", [wide], () => dropout(torch, wide, this.#dropout));
    const down = torch.module("lora_A", [dropped], () => linear(torch, dropped, this.a, null));
    const up = torch.module("lora_B", [down], () => linear(torch, down, this.b, null));
    result = torch.set(result, add(torch, result, scale(torch, up)));
    return to(torch, result, dtype);
  }
}

/** "all-linear" is every linear layer but the head. */
function targeted(layer: Linear, targets: readonly string[] | "all-linear"): boolean {
  return targets === "all-linear" ? layer.name !== "lm_head" : targets.includes(layer.name);
}

/** `get_peft_model`: freezes the model, adds adapters, keeps them in fp32. Returns what trains. */
export function wrapLora(
  torch: Torch,
  builder: Builder,
  options: LoraOptions,
  inputsRequireGrad: boolean,
): Tensor[] {
  for (const p of builder.parameters) p.tensor.requiresGrad = false;
  const wrapped: LoraLinear[] = [];
  const paths: number[] = [];
  for (const layer of builder.linears) {
    if (!targeted(layer, options.targets)) continue;
    const module = torch.tape.modules.id(layer.path);
    paths.push(module);
    const make = (shape: readonly number[]): Tensor => {
      const t = torch.within(module, () => torch.empty(shape, builder.dtype, Kind.adapter));
      t.floating = false;
      return t;
    };
    const wrapper = new LoraLinear(
      make([options.rank, layer.inputs]),
      make([layer.outputs, options.rank]),
      options.dropout,
    );
    layer.wrapper = wrapper;
    wrapped.push(wrapper);
  }
  // Adapters are made in the base weight's type, then cast to fp32 one by one (cast_adapter_dtype).
  const trainable: Tensor[] = [];
  wrapped.forEach((wrapper, i) => {
    for (const side of ["a", "b"] as const) {
      const narrow = wrapper[side];
      if (narrow.dtype !== "fp32") {
        wrapper[side] = torch.within(paths[i]!, () => torch.empty(narrow.shape, "fp32", Kind.adapter));
        wrapper[side].floating = false;
        torch.unref(narrow);
      }
      wrapper[side].requiresGrad = true;
      trainable.push(wrapper[side]);
    }
  });
  torch.inputsRequireGrad = inputsRequireGrad;
  return trainable;
}
