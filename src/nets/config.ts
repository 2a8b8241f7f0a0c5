import { UserError } from "../base/errors.ts";

/** A model's config.json: keys as transformers writes them. */
export type Config = Readonly<Record<string, unknown>>;

/** Reads a positive whole number under the first of `keys` that is present. */
export function count(config: Config, ...keys: readonly string[]): number {
  const value = countOr(config, undefined, ...keys);
  if (value === undefined) {
    throw new UserError(
      `config: missing key "${keys[0]}"`,
      `A whole number above 0 under ${keys.map((k) => `"${k}"`).join(" or ")} is needed.`,
    );
  }
  return value;
}

export function countOr<D extends number | undefined>(
  config: Config,
  otherwise: D,
  ...keys: readonly string[]
): number | D {
  for (const key of keys) {
    const value = config[key];
    if (value === undefined || value === null) continue;
    if (typeof value !== "number" || !Number.isInteger(value) || value <= 0) {
      throw new UserError(`config: "${key}" is ${JSON.stringify(value)}`, "Expected a whole number above 0.");
    }
    return value;
  }
  return otherwise;
}

export function flag(config: Config, key: string, otherwise: boolean): boolean {
  const value = config[key];
  if (value === undefined || value === null) return otherwise;
  if (typeof value !== "boolean")
    throw new UserError(`config: "${key}" is ${JSON.stringify(value)}`, "Expected true or false.");
  return value;
}

export function fraction(config: Config, key: string, otherwise: number): number {
  const value = config[key];
  if (value === undefined || value === null) return otherwise;
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0) {
    throw new UserError(`config: "${key}" is ${JSON.stringify(value)}`, "Expected a number, 0 or above.");
  }
  return value;
}

export function text(config: Config, key: string, otherwise: string): string {
  const value = config[key];
  return typeof value === "string" ? value : otherwise;
}
