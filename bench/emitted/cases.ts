/** Recipes whose scripts were run on a GPU: evidence/fit/emitted.jsonl. */
import { findModel } from "../../src/plan/catalogue/catalogue.ts";
import { DEFAULT_RECIPE, type Recipe } from "../../src/plan/recipe.ts";

export const MODEL = findModel("meta-llama/Llama-3.2-1B")!;
const FULL = { kind: "full", reentrant: false, every: 1, offload: false } as const;
const ADAPTER = { rank: 16, dropout: 0, targets: "all-linear", dora: false, nonlinearity: "none" } as const;

export const CASES: Readonly<Record<string, Partial<Recipe>>> = {
  plain: {},
  "in-backward": { optimizerInBackward: true, clip: false, checkpointing: FULL },
  "on-host": { optimizerOnHost: true, clip: false, checkpointing: FULL, accumulation: 2 },
  "on-host-in-backward": {
    optimizerOnHost: true,
    optimizerInBackward: true,
    clip: false,
    checkpointing: { ...FULL, offload: true },
    loss: "chunked",
  },
  "selective-chunked": { checkpointing: { ...FULL, kind: "selective" }, loss: "chunked", batch: 2 },
  "every-2": { checkpointing: { ...FULL, every: 2 }, dtype: "fp32", autocast: "bf16" },
  "lora-fused-8bit": {
    method: { kind: "lora", adapter: ADAPTER, quantization: null },
    loss: "fused",
    optimizer: "adamw_bnb_8bit",
    checkpointing: FULL,
    batch: 4,
  },
  "lora-autocast": {
    method: { kind: "lora", adapter: { ...ADAPTER, rank: 64, autocast: true }, quantization: null },
    batch: 4,
    accumulation: 2,
  },
};

export const recipeOf = (name: string): Recipe => ({ ...DEFAULT_RECIPE, model: MODEL, ...CASES[name] });
