import type { Recipe } from "../../plan/recipe.ts";
import { checkpointingKind } from "../emitter.ts";
import { python } from "../lines.ts";
import { batchWhy, checkpointingWhy, optimizerWhy, trainerLines } from "../settings.ts";
import type { Lever } from "./stage.ts";

/** A lever as the script's framework says it, and why. */
export function inWords(lever: Lever, recipe: Recipe): string {
  const plain = recipe.loop === "plain";
  switch (lever) {
    case "batch":
      return `${plain ? "batch size" : "per_device_train_batch_size"} ${recipe.batch}: ${batchWhy(recipe)}`;
    case "accumulation":
      return `${plain ? "accumulation" : "gradient_accumulation_steps"} ${recipe.accumulation}: micro-batches added up before a step`;
    case "optimizer": {
      const line = plain ? undefined : trainerLines(recipe).find(({ key }) => key === "optim");
      return `${line ? `optim ${python(line.value)}` : `optimizer ${recipe.optimizer}`}: ${optimizerWhy(recipe)}`;
    }
    case "checkpointing": {
      const kind = checkpointingKind(recipe.checkpointing);
      return `checkpointing ${kind === "every" ? `of one layer in ${recipe.checkpointing.every}` : kind}: ${checkpointingWhy(recipe)}`;
    }
    case "loss":
      return `loss ${recipe.loss}: ${recipe.loss === "default" ? "the model's own" : "the logits never exist whole"}`;
    case "clip":
      return recipe.clip ? "clip the gradients' norm at 1" : "no clipping of gradients";
    case "dtype":
      return `weights loaded in ${recipe.dtype}`;
    case "autocast":
      return recipe.autocast ? `${recipe.autocast} autocast` : "no autocast: the weights' own type is used";
    case "attention":
      return `attn_implementation ${recipe.attention}`;
    case "method":
      return recipe.method.kind === "lora" && recipe.method.quantization
        ? `LoRA of rank ${recipe.method.adapter.rank} over weights in 4 bits (${recipe.method.quantization.type})`
        : recipe.method.kind === "lora"
          ? `LoRA of rank ${recipe.method.adapter.rank}`
          : `${recipe.method.kind} training`;
    case "seq":
      return `sequences of ${recipe.seq} tokens`;
    case "mask":
      return recipe.mask ? "rows padded, with a mask" : "rows packed: no padding, no mask";
    case "evaluation":
      return recipe.evaluation ? `evaluation in batches of ${recipe.evaluation.batch}` : "no evaluation";
    case "optimizerOnHost":
      return recipe.optimizerOnHost ? "optimizer state in host memory" : "optimizer state on the card";
    case "optimizerInBackward":
      return recipe.optimizerInBackward
        ? "the optimizer stepped inside backward"
        : "the optimizer stepped after backward";
    case "parallel":
      return recipe.parallel.kind === "none"
        ? "one card"
        : `${recipe.parallel.kind} over ${recipe.parallel.ranks} cards: the launcher's to say (--emit accelerate)`;
    case "allocConf":
      return `PYTORCH_CUDA_ALLOC_CONF ${recipe.allocConf === "" ? "not set" : recipe.allocConf}`;
  }
}
