import type { Bytes } from "../base/units.ts";
import type { Tape } from "../tape/tape.ts";
import { Action, KINDS, type KindName } from "../tape/vocabulary.ts";

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
function isLoss(module: string): boolean {
  return module === "loss" || module.endsWith("lm_head");
}

/** Live bytes by component after `row`, as requested; rounding and cached blocks are left to the caller. */
export function makeUp(tape: Tape, row: number): Record<Component, Bytes> {
  const { action, storage, bytes, kind, module } = tape.columns;
  const sums = Object.fromEntries(COMPONENTS.map((c) => [c, 0])) as Record<Component, Bytes>;
  const live = new Map<number, number>();
  for (let at = 0; at <= row; at++) {
    if (action[at] === Action.alloc) live.set(storage[at]!, at);
    else live.delete(storage[at]!);
  }
  for (const at of live.values()) {
    const component = COMPONENT_OF[KINDS[kind[at]!]!];
    const moves = component === "saved activations" || component === "temporary";
    sums[moves && isLoss(tape.modules.text(module[at]!)) ? "loss" : component] += bytes[at]!;
  }
  return sums;
}
