import { embedding } from "../autograd/lookup.ts";
import { matmul } from "../autograd/matmul.ts";
import { add, dropout, scale, softmax } from "../autograd/pointwise.ts";
import type { Tensor } from "../autograd/tensor.ts";
import { contiguous, reshape, split, to, transpose, view } from "../autograd/views.ts";
import { UserError } from "../base/errors.ts";
import { type Activation, activation } from "./activations.ts";
import { attend, cached } from "./attend.ts";
import { type Config, countOr, flag, fraction, text } from "./config.ts";
import { type Builder, type Linear, type Norm, callEmbedding, callLayerNorm, callLinear } from "./layers.ts";
import { causalMask } from "./mask.ts";
import { type Family, type Forward, type Net, callLayer, eachLayer } from "./net.ts";
import { positionIds } from "./rope.ts";

interface Block {
  readonly before: Norm;
  readonly qkv: Linear;
  readonly out: Linear;
  readonly after: Norm;
  readonly up: Linear;
  readonly down: Linear;
}

interface Shape {
  readonly hidden: number;
  readonly heads: number;
  readonly attentionDropout: number;
  readonly residualDropout: number;
  readonly act: Activation;
}

/** GPT-2's own eager attention: softmax in the scores' type, weights cast to the values'. */
function eager(
  f: Forward,
  q: Tensor,
  k: Tensor,
  v: Tensor,
  mask: Tensor | null,
  p: number,
): readonly Tensor[] {
  const { torch } = f;
  return torch.frame(() => {
    let weights = torch.let(scale(torch, matmul(torch, q, transpose(torch, k, -1, -2))));
    if (mask) weights = torch.set(weights, add(torch, weights, mask));
    weights = torch.set(weights, softmax(torch, weights, null));
    weights = torch.set(weights, to(torch, weights, v.dtype));
    weights = torch.set(weights, dropout(torch, weights, f.training ? p : 0));
    let out = torch.let(matmul(torch, weights, v));
    out = torch.set(out, transpose(torch, out, 1, 2));
    return [out, weights];
  });
}

const drop = (f: Forward, x: Tensor, p: number): Tensor =>
  f.torch.module("dropout", [x], () => dropout(f.torch, x, f.training ? p : 0));

function attention(f: Forward, l: Block, s: Shape, x: Tensor, mask: Tensor | null): readonly Tensor[] {
  const { torch, batch, seq } = f;
  return torch.module("attn", [x], () => {
    const size = s.hidden / s.heads;
    const parts = split(torch, callLinear(torch, l.qkv, x), [s.hidden, s.hidden, s.hidden], 2).map((t) =>
      torch.let(t),
    );
    const [q, k, v] = parts.map((t) =>
      torch.set(t, transpose(torch, view(torch, t, [batch, seq, s.heads, size]), 1, 2)),
    ) as [Tensor, Tensor, Tensor];
    const [key, value] = cached(f, k, v);
    const attended =
      f.attention === "eager"
        ? eager(f, q, key, value, mask, s.attentionDropout)
        : attend(f, q, key, value, mask, { queries: s.heads, keys: s.heads, dropout: s.attentionDropout });
    let out = torch.let(attended[0]!);
    const weights = attended.slice(1).map((t) => torch.let(t));
    out = torch.set(out, contiguous(torch, reshape(torch, out, [batch, seq, s.hidden])));
    out = torch.set(out, callLinear(torch, l.out, out));
    return [drop(f, out, s.residualDropout), ...weights];
  });
}

