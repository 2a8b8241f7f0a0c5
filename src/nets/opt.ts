import { embedding } from "../autograd/lookup.ts";
import { add, dropout, scale } from "../autograd/pointwise.ts";
import type { Tensor } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";
import { contiguous, reshape, transpose, view } from "../autograd/views.ts";
import { Kind } from "../tape/vocabulary.ts";
import { type Activation, activation } from "./activations.ts";
import { attend, cached } from "./attend.ts";
import { type Config, count, countOr, flag, fraction, text } from "./config.ts";
import { type Builder, type Linear, type Norm, callEmbedding, callLayerNorm, callLinear } from "./layers.ts";
import { causalMask } from "./mask.ts";
import { type Family, type Forward, type Net, callLayer, eachLayer } from "./net.ts";

interface Layer {
  readonly q: Linear;
  readonly k: Linear;
  readonly v: Linear;
  readonly out: Linear;
  readonly before: Norm;
  readonly fc1: Linear;
  readonly fc2: Linear;
  readonly after: Norm;
}

interface Shape {
  readonly hidden: number;
  readonly heads: number;
  readonly dropout: number;
  readonly attentionDropout: number;
  readonly normFirst: boolean;
  readonly act: Activation;
}

function attention(f: Forward, l: Layer, s: Shape, x: Tensor, mask: Tensor | null): readonly Tensor[] {
  const { torch, batch, seq } = f;
  const size = s.hidden / s.heads;
  const heads = (t: Tensor): Tensor => transpose(torch, view(torch, t, [batch, seq, s.heads, size]), 1, 2);
  return torch.module("self_attn", [x], () => {
    let q = torch.let(scale(torch, callLinear(torch, l.q, x)));
    q = torch.set(q, heads(q));
    let k = torch.let(callLinear(torch, l.k, x));
    let v = torch.let(callLinear(torch, l.v, x));
    k = torch.set(k, heads(k));
    v = torch.set(v, heads(v));
    [k, v] = cached(f, k, v);
    const [attended, ...weights] = attend(f, q, k, v, mask, {
      queries: s.heads,
      keys: s.heads,
      dropout: s.attentionDropout,
    }) as [Tensor, ...Tensor[]];
    let out = torch.let(attended);
    for (const w of weights) torch.let(w);
    out = torch.set(out, contiguous(torch, reshape(torch, out, [batch, seq, s.hidden])));
    return [callLinear(torch, l.out, out), ...weights];
  });
}

function decoderLayer(f: Forward, l: Layer, s: Shape, index: number, x: Tensor, mask: Tensor | null): Tensor {
  const { torch } = f;
  const p = f.training ? s.dropout : 0;
  return torch.module(`layers.${index}`, [x], () => {
    let hidden = torch.let(x);
    if (s.normFirst) hidden = torch.set(hidden, callLayerNorm(torch, l.before, hidden));
    const [attended, ...weights] = attention(f, l, s, hidden, mask) as [Tensor, ...Tensor[]];
    for (const w of weights) torch.let(w);
    hidden = torch.set(hidden, attended);
    hidden = torch.set(hidden, dropout(torch, hidden, p));
    hidden = torch.set(hidden, add(torch, x, hidden));
    if (!s.normFirst) hidden = torch.set(hidden, callLayerNorm(torch, l.before, hidden));
    hidden = torch.set(hidden, reshape(torch, hidden, [-1, s.hidden]));
    const residual = torch.let(hidden);
    if (s.normFirst) hidden = torch.set(hidden, callLayerNorm(torch, l.after, hidden));
    hidden = torch.set(hidden, callLinear(torch, l.fc1, hidden));
    hidden = torch.set(hidden, s.act(torch, hidden));
    hidden = torch.set(hidden, callLinear(torch, l.fc2, hidden));
    hidden = torch.set(hidden, dropout(torch, hidden, p));
    hidden = torch.set(hidden, view(torch, add(torch, residual, hidden), [f.batch, f.seq, s.hidden]));
    if (!s.normFirst) hidden = torch.set(hidden, callLayerNorm(torch, l.after, hidden));
    return hidden;
  });
}

