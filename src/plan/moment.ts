import type { Bytes } from "../base/units.ts";
import { type Lifetimes, liveAt } from "../tape/lifetimes.ts";
import { keyOf } from "../tape/makeup.ts";
import type { Tape } from "../tape/tape.ts";
import { KINDS, PHASES, type PhaseName } from "../tape/vocabulary.ts";
import { isLoss } from "./budget.ts";
import type { Recipe } from "./recipe.ts";

/** The instant the peak happens. */
export interface Moment {
  readonly row: number;
  readonly step: number;
  readonly phase: PhaseName;
  /** Module path, "" at the top. */
  readonly module: string;
  /** "backward of the loss". */
  readonly when: string;
  /** What is live there beyond what stays from step to step, largest first. */
  readonly parts: readonly Part[];
  /** Weights, adapters, gradients that wait, optimizer state, workspaces. */
  readonly standing: Bytes;
}

export interface Part {
  readonly what: string;
  readonly bytes: Bytes;
  readonly count: number;
}

const LAYER = /(?:^|\.)(?:layers|h)\.(\d+)(?:\.(.+))?$/;

export function momentAt(recipe: Recipe, tape: Tape, lives: Lifetimes, row: number): Moment {
  const { phase, module, step } = tape.columns;
  const at = tape.modules.text(module[row]!);
  const name = PHASES[phase[row]!]!;
  const { parts, standing } = liveParts(recipe, tape, lives, row, at);
  return { row, step: step[row]!, phase: name, module: at, when: whenOf(recipe, name, at), parts, standing };
}

function whenOf(recipe: Recipe, phase: PhaseName, module: string): string {
  switch (phase) {
    case "clip":
      return "gradient clipping";
    case "optimizer":
      return recipe.optimizerInBackward ? "an optimizer step inside backward" : "the optimizer step";
    case "load":
      return "loading the model";
    case "evaluation":
      return "evaluation";
    case "save":
      return "saving";
    case "loss":
      return "the loss";
    case "unknown":
      return "an unmarked moment";
    case "forward":
    case "backward":
      return placed(recipe, phase, module);
  }
}

function placed(recipe: Recipe, phase: "forward" | "backward", module: string): string {
  if (isLoss(module)) return module.includes("lm_head") ? `${phase} of the head` : `${phase} of the loss`;
  const layer = LAYER.exec(module);
  if (!layer) return phase === "forward" ? "the forward" : "backward";
  const inside = layer[2] ? ` (${layer[2]})` : "";
  const again = phase === "backward" && recipe.checkpointing.kind !== "none" ? "recomputation and " : "";
  return `${again}${phase} of layer ${layer[1]}${inside}`;
}

function liveParts(
  recipe: Recipe,
  tape: Tape,
  lives: Lifetimes,
  row: number,
  at: string,
): { readonly parts: readonly Part[]; readonly standing: Bytes } {
  const here = LAYER.exec(at)?.[1];
  const layers = new Set<string>();
  const groups = new Map<string, { what: string; bytes: Bytes; count: number }>();
  let standing = 0;
  for (const id of liveAt(lives, row)) {
    const kind = KINDS[keyOf(tape, lives, "kind", id)]!;
    const bytes = lives.bytes[id]!;
    if (kind === "weight" || kind === "adapter" || kind === "optimizer state" || kind === "workspace") {
      standing += bytes;
      continue;
    }
    const module = tape.modules.text(keyOf(tape, lives, "module", id));
    const born = PHASES[keyOf(tape, lives, "phase", id)]!;
    const layer = LAYER.exec(module)?.[1];
    if (kind === "activation" && layer !== undefined && layer !== here) layers.add(layer);
    const what = partName(recipe, kind, born, module, layer, here);
    const group = groups.get(what) ?? { what, bytes: 0, count: 0 };
    groups.set(what, group);
    group.bytes += bytes;
    group.count++;
  }
  for (const part of groups.values()) part.what = part.what.replace("#", String(layers.size));
  return { parts: [...groups.values()].sort((a, b) => b.bytes - a.bytes), standing };
}

function partName(
  recipe: Recipe,
  kind: string,
  born: PhaseName,
  module: string,
  layer: string | undefined,
  here: string | undefined,
): string {
  if (kind === "gradient") return "gradients";
  if (kind === "input") return "inputs";
  if (isLoss(module)) {
    const fp32 = recipe.loss === "default" && recipe.loop !== "sft" ? "fp32 " : "";
    if (born === "backward") return `gradients of the ${fp32}logits`;
    if (module.includes("lm_head")) return "logits";
    return kind === "activation" ? `${fp32}log-probabilities` : `${fp32}logits`;
  }
  if (born === "optimizer") return "the optimizer's temporaries";
  if (born === "clip") return "the norm's temporaries";
  if (kind === "activation" && layer !== undefined && layer !== here) {
    return recipe.checkpointing.kind === "full" && recipe.checkpointing.every === 1
      ? "inputs of # layers"
      : "saved activations of # layers";
  }
  if (layer !== undefined) {
    return kind === "activation" ? `activations of layer ${layer}` : `temporaries of layer ${layer}`;
  }
  return kind === "activation" ? "other activations" : "other temporaries";
}
