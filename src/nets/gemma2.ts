import { activation } from "./activations.ts";
import { type Config, alternatingWindow, count, flag, headShape, numberOrNull, text } from "./config.ts";
import { buildDecoder } from "./decoder.ts";
import { cappedLogits, sandwichLayer, scaledEmbedding } from "./gemma.ts";
import type { Builder } from "./layers.ts";
import { gatedMlp } from "./mlp.ts";
import type { Family, Net } from "./net.ts";
import { gemmaNorm } from "./norms.ts";
import { attention } from "./self-attention.ts";

function build(config: Config, b: Builder): Net {
  const hidden = count(config, "hidden_size");
  const heads = headShape(config, { keys: 4, size: 256 });
  const bias = flag(config, "attention_bias", false);
  const softcap = numberOrNull(config, "attn_logit_softcapping", 50) !== null;
  const window = numberOrNull(config, "sliding_window", 4096);
  const feed = {
    hidden,
    inner: count(config, "intermediate_size"),
    bias: false,
    activation: activation(text(config, "hidden_activation", "gelu_pytorch_tanh")),
  };
  return buildDecoder(config, b, {
    norm: gemmaNorm,
    rotarySize: heads.size,
    tied: true,
    embedding: scaledEmbedding,
    ...(window === null ? {} : { window: alternatingWindow(config, window, (i) => i % 2 === 0) }),
    ...cappedLogits(config, 30),
    layer: () =>
      sandwichLayer(
        b,
        hidden,
        attention(b, hidden, heads, { bias, outBias: bias, softcap }),
        gatedMlp(b, feed),
      ),
  });
}

export const gemma2: Family = {
  types: ["gemma2"],
  defaultTargets: ["q_proj", "v_proj"],
  build,
};
