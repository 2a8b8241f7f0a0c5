import { add, mul, silu } from "../autograd/pointwise.ts";
import type { Tensor } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";
import { transpose, view } from "../autograd/views.ts";
import { attend, cached } from "./attend.ts";
import { type Config, count, countOr, flag, fraction } from "./config.ts";
import { type Builder, type Linear, type Norm, callEmbedding, callLinear, callRmsNorm } from "./layers.ts";
import { causalMask } from "./mask.ts";
import { type Family, type Forward, type Net, callLayer } from "./net.ts";
import { type Rope, applyRotary, buildRope, positionIds, rotary } from "./rope.ts";

interface Layer {
  readonly q: Linear;
  readonly k: Linear;
  readonly v: Linear;
  readonly o: Linear;
  readonly gate: Linear;
  readonly up: Linear;
  readonly down: Linear;
  readonly before: Norm;
  readonly after: Norm;
}

interface Shape {
  readonly hidden: number;
  readonly heads: number;
  readonly keyHeads: number;
  readonly headSize: number;
  readonly dropout: number;
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
  const { torch } = f;
  return torch.module("self_attn", [x], () => {
    const split = (t: Tensor, heads: number): Tensor =>
      torch.let(transpose(torch, view(torch, t, [f.batch, f.seq, heads, s.headSize]), 1, 2));
    let q = split(callLinear(torch, l.q, x), s.heads);
    let k = split(callLinear(torch, l.k, x), s.keyHeads);
    let v = split(callLinear(torch, l.v, x), s.keyHeads);
    const [rq, rk] = applyRotary(torch, q, k, cos, sin) as [Tensor, Tensor];
    q = torch.set(q, rq);
    k = torch.set(k, rk);
    if (f.useCache) {
      const [ck, cv] = cached(f, k, v);
      k = torch.set(k, ck);
      v = torch.set(v, cv);
    }
    const attended = attend(f, q, k, v, mask, { queries: s.heads, keys: s.keyHeads, dropout: s.dropout });
    let out = torch.let(attended[0]!);
    const weights = attended.slice(1).map((t) => torch.let(t));
    out = torch.set(out, view(torch, out, [f.batch, f.seq, s.heads * s.headSize]));
    return [callLinear(torch, l.o, out), ...weights];
  });
}

function mlp(torch: Torch, l: Layer, x: Tensor): Tensor {
  return torch.module("mlp", [x], () => {
    const gate = silu(torch, callLinear(torch, l.gate, x));
    return callLinear(torch, l.down, mul(torch, gate, callLinear(torch, l.up, x)));
  });
}

function decoderLayer(
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
    let hidden = torch.let(callRmsNorm(torch, l.before, x));
    const [attended, ...weights] = attention(f, l, s, hidden, cos, sin, mask) as [Tensor, ...Tensor[]];
    for (const w of weights) torch.let(w);
    hidden = torch.set(hidden, attended);
    hidden = torch.set(hidden, add(torch, x, hidden));
    const residual = torch.let(hidden);
    hidden = torch.set(hidden, callRmsNorm(torch, l.after, hidden));
    hidden = torch.set(hidden, mlp(torch, l, hidden));
    hidden = torch.set(hidden, add(torch, residual, hidden));
    return hidden;
  });
}

function build(config: Config, b: Builder): Net {
  const hidden = count(config, "hidden_size");
  const heads = count(config, "num_attention_heads");
  const keyHeads = countOr(config, heads, "num_key_value_heads");
  const shape: Shape = {
    hidden,
    heads,
    keyHeads,
    headSize: countOr(config, hidden / heads, "head_dim"),
    dropout: fraction(config, "attention_dropout", 0),
  };
  const inner = count(config, "intermediate_size");
  const vocabulary = count(config, "vocab_size");
  const attentionBias = flag(config, "attention_bias", false);
  const mlpBias = flag(config, "mlp_bias", false);

  const { embed, layers, norm, rope } = b.in("model", () => {
    const embed = b.embedding("embed_tokens", vocabulary, hidden);
    const layers = Array.from({ length: count(config, "num_hidden_layers") }, (_, i) =>
      b.in(`layers.${i}`, () => {
        const [q, k, v, o] = b.in("self_attn", () => [
          b.linear("q_proj", hidden, heads * shape.headSize, attentionBias),
          b.linear("k_proj", hidden, keyHeads * shape.headSize, attentionBias),
          b.linear("v_proj", hidden, keyHeads * shape.headSize, attentionBias),
          b.linear("o_proj", heads * shape.headSize, hidden, attentionBias),
        ]) as [Linear, Linear, Linear, Linear];
        const [gate, up, down] = b.in("mlp", () => [
          b.linear("gate_proj", hidden, inner, mlpBias),
          b.linear("up_proj", hidden, inner, mlpBias),
          b.linear("down_proj", inner, hidden, mlpBias),
        ]) as [Linear, Linear, Linear];
        return {
          q,
          k,
          v,
          o,
          gate,
          up,
          down,
          before: b.rmsNorm("input_layernorm", hidden),
          after: b.rmsNorm("post_attention_layernorm", hidden),
        };
      }),
    );
    const norm = b.rmsNorm("norm", hidden);
    const rope: Rope = buildRope(b, shape.headSize);
    return { embed, layers, norm, rope };
  });
  const head = b.linear("lm_head", hidden, vocabulary, false);
  if (flag(config, "tie_word_embeddings", false)) b.tie(head, embed);

  return {
    head,
    vocabulary,
    hidden(f: Forward): Tensor {
      const { torch } = f;
      return torch.module("model", [f.ids], () => {
        const embedded = torch.let(callEmbedding(torch, embed, f.ids));
        const positions = torch.let(positionIds(torch, f.seq));
        const mask = causalMask(f, embedded.dtype);
        if (mask) torch.let(mask);
        let x = torch.let(embedded);
        const [cos, sin] = rotary(torch, rope, positions, x.dtype) as [Tensor, Tensor];
        torch.let(cos);
        torch.let(sin);
        const captured = [positions, cos, sin, ...(mask ? [mask] : [])];
        layers.forEach((layer, i) => {
          x = torch.set(
            x,
            callLayer(f, i, x, captured, (input) => decoderLayer(f, layer, shape, i, input, cos, sin, mask)),
          );
        });
        x = torch.set(x, callRmsNorm(torch, norm, x));
        return x;
      });
    },
  };
}

export const llama: Family = {
  types: ["llama"],
  defaultTargets: ["q_proj", "v_proj"],
  build,
};
