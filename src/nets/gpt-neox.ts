import { add, dropout } from "../autograd/pointwise.ts";
import type { Tensor } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";
import { cat, contiguous, reshape, slice, split, transpose, unsqueeze, view } from "../autograd/views.ts";
import { type Activation, activation } from "./activations.ts";
import { attend, cached } from "./attend.ts";
import { type Config, count, countOr, flag, fraction, text } from "./config.ts";
import { type Builder, type Linear, type Norm, callEmbedding, callLayerNorm, callLinear } from "./layers.ts";
import { causalMask } from "./mask.ts";
import { type Family, type Forward, type Net, callLayer, eachLayer } from "./net.ts";
import { buildRope, positionIds, rotated, rotary } from "./rope.ts";

interface Layer {
  readonly before: Norm;
  readonly after: Norm;
  readonly qkv: Linear;
  readonly dense: Linear;
  readonly up: Linear;
  readonly down: Linear;
}

interface Shape {
  readonly hidden: number;
  readonly heads: number;
  readonly parallel: boolean;
  readonly dropout: number;
  readonly attentionDropout: number;
  readonly act: Activation;
}

const drop = (f: Forward, name: string, x: Tensor, p: number): Tensor =>
  f.torch.module(name, [x], () => dropout(f.torch, x, f.training ? p : 0));

/** GPT-NeoX's apply_rotary_pos_emb: both turned first, then each joined with the part that is passed on. */
function rotateShare(torch: Torch, q: Tensor, k: Tensor, cos0: Tensor, sin0: Tensor): readonly Tensor[] {
  return torch.frame(() => {
    const cos = torch.let(unsqueeze(torch, cos0, 1));
    const sin = torch.let(unsqueeze(torch, sin0, 1));
    const at = cos.shape[cos.shape.length - 1]!;
    const parts = [q, k].map(
      (t) =>
        [torch.let(slice(torch, t, -1, 0, at)), torch.let(slice(torch, t, -1, at, t.shape[3]!))] as const,
    );
    const turned = parts.map(([part]) => torch.let(rotated(torch, part, cos, sin)));
    return parts.map(([, passed], i) => torch.set(turned[i]!, cat(torch, [turned[i]!, passed], -1)));
  });
}

function attention(
  f: Forward,
  l: Layer,
  s: Shape,
  x: Tensor,
  cos: Tensor,
  sin: Tensor,
  mask: Tensor | null,
): readonly Tensor[] {
  const { torch, batch, seq } = f;
  const size = s.hidden / s.heads;
  return torch.module("attention", [x], () => {
    const qkv = torch.let(
      transpose(torch, view(torch, callLinear(torch, l.qkv, x), [batch, seq, s.heads, 3 * size]), 1, 2),
    );
    let [q, k, v] = split(torch, qkv, [size, size, size], -1).map((t) => torch.let(t)) as [
      Tensor,
      Tensor,
      Tensor,
    ];
    const [rq, rk] = rotateShare(torch, q, k, cos, sin) as [Tensor, Tensor];
    q = torch.set(q, rq);
    k = torch.set(k, rk);
    [k, v] = cached(f, k, v);
    const [attended, ...weights] = attend(f, q, k, v, mask, {
      queries: s.heads,
      keys: s.heads,
      dropout: s.attentionDropout,
    }) as [Tensor, ...Tensor[]];
    let out = torch.let(attended);
    for (const w of weights) torch.let(w);
    out = torch.set(out, contiguous(torch, reshape(torch, out, [batch, seq, s.hidden])));
    return [callLinear(torch, l.dense, out), ...weights];
  });
}

function mlp(f: Forward, l: Layer, s: Shape, x: Tensor): Tensor {
  const { torch } = f;
  return torch.module("mlp", [x], () => {
    let hidden = torch.let(callLinear(torch, l.up, x));
    hidden = torch.set(hidden, s.act(torch, hidden));
    return callLinear(torch, l.down, hidden);
  });
}

