import { expect, test } from "vitest";
import { FAMILIES } from "../../src/nets/families.ts";
import { findModel, MODELS } from "../../src/plan/catalogue/catalogue.ts";
import { buildable } from "../../src/plan/model.ts";
import { parametersOf } from "../../src/plan/result.ts";

/** Each config once: many names share one. */
const DISTINCT = MODELS.filter(
  ({ config }, at) => MODELS.findIndex((other) => other.config === config) === at,
);

test("holds at least 80 models, each name once", () => {
  expect(DISTINCT.length).toBeGreaterThan(80);
  expect(new Set(MODELS.map(({ name }) => name.toLowerCase())).size).toBe(MODELS.length);
});

test.each(DISTINCT.map((model) => [model.name, model] as const))(
  "%s has as many parameters as its publisher counts",
  (_, { config, parameters }) => {
    const built = parametersOf(buildable(config).config);
    expect(built).toBe(parameters ?? built);
  },
);

test("knows the published count of nearly every model", () => {
  expect(DISTINCT.filter(({ parameters }) => parameters === null).map(({ name }) => name)).toEqual([
    "allenai/OLMo-2-1124-7B",
  ]);
});

test("every model but SmolLM3 is of a family that is built in", () => {
  const types = new Set(FAMILIES.flatMap((family) => family.types));
  const without = DISTINCT.filter(({ config }) => !types.has(String(config["model_type"])));
  expect(without.map(({ name }) => name)).toEqual(["HuggingFaceTB/SmolLM3-3B"]);
});

test.each([
  ["qwen/qwen2.5-7b", "Qwen/Qwen2.5-7B"],
  ["Qwen2.5-7B", "Qwen/Qwen2.5-7B"],
  ["gpt2", "openai-community/gpt2"],
  ["llama-3.1-8b-instruct", "meta-llama/Llama-3.1-8B-Instruct"],
  ["meta-llama/Meta-Llama-3.1-8B", "meta-llama/Meta-Llama-3.1-8B"],
])("finds %s as %s", (word, name) => {
  expect(findModel(word)?.name).toBe(name);
});

test.each(["qwen", "someone/Qwen2.5-7B", ""])("does not take %j for a model", (word) => {
  expect(findModel(word)).toBeUndefined();
});
