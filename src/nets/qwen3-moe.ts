import { activation } from "./activations.ts";
import { type Config, count, countOr, flag, headShape, text, windowEverywhere } from "./config.ts";
import { buildDecoder, preNormLayer } from "./decoder.ts";
import { type ExpertsShape, expertsMlp } from "./experts.ts";
import type { Builder } from "./layers.ts";
import { gatedMlp } from "./mlp.ts";
import type { Family, Net } from "./net.ts";
import { rmsNorm } from "./norms.ts";
import { headRmsNorm } from "./qwen3.ts";
import { attention } from "./self-attention.ts";

function build(config: Config, b: Builder): Net {
  const hidden = count(config, "hidden_size");
  const heads = headShape(config, { keys: 4 });
  const bias = flag(config, "attention_bias", false);
  const act = activation(text(config, "hidden_act", "silu"));
  const feed: ExpertsShape = {
    hidden,
    inner: count(config, "moe_intermediate_size"),
    experts: count(config, "num_experts", "num_local_experts"),
    chosen: count(config, "num_experts_per_tok"),
    activation: act,
    normalised: flag(config, "norm_topk_prob", false),
    castScores: true,
    first: "experts",
  };
  const step = countOr(config, 1, "decoder_sparse_step");
  const dense = (config["mlp_only_layers"] ?? []) as readonly unknown[];
  const mlp = (layer: number): ReturnType<typeof expertsMlp> =>
    !dense.includes(layer) && (layer + 1) % step === 0
      ? expertsMlp(b, feed)
      : gatedMlp(b, { hidden, inner: count(config, "intermediate_size"), bias: false, activation: act });
  return buildDecoder(config, b, {
    norm: rmsNorm,
    rotarySize: heads.size,
    tied: false,
    ...(flag(config, "use_sliding_window", false) ? windowEverywhere(config, 4096) : {}),
    layer: (_, i) =>
      preNormLayer(
        b,
        hidden,
        rmsNorm,
        attention(b, hidden, heads, { bias, outBias: bias, norm: headRmsNorm(heads.size) }),
        mlp(i),
      ),
  });
}

export const qwen3Moe: Family = {
  types: ["qwen3_moe"],
  // PEFT names none for qwen3_moe; the attention's are all the linear layers it has.
  defaultTargets: ["q_proj", "k_proj", "v_proj", "o_proj"],
  build,
};
