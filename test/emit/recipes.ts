import fc from "fast-check";
import { DEFAULT_RECIPE, type Recipe } from "../../src/plan/recipe.ts";
import { CHECKPOINTED, recipe } from "../plan/recipes.ts";

/** Any recipe an emitter might be asked for. */
export const recipes = fc
  .record({
    method: fc.oneof(
      fc.constant({ kind: "full", frozenLayers: 0 } as const),
      fc.record({
        kind: fc.constant("lora" as const),
        adapter: fc.record({
          rank: fc.constantFrom(8, 128),
          dropout: fc.constantFrom(0, 0.05),
          targets: fc.constantFrom("all-linear" as const, ["q_proj", "v_proj"]),
          dora: fc.boolean(),
          nonlinearity: fc.constant("none" as const),
        }),
        quantization: fc.oneof(
          fc.constant(null),
          fc.record({
            type: fc.constant("nf4" as const),
            doubleQuant: fc.boolean(),
            computeDtype: fc.constant("bf16" as const),
            prepared: fc.boolean(),
          }),
        ),
      }),
    ),
    precision: fc.constantFrom(
      { dtype: "bf16", autocast: null } as const,
      { dtype: "bf16", autocast: "bf16" } as const,
      { dtype: "fp32", autocast: "bf16" } as const,
    ),
    attention: fc.constantFrom("sdpa", "flash_attention_2"),
    checkpointing: fc.constantFrom(
      DEFAULT_RECIPE.checkpointing,
      CHECKPOINTED,
      { ...CHECKPOINTED, reentrant: true },
      { ...CHECKPOINTED, every: 2 },
      { ...CHECKPOINTED, kind: "selective" },
      { ...CHECKPOINTED, offload: true },
    ),
    loss: fc.constantFrom("default", "chunked", "fused"),
    optimizer: fc.constantFrom("adamw_fused", "adamw_foreach", "adamw_bnb_8bit", "paged_adamw_8bit"),
    optimizerInBackward: fc.boolean(),
    optimizerOnHost: fc.constantFrom(false, false, true),
    clip: fc.boolean(),
    batch: fc.constantFrom(1, 4),
    seq: fc.constantFrom(512, 2048),
    accumulation: fc.constantFrom(1, 16),
    mask: fc.boolean(),
    allocConf: fc.constantFrom("", "expandable_segments:True"),
  })
  .map(({ precision, ...more }) => recipe("Qwen/Qwen2.5-7B", { ...precision, ...more } as Partial<Recipe>));
