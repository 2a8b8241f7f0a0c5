import type { Tensor } from "../../autograd/tensor.ts";
import type { Torch } from "../../autograd/torch.ts";
import { Action, Phase } from "../../tape/vocabulary.ts";
import type { Recipe } from "../recipe.ts";
import { ddp } from "./ddp.ts";
import { fsdp } from "./fsdp.ts";
import type { Placed, Strategy } from "./strategy.ts";

/** Whether the model's weights are made without memory, for shards to take their place. */
export function weightsAbsent({ parallel }: Recipe): boolean {
  return parallel.kind === "fsdp2" && parallel.ranks > 1 && !parallel.builtWhole;
}

/** Sharded weights are cast when gathered: FSDP2's mixed precision takes autocast's place. */
export function castsOnGather(recipe: Recipe): boolean {
  const { kind, ranks } = recipe.parallel;
  return kind === "fsdp2" && ranks > 1 && recipe.autocast !== null;
}

/** The strategy of a recipe's rank; null when there is one rank. */
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
        offload,
      });
    default:
      return null;
  }
}
