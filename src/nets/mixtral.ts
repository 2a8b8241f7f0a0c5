import { activation } from "./activations.ts";
import { type Config, count, headShape, text, windowEverywhere } from "./config.ts";
import { buildDecoder, preNormLayer } from "./decoder.ts";
import { type ExpertsShape, expertsMlp } from "./experts.ts";
import type { Builder } from "./layers.ts";
import type { Family, Net } from "./net.ts";
import { rmsNorm } from "./norms.ts";
import { attention } from "./self-attention.ts";

function build(config: Config, b: Builder): Net {
  const hidden = count(config, "hidden_size");
  const heads = headShape(config, { keys: 8 });
  const feed: ExpertsShape = {
    hidden,
    inner: count(config, "intermediate_size"),
    experts: count(config, "num_local_experts", "num_experts"),
    chosen: count(config, "num_experts_per_tok"),
    activation: activation(text(config, "hidden_act", "silu")),
    normalised: true,
    castScores: false,
    first: "gate",
  };
  return buildDecoder(config, b, {
    norm: rmsNorm,
    rotarySize: heads.size,
    tied: false,
    ...windowEverywhere(config, null),
    layer: () =>
      preNormLayer(
        b,
        hidden,
        rmsNorm,
        attention(b, hidden, heads, { bias: false, outBias: false }),
        expertsMlp(b, feed),
      ),
  });
}

export const mixtral: Family = {
  types: ["mixtral"],
  defaultTargets: ["q_proj", "v_proj"],
  build,
};
