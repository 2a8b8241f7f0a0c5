import type { OptimizerName } from "../optimizers/optimizers.ts";
import type { Loop, Recipe } from "../plan/recipe.ts";

export interface EmittedFile {
  readonly name: string;
  readonly text: string;
}

/** Files in the words of one training stack. */
export interface Emitter {
  readonly name: string;
  readonly summary: string;
  /** The loop its runs have; null: whatever the run is, the file is only a part of it. */
  readonly loop: Loop | null;
  /** What its runs do whether or not they are told. */
  readonly always?: Partial<Pick<Recipe, "autocast">>;
  /** Why the recipe cannot be said in this stack's words; null when it can. */
  readonly cannot: (recipe: Recipe) => string | null;
  readonly files: (recipe: Recipe) => readonly EmittedFile[];
  /** What the files leave to the user. */
  readonly notes?: (recipe: Recipe) => readonly string[];
}

/** What a stack can be told. */
export interface Vocabulary {
  readonly loop: Loop;
  /** Its names for optimizers, where it has one. */
  readonly optimizers: Partial<Record<OptimizerName, string>>;
  readonly checkpointings: readonly CheckpointingKind[];
  readonly losses: readonly Recipe["loss"][];
  readonly inBackward: boolean;
  readonly onHost?: boolean;
  readonly autocastAdapters?: boolean;
  /** It calls prepare_model_for_kbit_training on 4-bit weights; null: as it is told. */
  readonly prepares: boolean | null;
  readonly spread: readonly Recipe["parallel"]["kind"][];
}

export type CheckpointingKind = "none" | "full" | "reentrant" | "every" | "selective" | "offload";

export function checkpointingKind({
  kind,
  reentrant,
  every,
  offload,
}: Recipe["checkpointing"]): CheckpointingKind {
  if (kind === "none") return "none";
  if (kind === "selective") return "selective";
  if (offload) return "offload";
  if (every > 1) return "every";
  return reentrant ? "reentrant" : "full";
}

/** The first part of a recipe that a stack has no words for. */
export function unsayable(recipe: Recipe, can: Vocabulary): string | null {
  const { method, loop, optimizer, parallel } = recipe;
  const checkpointing = checkpointingKind(recipe.checkpointing);
  if (loop !== can.loop) return `it runs a ${can.loop} loop, not a ${loop} one`;
  if (method.kind === "qat") return "quantisation-aware training";
  if (method.kind === "full" && method.frozenLayers > 0) return "frozen layers";
  if (method.kind === "lora" && method.adapter.nonlinearity !== "none") return "a non-linearity in LoRA";
  if (method.kind === "lora" && method.adapter.autocast && !can.autocastAdapters)
    return "adapters that compute under autocast";
  const prepared = method.kind === "lora" && method.quantization ? method.quantization.prepared : null;
  if (prepared !== null && can.prepares !== null && prepared !== can.prepares)
    return `4-bit weights ${prepared ? "after" : "without"} prepare_model_for_kbit_training`;
  if (can.optimizers[optimizer] === undefined) return `the optimizer ${optimizer}`;
  if (recipe.optimizerOnHost && !can.onHost) return "an optimizer in host memory";
  if (recipe.optimizerInBackward && !can.inBackward) return "an optimizer stepped inside backward";
  if (!can.checkpointings.includes(checkpointing)) return `checkpointing of kind "${checkpointing}"`;
  if (!can.losses.includes(recipe.loss)) return `the ${recipe.loss} loss`;
  if (!can.spread.includes(parallel.kind)) return `a run spread by ${parallel.kind}`;
  if (recipe.evaluation !== null || recipe.logitsToKeep !== null) return "evaluation settings";
  return null;
}