function block(f: Forward, l: Block, s: Shape, index: number, x: Tensor, mask: Tensor | null): Tensor {
  const { torch } = f;
  return torch.module(`h.${index}`, [x], () => {
    let hidden = torch.let(callLayerNorm(torch, l.before, x));
    const [attended, ...weights] = attention(f, l, s, hidden, mask) as [Tensor, ...Tensor[]];
    torch.let(attended);
    for (const w of weights) torch.let(w);
    hidden = torch.set(hidden, add(torch, attended, x));
    const residual = torch.let(hidden);
    hidden = torch.set(hidden, callLayerNorm(torch, l.after, hidden));
    const fed = torch.let(
      torch.module("mlp", [hidden], () => {
        let inner = torch.let(callLinear(torch, l.up, hidden));
        inner = torch.set(inner, s.act(torch, inner));
        inner = torch.set(inner, callLinear(torch, l.down, inner));
        return drop(f, inner, s.residualDropout);
      }),
    );
    return add(torch, residual, fed);
  });
}

function build(config: Config, b: Builder): Net {
  const hidden = countOr(config, 768, "n_embd", "hidden_size");
  const heads = countOr(config, 12, "n_head", "num_attention_heads");
  if (hidden % heads !== 0)
    throw new UserError(`config: "n_embd" ${hidden} is not divisible by "n_head" ${heads}`);
  const vocabulary = countOr(config, 50257, "vocab_size");
  const inner = countOr(config, 4 * hidden, "n_inner");
  const shape: Shape = {
    hidden,
    heads,
    attentionDropout: fraction(config, "attn_pdrop", 0.1),
    residualDropout: fraction(config, "resid_pdrop", 0.1),
    act: activation(text(config, "activation_function", "gelu_new")),
  };
  const embeddingDropout = fraction(config, "embd_pdrop", 0.1);
  const { tokens, positions, blocks, norm } = b.in("transformer", () => ({
    tokens: b.embedding("wte", vocabulary, hidden),
    positions: b.embedding("wpe", countOr(config, 1024, "n_positions", "max_position_embeddings"), hidden),
    blocks: Array.from({ length: countOr(config, 12, "n_layer", "num_hidden_layers") }, (_, i) =>
      b.in(`h.${i}`, (): Block => {
        const before = b.layerNorm("ln_1", hidden);
        const [qkv, out] = b.in("attn", () => [
          b.conv1d("c_attn", hidden, 3 * hidden),
          b.conv1d("c_proj", hidden, hidden),
        ]) as [Linear, Linear];
        const after = b.layerNorm("ln_2", hidden);
        const [up, down] = b.in("mlp", () => [
          b.conv1d("c_fc", hidden, inner),
          b.conv1d("c_proj", inner, hidden),
        ]) as [Linear, Linear];
        return { before, qkv, out, after, up, down };
      }),
    ),
    norm: b.layerNorm("ln_f", hidden),
  }));
  const head = b.linear("lm_head", hidden, vocabulary, false);
  if (flag(config, "tie_word_embeddings", true)) b.tie(head, tokens);

  return {
    head,
    vocabulary,
    layerKinds: () => blocks.map(() => ""),
    hidden(f: Forward): Tensor {
      const { torch } = f;
      return torch.module("transformer", [f.ids], () => {
        const embedded = torch.let(callEmbedding(torch, tokens, f.ids));
        const places = torch.let(positionIds(torch, f.seq));
        const placed = torch.let(
          // enable_input_require_grads hooks the tokens' embedding alone.
          torch.module("wpe", [places], () => embedding(torch, places, positions.weight)),
        );
        let x = torch.let(add(torch, embedded, placed));
        const mask = causalMask(f, embedded.dtype);
        if (mask) torch.let(mask);
        x = torch.set(x, drop(f, x, embeddingDropout));

        eachLayer(f, blocks, (l, i) => {
          x = torch.set(
            x,
            callLayer(f, i, x, [places], (input) => block(f, l, shape, i, input, mask), mask ? [mask] : []),
          );
        });
        x = torch.set(x, callLayerNorm(torch, norm, x));
        return x;
      });
    },
  };
}

export const gpt2: Family = {
  types: ["gpt2"],
  defaultTargets: ["c_attn"],
  build,
};
