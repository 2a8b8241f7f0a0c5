import type { Dtype } from "../autograd/dtype.ts";
import type { LossName } from "../losses/losses.ts";
import type { Config } from "../nets/config.ts";
import type { Attention } from "../nets/net.ts";
import type { OptimizerName } from "../optimizers/optimizers.ts";

/** Which weights train. */
export type Method =
  | {
      readonly kind: "full";
      /** Decoder layers frozen from the bottom, the embedding with them. */ readonly frozenLayers: number;
    }
  | { readonly kind: "lora"; readonly adapter: Adapter; readonly quantization: Quantization | null }
  | { readonly kind: "qat"; readonly bits: readonly number[]; readonly adapter: Adapter | null };

export interface Adapter {
  readonly rank: number;
  readonly dropout: number;
  /** Names of linear layers, or every one but the head. */
  readonly targets: readonly string[] | "all-linear";
  readonly dora: boolean;
  /** A learned non-linearity on the bottleneck. */
  readonly nonlinearity: "none" | "fourier";
  /** Computes in the model's half precision under autocast, PEFT's casting of inputs to fp32 off; weights stay fp32. */
  readonly autocast?: boolean;
}

export interface Quantization {
  readonly type: "nf4" | "fp4";
  readonly doubleQuant: boolean;
  readonly computeDtype: Dtype;
  /** peft's prepare_model_for_kbit_training: the rest of the weights in fp32. */
  readonly prepared: boolean;
}

export interface Checkpointing {
  readonly kind: "none" | "full" | "selective";
  readonly reentrant: boolean;
  /** Every k-th layer is checkpointed. */
  readonly every: number;
  /** Layer inputs wait in host memory. */
  readonly offload: boolean;
}

export type Loop = "plain" | "trainer" | "sft";

export type ParallelKind = "none" | "ddp" | "zero1" | "zero2" | "zero3" | "fsdp2" | "tensor" | "pipeline";

export interface Parallel {
  readonly kind: ParallelKind;
  readonly ranks: number;
  /** Parameters and optimizer state rest in host memory. */
  readonly offload: boolean;
  /** DDP: gradients are views of the buckets. */
  readonly bucketView?: boolean;
  /** FSDP2's reshard_after_forward; absent is PyTorch's default: layers yes, root no. */
  readonly reshard?: boolean;
  /** The model is built whole on the card, then distributed, and what that left in the cache is given back. */
  readonly builtWhole?: boolean;
  /** Which rank, where they differ (pipeline); 0 where absent. */
  readonly rank?: number;
  /** Machines the cards are in; 1 where absent. */
  readonly nodes?: number;
  /** FSDP2: copies of the sharded model, one a node, that average their gradients (hybrid sharding); 1 where absent. */
  readonly replicas?: number;
}

/** How many micro-batches are worked on at a time: ranks that divide layers, or the stack of them, share one. */
export function dataRanks({ kind, ranks, replicas = 1 }: Parallel): number {
  return (kind === "tensor" || kind === "pipeline" ? 1 : ranks) * replicas;
}

/** Sequences in an optimizer step. */
export function effectiveBatch({ batch, accumulation, parallel }: Recipe): number {
  return batch * accumulation * dataRanks(parallel);
}

export interface Evaluation {
  readonly batch: number;
  /** Batches whose logits stay on the card before they are moved to the host: metrics need them. 0: none do. */
  readonly keptLogits: number;
}

/** Everything a user chooses. */
export interface Recipe {
  readonly model: { readonly name: string; readonly config: Config };
  readonly method: Method;
  /** Type the weights are loaded in. */
  readonly dtype: Dtype;
  readonly autocast: "bf16" | "fp16" | null;
  readonly attention: Attention;
  readonly checkpointing: Checkpointing;
  readonly loss: LossName;
  readonly optimizer: OptimizerName;
  readonly optimizerOnHost: boolean;
  /** The optimizer steps each parameter as soon as its gradient is ready. */
  readonly optimizerInBackward: boolean;
  readonly clip: boolean;
  readonly batch: number;
  readonly seq: number;
  readonly accumulation: number;
  /** An attention mask is passed with the batch. */
  readonly mask: boolean;
  /** Share of the tokens that have a label; the rest is ignored (prompts, padding). */
  readonly labelled: number;
  /** Positions from the end that get logits; null for all. */
  readonly logitsToKeep: number | null;
  /** Evaluation after the steps; null for none. */
  readonly evaluation: Evaluation | null;
  /** A checkpoint is written at the end. */
  readonly saves?: boolean;
  readonly loop: Loop;
  readonly parallel: Parallel;
  readonly allocConf: string;
}

/** What a recipe is when nothing is said: full training in bf16 by a plain loop. */
export const DEFAULT_RECIPE: Omit<Recipe, "model"> = {
  method: { kind: "full", frozenLayers: 0 },
  dtype: "bf16",
  autocast: null,
  attention: "sdpa",
  checkpointing: { kind: "none", reentrant: false, every: 1, offload: false },
  loss: "default",
  optimizer: "adamw_fused",
  optimizerOnHost: false,
  optimizerInBackward: false,
  clip: true,
  batch: 1,
  seq: 2048,
  accumulation: 1,
  mask: false,
  labelled: 1,
  logitsToKeep: null,
  evaluation: null,
  loop: "plain",
  parallel: { kind: "none", ranks: 1, offload: false },
  allocConf: "",
};