/** Positions come from the running sum of the mask: fp32 numbers made when no mask is given, then int64. */
function positions(torch: Torch, f: Forward, mask: Tensor): Tensor {
  const shape = [f.batch, f.seq];
  const sums = torch.let(torch.empty(shape, mask.dtype, Kind.input));
  const products = torch.empty(shape, mask.dtype, Kind.input);
  const shifted = torch.empty(shape, mask.dtype, Kind.input);
  torch.consume(products);
  if (mask.dtype === "int64") return torch.set(sums, shifted);
  const whole = torch.empty(shape, "int64", Kind.input);
  torch.consume(shifted);
  return torch.set(sums, whole);
}

function build(config: Config, b: Builder): Net {
  const hidden = count(config, "hidden_size");
  const heads = count(config, "num_attention_heads");
  const vocabulary = count(config, "vocab_size");
  const width = countOr(config, hidden, "word_embed_proj_dim");
  const inner = count(config, "ffn_dim");
  const bias = flag(config, "enable_bias", true);
  const shape: Shape = {
    hidden,
    heads,
    dropout: fraction(config, "dropout", 0.1),
    attentionDropout: fraction(config, "attention_dropout", 0),
    normFirst: flag(config, "do_layer_norm_before", true),
    act: activation(text(config, "activation_function", "relu")),
  };
  const parts = b.in("model.decoder", () => {
    const tokens = b.embedding("embed_tokens", vocabulary, width);
    // OPT's table of positions starts at 2.
    const places = b.embedding(
      "embed_positions",
      countOr(config, 2048, "max_position_embeddings") + 2,
      hidden,
    );
    const projectOut = width === hidden ? null : b.linear("project_out", hidden, width, false);
    const projectIn = width === hidden ? null : b.linear("project_in", width, hidden, false);
    const norm =
      shape.normFirst && !flag(config, "_remove_final_layer_norm", false)
        ? b.layerNorm("final_layer_norm", hidden)
        : null;
    const layers = Array.from({ length: count(config, "num_hidden_layers") }, (_, i) =>
      b.in(`layers.${i}`, (): Layer => {
        const [k, v, q, out] = b.in("self_attn", () =>
          ["k_proj", "v_proj", "q_proj", "out_proj"].map((name) => b.linear(name, hidden, hidden, bias)),
        ) as [Linear, Linear, Linear, Linear];
        return {
          q,
          k,
          v,
          out,
          before: b.layerNorm("self_attn_layer_norm", hidden),
          fc1: b.linear("fc1", hidden, inner, bias),
          fc2: b.linear("fc2", inner, hidden, bias),
          after: b.layerNorm("final_layer_norm", hidden),
        };
      }),
    );
    return { tokens, places, projectOut, projectIn, norm, layers };
  });
  const head = b.linear("lm_head", width, vocabulary, false);
  if (flag(config, "tie_word_embeddings", true)) b.tie(head, parts.tokens);

  return {
    head,
    vocabulary,
    layerKinds: () => parts.layers.map(() => ""),
    hidden(f: Forward): Tensor {
      const { torch } = f;
      return torch.module("model.decoder", [f.ids], () => {
        let embedded = torch.let(callEmbedding(torch, parts.tokens, f.ids));
        const given = torch.let(f.mask ?? torch.empty([f.batch, f.seq], "fp32", Kind.input));
        const ids = positions(torch, f, given);
        const mask = causalMask({ ...f, mask: given }, embedded.dtype);
        if (mask) torch.let(mask);
        const placed = torch.let(
          torch.module("embed_positions", [ids], () =>
            embedding(torch, torch.empty([f.batch, f.seq], "int64", Kind.input), parts.places.weight),
          ),
        );
        if (parts.projectIn) embedded = torch.set(embedded, callLinear(torch, parts.projectIn, embedded));
        let x = torch.let(add(torch, embedded, placed));
        const captured = [ids, ...(mask ? [mask] : [])];
        eachLayer(f, parts.layers, (l, i) => {
          x = torch.set(
            x,
            callLayer(f, i, x, captured, (input) => decoderLayer(f, l, shape, i, input, mask)),
          );
        });
        if (parts.norm) x = torch.set(x, callLayerNorm(torch, parts.norm, x));
        if (parts.projectOut) x = torch.set(x, callLinear(torch, parts.projectOut, x));
        return x;
      });
    },
  };
}

export const opt: Family = { types: ["opt"], defaultTargets: ["q_proj", "v_proj"], build };