function layer(
  f: Forward,
  l: Layer,
  s: Shape,
  index: number,
  x: Tensor,
  cos: Tensor,
  sin: Tensor,
  mask: Tensor | null,
): Tensor {
  const { torch } = f;
  return torch.module(`layers.${index}`, [x], () => {
    const [attended, ...weights] = attention(f, l, s, callLayerNorm(torch, l.before, x), cos, sin, mask) as [
      Tensor,
      ...Tensor[],
    ];
    let attention0 = torch.let(attended);
    for (const w of weights) torch.let(w);
    attention0 = torch.set(attention0, drop(f, "post_attention_dropout", attention0, s.dropout));
    if (!s.parallel) attention0 = torch.set(attention0, add(torch, attention0, x));
    let fed = torch.let(mlp(f, l, s, callLayerNorm(torch, l.after, s.parallel ? x : attention0)));
    fed = torch.set(fed, drop(f, "post_mlp_dropout", fed, s.dropout));
    const sum = add(torch, fed, attention0);
    return s.parallel ? add(torch, sum, x) : sum;
  });
}

/** Rotated share of a head: `rope_parameters` in newer configs, `rotary_pct` in older ones. */
function rotaryShare(config: Config): number {
  const parameters = config["rope_parameters"];
  const nested = typeof parameters === "object" && parameters !== null ? (parameters as Config) : {};
  return fraction(nested, "partial_rotary_factor", fraction(config, "rotary_pct", 0.25));
}

function build(config: Config, b: Builder): Net {
  const hidden = count(config, "hidden_size");
  const heads = count(config, "num_attention_heads");
  const vocabulary = count(config, "vocab_size");
  const inner = countOr(config, 4 * hidden, "intermediate_size");
  const bias = flag(config, "attention_bias", true);
  const shape: Shape = {
    hidden,
    heads,
    parallel: flag(config, "use_parallel_residual", true),
    dropout: fraction(config, "hidden_dropout", 0),
    attentionDropout: fraction(config, "attention_dropout", 0),
    act: activation(text(config, "hidden_act", "gelu")),
  };
  const parts = b.in("gpt_neox", () => {
    const embed = b.embedding("embed_in", vocabulary, hidden);
    const layers = Array.from({ length: count(config, "num_hidden_layers") }, (_, i) =>
      b.in(`layers.${i}`, (): Layer => {
        const before = b.layerNorm("input_layernorm", hidden);
        const after = b.layerNorm("post_attention_layernorm", hidden);
        const [qkv, dense] = b.in("attention", () => [
          b.linear("query_key_value", hidden, 3 * hidden, bias),
          b.linear("dense", hidden, hidden, bias),
        ]) as [Linear, Linear];
        const [up, down] = b.in("mlp", () => [
          b.linear("dense_h_to_4h", hidden, inner, true),
          b.linear("dense_4h_to_h", inner, hidden, true),
        ]) as [Linear, Linear];
        return { before, after, qkv, dense, up, down };
      }),
    );
    const norm = b.layerNorm("final_layer_norm", hidden);
    return { embed, layers, norm, rope: buildRope(b, Math.floor((hidden / heads) * rotaryShare(config))) };
  });
  const head = b.linear("lm_head", hidden, vocabulary, false);
  if (flag(config, "tie_word_embeddings", false)) b.tie(head, parts.embed);

  return {
    head,
    vocabulary,
    layerKinds: () => parts.layers.map(() => ""),
    hidden(f: Forward): Tensor {
      const { torch } = f;
      return torch.module("gpt_neox", [f.ids], () => {
        const embedded = torch.let(callEmbedding(torch, parts.embed, f.ids));
        const positions = torch.let(positionIds(torch, f.seq));
        const mask = causalMask(f, embedded.dtype);
        if (mask) torch.let(mask);
        let x = torch.let(drop(f, "emb_dropout", embedded, shape.dropout));
        const [cos, sin] = rotary(torch, parts.rope, positions, x.dtype) as [Tensor, Tensor];
        torch.let(cos);
        torch.let(sin);
        const captured = [positions, cos, sin, ...(mask ? [mask] : [])];
        eachLayer(f, parts.layers, (l, i) => {
          x = torch.set(
            x,
            callLayer(f, i, x, captured, (input) => layer(f, l, shape, i, input, cos, sin, mask)),
          );
        });
        return callLayerNorm(torch, parts.norm, x);
      });
    },
  };
}

export const gptNeox: Family = { types: ["gpt_neox"], defaultTargets: ["query_key_value"], build };
