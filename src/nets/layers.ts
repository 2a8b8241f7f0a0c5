import type { Dtype } from "../autograd/dtype.ts";
import { embedding } from "../autograd/lookup.ts";
import { conv1d, linear } from "../autograd/matmul.ts";
import { layerNorm } from "../autograd/norm.ts";
import { fakeQuantize, mul, meanLast, pow, rsqrt, shift } from "../autograd/pointwise.ts";
import type { Tensor } from "../autograd/tensor.ts";
import { type QuantOptions, type QuantState, linear4bit, quantizedWeight } from "./quantized.ts";
import type { Torch } from "../autograd/torch.ts";
import { to } from "../autograd/views.ts";
import { Kind } from "../tape/vocabulary.ts";

/** What replaces a linear's forward: LoRA, a quantised weight, a fake quantiser. */
export interface LinearWrapper {
  forward(torch: Torch, layer: Linear, x: Tensor): Tensor;
}

/** nn.Linear, or transformers' Conv1D when `transposed`. */
export interface Linear {
  readonly path: string;
  readonly name: string;
  readonly inputs: number;
  readonly outputs: number;
  readonly transposed: boolean;
  weight: Tensor;
  bias: Tensor | null;
  /** Set when `weight` holds packed 4-bit numbers. */
  readonly quant: QuantState | null;
  /** Quantisation-aware training: input and weight pass through fake quantisers. */
  fakeQuantized: boolean;
  wrapper: LinearWrapper | null;
}

export function callLinear(torch: Torch, layer: Linear, x: Tensor): Tensor {
  return torch.module(layer.name, [x], () =>
    layer.wrapper ? layer.wrapper.forward(torch, layer, x) : plainLinear(torch, layer, x),
  );
}

export function plainLinear(torch: Torch, layer: Linear, x: Tensor): Tensor {
  if (layer.quant) return linear4bit(torch, x, layer.weight, layer.quant, layer.outputs, layer.bias);
  if (!layer.fakeQuantized) return product(torch, layer, x, layer.weight);
  return torch.frame(() => {
    const input = torch.let(fakeQuantize(torch, x));
    const weight = torch.let(fakeQuantize(torch, layer.weight));
    return product(torch, layer, input, weight);
  });
}

function product(torch: Torch, layer: Linear, x: Tensor, weight: Tensor): Tensor {
  return layer.transposed ? conv1d(torch, x, weight, layer.bias!) : linear(torch, x, weight, layer.bias);
}

export interface Parameter {
  readonly name: string;
  readonly tensor: Tensor;
}

/** Makes a model's modules in the order its constructors do, which is the order of their memory. */
export class Builder {
  readonly torch: Torch;
  /** Type of the weights that are not quantised. */
  readonly dtype: Dtype;
  readonly parameters: Parameter[] = [];
  readonly linears: Linear[] = [];
  readonly embeddings: Embedding[] = [];
  #prefix = "";

  /** Type of the checkpoint that 4-bit weights are made from. */
  readonly loadDtype: Dtype;
  readonly quantization: QuantOptions | null;

  constructor(
    torch: Torch,
    dtype: Dtype,
    quantization: (QuantOptions & { readonly prepared: boolean }) | null = null,
  ) {
    this.torch = torch;
    this.loadDtype = dtype;
    this.dtype = quantization?.prepared ? "fp32" : dtype;
    this.quantization = quantization;
  }

  /** Modules made inside belong to `name`. */
  in<R>(name: string, body: () => R): R {
    const before = this.#prefix;
    this.#prefix = before === "" ? name : `${before}.${name}`;
    try {
      return body();
    } finally {
      this.#prefix = before;
    }
  }

