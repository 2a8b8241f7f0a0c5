import type { Recipe } from "../plan/recipe.ts";
import type { Emitter } from "./emitter.ts";
import type { Line, Value } from "./lines.ts";

const STAGES: Partial<Record<Recipe["parallel"]["kind"], number>> = { zero1: 1, zero2: 2, zero3: 3 };

/** DeepSpeed 0.19, runtime/config.py and runtime/zero/config.py. */
function lines(recipe: Recipe): Line[] {
  const { parallel, dtype } = recipe;
  const zero: { [key: string]: Value } = { stage: STAGES[parallel.kind]! };
  if (recipe.optimizerOnHost) zero["offload_optimizer"] = { device: "cpu", pin_memory: true };
  if (parallel.offload) zero["offload_param"] = { device: "cpu", pin_memory: true };
  const result: Line[] = [
    {
      key: "train_micro_batch_size_per_gpu",
      value: recipe.batch,
      why: "micro-batch on each card",
    },
    {
      key: "gradient_accumulation_steps",
      value: recipe.accumulation,
      why: "micro-batches whose gradients are added up before a step",
    },
    { key: "gradient_clipping", value: recipe.clip ? 1 : 0, why: "0 is no clipping" },
    {
      key: "zero_optimization",
      value: zero,
      why: "1 shards the optimizer's state, 2 the gradients too, 3 the weights too",
    },
  ];
  if (dtype === "bf16" || dtype === "fp16")
    result.push({ key: dtype, value: { enabled: true }, why: "type of weights and arithmetic" });
  if (!/^adamw_(?:fused|foreach|loop)$/.test(recipe.optimizer))
    result.push({
      key: "zero_allow_untested_optimizer",
      value: true,
      why: `${recipe.optimizer} is the Trainer's, not DeepSpeed's own`,
    });
  return result;
}

export const deepspeed: Emitter = {
  name: "deepspeed",
  summary: "DeepSpeed's JSON, with the reasons beside it",
  loop: null,
  cannot: ({ parallel }) =>
    STAGES[parallel.kind] ? null : "a run that is not spread by ZeRO: DeepSpeed has nothing to add",
  files: (recipe) => {
    const made = lines(recipe);
    const reasons = made.map(({ key, value, why }) => `- \`${key}\`: \`${JSON.stringify(value)}\`: ${why}`);
    return [
      {
        name: "ds_config.json",
        text: `${JSON.stringify(Object.fromEntries(made.map(({ key, value }) => [key, value])), null, 2)}\n`,
      },
      {
        name: "ds_config.md",
        text: `# ds_config.json, line by line\n\nWritten by plimsoll fit; JSON has no room for reasons.\n\n${reasons.join("\n")}\n`,
      },
    ];
  },
};
