import { activation } from "./activations.ts";
import { type Config, count, headShape, text, windowFromLayer } from "./config.ts";
import { buildDecoder, preNormLayer } from "./decoder.ts";
import type { Builder } from "./layers.ts";
import { gatedMlp } from "./mlp.ts";
import type { Family, Net } from "./net.ts";
import { rmsNorm } from "./norms.ts";
import { attention } from "./self-attention.ts";

function build(config: Config, b: Builder): Net {
  const hidden = count(config, "hidden_size");
  const heads = headShape(config, { keys: 32 });
  const feed = {
    hidden,
    inner: count(config, "intermediate_size"),
    bias: false,
    activation: activation(text(config, "hidden_act", "silu")),
  };
  return buildDecoder(config, b, {
    norm: rmsNorm,
    rotarySize: heads.size,
    tied: false,
    ...windowFromLayer(config),
    layer: () =>
      preNormLayer(
        b,
        hidden,
        rmsNorm,
        attention(b, hidden, heads, { bias: true, outBias: false }),
        gatedMlp(b, feed),
      ),
  });
}

export const qwen2: Family = {
  types: ["qwen2"],
  defaultTargets: ["q_proj", "v_proj"],
  build,
};
