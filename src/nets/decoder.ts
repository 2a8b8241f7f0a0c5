import type { Dtype } from "../autograd/dtype.ts";
import { add } from "../autograd/pointwise.ts";
import type { Tensor } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";
import { type Config, type Window, count, flag } from "./config.ts";
import { type Builder, type Embedding, callEmbedding } from "./layers.ts";
import { causalMask } from "./mask.ts";
import type { Mlp } from "./mlp.ts";
import { type Forward, type Net, callLayer, eachLayer } from "./net.ts";
import type { NormKind, NormModule } from "./norms.ts";
import { type Rope, buildRope, positionIds, rotary } from "./rope.ts";
import type { Place, SelfAttention } from "./self-attention.ts";

/** A decoder layer's forward, called inside its module. */
export type LayerBody = (f: Forward, x: Tensor, place: Place) => Tensor;

/** What distinguishes one rope decoder from another. */
export interface DecoderParts {
  layer(b: Builder, index: number): LayerBody;
  readonly norm: NormKind;
  /** Numbers of a head that positions turn. */
  readonly rotarySize: number;
  /** Type of cos and sin; the hidden states' where not given. */
  readonly rotaryDtype?: Dtype;
  /** `tie_word_embeddings` of the config class. */
  readonly tied: boolean;
  /** Attention windows; absent where every layer attends to all. */
  readonly window?: Window;
  /** Layers with a window and layers without have each a rotary embedding, where there are such layers. */
  readonly ropePerKind?: boolean;
  /** The embedding module, where it is more than a table. */
  readonly embedding?: (b: Builder, table: Embedding) => (f: Forward) => Tensor;
  /** What the model does to the embeddings before the masks are made, or after. */
  readonly beforeMask?: (f: Forward, x: Tensor) => Tensor;
  readonly afterMask?: (f: Forward, x: Tensor) => Tensor;
  readonly logits?: (torch: Torch, logits: Tensor) => Tensor;
  readonly auxiliary?: Net["auxiliary"];
}

export function buildDecoder(config: Config, b: Builder, parts: DecoderParts): Net {
  const hidden = count(config, "hidden_size");
  const vocabulary = count(config, "vocab_size");
  const { window } = parts;
  const { table, embed, layers, norm, ropes } = b.in("model", () => {
    const table = b.embedding("embed_tokens", vocabulary, hidden);
    const embed = parts.embedding?.(b, table) ?? ((f: Forward) => callEmbedding(f.torch, table, f.ids));
    const layers = Array.from({ length: count(config, "num_hidden_layers") }, (_, i) =>
      b.in(`layers.${i}`, () => parts.layer(b, i)),
    );
    const norm = parts.norm(b, "norm", hidden);
    const kinds = parts.ropePerKind ? new Set(layers.map((_, i) => window?.applies(i))).size : 1;
    const ropes = Array.from({ length: kinds }, () => buildRope(b, parts.rotarySize));
    return { table, embed, layers, norm, ropes };
  });
  const head = b.linear("lm_head", hidden, vocabulary, false);
  if (flag(config, "tie_word_embeddings", parts.tied)) b.tie(head, table);

  const run = (f: Forward): Tensor => {
    const { torch } = f;
    let x = torch.let(embed(f));
    if (parts.beforeMask) x = torch.set(x, parts.beforeMask(f, x));
    const embedded = x;
    const positions = torch.let(positionIds(torch, f.seq));
    const bound = (mask: Tensor | null): Tensor | null => mask && torch.let(mask);
    const full = !window || window.alternating ? bound(causalMask(f, embedded.dtype)) : null;
    const near = window ? bound(causalMask(f, embedded.dtype, window.size)) : null;
    x = torch.let(embedded);
    if (parts.afterMask) x = torch.set(x, parts.afterMask(f, x));
    const turns = ropes.map((rope) => turn(torch, rope, positions, parts.rotaryDtype ?? x.dtype));
    eachLayer(f, layers, (layer, i) => {
      const windowed = window?.applies(i) ?? false;
      const [cos, sin] = turns[windowed ? turns.length - 1 : 0]!;
      const mask = windowed ? near : full;
      const place: Place = { cos, sin, mask, window: windowed ? window!.size : null };
      const captured = [positions, cos, sin, ...(mask ? [mask] : [])];
      const call = (input: Tensor): Tensor =>
        torch.module(`layers.${i}`, [input], () => layer(f, input, place));
      x = torch.set(x, callLayer(f, i, x, captured, call));
    });
    x = torch.set(x, norm(torch, x));
    return x;
  };
  return {
    head,
    vocabulary,
    // A windowed layer is like the others unless it needs a mask or a rope of its own.
    layerKinds: (f) =>
      layers.map((_, i) => {
        const apart = ropes.length > 1 || (f.attention !== "eager" && f.seq > (window?.size ?? Infinity));
        return apart && window?.applies(i) ? "window" : "";
      }),
    hidden: (f) => f.torch.module("model", [f.ids], () => run(f)),
    ...(parts.logits ? { logits: parts.logits } : {}),
    ...(parts.auxiliary ? { auxiliary: parts.auxiliary } : {}),
  };
}

function turn(torch: Torch, rope: Rope, positions: Tensor, dtype: Dtype): readonly [Tensor, Tensor] {
  const [cos, sin] = rotary(torch, rope, positions, dtype) as [Tensor, Tensor];
  return [torch.let(cos), torch.let(sin)];
}

/** What stands between a module's result and the residual sum: a dropout, a factor. */
type Branch = (f: Forward, x: Tensor) => Tensor;

/** Llama's layer: x + attention(norm(x)), then x + mlp(norm(x)). */
export function preNormLayer(
  b: Builder,
  hidden: number,
  norm: NormKind,
  attention: SelfAttention,
  mlp: Mlp,
  branch: Branch = (_, x) => x,
): LayerBody {
  const before: NormModule = norm(b, "input_layernorm", hidden);
  const after: NormModule = norm(b, "post_attention_layernorm", hidden);
  return (f, x, place) => {
    const { torch } = f;
    let h = torch.let(before(torch, x));
    h = torch.set(h, attended(torch, attention(f, h, place)));
    h = torch.set(h, add(torch, x, branch(f, h)));
    const residual = torch.let(h);
    h = torch.set(h, after(torch, h));
    h = torch.set(h, mlp(f, h));
    return torch.set(h, add(torch, residual, branch(f, h)));
  };
}

/** `hidden, weights = self_attn(…)`: eager attention's weights stay a local of the layer. */
export function attended(torch: Torch, results: readonly Tensor[]): Tensor {
  for (const weights of results.slice(1)) torch.let(weights);
  return results[0]!;
}
