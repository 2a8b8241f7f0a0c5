import type { Config } from "../nets/config.ts";
import type { Recipe } from "../plan/recipe.ts";
import type { Place } from "./located.ts";

/** A text to read, by the name its places are shown with. */
export interface RecipeFile {
  readonly name: string;
  readonly text: string;
}

/** Text of a file named relative to the same folder as the one being read; null when there is none. */
export type Beside = (name: string) => string | null;

/** One part of the recipe as the file gives it. */
export interface Source {
  /** Path in the recipe: "batch", "method.adapter.rank". */
  readonly field: string;
  readonly value: unknown;
  /** The name the file uses: "per_device_train_batch_size". */
  readonly key: string;
  readonly place: Place;
}

/** One part of the recipe that the file does not settle. */
export interface Assumption {
  readonly field: string;
  readonly value: unknown;
  readonly why: string;
}

export interface ModelReference {
  /** A hub name, or the path of a config.json or of its folder, as the file writes it. */
  readonly name: string;
  /** Where the file holds the sizes themselves. */
  readonly config: Config | null;
  readonly place: Place;
}

/** What a file says about a training run. */
export interface RecipeReading {
  /** Whose file it is: "axolotl", "TRL's SFTTrainer". */
  readonly framework: string;
  /** Null for files that describe only how a run is spread (accelerate, DeepSpeed). */
  readonly model: ModelReference | null;
  /** Found and assumed fields together, ready to lay over DEFAULT_RECIPE. */
  readonly recipe: Partial<Omit<Recipe, "model">>;
  readonly found: readonly Source[];
  readonly assumed: readonly Assumption[];
  /** What the file asks for and plans do not model, or what it says twice. */
  readonly warnings: readonly string[];
}

/** The parts of a recipe that files set, by their path in it. */
export interface Facts {
  readonly model: string;
  readonly "method.kind": "full" | "lora";
  readonly "method.frozenLayers": number;
  readonly "method.adapter.rank": number;
  readonly "method.adapter.dropout": number;
  readonly "method.adapter.targets": readonly string[] | "all-linear";
  readonly "method.adapter.dora": boolean;
  readonly "method.quantization": boolean;
  readonly "method.quantization.type": "nf4" | "fp4";
  readonly "method.quantization.doubleQuant": boolean;
  readonly "method.quantization.computeDtype": Recipe["dtype"];
  readonly "method.quantization.prepared": boolean;
  readonly dtype: Recipe["dtype"];
  readonly autocast: Recipe["autocast"];
  readonly attention: Recipe["attention"];
  readonly "checkpointing.kind": Recipe["checkpointing"]["kind"];
  readonly "checkpointing.reentrant": boolean;
  readonly "checkpointing.every": number;
  readonly "checkpointing.offload": boolean;
  readonly loss: Recipe["loss"];
  readonly optimizer: Recipe["optimizer"];
  readonly optimizerOnHost: boolean;
  readonly optimizerInBackward: boolean;
  readonly clip: boolean;
  readonly batch: number;
  readonly seq: number;
  readonly accumulation: number;
  readonly mask: boolean;
  readonly "evaluation.batch": number;
  readonly "evaluation.keptLogits": number;
  readonly loop: Recipe["loop"];
  readonly "parallel.kind": Recipe["parallel"]["kind"];
  readonly "parallel.ranks": number;
  readonly "parallel.offload": boolean;
  readonly "parallel.nodes": number;
  readonly "parallel.replicas": number;
  readonly allocConf: string;
}

export type Field = keyof Facts;
