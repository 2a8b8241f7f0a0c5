import { UserError } from "../base/errors.ts";
import type { Config } from "../nets/config.ts";
import { FAMILIES } from "../nets/families.ts";

/** A config that can be built, and what had to be assumed for it. */
export interface Buildable {
  readonly config: Config;
  /** False when another family's code stands in for the model's own. */
  readonly known: boolean;
  readonly notes: readonly string[];
}

/** Which family stands in for an unknown one, by the keys it has; the first that matches. */
const NEAREST: readonly {
  readonly sign: readonly string[];
  readonly family: string;
  readonly needs: readonly string[];
}[] = [
  { sign: ["n_embd", "n_layer"], family: "gpt2", needs: ["n_embd", "n_layer", "n_head"] },
  {
    sign: ["ffn_dim"],
    family: "opt",
    needs: ["hidden_size", "ffn_dim", "num_hidden_layers", "num_attention_heads", "vocab_size"],
  },
  {
    sign: ["num_local_experts"],
    family: "mixtral",
    needs: [
      "hidden_size",
      "intermediate_size",
      "num_hidden_layers",
      "num_attention_heads",
      "num_local_experts",
      "vocab_size",
    ],
  },
  {
    sign: ["num_experts", "moe_intermediate_size"],
    family: "qwen3_moe",
    needs: [
      "hidden_size",
      "moe_intermediate_size",
      "num_hidden_layers",
      "num_attention_heads",
      "num_experts",
      "vocab_size",
    ],
  },
  {
    sign: [],
    family: "llama",
    needs: ["hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "vocab_size"],
  },
];

/** Beyond these a number is a slip, and would only make the program busy. */
const MOST: Readonly<Record<string, number>> = {
  num_hidden_layers: 1024,
  n_layer: 1024,
  hidden_size: 1 << 20,
  n_embd: 1 << 20,
  intermediate_size: 1 << 22,
  ffn_dim: 1 << 22,
  moe_intermediate_size: 1 << 22,
  num_attention_heads: 1 << 14,
  n_head: 1 << 14,
  num_key_value_heads: 1 << 14,
  head_dim: 1 << 14,
  num_local_experts: 4096,
  num_experts: 4096,
  vocab_size: 1 << 27,
  max_position_embeddings: 1 << 30,
  n_positions: 1 << 30,
};

/** Checks a config's sizes and finds the family whose code it is built with. */
export function buildable(given: Config): Buildable {
  const notes: string[] = [];
  let config = given;
  const inner = given["text_config"];
  if (typeof inner === "object" && inner !== null && given["hidden_size"] === undefined) {
    config = inner as Config;
    notes.push('only "text_config" is planned: the rest of the model is left out');
  }
  checkSizes(config);
  const type = config["model_type"];
  if (FAMILIES.some((family) => family.types.includes(String(type)))) {
    return { config, known: notes.length === 0, notes };
  }
  const has = (key: string): boolean => config[key] !== undefined && config[key] !== null;
  const nearest = NEAREST.find(({ sign }) => sign.every(has))!;
  const missing = nearest.needs.find((key) => !has(key));
  const what = type === undefined ? 'no "model_type"' : `unknown model_type "${String(type)}"`;
  if (missing !== undefined) {
    throw new UserError(
      `config: ${what}, and no "${missing}" to take it for a ${nearest.family}`,
      `Known types: ${FAMILIES.flatMap((family) => family.types).join(", ")}.`,
    );
  }
  if (!FAMILIES.some((family) => family.types.includes(nearest.family))) {
    throw new UserError(
      `config: ${what}, and its nearest family ${nearest.family} is not built in`,
      `Known types: ${FAMILIES.flatMap((family) => family.types).join(", ")}.`,
    );
  }
  notes.push(`${what}: planned as a ${nearest.family}, by its keys`);
  return { config: { ...config, model_type: nearest.family }, known: false, notes };
}

function checkSizes(config: Config): void {
  for (const [key, most] of Object.entries(MOST)) {
    const value = config[key];
    if (value === undefined || value === null) continue;
    if (typeof value !== "number" || !Number.isInteger(value) || value < 1 || value > most) {
      throw new UserError(
        `config: "${key}" is ${typeof value === "number" ? String(value) : JSON.stringify(value)}`,
        `Expected a whole number from 1 to ${most.toLocaleString("en")}.`,
      );
    }
  }
  const width = config["n_embd"];
  const heads = config["n_head"];
  if (typeof width === "number" && typeof heads === "number" && width % heads !== 0) {
    throw new UserError(
      `config: "n_embd" ${width} is not a multiple of "n_head" ${heads}`,
      "Every head has the same size.",
    );
  }
}

/** The longest sequence the model has positions for, and the key that says so; null where none does. */
export function positions(config: Config): { readonly key: string; readonly value: number } | null {
  for (const key of ["max_position_embeddings", "n_positions"]) {
    const value = config[key];
    if (typeof value === "number") return { key, value };
  }
  return null;
}
