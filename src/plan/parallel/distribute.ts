import type { Tensor } from "../../autograd/tensor.ts";
import type { Torch } from "../../autograd/torch.ts";
import { Action, Phase } from "../../tape/vocabulary.ts";
import type { Recipe } from "../recipe.ts";
import { ddp } from "./ddp.ts";
import { fsdp } from "./fsdp.ts";
import type { Placed, Strategy } from "./strategy.ts";
import { configOfRank } from "./tensor.ts";
import { momentsOf, zero12, zero3 } from "./zero.ts";

/** Whether the model's weights are made without memory, for shards to take their place. */
export function weightsAbsent({ parallel }: Recipe): boolean {
  if (parallel.ranks < 2) return false;
  if (parallel.kind === "zero3" || parallel.kind === "pipeline") return true;
  return parallel.kind === "fsdp2" && !parallel.builtWhole;
}

/** Sharded weights are cast when gathered: FSDP2's mixed precision takes autocast's place. */
export function castsOnGather(recipe: Recipe): boolean {
  const { kind, ranks } = recipe.parallel;
  return kind === "fsdp2" && ranks > 1 && recipe.autocast !== null;
}

/** The recipe as one rank runs it: DeepSpeed casts the model itself, tensor parallelism splits its sizes. */
export function recipeOfRank(recipe: Recipe): Recipe {
  const { kind, ranks } = recipe.parallel;
  if (ranks < 2) return recipe;
  if (kind.startsWith("zero") && recipe.autocast)
    return { ...recipe, dtype: recipe.autocast, autocast: null };
  if (kind !== "tensor") return recipe;
  return { ...recipe, model: { ...recipe.model, config: configOfRank(recipe.model.config, ranks) } };
}

/** The strategy of a recipe's rank; null where it trains as one card does. */
export function strategyOf(
  torch: Torch,
  recipe: Recipe,
  placed: readonly Placed[],
  trainable: readonly Tensor[],
): Strategy | null {
  if (recipe.parallel.ranks < 2) return null;
  const strategy = made(torch, recipe, placed, trainable);
  if (recipe.parallel.builtWhole) torch.tape.append(Action.empty_cache, -1, 0, 0, Phase.load);
  return strategy;
}

function made(
  torch: Torch,
  recipe: Recipe,
  placed: readonly Placed[],
  trainable: readonly Tensor[],
): Strategy | null {
  const { kind, ranks, offload, bucketView = false, reshard = null } = recipe.parallel;
  switch (kind) {
    case "ddp":
      return ddp(torch, trainable, bucketView);
    case "fsdp2":
      return fsdp(torch, placed, {
        ranks,
        mixed: recipe.autocast ? { gathered: recipe.autocast, reduced: "fp32" } : null,
        reshard,
        moments: momentsOf(recipe.optimizer),
        offload,
      });
    case "zero1":
    case "zero2":
      return zero12(torch, trainable, { ranks, offload, optimizer: recipe.optimizer });
    case "zero3":
      return zero3(torch, placed, { ranks, offload, optimizer: recipe.optimizer });
    case "pipeline":
      return { trainable: trainable.filter((p) => p.requiresGrad), stepsItself: false };
    // A rank's part of every layer was built as it is.
    case "tensor":
    case "none":
      return null;
  }
}
