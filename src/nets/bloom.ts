import { baddbmm, bmm, lowered } from "../autograd/matmul.ts";
import { add, dropout, mul, scale, shift, softmax, tanh } from "../autograd/pointwise.ts";
import type { Tensor } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";
import { permute, reshape, select, to, transpose, view } from "../autograd/views.ts";
import { UserError } from "../base/errors.ts";
import { Kind } from "../tape/vocabulary.ts";
import { cached } from "./attend.ts";
import { type Config, count, countOr, flag, fraction } from "./config.ts";
import { type Builder, type Linear, type Norm, callEmbedding, callLayerNorm, callLinear } from "./layers.ts";
import { causalMask } from "./mask.ts";
import { type Family, type Forward, type Net, callLayer, eachLayer } from "./net.ts";

interface Block {
  readonly before: Norm;
  readonly qkv: Linear;
  readonly dense: Linear;
  readonly after: Norm;
  readonly up: Linear;
  readonly down: Linear;
}

interface Shape {
  readonly hidden: number;
  readonly heads: number;
  readonly attentionDropout: number;
  readonly hiddenDropout: number;
  readonly residualAfterNorm: boolean;
}

/** `0.79788456 * x * (1 + 0.044715 * x * x)`, one operation at a time. */
function inner(torch: Torch, x: Tensor): Tensor {
  const left = scale(torch, x);
  return mul(torch, left, shift(torch, mul(torch, scale(torch, x), x)));
}

/** BloomGelu: an autograd function of its own that keeps its input and computes the rest again in backward. */
function bloomGelu(torch: Torch, x: Tensor): Tensor {
  return torch.module("gelu_impl", [x], () => {
    const tracked = torch.tracks([x]);
    const out = torch.noGrad(() => {
      const half = scale(torch, x);
      return mul(torch, half, shift(torch, tanh(torch, inner(torch, x))));
    });
    if (tracked) {
      torch.record("GeLUFunctionBackward", [out], [x], torch.save([x]), ([g]) => [
        torch.noGrad(() => torch.frame(() => geluGradient(torch, x, g!))),
      ]);
    }
    return out;
  });
}

function geluGradient(torch: Torch, x: Tensor, g: Tensor): Tensor {
  const t = torch.let(tanh(torch, inner(torch, x)));
  const half = scale(torch, x);
  const squared = shift(torch, mul(torch, t, t));
  const steep = mul(torch, squared, shift(torch, mul(torch, scale(torch, x), x)));
  const left = mul(torch, half, steep);
  const ff = torch.let(add(torch, left, scale(torch, shift(torch, t))));
  return mul(torch, ff, g);
}

function mergeHeads(torch: Torch, x: Tensor, batch: number, s: Shape): Tensor {
  const [, seq, size] = x.shape as [number, number, number];
  return torch.frame(() => {
    const held = torch.let(permute(torch, view(torch, x, [batch, s.heads, seq, size]), [0, 2, 1, 3]));
    return reshape(torch, held, [batch, seq, s.hidden]);
  });
}

const dropoutAdd = (f: Forward, x: Tensor, residual: Tensor, p: number): Tensor =>
  f.torch.frame(() => add(f.torch, residual, f.torch.let(dropout(f.torch, x, f.training ? p : 0))));

function attention(
  f: Forward,
  l: Block,
  s: Shape,
  x: Tensor,
  residual: Tensor,
  alibi: Tensor,
  mask: Tensor | null,
): readonly Tensor[] {
  const { torch, batch, seq } = f;
  const size = s.hidden / s.heads;
  return torch.module("self_attention", [x, residual], () => {
    const fused = torch.let(callLinear(torch, l.qkv, x));
    const split = torch.frame(() => {
      const parted = torch.let(view(torch, fused, [batch, seq, s.heads, 3, size]));
      return [0, 1, 2].map(() => transpose(torch, select(torch, parted, 3), 1, 2));
    });
    let [q, k, v] = split.map((t) => torch.let(t)) as [Tensor, Tensor, Tensor];
    [k, v] = cached(f, k, v);
    const rows = [batch * s.heads, -1, size];
    q = torch.set(q, reshape(torch, q, rows));
    k = torch.set(k, transpose(torch, reshape(torch, k, rows), -1, -2));
    v = torch.set(v, reshape(torch, v, rows));
    const scores = torch.let(baddbmm(torch, alibi, q, k));
    let weights = torch.let(view(torch, scores, [batch, s.heads, seq, seq]));
    if (mask) weights = torch.set(weights, add(torch, weights, mask));
    let probabilities = torch.let(to(torch, softmax(torch, weights, "fp32"), q.dtype));
    probabilities = torch.set(
      probabilities,
      dropout(torch, probabilities, f.training ? s.attentionDropout : 0),
    );
    const reshaped = torch.let(view(torch, probabilities, [batch * s.heads, seq, seq]));
    let context = torch.let(bmm(torch, lowered(torch, reshaped), lowered(torch, v)));
    context = torch.set(context, mergeHeads(torch, context, batch, s));
    let out = torch.let(callLinear(torch, l.dense, context));
    out = torch.set(out, dropoutAdd(f, out, residual, s.hiddenDropout));
    return [out, probabilities];
  });
}

