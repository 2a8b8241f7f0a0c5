import type { Config } from "../nets/config.ts";
import type { Dtype } from "../autograd/dtype.ts";
import type { Attention, Checkpointing } from "../nets/net.ts";
import type { OptimizerName } from "../optimizers/optimizers.ts";
import type { Recipe } from "./recipe.ts";

/** A measured run's description, as the ground-truth files write it. */
export interface Case {
  readonly config: Config;
  readonly lora: { readonly r: number; readonly dropout: number; readonly targets: readonly string[] } | null;
  readonly param_dtype: Dtype;
  readonly autocast: boolean;
  readonly batch: number;
  readonly seq: number;
  readonly accum: number;
  readonly ckpt: Checkpointing;
  readonly attn: Attention;
  readonly optim: string;
  readonly mask: boolean;
}

export function recipeOfCase(c: Case, steps = 3): Recipe {
  return {
    config: c.config,
    dtype: c.param_dtype,
    autocast: c.autocast ? "bf16" : null,
    attention: c.attn,
    lora: c.lora ? { rank: c.lora.r, dropout: c.lora.dropout, targets: c.lora.targets } : null,
    checkpointing: c.ckpt,
    optimizer: c.optim as OptimizerName,
    clip: true,
    batch: c.batch,
    seq: c.seq,
    accumulation: c.accum,
    mask: c.mask,
    steps,
  };
}
