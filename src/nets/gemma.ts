import { embedding } from "../autograd/lookup.ts";
import { add, mul, scale, tanh } from "../autograd/pointwise.ts";
import type { Tensor } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";
import { to } from "../autograd/views.ts";
import { type Config, numberOrNull } from "./config.ts";
import { type LayerBody, attended } from "./decoder.ts";
import type { Builder, Embedding } from "./layers.ts";
import type { Mlp } from "./mlp.ts";
import type { Forward } from "./net.ts";
import { gemmaNorm } from "./norms.ts";
import type { SelfAttention } from "./self-attention.ts";

/** An embedding times a buffer holding the square root of its width. */
export function scaledEmbedding(b: Builder, layer: Embedding): (f: Forward) => Tensor {
  const factor = b.buffer([], "fp32");
  return ({ torch, ids }) =>
    torch.module(layer.name, [ids], () => {
      const out = mul(torch, embedding(torch, ids, layer.weight), to(torch, factor, layer.weight.dtype));
      if (torch.inputsRequireGrad && torch.gradEnabled) out.requiresGrad = true;
      return out;
    });
}

/** Norms on both sides of attention and of the feed-forward. */
export function sandwichLayer(b: Builder, hidden: number, attention: SelfAttention, mlp: Mlp): LayerBody {
  const before = gemmaNorm(b, "input_layernorm", hidden);
  const after = gemmaNorm(b, "post_attention_layernorm", hidden);
  const beforeFeed = gemmaNorm(b, "pre_feedforward_layernorm", hidden);
  const afterFeed = gemmaNorm(b, "post_feedforward_layernorm", hidden);
  return (f, x, place) => {
    const { torch } = f;
    let h = torch.let(before(torch, x));
    h = torch.set(h, attended(torch, attention(f, h, place)));
    h = torch.set(h, after(torch, h));
    h = torch.set(h, add(torch, x, h));
    const residual = torch.let(h);
    h = torch.set(h, beforeFeed(torch, h));
    h = torch.set(h, mlp(f, h));
    h = torch.set(h, afterFeed(torch, h));
    return torch.set(h, add(torch, residual, h));
  };
}

/** Logits squeezed through a tanh, three tensors of their size. */
export function cappedLogits(
  config: Config,
  otherwise: number | null,
): { readonly logits?: (torch: Torch, logits: Tensor) => Tensor } {
  if (numberOrNull(config, "final_logit_softcapping", otherwise) === null) return {};
  return { logits: (torch, logits) => scale(torch, tanh(torch, scale(torch, logits))) };
}
