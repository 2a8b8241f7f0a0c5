import { expect, test } from "vitest";
import type { Config } from "../../src/nets/config.ts";
import { bandOf } from "../../src/plan/band.ts";
import { buildable } from "../../src/plan/model.ts";
import { plan } from "../../src/plan/plan.ts";
import { recipe } from "./recipes.ts";

const LLAMA: Config = {
  model_type: "llama",
  hidden_size: 256,
  intermediate_size: 512,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  vocab_size: 1000,
};

test("an unknown type with the usual keys is planned as its nearest family, with a wider band", () => {
  const found = buildable({ ...LLAMA, model_type: "zebra" });
  expect(found).toMatchObject({
    known: false,
    notes: ['unknown model_type "zebra": planned as a llama, by its keys'],
  });
  const as = (config: Config) => plan(recipe("gpt2", { model: { name: "x", config } })).peakReserved;
  expect(as(found.config)).toBe(as(LLAMA));
  const base = recipe("gpt2");
  expect(bandOf(base, false).reserved.p90).toBeGreaterThan(bandOf(base, true).reserved.p90);
});

test.each([
  [{ model_type: "zebra", n_embd: 64, n_layer: 2, n_head: 2 }, "gpt2"],
  [{ ...LLAMA, model_type: "zebra", ffn_dim: 512 }, "opt"],
  [{ ...LLAMA, model_type: "zebra", num_local_experts: 8 }, "mixtral"],
])("takes %j for a %s", (config, family) => {
  expect(buildable(config).config["model_type"]).toBe(family);
});

test("of a model with several parts only the text is planned, and that is said", () => {
  const { config, known, notes } = buildable({ model_type: "seer", text_config: LLAMA, vision_config: {} });
  expect(config).toBe(LLAMA);
  expect({ known, notes }).toEqual({
    known: false,
    notes: ['only "text_config" is planned: the rest of the model is left out'],
  });
});

test.each<[string, Config, RegExp]>([
  [
    "a missing key of an unknown type",
    { ...LLAMA, model_type: "zebra", vocab_size: undefined },
    /no "vocab_size"/,
  ],
  ["no type and no keys", {}, /no "model_type", and no "hidden_size"/],
  ["a negative size", { ...LLAMA, hidden_size: -256 }, /"hidden_size" is -256/],
  ["a size that is text", { ...LLAMA, vocab_size: "1000" }, /"vocab_size" is "1000"/],
  ["a fraction", { ...LLAMA, num_hidden_layers: 2.5 }, /"num_hidden_layers" is 2.5/],
  ["not a number", { ...LLAMA, intermediate_size: NaN }, /"intermediate_size" is NaN/],
  ["a billion layers", { ...LLAMA, num_hidden_layers: 1e9 }, /"num_hidden_layers" is 1000000000/],
  [
    "GPT-2's heads",
    { model_type: "gpt2", n_embd: 100, n_layer: 1, n_head: 3 },
    /"n_embd" 100 is not a multiple/,
  ],
])("names the key: %s", (_, config, message) => {
  expect(() => buildable(config)).toThrow(message);
});

test.each<[string, Config, RegExp]>([
  ["a missing key", { ...LLAMA, hidden_size: undefined }, /missing key "hidden_size"/],
  [
    "heads that do not divide",
    { ...LLAMA, num_attention_heads: 3 },
    /not a multiple of "num_attention_heads" 3/,
  ],
  [
    "key heads that do not divide",
    { ...LLAMA, num_key_value_heads: 3 },
    /not a multiple of "num_key_value_heads" 3/,
  ],
])("names the key when building: %s", (_, config, message) => {
  expect(() => plan(recipe("gpt2", { model: { name: "x", config: buildable(config).config } }))).toThrow(
    message,
  );
});
