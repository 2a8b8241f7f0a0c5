import type { Dtype } from "../autograd/dtype.ts";
import type { LossName } from "../losses/losses.ts";
import type { Config } from "../nets/config.ts";
import type { Attention } from "../nets/net.ts";
import type { OptimizerName } from "../optimizers/optimizers.ts";
import {
  DEFAULT_RECIPE,
  type Parallel,
  type ParallelKind,
  type Loop,
  type Method,
  type Recipe,
} from "./recipe.ts";

/** A measured run's description, as the ground-truth files write it. */
export interface Case {
  readonly model?: string;
  readonly config: Config;
  readonly lora?: {
    readonly r: number;
    readonly dropout?: number;
    readonly targets: readonly string[];
    readonly dora?: boolean;
  } | null;
  readonly quant?: "nf4" | "nf4-double";
  readonly prepare?: boolean;
  readonly param_dtype: Dtype;
  readonly autocast?: boolean;
  /** TrainingArguments' flag. */
  readonly bf16?: boolean;
  readonly batch: number;
  readonly seq: number;
  readonly accum?: number;
  readonly ckpt?: "none" | "reentrant" | "nonreentrant" | "selective" | null;
  /** Every k-th layer is checkpointed. */
  readonly every?: number;
  readonly attn: Attention;
  readonly optim: string;
  readonly mask?: boolean;
  readonly loop?: Loop;
  readonly loss?: LossName;
  readonly no_clip?: boolean;
  readonly in_backward?: boolean | "host";
  readonly parallel?: {
    readonly kind: ParallelKind;
    readonly ranks: number;
    readonly bucket_view?: boolean;
    readonly reshard?: boolean;
    readonly mixed?: boolean;
    readonly offload?: boolean;
  };
}

function methodOf(c: Case): Method {
  if (!c.lora) return { kind: "full", frozenLayers: 0 };
  const { r, dropout = 0, targets, dora = false } = c.lora;
  return {
    kind: "lora",
    adapter: { rank: r, dropout, targets, dora, nonlinearity: "none" },
    quantization: c.quant
      ? {
          type: "nf4",
          doubleQuant: c.quant === "nf4-double",
          computeDtype: "bf16",
          prepared: c.prepare ?? false,
        }
      : null,
  };
}

/** Names that measured runs use beside ours. */
const OTHER_NAMES: Readonly<Record<string, OptimizerName>> = {
  adamw_torch: "adamw_foreach",
  adamw_torch_fused: "adamw_fused",
  lion_bnb_8bit: "lion_8bit",
  adamw_torchao_offload: "adamw_fused",
};

function parallelOf({ parallel }: Case): Parallel {
  if (!parallel) return DEFAULT_RECIPE.parallel;
  const { kind, ranks, bucket_view: bucketView, reshard, offload = false } = parallel;
  return {
    kind,
    ranks,
    offload,
    // As bench/record/parallel.py does.
    builtWhole: true,
    ...(bucketView === undefined ? {} : { bucketView }),
    ...(reshard === undefined ? {} : { reshard }),
  };
}

export function recipeOfCase(c: Case): Recipe {
  const ckpt = c.ckpt ?? "none";
  return {
    ...DEFAULT_RECIPE,
    model: { name: c.model ?? String(c.config["model_type"]), config: c.config },
    method: methodOf(c),
    dtype: c.param_dtype,
    autocast: c.autocast || c.bf16 || c.parallel?.mixed ? "bf16" : null,
    attention: c.attn,
    checkpointing: {
      kind: ckpt === "none" ? "none" : ckpt === "selective" ? "selective" : "full",
      reentrant: ckpt === "reentrant",
      every: c.every ?? 1,
      offload: false,
    },
    loss: c.loss ?? "default",
    optimizer: OTHER_NAMES[c.optim] ?? (c.optim as OptimizerName),
    optimizerOnHost: c.optim === "adamw_torchao_offload" || c.in_backward === "host",
    optimizerInBackward: Boolean(c.in_backward),
    clip: !c.no_clip,
    batch: c.batch,
    seq: c.seq,
    accumulation: c.accum ?? 1,
    mask: c.mask ?? false,
    loop: c.loop ?? "plain",
    parallel: parallelOf(c),
  };
}
