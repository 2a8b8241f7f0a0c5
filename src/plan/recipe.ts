import type { Dtype } from "../autograd/dtype.ts";
import type { Config } from "../nets/config.ts";
import type { Attention, Checkpointing } from "../nets/net.ts";
import type { OptimizerName } from "../optimizers/optimizers.ts";

export interface Lora {
  readonly rank: number;
  readonly dropout: number;
  readonly targets: readonly string[];
}


/** Everything a user chooses. */
export interface Recipe {
  readonly config: Config;
  readonly dtype: Dtype;
  readonly autocast: Dtype | null;
  readonly attention: Attention;
  readonly lora: Lora | null;
  readonly checkpointing: Checkpointing;
  readonly optimizer: OptimizerName;
  readonly clip: boolean;
  readonly batch: number;
  readonly seq: number;
  readonly accumulation: number;
  readonly mask: boolean;
  readonly steps: number;
}
