import { add } from "../autograd/pointwise.ts";
import { activation } from "./activations.ts";
import { type Config, count, flag, headShape, text } from "./config.ts";
import { type LayerBody, attended, buildDecoder } from "./decoder.ts";
import type { Builder } from "./layers.ts";
import { type Mlp, gatedMlp } from "./mlp.ts";
import type { Family, Net } from "./net.ts";
import { olmoNorm } from "./norms.ts";
import { applyRotaryWide } from "./rope.ts";
import { type HeadNorm, type SelfAttention, attention } from "./self-attention.ts";

/** Norms only after attention and after the feed-forward. */
function postNormLayer(b: Builder, hidden: number, attend: SelfAttention, mlp: Mlp): LayerBody {
  const after = olmoNorm(b, "post_attention_layernorm", hidden);
  const afterFeed = olmoNorm(b, "post_feedforward_layernorm", hidden);
  return (f, x, place) => {
    const { torch } = f;
    let h = torch.let(attended(torch, attend(f, x, place)));
    h = torch.set(h, after(torch, h));
    h = torch.set(h, add(torch, x, h));
    const residual = torch.let(h);
    h = torch.set(h, mlp(f, h));
    h = torch.set(h, afterFeed(torch, h));
    return torch.set(h, add(torch, residual, h));
  };
}

function build(config: Config, b: Builder): Net {
  const hidden = count(config, "hidden_size");
  const heads = headShape(config);
  const bias = flag(config, "attention_bias", false);
  const norm: HeadNorm = {
    over: "projection",
    make: (_, of, n) => olmoNorm(b, `${of}_norm`, n * heads.size),
  };
  const feed = {
    hidden,
    inner: count(config, "intermediate_size"),
    bias: false,
    activation: activation(text(config, "hidden_act", "silu")),
  };
  return buildDecoder(config, b, {
    norm: olmoNorm,
    rotarySize: heads.size,
    rotaryDtype: "fp32",
    tied: false,
    layer: () =>
      postNormLayer(
        b,
        hidden,
        attention(b, hidden, heads, {
          bias,
          outBias: bias,
          norm,
          rotate: applyRotaryWide,
          projectsFirst: true,
        }),
        gatedMlp(b, feed),
      ),
  });
}

export const olmo2: Family = {
  types: ["olmo2"],
  // PEFT names none for olmo2; llama's are what people take.
  defaultTargets: ["q_proj", "v_proj"],
  build,
};
