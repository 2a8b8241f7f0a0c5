import { describe, expect, test } from "vitest";
import { Torch } from "../../src/autograd/torch.ts";
import { UserError } from "../../src/base/errors.ts";
import type { Config } from "../../src/nets/config.ts";
import { familyOf } from "../../src/nets/families.ts";
import { Builder } from "../../src/nets/layers.ts";
import { Tape } from "../../src/tape/tape.ts";

const LLAMA: Config = {
  model_type: "llama",
  hidden_size: 64,
  intermediate_size: 128,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  vocab_size: 100,
};

/** Names and shapes of the parameters a config builds. */
function parameters(config: Config): ReadonlyMap<string, readonly number[]> {
  const builder = new Builder(new Torch(new Tape({ source: "plan" }, 64)), "bf16");
  familyOf(config).build(config, builder);
  return new Map(builder.parameters.map((p) => [p.name, p.tensor.shape]));
}

function refusal(config: Config): string {
  try {
    parameters(config);
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
  throw new Error("accepted");
}

describe("a config that cannot be built is refused by the key at fault", () => {
  for (const key of Object.keys(LLAMA).filter((k) => k !== "model_type" && k !== "num_key_value_heads")) {
    test(`without ${key}`, () => expect(refusal({ ...LLAMA, [key]: undefined })).toContain(`"${key}"`));
    test(`with a negative ${key}`, () => expect(refusal({ ...LLAMA, [key]: -4 })).toContain(`"${key}"`));
  }
  test("query heads that do not divide the width", () =>
    expect(refusal({ ...LLAMA, num_attention_heads: 5, num_key_value_heads: 5 })).toMatch(
      /"hidden_size" 64 .*"num_attention_heads" 5/,
    ));
  test("key heads that do not divide the query heads", () =>
    expect(refusal({ ...LLAMA, num_key_value_heads: 3 })).toMatch(
      /"num_attention_heads" 4 .*"num_key_value_heads" 3/,
    ));
  test("an unknown activation", () =>
    expect(refusal({ ...LLAMA, hidden_act: "maxout" })).toContain('"maxout"'));
  test("a window that is no number", () =>
    expect(refusal({ ...LLAMA, model_type: "mistral", sliding_window: "all" })).toContain(
      '"sliding_window"',
    ));
  test("experts without a number", () =>
    expect(refusal({ ...LLAMA, model_type: "mixtral" })).toContain('"num_local_experts"'));
});

describe("what a config leaves out is what transformers' config class says", () => {
  test("heads of qwen3 have 128 numbers, llama's divide the width", () => {
    expect(
      parameters({ ...LLAMA, model_type: "qwen3" }).get("model.layers.0.self_attn.q_proj.weight"),
    ).toEqual([4 * 128, 64]);
    expect(parameters(LLAMA).get("model.layers.0.self_attn.q_proj.weight")).toEqual([64, 64]);
  });
  test("gemma2 and starcoder2 tie their head, llama does not", () => {
    expect(parameters({ ...LLAMA, model_type: "gemma2" }).has("lm_head.weight")).toBe(false);
    expect(parameters({ ...LLAMA, model_type: "starcoder2" }).has("lm_head.weight")).toBe(false);
    expect(parameters(LLAMA).has("lm_head.weight")).toBe(true);
  });
  test("qwen2 has biases on q, k and v only", () => {
    const names = parameters({ ...LLAMA, model_type: "qwen2" });
    expect(names.has("model.layers.0.self_attn.q_proj.bias")).toBe(true);
    expect(names.has("model.layers.0.self_attn.o_proj.bias")).toBe(false);
  });
});
