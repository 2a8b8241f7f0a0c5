import { activation } from "./activations.ts";
import {
  type Config,
  alternatingWindow,
  count,
  countOr,
  flag,
  headShape,
  numberOrNull,
  text,
} from "./config.ts";
import { buildDecoder } from "./decoder.ts";
import { cappedLogits, sandwichLayer, scaledEmbedding } from "./gemma.ts";
import type { Builder } from "./layers.ts";
import { gatedMlp } from "./mlp.ts";
import type { Family, Net } from "./net.ts";
import { gemmaNorm } from "./norms.ts";
import { type HeadNorm, attention } from "./self-attention.ts";

function build(config: Config, b: Builder): Net {
  const hidden = count(config, "hidden_size");
  const heads = headShape(config, { keys: 4, size: 256 });
  const bias = flag(config, "attention_bias", false);
  const softcap = numberOrNull(config, "attn_logit_softcapping", null) !== null;
  const window = numberOrNull(config, "sliding_window", 4096);
  const pattern = countOr(config, 6, "sliding_window_pattern");
  const norm: HeadNorm = { over: "moved head", make: (_, of) => gemmaNorm(b, `${of}_norm`, heads.size) };
  const feed = {
    hidden,
    inner: count(config, "intermediate_size"),
    bias: false,
    activation: activation(text(config, "hidden_activation", "gelu_pytorch_tanh")),
  };
  return buildDecoder(config, b, {
    norm: gemmaNorm,
    rotarySize: heads.size,
    ropePerKind: true,
    tied: true,
    embedding: scaledEmbedding,
    ...(window === null ? {} : { window: alternatingWindow(config, window, (i) => (i + 1) % pattern !== 0) }),
    ...cappedLogits(config, null),
    layer: () =>
      sandwichLayer(
        b,
        hidden,
        attention(b, hidden, heads, { bias, outBias: bias, norm, softcap }),
        gatedMlp(b, feed),
      ),
  });
}

export const gemma3: Family = {
  types: ["gemma3_text"],
  defaultTargets: ["q_proj", "v_proj"],
  build,
};
