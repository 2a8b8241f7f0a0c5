import { activation } from "./activations.ts";
import { type Config, count, headShape, text, windowEverywhere } from "./config.ts";
import { buildDecoder, preNormLayer } from "./decoder.ts";
import type { Builder } from "./layers.ts";
import { gatedMlp } from "./mlp.ts";
import type { Family, Net } from "./net.ts";
import { rmsNorm } from "./norms.ts";
import { attention } from "./self-attention.ts";

function build(config: Config, b: Builder): Net {
  const hidden = count(config, "hidden_size");
  const heads = headShape(config, { keys: 8 });
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
    ...windowEverywhere(config, 4096),
    layer: () =>
      preNormLayer(
        b,
        hidden,
        rmsNorm,
        attention(b, hidden, heads, { bias: false, outBias: false }),
        gatedMlp(b, feed),
      ),
  });
}

export const mistral: Family = {
  types: ["mistral"],
  defaultTargets: ["q_proj", "v_proj"],
  build,
};
