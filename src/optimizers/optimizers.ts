import { UserError } from "../base/errors.ts";
import { adafactor } from "./adafactor.ts";
import { adamw } from "./adamw.ts";
import type { Optimizer } from "./optimizer.ts";
import { sgd } from "./sgd.ts";

/** Every optimizer by the name recipes use. */
export const OPTIMIZERS = {
  adamw_foreach: () => adamw("foreach"),
  adamw_fused: () => adamw("fused"),
  adamw_loop: () => adamw("loop"),
  sgd: () => sgd(false),
  sgd_momentum: () => sgd(true),
  adafactor: () => adafactor(),
} satisfies Record<string, () => Optimizer>;

export type OptimizerName = keyof typeof OPTIMIZERS;

export function optimizerOf(name: OptimizerName): Optimizer {
  const make = OPTIMIZERS[name];
  if (!make) throw new UserError(`unknown optimizer "${name}"`, `One of: ${Object.keys(OPTIMIZERS).join(", ")}.`);
  return make();
}
