import { createTwoFilesPatch } from "diff";
import { DEFAULT_RECIPE, type Recipe } from "../../plan/recipe.ts";
import { placeText } from "../../recipe-files/located.ts";
import { readRecipe } from "../../recipe-files/read.ts";
import type { Beside, RecipeFile, RecipeReading } from "../../recipe-files/reading.ts";
import { partsOf } from "../../recipe-files/script/parts.ts";
import { applyEdits } from "./edit.ts";
import { inWords } from "./in-words.ts";
import type { Edits, Lever, Stage } from "./stage.ts";
import { STEPS } from "./steps.ts";

/** A script brought to a recipe. */
export interface Patch {
  /** Files that change: their text before and after. */
  readonly files: readonly { readonly name: string; readonly before: string; readonly after: string }[];
  /** "per_device_train_batch_size=2: micro-batch: …". */
  readonly changes: readonly string[];
  /** What the patch leaves to the user, with the reason. */
  readonly byHand: readonly string[];
}

/**
 * Edits a script until it reads as the recipe. An edit stays only if reading the result says that it brought the
 * script nearer: what cannot be changed so is left to the user.
 */
export function patchScript(file: RecipeFile, beside: Beside, wanted: Recipe): Patch {
  const after = new Map<string, string>();
  const changes: string[] = [];
  const byHand: string[] = [];
  let reading = readRecipe(file, beside);
  for (const [lever, step] of STEPS) {
    if (!differs(reading, wanted, lever)) continue;
    let done = false;
    for (const where of ["origin", "call"] as const) {
      const texts = (name: string): string | null =>
        after.get(name) ?? (name === file.name ? file.text : beside(name));
      const stage: Stage = {
        reading,
        parts: partsOf({ ...file, text: texts(file.name)! }, texts),
        wanted,
        where,
      };
      // A notebook is JSON: its cells are not lines of it.
      const edits = file.name.endsWith(".ipynb") ? null : step(stage);
      if (!edits || edits.length === 0 || edits.some((one) => /^(?:\.\.)?\//.test(one.file))) continue;
      const edited = edit(edits, texts);
      const again = reread(file, (name) => edited.get(name) ?? texts(name));
      if (!again || left(again, wanted) >= left(reading, wanted) || differs(again, wanted, lever)) continue;
      for (const [name, text] of edited) after.set(name, text);
      reading = again;
      done = true;
      break;
    }
    if (done) changes.push(inWords(lever, wanted));
    else byHand.push(`${inWords(lever, wanted)} (${whereabouts(reading, lever)})`);
  }
  const original = (name: string): string => (name === file.name ? file.text : beside(name)!);
  const files = [...after].map(([name, text]) => ({ name, before: original(name), after: text }));
  return { files, changes, byHand };
}

function edit(edits: NonNullable<Edits>, texts: (name: string) => string | null): Map<string, string> {
  const names = new Set(edits.map(({ file }) => file));
  return new Map(
    [...names].map((name) => [
      name,
      applyEdits(
        texts(name)!,
        edits.filter((one) => one.file === name),
      ),
    ]),
  );
}

/** Null: the edit broke the script. */
function reread(file: RecipeFile, texts: Beside): RecipeReading | null {
  try {
    return readRecipe({ ...file, text: texts(file.name)! }, texts);
  } catch {
    return null;
  }
}

function differs({ recipe }: RecipeReading, wanted: Recipe, lever: Lever): boolean {
  const now = recipe[lever] === undefined ? DEFAULT_RECIPE[lever] : recipe[lever];
  return canonical(now) !== canonical(wanted[lever]);
}

/** Whatever the order of its keys. */
function canonical(value: unknown): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return JSON.stringify(value) ?? "";
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${key}:${canonical(inner)}`).join()}}`;
}

const left = (reading: RecipeReading, wanted: Recipe): number =>
  STEPS.filter(([lever]) => differs(reading, wanted, lever)).length;

/** What of the script decides a lever now. */
function whereabouts({ found, assumed }: RecipeReading, lever: Lever): string {
  const of = ({ field }: { readonly field: string }): boolean =>
    field === lever || field.startsWith(`${lever}.`);
  const source = found.find(of);
  if (source) return `now ${source.key}, ${placeText(source.place)}`;
  return assumed.find(of)?.why ?? "nothing in the script says it";
}

/** The unified diff, for `git apply` and `patch -p1`: what stands before the first file is passed over by both. */
export function patchText({ files, changes, byHand }: Patch, name: string): string {
  const head = [
    `# Written by plimsoll fit. Usage: git apply ${name}, or patch -p1 < ${name}`,
    ...changes.map((one) => `# ${one}`),
    ...byHand.map((one) => `# by hand: ${one}`),
    "",
  ].join("\n");
  const diffs = files.map(({ name: path, before, after }) =>
    createTwoFilesPatch(`a/${path}`, `b/${path}`, before, after).replace(/^=+\n/, ""),
  );
  return head + diffs.join("");
}
