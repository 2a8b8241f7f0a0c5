import { add, dropout } from "../autograd/pointwise.ts";
import { activation } from "./activations.ts";
import { type Config, count, flag, fraction, headShape, rotaryFactor, text } from "./config.ts";
import { type LayerBody, attended, buildDecoder } from "./decoder.ts";
import type { Builder } from "./layers.ts";
import { type Mlp, gatedMlp } from "./mlp.ts";
import type { Family, Net } from "./net.ts";
import { layerNorm, perHeadNorm } from "./norms.ts";
import { rotateInline } from "./rope.ts";
import { type HeadNorm, type SelfAttention, attention } from "./self-attention.ts";

interface LayerOptions {
  readonly hidden: number;
  /** Attention and feed-forward read the same norm, and one sum takes both. */
  readonly parallel: boolean;
  readonly dropout: number;
}

function stablelmLayer(b: Builder, attend: SelfAttention, mlp: Mlp, o: LayerOptions): LayerBody {
  const before = layerNorm(b, "input_layernorm", o.hidden);
  const after = o.parallel ? null : layerNorm(b, "post_attention_layernorm", o.hidden);
  return (f, x, place) => {
    const { torch } = f;
    const p = f.training ? o.dropout : 0;
    const h = torch.let(before(torch, x));
    const out = torch.let(attended(torch, attend(f, h, place)));
    if (!after) {
      let fed = torch.let(mlp(f, h));
      fed = torch.set(fed, dropout(torch, fed, p));
      return torch.set(h, add(torch, add(torch, x, out), fed));
    }
    const residual = torch.let(add(torch, x, out));
    let fed = torch.let(mlp(f, after(torch, residual)));
    fed = torch.set(fed, dropout(torch, fed, p));
    return torch.set(h, add(torch, residual, fed));
  };
}

function build(config: Config, b: Builder): Net {
  const hidden = count(config, "hidden_size");
  const heads = headShape(config, { keys: 32 });
  const norm: HeadNorm = {
    over: "moved head",
    make: (_, of, n) => perHeadNorm(b, `${of}_layernorm`, n, heads.size),
  };
  const options = {
    bias: flag(config, "use_qkv_bias", false),
    outBias: false,
    rotate: rotateInline,
    projectsFirst: true,
    ...(flag(config, "qk_layernorm", false) ? { norm } : {}),
  };
  const feed = {
    hidden,
    inner: count(config, "intermediate_size"),
    bias: false,
    activation: activation(text(config, "hidden_act", "silu")),
  };
  const layer = {
    hidden,
    parallel: flag(config, "use_parallel_residual", false),
    dropout: fraction(config, "hidden_dropout", 0),
  };
  return buildDecoder(config, b, {
    norm: layerNorm,
    rotarySize: Math.trunc(heads.size * rotaryFactor(config, 0.25)),
    tied: false,
    layer: () => stablelmLayer(b, attention(b, hidden, heads, options), gatedMlp(b, feed), layer),
  });
}

export const stablelm: Family = {
  types: ["stablelm"],
  defaultTargets: ["q_proj", "v_proj"],
  build,
};
