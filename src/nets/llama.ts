import { activation } from "./activations.ts";
import { type Config, count, flag, headShape, text } from "./config.ts";
import { buildDecoder, preNormLayer } from "./decoder.ts";
import type { Builder } from "./layers.ts";
import { gatedMlp } from "./mlp.ts";
import type { Family, Net } from "./net.ts";
import { rmsNorm } from "./norms.ts";
import { attention } from "./self-attention.ts";

function build(config: Config, b: Builder): Net {
  const hidden = count(config, "hidden_size");
  const heads = headShape(config);
  const bias = flag(config, "attention_bias", false);
  const feed = {
    hidden,
    inner: count(config, "intermediate_size"),
    bias: flag(config, "mlp_bias", false),
    activation: activation(text(config, "hidden_act", "silu")),
  };
  return buildDecoder(config, b, {
    norm: rmsNorm,
    rotarySize: heads.size,
    tied: false,
    layer: () =>
      preNormLayer(
        b,
        hidden,
        rmsNorm,
        attention(b, hidden, heads, { bias, outBias: bias }),
        gatedMlp(b, feed),
      ),
  });
}

export const llama: Family = {
  types: ["llama"],
  defaultTargets: ["q_proj", "v_proj"],
  build,
};
