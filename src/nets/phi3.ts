import { dropout } from "../autograd/pointwise.ts";
import { activation } from "./activations.ts";
import { type Config, count, fraction, headShape, rotaryFactor, text, windowEverywhere } from "./config.ts";
import { buildDecoder, preNormLayer } from "./decoder.ts";
import type { Builder } from "./layers.ts";
import { fusedGatedMlp } from "./mlp.ts";
import type { Family, Net } from "./net.ts";
import { rmsNorm } from "./norms.ts";
import { applyRotaryPartly } from "./rope.ts";
import { fusedAttention } from "./self-attention.ts";

function build(config: Config, b: Builder): Net {
  const hidden = count(config, "hidden_size");
  const heads = headShape(config);
  const residual = fraction(config, "resid_pdrop", 0);
  const feed = {
    hidden,
    inner: count(config, "intermediate_size"),
    bias: false,
    activation: activation(text(config, "hidden_act", "silu")),
  };
  return buildDecoder(config, b, {
    norm: rmsNorm,
    rotarySize: Math.trunc(heads.size * rotaryFactor(config, 1)),
    tied: false,
    ...windowEverywhere(config, null),
    layer: () =>
      preNormLayer(
        b,
        hidden,
        rmsNorm,
        fusedAttention(b, hidden, heads, applyRotaryPartly),
        fusedGatedMlp(b, feed),
        (f, x) => dropout(f.torch, x, f.training ? residual : 0),
      ),
  });
}

export const phi3: Family = {
  types: ["phi3"],
  // PEFT names none for phi3; all of its linear layers is what people take.
  defaultTargets: ["o_proj", "qkv_proj", "gate_up_proj", "down_proj"],
  build,
};
