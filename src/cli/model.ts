import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { UserError } from "../base/errors.ts";
import type { Config } from "../nets/config.ts";
import { findModel, MODELS } from "../plan/catalogue/catalogue.ts";
import { type Buildable, buildable } from "../plan/model.ts";
import { nearest } from "./suggest.ts";

export interface NamedModel extends Buildable {
  readonly name: string;
}

/** A path to a config.json or its folder, or a name from the catalogue. */
export async function readModel(text: string): Promise<NamedModel> {
  const file = await configFile(text);
  if (file !== null) return { name: text, ...buildable(await readConfig(file)) };
  const found = findModel(text);
  if (found) return { name: found.name, ...buildable(found.config) };
  const near = suggestions(text);
  throw new UserError(
    `unknown model "${text}": no such file or folder, and not in the catalogue`,
    near.length > 0
      ? `did you mean ${near.join(" or ")}?`
      : "give a path to its config.json, or a hub name such as Qwen/Qwen2.5-7B",
  );
}

async function configFile(path: string): Promise<string | null> {
  try {
    const found = await stat(path);
    return found.isDirectory() ? join(path, "config.json") : path;
  } catch {
    if (/\.(?:json|ya?ml|py)$/i.test(path)) throw new UserError(`${path}: no such file`);
    return null;
  }
}

async function readConfig(file: string): Promise<Config> {
  let text: string;
  try {
    text = await readText(file);
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    const code = (cause as NodeJS.ErrnoException).code;
    throw new UserError(
      code === "ENOENT" ? `${file}: no such file` : `${file}: cannot be read (${code ?? String(cause)})`,
      "give a path to a model's config.json",
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const slip = /\b(?:NaN|-?Infinity)\b/.exec(text);
    throw new UserError(
      slip
        ? `${file}: ${slip[0]} is not a number in JSON`
        : `${file}: not JSON (${(cause as Error).message})`,
      "give a model's config.json, with finite numbers",
    );
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UserError(`${file}: not a model's config`, "expected a JSON object with hidden_size and so on");
  }
  return value as Config;
}

/** Far above any config.json: labels of a large classifier make it a megabyte. */
const MOST_BYTES = 64e6;

/** At most so much, also of a device or a pipe that never ends. */
async function readText(file: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MOST_BYTES)
      throw new UserError(`${file}: more than 64 MB`, "give a path to a model's config.json");
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

const MOST_SUGGESTIONS = 3;

/** Names that hold the word, or the one spelled nearest. */
function suggestions(text: string): string[] {
  const word = text.slice(text.lastIndexOf("/") + 1).toLowerCase();
  const holding = word.length < 3 ? [] : MODELS.filter(({ name }) => name.toLowerCase().includes(word));
  if (holding.length > 0) {
    return holding
      .map(({ name }) => name)
      .toSorted((a, b) => a.length - b.length)
      .slice(0, MOST_SUGGESTIONS);
  }
  const whole = nearest(
    text.toLowerCase(),
    MODELS.map(({ name }) => name.toLowerCase()),
  );
  const part = nearest(
    word,
    MODELS.map(({ name }) => name.slice(name.indexOf("/") + 1).toLowerCase()),
  );
  const found = MODELS.find(
    ({ name }) => name.toLowerCase() === whole || name.toLowerCase().endsWith(`/${part ?? "/"}`),
  );
  return found ? [found.name] : [];
}
