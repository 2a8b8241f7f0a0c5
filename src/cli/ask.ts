import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { UserError } from "../base/errors.ts";
import { buildable, positions } from "../plan/model.ts";
import { DEFAULT_RECIPE, type Recipe } from "../plan/recipe.ts";
import type { RecipeSource } from "../plan/result.ts";
import type { ModelReference } from "../recipe-files/reading.ts";
import type { Input } from "./command.ts";
import { type NamedModel, readModel } from "./model.ts";
import { recipeFrom } from "./recipe-options.ts";

/** A recipe as asked for on the command line: MODEL and options, or a file that describes a run and options over it. */
export interface Asked {
  readonly recipe: Recipe;
  readonly known: boolean;
  readonly notes: readonly string[];
  readonly source: RecipeSource | null;
}

export async function readAsk(text: string, options: Input["options"], cards: number): Promise<Asked> {
  if (await isRecipe(text)) return fromFile(text, options, cards);
  if (options["model"] !== undefined)
    throw new UserError(`--model beside the model ${text}`, "give one of them, or a FILE and --model");
  const model = await readModel(text);
  return asked(model, options, cards, usual(model), null);
}

/** What is not said: a sequence no longer than the model takes. */
function usual({ config }: NamedModel): Omit<Recipe, "model"> {
  const most = positions(config)?.value ?? Infinity;
  return { ...DEFAULT_RECIPE, seq: Math.min(DEFAULT_RECIPE.seq, most) };
}

function asked(
  { name, config, known, notes }: NamedModel,
  options: Input["options"],
  cards: number,
  base: Omit<Recipe, "model">,
  source: RecipeSource | null,
): Asked {
  return { recipe: recipeFrom(options, { name, config }, cards, base), known, notes, source };
}

async function isRecipe(path: string): Promise<boolean> {
  try {
    if (!(await stat(path)).isFile()) return false;
  } catch {
    return false;
  }
  if (/\.(?:py|ipynb|ya?ml)$/i.test(path)) return true;
  if (!/\.json$/i.test(path)) return false;
  const { isRecipeFile } = await import("../recipe-files/read.ts");
  const { textBeside } = await import("../recipe-files/file.ts");
  const text = textBeside(path);
  return text !== null && isRecipeFile({ name: path, text });
}

async function fromFile(path: string, options: Input["options"], cards: number): Promise<Asked> {
  const { readRecipeFile } = await import("../recipe-files/file.ts");
  const { placeText } = await import("../recipe-files/located.ts");
  const { framework, model, recipe, found, assumed, warnings } = readRecipeFile(path);
  const given = options["model"] as string | undefined;
  if (!model && given === undefined)
    throw new UserError(`${path}: names no model`, "--model NAME, or the script or config that loads one");
  const source: RecipeSource = {
    file: path,
    framework,
    found: found.map(({ field, value, key, place }) => ({ field, value, key, place: placeText(place) })),
    assumed,
    warnings,
  };
  const named = await (given !== undefined ? readModel(given) : modelOf(path, model!));
  return asked(named, options, cards, { ...usual(named), ...recipe }, source);
}

async function modelOf(path: string, { name, config }: ModelReference): Promise<NamedModel> {
  return config ? { name, ...buildable(config) } : readModel(await beside(path, name));
}

/** A model that the file names by a path is looked for beside it. */
async function beside(path: string, name: string): Promise<string> {
  const near = join(dirname(path), name);
  try {
    await stat(near);
    return near;
  } catch {
    return name;
  }
}