  #path(name: string): string {
    return this.#prefix === "" ? name : `${this.#prefix}.${name}`;
  }

  parameter(name: string, shape: readonly number[], dtype = this.dtype): Tensor {
    const path = this.#path(name);
    const owner = path.slice(0, path.lastIndexOf("."));
    const tensor = this.torch.within(this.torch.tape.modules.id(owner), () =>
      this.torch.empty(shape, dtype, Kind.weight),
    );
    tensor.floating = false;
    tensor.requiresGrad = true;
    this.parameters.push({ name: path, tensor });
    return tensor;
  }

  linear(name: string, inputs: number, outputs: number, bias: boolean): Linear {
    return this.#linear(name, inputs, outputs, bias, false);
  }

  conv1d(name: string, inputs: number, outputs: number): Linear {
    return this.#linear(name, inputs, outputs, true, true);
  }

  #linear(name: string, inputs: number, outputs: number, bias: boolean, transposed: boolean): Linear {
    const shape = transposed ? ([inputs, outputs] as const) : ([outputs, inputs] as const);
    const packed =
      this.quantization && name !== "lm_head"
        ? this.torch.within(this.torch.tape.modules.id(this.#path(name)), () =>
            quantizedWeight(this.torch, shape, this.loadDtype, this.quantization!),
          )
        : null;
    const weight = packed?.weight ?? this.parameter(`${name}.weight`, shape);
    const layer: Linear = {
      path: this.#path(name),
      name,
      inputs,
      outputs,
      transposed,
      weight,
      bias: bias ? this.parameter(`${name}.bias`, [outputs]) : null,
      quant: packed?.quant ?? null,
      fakeQuantized: false,
      wrapper: null,
    };
    this.linears.push(layer);
    return layer;
  }

  /** `tie_weights`: the head's own weight is dropped and the embedding's used in its place. */
  tie(head: Linear, embedding: Embedding): void {
    const own = head.weight;
    head.weight = embedding.weight;
    this.parameters.splice(
      this.parameters.findIndex((p) => p.tensor === own),
      1,
    );
    this.torch.unref(own);
  }

  embedding(name: string, rows: number, width: number): Embedding {
    const layer = { name, weight: this.parameter(`${name}.weight`, [rows, width]) };
    this.embeddings.push(layer);
    return layer;
  }

  rmsNorm(name: string, width: number): Norm {
    return { name, weight: this.parameter(`${name}.weight`, [width]), bias: null };
  }

  layerNorm(name: string, width: number, bias = true): Norm {
    return {
      name,
      weight: this.parameter(`${name}.weight`, [width]),
      bias: bias ? this.parameter(`${name}.bias`, [width]) : null,
    };
  }

  /** A buffer: on the device with the weights, never trained. */
  buffer(shape: readonly number[], dtype: Dtype): Tensor {
    const { absent } = this.torch;
    this.torch.absent = null;
    const tensor = this.torch.empty(shape, dtype, Kind.weight);
    this.torch.absent = absent;
    tensor.floating = false;
    return tensor;
  }
}

export interface Embedding {
  readonly name: string;
  readonly weight: Tensor;
}

export function callEmbedding(torch: Torch, layer: Embedding, ids: Tensor): Tensor {
  return torch.module(layer.name, [ids], () => {
    const out = embedding(torch, ids, layer.weight);
    if (torch.inputsRequireGrad && torch.gradEnabled) out.requiresGrad = true;
    return out;
  });
}

export interface Norm {
  readonly name: string;
  readonly weight: Tensor;
  readonly bias: Tensor | null;
}

export function callLayerNorm(torch: Torch, norm: Norm, x: Tensor): Tensor {
  return torch.module(norm.name, [x], () => layerNorm(torch, x, norm.weight, norm.bias));
}

/** LlamaRMSNorm and its many copies: in fp32, scaled in the input's type. */
export function callRmsNorm(torch: Torch, norm: Norm, x: Tensor): Tensor {
  return torch.module(norm.name, [x], () => {
    let hidden = torch.let(to(torch, x, "fp32"));
    const variance = torch.let(meanLast(torch, pow(torch, hidden)));
    hidden = torch.set(hidden, mul(torch, hidden, rsqrt(torch, shift(torch, variance))));
    return mul(torch, norm.weight, to(torch, hidden, x.dtype));
  });
}
