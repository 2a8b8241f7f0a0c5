import { readFileSync, statSync } from "node:fs";
import { UserError } from "../base/errors.ts";
import { decode } from "../python/source.ts";
import { readRecipe } from "./read.ts";
import type { RecipeReading } from "./reading.ts";

/** Notebooks with pictures in them are large; settings are not. */
const MAX_BYTES = 64e6;

/** Text of a file; null when it is not there, is no plain file, or is no text. */
export function textBeside(name: string): string | null {
  try {
    const { size } = statSync(name);
    if (size > MAX_BYTES || !statSync(name).isFile()) return null;
    const decoded = decode(readFileSync(name));
    return typeof decoded === "string" ? null : decoded.text;
  } catch {
    return null;
  }
}

/** The recipe a file on disk describes, with the files it refers to. */
export function readRecipeFile(path: string): RecipeReading {
  const name = path.replaceAll("\\", "/");
  const text = textBeside(name);
  if (text === null)
    throw new UserError(
      `${path}: cannot be read`,
      "Expected a Python script, a notebook, or a YAML or JSON config.",
    );
  return readRecipe({ name, text }, textBeside);
}
