import type { Recipe } from "../../plan/recipe.ts";
import type { RecipeReading } from "../../recipe-files/reading.ts";
import type { Parts } from "../../recipe-files/script/parts.ts";
import { trainerLines } from "../settings.ts";
import type { Edit } from "./edit.ts";
import { setKeyword } from "./keyword.ts";

export type Lever = Exclude<keyof Recipe, "model" | "loop" | "labelled" | "logitsToKeep" | "saves">;

/** One reading of the script on the way from what it says to what is wanted. */
export interface Stage {
  readonly reading: RecipeReading;
  readonly parts: Parts;
  readonly wanted: Recipe;
  readonly where: "origin" | "call";
}

/** Everything that edits a call has this shape; null: not by a patch. */
export type Edits = readonly Edit[] | null;

/** One after the other; all of them or none. */
export function together(...many: readonly Edits[]): Edits {
  return many.includes(null) ? null : many.flatMap((one) => one!);
}

/** Sets an argument only where it stands already: what is not said is off. */
export function off({ parts, where }: Stage, part: Parts["args"], key: string): Edits {
  const said = part?.made.args.get(key);
  return !said || said.value === false || said.value === null
    ? []
    : setKeyword(part, key, false, parts, where);
}

/** TrainingArguments' own, as the emitters say it. */
export function argument(stage: Stage, key: string): Edits {
  const { parts, wanted, where } = stage;
  const line = trainerLines(wanted).find((one) => one.key === key);
  return line ? setKeyword(parts.args, key, line.value, parts, where) : off(stage, parts.args, key);
}
