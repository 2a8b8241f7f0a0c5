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
  if (typeof value !== "number" || !(value >= 0 && value <= 1)) {
    throw new UserError(`config: "${key}" is ${JSON.stringify(value)}`, "Expected a number from 0 to 1.");
  }
  return value;
}

export function text(config: Config, key: string, otherwise: string): string {
  const value = config[key];
  return typeof value === "string" ? value : otherwise;
}

/** Query heads, key/value heads, numbers a head, and the dropout of attention weights. */
export interface HeadShape {
  readonly queries: number;
  readonly keys: number;
  readonly size: number;
  readonly dropout: number;
}

interface HeadDefaults {
  /** Where the config class has a number of its own; otherwise as many as query heads. */
  readonly keys?: number;
  /** Where the config class has a number of its own; otherwise hidden_size / num_attention_heads. */
  readonly size?: number;
}

export function headShape(config: Config, defaults: HeadDefaults = {}): HeadShape {
  const hidden = count(config, "hidden_size");
  const queries = count(config, "num_attention_heads");
  const keys =
    config["num_key_value_heads"] === null
      ? queries
      : countOr(config, defaults.keys ?? queries, "num_key_value_heads");
  if (queries % keys !== 0) {
    throw new UserError(
      `config: "num_attention_heads" ${queries} is not a multiple of "num_key_value_heads" ${keys}`,
      "Every key/value head serves the same number of query heads.",
    );
  }
  const given = countOr(config, defaults.size, "head_dim");
  if (given === undefined && hidden % queries !== 0) {
    throw new UserError(
      `config: "hidden_size" ${hidden} is not a multiple of "num_attention_heads" ${queries}`,
      'Give "head_dim", or sizes that divide.',
    );
  }
  return {
    queries,
    keys,
    size: given ?? hidden / queries,
    dropout: fraction(config, "attention_dropout", 0),
  };
}

/** A number or null: null where the config says so, `otherwise` where it says nothing. */
export function numberOrNull(config: Config, key: string, otherwise: number | null): number | null {
  const value = config[key];
  if (value === null) return null;
  if (value === undefined) return otherwise;
  if (typeof value !== "number" || !Number.isFinite(value)) {
    throw new UserError(`config: "${key}" is ${JSON.stringify(value)}`, "Expected a number or null.");
  }
  return value;
}

/** Attention windows: how far back, and which layers look no further. */
export interface Window {
  readonly size: number;
  readonly applies: (layer: number) => boolean;
  /** Some layers have no window, so that a mask without one is made too. */
  readonly alternating: boolean;
}

/** `layer_types` where given, else the family's rule. */
export function alternatingWindow(config: Config, size: number, rule: (layer: number) => boolean): Window {
  const types = config["layer_types"];
  const applies = Array.isArray(types) ? (i: number) => types[i] === "sliding_attention" : rule;
  return { size, applies, alternating: true };
}

/** One window for every layer, or none (Mistral's and Phi-3's rule). */
export function windowEverywhere(config: Config, otherwise: number | null): { readonly window?: Window } {
  const size = numberOrNull(config, "sliding_window", otherwise);
  return size === null ? {} : { window: { size, applies: () => true, alternating: false } };
}

/** Qwen's rule: only with use_sliding_window, and from layer max_window_layers on. */
export function windowFromLayer(config: Config): { readonly window?: Window } {
  const size = flag(config, "use_sliding_window", false)
    ? numberOrNull(config, "sliding_window", 4096)
    : null;
  const first = numberOrNull(config, "max_window_layers", 28) ?? 28;
  const window = alternatingWindow(config, size ?? 0, (i) => size !== null && i >= first);
  const layers = count(config, "num_hidden_layers");
  const any = Array.from({ length: layers }, (_, i) => window.applies(i)).includes(true);
  return any && size !== null ? { window } : {};
}

/** The share of a head's numbers that positions turn, under either of the places configs keep it. */
export function rotaryFactor(config: Config, otherwise: number): number {
  const parameters = (config["rope_parameters"] ?? config["rope_scaling"] ?? {}) as Config;
  return fraction(parameters, "partial_rotary_factor", fraction(config, "partial_rotary_factor", otherwise));
}
