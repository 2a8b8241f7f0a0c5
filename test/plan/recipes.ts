import { findModel } from "../../src/plan/catalogue/catalogue.ts";
import { type Adapter, DEFAULT_RECIPE, type Method, type Recipe } from "../../src/plan/recipe.ts";

export const ADAPTER: Adapter = {
  rank: 16,
  dropout: 0,
  targets: "all-linear",
  dora: false,
  nonlinearity: "none",
};

export const LORA: Method = { kind: "lora", adapter: ADAPTER, quantization: null };

export const QLORA: Method = {
  kind: "lora",
  adapter: ADAPTER,
  quantization: { type: "nf4", doubleQuant: true, computeDtype: "bf16", prepared: false },
};

export const CHECKPOINTED = { kind: "full", reentrant: false, every: 1, offload: false } as const;

/** A recipe on a built-in model, with what the test is about. */
export function recipe(model: string, more: Partial<Recipe> = {}): Recipe {
  return { ...DEFAULT_RECIPE, seq: 512, model: findModel(model)!, ...more };
}
