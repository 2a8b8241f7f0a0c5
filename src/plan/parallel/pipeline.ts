import type { Torch } from "../../autograd/torch.ts";
import { UserError } from "../../base/errors.ts";
import { occupy } from "./shards.ts";
import { layerOf, type Placed } from "./strategy.ts";

/** One rank of a pipeline: consecutive decoder layers, the first with the embedding, the last with the head. */
export interface Stage {
  readonly layers: readonly number[];
  readonly first: boolean;
  readonly last: boolean;
  /** Micro-batches whose activations wait at once: 1F1B lets a stage run ahead by those after it. */
  readonly inFlight: number;
}

export function stageOf(rank: number, ranks: number, layers: number, microBatches: number): Stage {
  if (layers < ranks)
    throw new UserError(
      `a pipeline of ${ranks} cards needs as many layers, the model has ${layers}`,
      "Fewer cards, or --fsdp.",
    );
  const from = Math.floor((rank * layers) / ranks);
  const to = Math.floor(((rank + 1) * layers) / ranks);
  return {
    layers: Array.from({ length: to - from }, (_, i) => from + i),
    first: rank === 0,
    last: rank === ranks - 1,
    inFlight: Math.min(ranks - rank, microBatches),
  };
}

/** Gives memory to the weights that belong to the stage; the others do not train here. */
export function settle(torch: Torch, placed: readonly Placed[], stage: Stage): void {
  const layers = new Set(stage.layers);
  for (const p of placed) {
    const layer = layerOf(torch, p.module);
    const text = torch.tape.modules.text(p.module);
    const embedding = /embed|wte|wpe/.test(text);
    // A tied head is the embedding's table: the last stage has a copy.
    const here = layer >= 0 ? layers.has(layer) : embedding ? stage.first || stage.last : stage.last;
    if (here) occupy(torch, p, p.tensor.storage.bytes);
    else p.tensor.requiresGrad = false;
  }
  // What the stage before sends requires a gradient.
  if (!stage.first) torch.inputsRequireGrad = true;
}
