import { adamw } from "./adamw.ts";
import type { Optimizer } from "./optimizer.ts";

export function optimizerOf(name: string): Optimizer {
  switch (name) {
    case "adamw_foreach":
      return adamw("foreach");
    case "adamw_fused":
      return adamw("fused");
    default:
      return adamw("loop");
  }
}
