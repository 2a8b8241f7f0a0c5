import { BANDS } from "./bands.ts";
import type { Recipe } from "./recipe.ts";

/** Errors of predictions of one kind against measured runs, as fractions. */
export interface Measured {
  readonly runs: number;
  readonly allocated: Spread;
  readonly reserved: Spread;
}

export interface Spread {
  /** Nine in ten were no further off. */
  readonly p90: number;
  readonly worst: number;
}

export interface Band {
  /** "lora, plain loop, adamw". */
  readonly kind: string;
  readonly runs: number;
  readonly allocated: Spread;
  readonly reserved: Spread;
  /** Why it is wider than what its runs have shown; "" when it is not. */
  readonly widened: string;
}

/** The kind a recipe is of, from the narrowest to the broadest it can be compared with. */
export function kindsOf(recipe: Recipe): readonly string[] {
  const { method, loop } = recipe;
  const name = method.kind === "lora" && method.quantization ? "qlora" : method.kind;
  const optimizer = optimizerClass(recipe);
  const levers = [
    recipe.loss === "default" ? "" : `${recipe.loss} loss`,
    recipe.checkpointing.kind === "selective" ? "selective checkpointing" : "",
    recipe.checkpointing.offload ? "offloaded checkpoints" : "",
    recipe.optimizerInBackward ? "optimizer in backward" : "",
    recipe.parallel.kind === "none" ? "" : recipe.parallel.kind,
  ].filter(Boolean);
  const where = loop === "plain" ? "plain loop" : loop === "sft" ? "SFTTrainer" : "Trainer";
  const special = levers.length > 0 ? [[name, where, optimizer, ...levers].join(", ")] : [];
  return [...special, `${name}, ${where}, ${optimizer}`, `${name}, ${where}`, name, "any"];
}

function optimizerClass(recipe: Recipe): string {
  if (recipe.optimizerOnHost) return "adamw on the host";
  const { optimizer } = recipe;
  if (optimizer.includes("8bit")) return "8-bit";
  if (optimizer.startsWith("adamw_")) return "adamw";
  return optimizer.replace("_", " ");
}

/** Fewer runs than this say little about the next one. */
const ENOUGH = 3;
/** Each step to a broader kind, and each missing handful of runs, doubles what is claimed. */
const DOUBLED = 2;
/** A model of a family that is not known may do anything its relatives do not; so may a way to distribute it. */
const UNKNOWN = 0.1;

/** Parallelism of which no rank was recorded: predicted from its sources alone. */
const UNRECORDED = /^(?:zero[123]|pipeline)$/;

/** The error band that a prediction has earned on measured runs of its kind. */
export function bandOf(recipe: Recipe, knownFamily: boolean): Band {
  const kinds = kindsOf(recipe);
  const at = kinds.findIndex((kind) => (BANDS[kind]?.runs ?? 0) >= ENOUGH);
  const measured = BANDS[kinds[at]!]!;
  const factor = DOUBLED ** at;
  const unrecorded = UNRECORDED.test(recipe.parallel.kind);
  const floor = knownFamily && !unrecorded ? 0 : UNKNOWN;
  const widen = ({ p90, worst }: Spread): Spread => ({
    p90: Math.max(p90 * factor, floor),
    worst: Math.max(worst * factor, 2 * floor),
  });
  const why = [
    at > 0 ? `too few measured runs of "${kinds[0]}": those of "${kinds[at]}", times ${factor}` : "",
    knownFamily ? "" : "the model's own family is not known",
    unrecorded ? `no rank of ${recipe.parallel.kind} was recorded: its sizes are from its sources` : "",
  ].filter(Boolean);
  return {
    kind: kinds[at]!,
    runs: measured.runs,
    allocated: widen(measured.allocated),
    reserved: widen(measured.reserved),
    widened: why.join("; "),
  };
}
