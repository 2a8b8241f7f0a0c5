/**
 * Words about a tree as a whole, said by what names its requirements: which libraries it is to be run with in versions
 * that do not know what a fix would say.
 */

/** Checkpoints take the reentrant path only. */
export const OLD_TORCH = "torch<1.11";
/** AdamW has no fused kernel. */
export const TORCH_1 = "torch<2";
/** What is checkpointed takes no `gradient_checkpointing_kwargs`. */
export const OLD_TRANSFORMERS = "transformers<4.35";

export interface Versions {
  readonly oldTorch: boolean;
  readonly torch1: boolean;
  readonly oldTransformers: boolean;
}

export function versionsOf(words: { has(word: string): boolean }): Versions {
  return {
    oldTorch: words.has(OLD_TORCH),
    torch1: words.has(TORCH_1),
    oldTransformers: words.has(OLD_TRANSFORMERS),
  };
}
