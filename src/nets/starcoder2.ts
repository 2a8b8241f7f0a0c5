import { dropout } from "../autograd/pointwise.ts";
import { activation } from "./activations.ts";
import { type Config, count, flag, fraction, headShape, text, windowEverywhere } from "./config.ts";
import { buildDecoder, preNormLayer } from "./decoder.ts";
import type { Builder } from "./layers.ts";
import { plainMlp } from "./mlp.ts";
import type { Family, Net } from "./net.ts";
import { layerNorm } from "./norms.ts";
import { attention } from "./self-attention.ts";

function build(config: Config, b: Builder): Net {
  const hidden = count(config, "hidden_size");
  const heads = headShape(config, { keys: 2 });
  const bias = flag(config, "use_bias", true);
  const residualDropout = fraction(config, "residual_dropout", 0);
  const embeddingDropout = fraction(config, "embedding_dropout", 0);
  const feed = {
    hidden,
    inner: count(config, "intermediate_size"),
    bias,
    activation: activation(text(config, "hidden_act", "gelu_pytorch_tanh")),
  };
  return buildDecoder(config, b, {
    norm: layerNorm,
    rotarySize: heads.size,
    tied: true,
    ...windowEverywhere(config, null),
    afterMask: (f, x) => dropout(f.torch, x, f.training ? embeddingDropout : 0),
    layer: () =>
      preNormLayer(
        b,
        hidden,
        layerNorm,
        attention(b, hidden, heads, { bias, outBias: bias, residualDropout }),
        plainMlp(b, feed, residualDropout),
      ),
  });
}

export const starcoder2: Family = {
  types: ["starcoder2"],
  // PEFT names none for starcoder2; llama's are what people take.
  defaultTargets: ["q_proj", "v_proj"],
  build,
};
