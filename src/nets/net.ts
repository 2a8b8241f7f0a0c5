import type { SdpaKernel } from "../autograd/attention.ts";
import { checkpointNonReentrant, checkpointReentrant } from "../autograd/checkpoint.ts";
import type { Tensor } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";
import type { Config } from "./config.ts";
import type { Builder, Linear } from "./layers.ts";

export type Attention = "eager" | "sdpa" | "flash_attention_2";

/** How a layer's activations are kept for backward. */
export type Checkpointing = "none" | "reentrant" | "nonreentrant" | "offloaded" | "selective";

export type Around = <R extends Tensor | readonly Tensor[]>(
  index: number,
  x: Tensor,
  layer: (x: Tensor) => R,
) => R;

/** What one forward call is given, and what it accumulates on the way. */
export interface Forward {
  readonly torch: Torch;
  readonly batch: number;
  readonly seq: number;
  readonly ids: Tensor;
  /** The padding mask passed in (int64, all ones in a packed or equal-length batch), or null. */
  readonly mask: Tensor | null;
  readonly attention: Attention;
  /** Which kernel a fused attention of this head size and dtype takes on the card. */
  readonly kernel: (q: Tensor, k: Tensor, masked: boolean) => SdpaKernel;
  readonly checkpointing: (layer: number) => Checkpointing;
  readonly useCache: boolean;
  readonly training: boolean;
  /** Share of the tokens that have a label. */
  readonly labelled: number;
  /** Positions from the end that get logits; null for all. */
  readonly logitsToKeep: number | null;
  /** The layers to run, when equal ones need not all be run; null for all. */
  readonly layers: readonly number[] | null;
  /** What runs around a decoder layer's call, inside its checkpoint: hooks that gather and release weights. */
  readonly around?: Around;
  /** Tensors that the model's output object keeps alive (key/value cache, router logits). */
  readonly outputs: Tensor[];
}

/** A built model: weights on the tape, ready to be called. */
export interface Net {
  /** Hidden states after the last norm, [batch, seq, hidden]. */
  hidden(f: Forward): Tensor;
  readonly head: Linear;
  /** The head's extra steps on logits: soft-capping, scaling. */
  readonly logits?: (torch: Torch, logits: Tensor) => Tensor;
  /** Added to the loss: the router's balance loss of a mixture of experts. */
  readonly auxiliary?: (f: Forward, loss: Tensor) => Tensor;
  readonly vocabulary: number;
  /** A word for each decoder layer: layers of one word do the same. */
  readonly layerKinds: (f: Pick<Forward, "attention" | "seq">) => readonly string[];
}

/** One model family, one file. */
export interface Family {
  /** `model_type` values it serves. */
  readonly types: readonly string[];
  /** Linear layers that "all-linear" means for LoRA are found by the builder; this names PEFT's default. */
  readonly defaultTargets: readonly string[];
  build(config: Config, builder: Builder): Net;
}

/** Runs the decoder layers in order: all of them, or those that stand for the rest. */
export function eachLayer<L>(
  f: Forward,
  layers: readonly L[],
  body: (layer: L, index: number) => void,
): void {
  const { torch } = f;
  for (const index of f.layers ?? layers.keys()) {
    torch.atLayer(index);
    body(layers[index]!, index);
  }
  torch.atLayer(-1);
}

/**
 * Calls a decoder layer, checkpointed or not. `captured` are its tensor arguments passed by keyword;
 * `positional` those passed after `x`, which a reentrant checkpoint saves with it.
 */
export function callLayer<R extends Tensor | readonly Tensor[]>(
  f: Forward,
  index: number,
  x: Tensor,
  captured: readonly Tensor[],
  body: (x: Tensor) => R,
  positional: readonly Tensor[] = [],
): R {
  const { around } = f;
  const layer = around ? (input: Tensor): R => around(index, input, body) : body;
  const kind = f.training ? f.checkpointing(index) : "none";
  switch (kind) {
    case "none":
      return layer(x);
    case "reentrant":
      return checkpointReentrant(f.torch, x, captured, layer, positional);
    case "nonreentrant":
      return checkpointNonReentrant(f.torch, x, [...captured, ...positional], layer);
    case "offloaded":
      return checkpointNonReentrant(f.torch, x, [...captured, ...positional], layer, {
        offload: true,
        keepAttention: false,
      });
    case "selective":
      return checkpointNonReentrant(f.torch, x, [...captured, ...positional], layer, {
        offload: false,
        keepAttention: true,
      });
  }
}
