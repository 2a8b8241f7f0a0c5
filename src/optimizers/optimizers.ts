import { UserError } from "../base/errors.ts";
import { adafactor } from "./adafactor.ts";
import { adamw } from "./adamw.ts";
import { bitsandbytes } from "./bitsandbytes.ts";
import type { Optimizer } from "./optimizer.ts";
import { sgd } from "./sgd.ts";
import { torchao8bit } from "./torchao.ts";

/** Every optimizer by the name recipes use: TrainingArguments' `optim` where it has one. */
export const OPTIMIZERS = {
  adamw_foreach: () => adamw("foreach"),
  adamw_fused: () => adamw("fused"),
  adamw_loop: () => adamw("loop"),
  adamw_bnb_8bit: () => bitsandbytes({ moments: 2, bits: 8, paged: false }),
  adamw_torchao_8bit: () => torchao8bit(),
  paged_adamw: () => bitsandbytes({ moments: 2, bits: 32, paged: true }),
  paged_adamw_8bit: () => bitsandbytes({ moments: 2, bits: 8, paged: true }),
  lion: () => bitsandbytes({ moments: 1, bits: 32, paged: false }),
  lion_8bit: () => bitsandbytes({ moments: 1, bits: 8, paged: false }),
  adafactor: () => adafactor(),
  sgd: () => sgd(false),
  sgd_momentum: () => sgd(true),
} satisfies Record<string, () => Optimizer>;

export type OptimizerName = keyof typeof OPTIMIZERS;

export function optimizerOf(name: OptimizerName): Optimizer {
  const make = OPTIMIZERS[name];
  if (!make)
    throw new UserError(`unknown optimizer "${name}"`, `One of: ${Object.keys(OPTIMIZERS).join(", ")}.`);
  return make();
}
