import { expect, test } from "vitest";
import { UserError } from "../../src/base/errors.ts";
import { cardOf } from "../../src/plan/cards.ts";
import { cautions, checkRecipe, LEVERS, RULES } from "../../src/plan/levers.ts";
import { leverEffects, plan } from "../../src/plan/plan.ts";
import type { Recipe } from "../../src/plan/recipe.ts";
import { ADAPTER, CHECKPOINTED, LORA, QLORA, recipe } from "./recipes.ts";

/** What breaks each rule, by its id. */
const BROKEN: Readonly<Record<string, readonly [Partial<Recipe>, string?]>> = {
  "in-backward-accumulation": [{ optimizerInBackward: true, clip: false, accumulation: 2 }],
  "in-backward-clip": [{ optimizerInBackward: true }],
  "in-backward-trainer": [{ optimizerInBackward: true, clip: false, loop: "trainer" }],
  "host-clip": [{ optimizerOnHost: true }],
  "host-optimizer": [{ optimizerOnHost: true, clip: false, optimizer: "adamw_bnb_8bit" }],
  "flash-fp32": [{ attention: "flash_attention_2", dtype: "fp32" }],
  "flash-card": [{ attention: "flash_attention_2" }, "T4"],
  "scaler-fp16-weights": [{ autocast: "fp16", dtype: "fp16" }],
  "dora-nonlinearity": [
    {
      method: {
        kind: "lora",
        quantization: null,
        adapter: { ...ADAPTER, dora: true, nonlinearity: "fourier" },
      },
    },
  ],
  "autocast-adapters": [
    { dtype: "fp32", method: { kind: "lora", quantization: null, adapter: { ...ADAPTER, autocast: true } } },
  ],
  "bnb-fsdp2": [{ optimizer: "adamw_bnb_8bit", parallel: { kind: "fsdp2", ranks: 2, offload: false } }],
  "peft-zero3-reentrant": [
    { method: LORA, checkpointing: CHECKPOINTED, parallel: { kind: "zero3", ranks: 2, offload: false } },
  ],
  "parallel-quantized": [{ method: QLORA, parallel: { kind: "fsdp2", ranks: 2, offload: false } }],
  "pipeline-frozen": [
    {
      method: { kind: "full", frozenLayers: 2 },
      parallel: { kind: "pipeline", ranks: 2, offload: false },
    },
  ],
  "parallel-in-backward": [
    { optimizerInBackward: true, clip: false, parallel: { kind: "ddp", ranks: 2, offload: false } },
  ],
};

test.each(RULES.map((rule) => [rule.id, rule] as const))("rule %s refuses what it is about", (id, rule) => {
  const [changes, card] = BROKEN[id]!;
  expect(rule.source).not.toBe("");
  expect(() => checkRecipe(recipe("gpt2", changes), card ? cardOf(card) : null)).toThrow(rule.message);
});

test.each<[string, Partial<Recipe>, RegExp]>([
  ["batch", { batch: 0 }, /--batch is 0/],
  ["batch", { batch: 1e9 }, /--batch is 1000000000/],
  ["batch", { batch: NaN }, /--batch is NaN/],
  ["accumulation", { accumulation: 1.5 }, /--accumulation is 1.5/],
  ["share of labels", { labelled: 0 }, /--labelled is 0/],
  ["count of logits", { logitsToKeep: 0 }, /--logits-to-keep is 0/],
  ["evaluation batch", { evaluation: { batch: 0, keptLogits: 0 } }, /--eval-batch is 0/],
  ["tokens", { batch: 65_536, seq: 1024 * 1024 }, /tokens/],
  ["positions", { seq: 1025 }, /"n_positions" is 1024/],
  ["rank", { method: { kind: "lora", quantization: null, adapter: { ...ADAPTER, rank: 0 } } }, /--rank is 0/],
  [
    "dropout",
    { method: { kind: "lora", quantization: null, adapter: { ...ADAPTER, dropout: 1 } } },
    /--lora-dropout is 1/,
  ],
  ["frozen layers", { method: { kind: "full", frozenLayers: 13 } }, /--freeze is 13/],
])("refuses a wrong %s", (_, changes, message) => {
  expect(() => plan(recipe("gpt2", changes))).toThrow(UserError);
  expect(() => plan(recipe("gpt2", changes))).toThrow(message);
});

test("every lever applies somewhere, and what it makes obeys the rules", () => {
  const bases = [
    recipe("gpt2", { batch: 4, attention: "eager", dtype: "fp32" }),
    recipe("gpt2", { batch: 4, method: LORA, checkpointing: CHECKPOINTED }),
  ];
  for (const { name, apply } of LEVERS) {
    const changed = bases.map(apply).filter((one) => one !== null);
    expect(changed.length, name).toBeGreaterThan(0);
    for (const one of changed) expect(() => checkRecipe(one, null), name).not.toThrow();
  }
});

test("the effect of a lever is the plan of the recipe with it", () => {
  const base = recipe("Qwen2.5-0.5B", { batch: 4 });
  const effects = leverEffects(base, cardOf("24GB"));
  const best = effects[0]!;
  expect(plan(best.recipe, cardOf("24GB")).peakReserved).toBe(best.peakReserved);
  expect(best.peakReserved).toBeLessThan(plan(base, cardOf("24GB")).peakReserved);
  expect(effects.map(({ peakReserved }) => peakReserved)).toEqual(
    effects.map(({ peakReserved }) => peakReserved).toSorted((a, b) => a - b),
  );
});

test("says what runs but not as expected", () => {
  expect(cautions(recipe("Mixtral-8x7B-v0.1", { method: QLORA }), null)).toEqual([
    expect.stringMatching(/^the experts stay in bf16/),
  ]);
  expect(cautions(recipe("gpt2"), cardOf("T4"))).toEqual([expect.stringMatching(/no bf16 units/)]);
  expect(cautions(recipe("gpt2", { method: QLORA }), cardOf("4090"))).toEqual([]);
  const bloom = { ...recipe("gpt2"), model: { name: "bloom", config: { model_type: "bloom" } } };
  expect(cautions(bloom, null)).toEqual([expect.stringMatching(/no sdpa attention: planned as eager/)]);
  expect(cautions({ ...bloom, attention: "eager" }, null)).toEqual([]);
});

test("a lever already pulled is not offered again", () => {
  const pulled = recipe("Qwen2.5-0.5B", {
    method: QLORA,
    checkpointing: { ...CHECKPOINTED, offload: true },
    loss: "chunked",
    optimizer: "adamw_bnb_8bit",
    accumulation: 2,
    allocConf: "expandable_segments:True",
  });
  expect(leverEffects(pulled, null)).toEqual([]);
});
