import type { Bytes } from "../base/units.ts";
import { type Lifetimes, lifetimes, liveAt } from "../tape/lifetimes.ts";
import { keyOf } from "../tape/makeup.ts";
import type { Tape } from "../tape/tape.ts";
import { KINDS, type KindName, Phase } from "../tape/vocabulary.ts";

/** What the peak is made of. */
export const COMPONENTS = [
  "weights",
  "adapters",
  "gradients",
  "optimizer state",
  "saved activations",
  "loss",
  "workspace",
  "temporary",
  "fragmentation",
  "outside PyTorch",
] as const;
export type Component = (typeof COMPONENTS)[number];
export type Budget = Readonly<Record<Component, Bytes>>;

const COMPONENT_OF: Readonly<Record<KindName, Component>> = {
  weight: "weights",
  adapter: "adapters",
  gradient: "gradients",
  "optimizer state": "optimizer state",
  activation: "saved activations",
  temporary: "temporary",
  workspace: "workspace",
  input: "temporary",
  unknown: "temporary",
};

/** Logits, their fp32 copy, log-probabilities and the gradients of all three belong to the loss. */
export function isLoss(module: string): boolean {
  return /(?:^|\.)(?:loss|lm_head)(?:\.|$)/.test(module);
}

/** Live bytes by component after `row`, as requested; rounding and cached blocks are left to the caller. */
export function makeUp(
  tape: Tape,
  row: number,
  lives: Lifetimes = lifetimes(tape),
): Record<Component, Bytes> {
  const sums = Object.fromEntries(COMPONENTS.map((c) => [c, 0])) as Record<Component, Bytes>;
  for (const id of liveAt(lives, row)) {
    const component = COMPONENT_OF[KINDS[keyOf(tape, lives, "kind", id)]!];
    const moves = component === "saved activations" || component === "temporary";
    const loss =
      moves &&
      (keyOf(tape, lives, "phase", id) === Phase.loss ||
        isLoss(tape.modules.text(keyOf(tape, lives, "module", id))));
    sums[loss ? "loss" : component] += lives.bytes[id]!;
  }
  return sums;
}
