import { activation } from "./activations.ts";
import { type Config, count, flag, headShape, text, windowFromLayer } from "./config.ts";
import { buildDecoder, preNormLayer } from "./decoder.ts";
import type { Builder } from "./layers.ts";
import { gatedMlp } from "./mlp.ts";
import type { Family, Net } from "./net.ts";
import { rmsNorm } from "./norms.ts";
import { type HeadNorm, attention } from "./self-attention.ts";

/** An RMSNorm over each head of q and of k. */
export function headRmsNorm(size: number): HeadNorm {
  return { over: "head", make: (b, of) => rmsNorm(b, `${of}_norm`, size) };
}

function build(config: Config, b: Builder): Net {
  const hidden = count(config, "hidden_size");
  const heads = headShape(config, { keys: 32, size: 128 });
  const bias = flag(config, "attention_bias", false);
  const norm = headRmsNorm(heads.size);
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
        attention(b, hidden, heads, { bias, outBias: bias, norm }),
        gatedMlp(b, feed),
      ),
  });
}

export const qwen3: Family = {
  types: ["qwen3"],
  defaultTargets: ["q_proj", "v_proj"],
  build,
};
