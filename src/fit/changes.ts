import type { Recipe } from "../plan/recipe.ts";

/** 0: the same numbers up to the order of sums. 1: rounded numbers. 2: the training itself is another. */
export type Grade = 0 | 1 | 2;

export const GRADES = ["exact", "approximate", "another training"] as const;

/** One lever moved from its place in a base recipe. */
export interface Change {
  /** "full gradient checkpointing". */
  readonly name: string;
  readonly grade: Grade;
  /** What it costs beside time, or why it costs nothing. */
  readonly gives: string;
  /** The recipe with this lever back in the base's place. */
  readonly undo: (recipe: Recipe) => Recipe;
}

/** Every lever in which `to` differs from `from`. Grades: see each one's source in docs/commands/fit.md. */
export function changesOf(from: Recipe, to: Recipe): Change[] {
  const changes: Change[] = [];
  const add = (name: string, grade: Grade, gives: string, undo: Change["undo"]): void => {
    changes.push({ name, grade, gives, undo });
  };
  const differ = (field: keyof Recipe): boolean => JSON.stringify(from[field]) !== JSON.stringify(to[field]);
  if (to.seq !== from.seq)
    add(`sequences of ${to.seq} instead of ${from.seq} tokens`, 2, "what is cut off is not seen", (r) => ({
      ...r,
      seq: from.seq,
    }));
  if (differ("checkpointing"))
    add(checkpointingName(to), 0, "layers are computed twice", (r) => ({
      ...r,
      checkpointing: from.checkpointing,
    }));
  if (differ("loss"))
    add(lossName(to), 0, "nothing: the same loss, a part of the logits at a time", (r) => ({
      ...r,
      loss: from.loss,
    }));
  if (to.batch !== from.batch)
    add(
      `micro-batch ${to.batch} × ${to.accumulation} instead of ${from.batch} × ${from.accumulation}`,
      0,
      "nothing where the loss is averaged over the step's tokens",
      (r) => ({ ...r, batch: from.batch, accumulation: from.accumulation }),
    );
  if (packed(to) !== packed(from))
    add("base weights in NF4", 1, "the frozen weights are rounded to 4 bits", (r) => ({
      ...r,
      method: from.method,
    }));
  if (autocastAdapters(to) !== autocastAdapters(from))
    add(
      "adapters computed under autocast",
      1,
      "their products are rounded as the model's own are; their weights stay fp32",
      (r) =>
        r.method.kind === "lora"
          ? { ...r, method: { ...r.method, adapter: { ...r.method.adapter, autocast: false } } }
          : r,
    );
  if (to.dtype !== from.dtype || to.autocast !== from.autocast)
    add(
      to.autocast === null ? `${to.dtype} weights` : `${to.autocast} autocast`,
      1,
      to.autocast === null ? "updates are rounded to 8 bits of mantissa" : "products in half precision",
      (r) => ({ ...r, dtype: from.dtype, autocast: from.autocast }),
    );
  if (from.mask && !to.mask)
    add(
      "rows packed with samples",
      2,
      "samples share a row: more of them in a step, and see each other",
      (r) => ({
        ...r,
        mask: true,
      }),
    );
  if (differ("attention"))
    add(`${to.attention} attention`, 0, "nothing", (r) => ({ ...r, attention: from.attention }));
  if (differ("optimizer"))
    add(
      to.optimizer.replaceAll("_", " "),
      to.optimizer.includes("8bit") && !from.optimizer.includes("8bit") ? 1 : 0,
      to.optimizer.includes("8bit") ? "moments are rounded to 8 bits" : "nothing",
      (r) => ({ ...r, optimizer: from.optimizer }),
    );
  if (to.optimizerOnHost && !from.optimizerOnHost)
    add("optimizer state in host memory", 0, "host memory and traffic", (r) => ({
      ...r,
      optimizerOnHost: false,
    }));
  if (to.optimizerInBackward && !from.optimizerInBackward)
    add("optimizer stepped inside backward", 0, "no accumulation", (r) => ({
      ...r,
      optimizerInBackward: false,
    }));
  if (from.clip && !to.clip)
    add("no clipping of gradients", 2, "a step with a large gradient is taken whole", (r) => ({
      ...r,
      clip: true,
    }));
  if (differ("parallel"))
    add(`${to.parallel.kind} over ${spread(to.parallel)}`, 0, "traffic between cards", (r) => ({
      ...r,
      parallel: from.parallel,
    }));
  if (to.allocConf !== from.allocConf)
    add("expandable segments", 0, "nothing measured", (r) => ({ ...r, allocConf: from.allocConf }));
  return changes;
}

const packed = ({ method }: Recipe): boolean => method.kind === "lora" && method.quantization !== null;

const autocastAdapters = ({ method }: Recipe): boolean =>
  method.kind === "lora" && method.adapter.autocast === true;

function spread({ ranks, nodes = 1, replicas = 1 }: Recipe["parallel"]): string {
  if (replicas > 1) return `${ranks} cards, a copy on each of ${replicas} nodes`;
  return `${ranks} cards${nodes > 1 ? ` of ${nodes} nodes` : ""}`;
}

export function gradeOf(changes: readonly Change[]): Grade {
  return Math.max(0, ...changes.map(({ grade }) => grade)) as Grade;
}

function checkpointingName({ checkpointing: { kind, every, reentrant, offload } }: Recipe): string {
  if (kind === "none") return "no checkpointing";
  if (kind === "selective") return "selective checkpointing";
  if (every > 1) return `checkpointing of one layer in ${every}`;
  if (offload) return "full gradient checkpointing, its inputs in host memory";
  return reentrant ? "full gradient checkpointing (reentrant)" : "full gradient checkpointing";
}

function lossName({ loss }: Recipe): string {
  switch (loss) {
    case "chunked":
      return "chunked cross-entropy";
    case "fused":
      return "Liger's fused cross-entropy";
    case "logprob":
      return "SFTTrainer's own loss";
    case "default":
      return "the model's own loss";
  }
}