function block(
  f: Forward,
  l: Block,
  s: Shape,
  index: number,
  x: Tensor,
  alibi: Tensor,
  mask: Tensor | null,
): readonly Tensor[] {
  const { torch } = f;
  return torch.module(`h.${index}`, [x], () => {
    let normed = torch.let(callLayerNorm(torch, l.before, x));
    let residual = torch.let(s.residualAfterNorm ? normed : x);
    const [out, weights] = attention(f, l, s, normed, residual, alibi, mask) as [Tensor, Tensor];
    const attended = torch.let(out);
    torch.let(weights);
    normed = torch.set(normed, callLayerNorm(torch, l.after, attended));
    residual = torch.set(residual, s.residualAfterNorm ? normed : attended);
    const fed = torch.module("mlp", [normed, residual], () => {
      const hidden = torch.let(bloomGelu(torch, callLinear(torch, l.up, normed)));
      const down = torch.let(callLinear(torch, l.down, hidden));
      return dropoutAdd(f, down, residual, s.hiddenDropout);
    });
    return [torch.let(fed), weights];
  });
}

/** build_alibi_tensor: a slope a head times the position a key, in the hidden states' type. */
function alibiTensor(torch: Torch, f: Forward, heads: number, given: Tensor, dtype: Tensor["dtype"]): Tensor {
  return torch.frame(() => {
    const closest = 2 ** Math.floor(Math.log2(heads));
    torch.let(torch.empty([], "fp32"));
    torch.let(torch.empty([closest], "int32"));
    let slopes = torch.let(torch.empty([closest], "fp32"));
    if (closest !== heads) {
      const extra = Math.min(closest, heads - closest);
      torch.let(torch.empty([], "fp32"));
      torch.let(torch.empty([extra], "int32"));
      const more = torch.empty([extra], "fp32");
      slopes = torch.set(slopes, torch.empty([heads], "fp32"));
      torch.consume(more);
    }
    const shape = [f.batch, f.seq];
    const sums = torch.empty(shape, given.dtype, Kind.input);
    const shifted = torch.empty(shape, given.dtype, Kind.input);
    torch.consume(sums);
    torch.let(torch.empty(shape, given.dtype, Kind.input));
    torch.consume(shifted);
    const alibi = torch.let(torch.empty([f.batch, heads, f.seq], "fp32"));
    return to(torch, view(torch, alibi, [f.batch * heads, 1, f.seq]), dtype);
  });
}

function build(config: Config, b: Builder): Net {
  const hidden = countOr(config, 64, "hidden_size", "n_embed");
  const heads = countOr(config, 8, "n_head", "num_attention_heads");
  if (hidden % heads !== 0)
    throw new UserError(`config: "hidden_size" ${hidden} is not divisible by "n_head" ${heads}`);
  const vocabulary = count(config, "vocab_size");
  const shape: Shape = {
    hidden,
    heads,
    attentionDropout: fraction(config, "attention_dropout", 0),
    hiddenDropout: fraction(config, "hidden_dropout", 0),
    residualAfterNorm: flag(config, "apply_residual_connection_post_layernorm", false),
  };
  const parts = b.in("transformer", () => ({
    tokens: b.embedding("word_embeddings", vocabulary, hidden),
    embedded: b.layerNorm("word_embeddings_layernorm", hidden),
    blocks: Array.from({ length: countOr(config, 2, "n_layer", "num_hidden_layers") }, (_, i) =>
      b.in(`h.${i}`, (): Block => {
        const before = b.layerNorm("input_layernorm", hidden);
        const [qkv, dense] = b.in("self_attention", () => [
          b.linear("query_key_value", hidden, 3 * hidden, true),
          b.linear("dense", hidden, hidden, true),
        ]) as [Linear, Linear];
        const after = b.layerNorm("post_attention_layernorm", hidden);
        const [up, down] = b.in("mlp", () => [
          b.linear("dense_h_to_4h", hidden, 4 * hidden, true),
          b.linear("dense_4h_to_h", 4 * hidden, hidden, true),
        ]) as [Linear, Linear];
        return { before, qkv, dense, after, up, down };
      }),
    ),
    norm: b.layerNorm("ln_f", hidden),
  }));
  const head = b.linear("lm_head", hidden, vocabulary, false);
  if (flag(config, "tie_word_embeddings", true)) b.tie(head, parts.tokens);

  return {
    head,
    vocabulary,
    layerKinds: () => parts.blocks.map(() => ""),
    hidden(f: Forward): Tensor {
      const { torch } = f;
      return torch.module("transformer", [f.ids], () => {
        const embedded = torch.let(callEmbedding(torch, parts.tokens, f.ids));
        let x = torch.let(callLayerNorm(torch, parts.embedded, embedded));
        const given = torch.let(f.mask ?? torch.empty([f.batch, f.seq], "fp32", Kind.input));
        const alibi = torch.let(alibiTensor(torch, f, heads, given, x.dtype));
        const mask = causalMask({ ...f, mask: given }, embedded.dtype);
        if (mask) torch.let(mask);
        const captured = [alibi, ...(mask ? [mask] : [])];
        // `outputs` of the loop holds a block's weights until the next block returns its own.
        let held: Tensor | null = null;
        eachLayer(f, parts.blocks, (l, i) => {
          const [out, weights] = callLayer(f, i, x, captured, (input) =>
            block(f, l, shape, i, input, alibi, mask),
          ) as [Tensor, Tensor];
          torch.let(weights);
          if (held) torch.drop(held);
          held = weights;
          x = torch.set(x, out);
        });
        x = torch.set(x, callLayerNorm(torch, parts.norm, x));
        return x;
      });
    },
  };
}

export const bloom: Family = { types: ["bloom"], defaultTargets: ["query_key_value"], build };
