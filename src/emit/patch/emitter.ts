import { DEFAULT_RECIPE, type Recipe } from "../../plan/recipe.ts";
import type { Beside, RecipeFile } from "../../recipe-files/reading.ts";
import type { Emitter } from "../emitter.ts";
import { trainer } from "../trainer.ts";
import { trl } from "../trl.ts";
import { type Patch, patchScript, patchText } from "./patch.ts";

/** A diff of the user's own script; `base` is what that script says now. */
export function patchOf(file: RecipeFile, beside: Beside, base: Recipe): Emitter {
  const name = `${file.name.replace(/^.*\//, "").replace(/\.\w+$/, "")}.patch`;
  let made: { readonly recipe: Recipe; readonly patch: Patch } | null = null;
  const patched = (recipe: Recipe): Patch => {
    if (made?.recipe !== recipe) made = { recipe, patch: patchScript(file, beside, recipe) };
    return made.patch;
  };
  return {
    name: "patch",
    summary: "a diff of the script the recipe was read from",
    loop: base.loop,
    cannot: (recipe) => cannot(recipe, base),
    files: (recipe) => {
      const patch = patched(recipe);
      return patch.files.length === 0 ? [] : [{ name, text: patchText(patch, name) }];
    },
    notes: (recipe) => {
      const { files, byHand } = patched(recipe);
      return [
        ...(files.length === 0 ? [`${name} is not written: there is nothing in the script to change`] : []),
        ...byHand.map((one) => `by hand: ${one}`),
      ];
    },
  };
}

/** What the script's trainer has no words for. A plain loop can be told anything, if only by hand. */
function cannot(recipe: Recipe, base: Recipe): string | null {
  const stack = { plain: null, trainer, sft: trl }[recipe.loop];
  if (!stack) return null;
  // What the script does already it can be told, whether or not our own scripts would do it so.
  const kept = Object.keys(DEFAULT_RECIPE).filter(
    (key) =>
      key !== "loop" &&
      JSON.stringify(recipe[key as keyof Recipe]) === JSON.stringify(base[key as keyof Recipe]),
  );
  const usual = Object.fromEntries(
    kept.map((key) => [key, DEFAULT_RECIPE[key as keyof typeof DEFAULT_RECIPE]]),
  );
  return stack.cannot({ ...recipe, ...usual });
}
