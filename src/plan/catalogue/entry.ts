import type { Config } from "../../nets/config.ts";

/** A published model's sizes, under each of the hub names that share them. */
export interface Entry {
  /** Hub names; "{a,b}" stands for either, as in a shell. */
  readonly names: readonly string[];
  readonly config: Config;
  /** Parameters as the model's own page or file index counts them; null where we have no such number. */
  readonly parameters: number | null;
}

/** hidden, feed-forward, layers, query heads, key/value heads, vocabulary, positions. */
export type Sizes = readonly [number, number, number, number, number, number, number];

/** The keys that llama and the families after it share. */
export function decoder(
  type: string,
  [hidden, inner, layers, heads, keys, vocabulary, positions]: Sizes,
  parameters: number | null,
  names: readonly string[],
  more: Config = {},
): Entry {
  return {
    names,
    parameters,
    config: {
      model_type: type,
      hidden_size: hidden,
      intermediate_size: inner,
      num_hidden_layers: layers,
      num_attention_heads: heads,
      num_key_value_heads: keys,
      vocab_size: vocabulary,
      max_position_embeddings: positions,
      tie_word_embeddings: false,
      ...more,
    },
  };
}

export const TIED: Config = { tie_word_embeddings: true };
