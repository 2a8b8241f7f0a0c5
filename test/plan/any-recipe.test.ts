import * as fc from "fast-check";
import { expect, test } from "vitest";
import { UserError } from "../../src/base/errors.ts";
import { COMPONENTS } from "../../src/plan/budget.ts";
import { CONTEXT } from "../../src/plan/cards.ts";
import { plan } from "../../src/plan/plan.ts";
import { DEFAULT_RECIPE, type Method, type Recipe } from "../../src/plan/recipe.ts";
import { ADAPTER, LORA, QLORA } from "./recipes.ts";

const SIZES = {
  hidden_size: 64,
  intermediate_size: 128,
  num_hidden_layers: 3,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  vocab_size: 1000,
  max_position_embeddings: 512,
};

const METHODS: readonly Method[] = [
  { kind: "full", frozenLayers: 0 },
  { kind: "full", frozenLayers: 2 },
  { kind: "qat", bits: [8], adapter: null },
  LORA,
  QLORA,
  { kind: "lora", adapter: { ...ADAPTER, dora: true }, quantization: null },
  { kind: "lora", adapter: { ...ADAPTER, nonlinearity: "fourier", dropout: 0.1 }, quantization: null },
];

const recipes: fc.Arbitrary<Recipe> = fc.record({
  model: fc
    .constantFrom("llama", "qwen3", "gemma2", "phi3", "olmo2", "starcoder2", "stablelm", "gpt_neox")
    .map((type) => ({ name: type, config: { ...SIZES, model_type: type } })),
  method: fc.constantFrom(...METHODS),
  dtype: fc.constantFrom("bf16", "fp16", "fp32"),
  autocast: fc.constantFrom(null, "bf16", "fp16"),
  attention: fc.constantFrom("eager", "sdpa", "flash_attention_2"),
  checkpointing: fc.record({
    kind: fc.constantFrom("none", "full", "selective"),
    reentrant: fc.boolean(),
    every: fc.constantFrom(1, 2, 9),
    offload: fc.boolean(),
  }),
  loss: fc.constantFrom("default", "chunked", "fused"),
  optimizer: fc.constantFrom(
    "adamw_fused",
    "adamw_foreach",
    "adamw_bnb_8bit",
    "adafactor",
    "sgd_momentum",
    "lion",
  ),
  optimizerOnHost: fc.boolean(),
  optimizerInBackward: fc.boolean(),
  clip: fc.boolean(),
  batch: fc.constantFrom(1, 3),
  seq: fc.constantFrom(1, 7, 64),
  accumulation: fc.constantFrom(1, 3),
  mask: fc.boolean(),
  labelled: fc.constantFrom(1, 0.01),
  logitsToKeep: fc.constantFrom(null, 1),
  evaluation: fc.constantFrom(null, { batch: 4, keptLogits: 2 }),
  loop: fc.constantFrom("plain", "trainer", "sft"),
  parallel: fc
    .constantFrom("none", "none", "ddp", "zero2", "zero3", "fsdp2", "tensor", "pipeline")
    .map((kind) => ({ ...DEFAULT_RECIPE.parallel, kind, ranks: kind === "none" ? 1 : 2 })),
  allocConf: fc.constantFrom("", "expandable_segments:True"),
} as { [K in keyof Recipe]: fc.Arbitrary<Recipe[K]> });

test("any recipe is planned, with a budget that adds up, or refused as a user's mistake", () => {
  let planned = 0;
  fc.assert(
    fc.property(recipes, (recipe) => {
      let made;
      try {
        made = plan(recipe);
      } catch (error) {
        expect(error).toBeInstanceOf(UserError);
        return;
      }
      planned++;
      expect(COMPONENTS.reduce((sum, name) => sum + made.budget[name], 0)).toBe(made.peakReserved + CONTEXT);
      for (const name of COMPONENTS) expect(made.budget[name], name).toBeGreaterThanOrEqual(0);
      expect(made.peakAllocated).toBeLessThanOrEqual(made.peakReserved);
      expect(made.trainable).toBeGreaterThan(0);
    }),
    { numRuns: 150 },
  );
  expect(planned).toBeGreaterThan(5);
});

test("a DoRA adapter in fp32 keeps its magnitudes", () => {
  const method: Method = { kind: "lora", adapter: { ...ADAPTER, dora: true }, quantization: null };
  const model = { name: "llama", config: { ...SIZES, model_type: "llama" } };
  const [half, single] = (["bf16", "fp32"] as const).map((dtype) =>
    plan({ ...DEFAULT_RECIPE, model, method, dtype, seq: 64 }),
  );
  expect(single!.budget.adapters).toBe(half!.budget.adapters);
});
