import { UserError } from "../base/errors.ts";
import type { Tensor } from "../autograd/tensor.ts";
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
  adamw_bnb_8bit: (wide) => bitsandbytes({ moments: 2, bits: 8, paged: false }, wide),
  adamw_torchao_8bit: () => torchao8bit(),
  paged_adamw: () => bitsandbytes({ moments: 2, bits: 32, paged: true }),
  paged_adamw_8bit: (wide) => bitsandbytes({ moments: 2, bits: 8, paged: true }, wide),
  lion: () => bitsandbytes({ moments: 1, bits: 32, paged: false }),
  lion_8bit: (wide) => bitsandbytes({ moments: 1, bits: 8, paged: false }, wide),
  adafactor: () => adafactor(),
  sgd: () => sgd(false),
  sgd_momentum: () => sgd(true),
} satisfies Record<string, (wide?: ReadonlySet<Tensor>) => Optimizer>;

export type OptimizerName = keyof typeof OPTIMIZERS;

/** `wide`: parameters whose 8-bit states are to be 32-bit. */
export function optimizerOf(name: OptimizerName, wide?: ReadonlySet<Tensor>): Optimizer {
  const make = OPTIMIZERS[name];
  if (!make)
    throw new UserError(`unknown optimizer "${name}"`, `One of: ${Object.keys(OPTIMIZERS).join(", ")}.`);
  return make(wide);
}
