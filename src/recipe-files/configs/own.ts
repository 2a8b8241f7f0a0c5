import { UserError } from "../../base/errors.ts";
import type { Config } from "../../nets/config.ts";
import { DEFAULT_RECIPE, type Recipe } from "../../plan/recipe.ts";
import { type Located, type Table, isList, isScalar, isTable, lookup, placeText, show } from "../located.ts";
import type { RecipeReading, Source } from "../reading.ts";

/** What `plimsoll plan --json` prints, or the recipe in it alone. */
export const ownRecipe = (table: Table): Table | null => {
  const inner = table.get("recipe")?.value;
  if (inner && isTable(inner) && lookup(inner, "method.kind")) return inner;
  return lookup(table, "method.kind") && table.has("checkpointing") ? table : null;
};

/** `whole` is the file, which names the model beside the recipe. */
export function readOwn(table: Table, whole: Table): RecipeReading {
  const found: Source[] = [];
  const recipe: Record<string, unknown> = {};
  for (const [key, at] of table) {
    if (key === "model") continue;
    const expected: unknown = DEFAULT_RECIPE[key as keyof typeof DEFAULT_RECIPE];
    if (expected === undefined)
      throw new UserError(
        `${placeText(at.place)}: a recipe has no "${key}"`,
        `Known: ${Object.keys(DEFAULT_RECIPE).join(", ")}.`,
      );
    const value = plain(at);
    // Where the default is null, the field may be of any kind.
    if (expected !== null && (value === null || typeof value !== typeof expected))
      throw new UserError(
        `${placeText(at.place)}: ${key} is ${show(at.value)}`,
        `Expected a ${typeof expected}.`,
      );
    recipe[key] = isTable(at.value)
      ? { ...(key === "method" ? {} : (expected as object)), ...(value as object) }
      : value;
    found.push({ field: key, value, key, place: at.place });
  }
  const name = lookup(table, "model.name") ?? lookup(whole, "model.name") ?? table.get("model");
  const config = lookup(table, "model.config");
  return {
    framework: "plimsoll",
    model:
      typeof name?.value === "string"
        ? { name: name.value, config: config ? (plain(config) as Config) : null, place: name.place }
        : null,
    recipe: recipe as Partial<Omit<Recipe, "model">>,
    found,
    assumed: [],
    warnings: [],
  };
}

export function plain({ value }: Located): unknown {
  if (isScalar(value)) return value;
  if (isList(value)) return value.map(plain);
  return isTable(value) ? Object.fromEntries([...value].map(([key, at]) => [key, plain(at)])) : null;
}
