import { defaultLoss } from "./causal-lm.ts";
import { chunkedLogProbLoss } from "./chunked-logprob.ts";
import { chunkedLoss } from "./chunked.ts";
import { fusedLoss } from "./fused.ts";
import type { Loss } from "./loss.ts";

/** Every loss by the name recipes use. "logprob" is what TRL's SFTTrainer computes by itself. */
export const LOSSES = {
  default: defaultLoss,
  chunked: chunkedLoss,
  fused: fusedLoss,
  logprob: chunkedLogProbLoss,
} satisfies Record<string, Loss>;

export type LossName = keyof typeof LOSSES;
