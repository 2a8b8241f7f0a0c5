import type { PlanResult } from "../plan/result.ts";

/** "7.62 B", "323 M", "124 M". */
export function formatCount(count: number): string {
  const [value, unit] =
    count >= 1e9 ? [count / 1e9, "B"] : count >= 1e6 ? [count / 1e6, "M"] : [count / 1e3, "k"];
  return `${value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0)} ${unit}`;
}

/** The recipe in one line: only what was chosen and what matters. */
export function recipeWords({ recipe }: Pick<PlanResult, "recipe">): string {
  const { method, checkpointing } = recipe;
  return [
    methodWords(method),
    recipe.dtype + (recipe.autocast ? ` under ${recipe.autocast} autocast` : ""),
    recipe.attention === "sdpa" ? "" : `${recipe.attention} attention`,
    recipe.optimizer.replaceAll("_", " ") +
      (recipe.optimizerOnHost ? " in host memory" : "") +
      (recipe.optimizerInBackward ? " inside backward" : ""),
    `${recipe.batch} × ${recipe.seq} tokens`,
    recipe.accumulation > 1 ? `${recipe.accumulation} accumulated` : "",
    recipe.labelled < 1 ? `${Number((100 * recipe.labelled).toPrecision(3))} % labelled` : "",
    recipe.logitsToKeep === null ? "" : `logits of the last ${recipe.logitsToKeep}`,
    recipe.loss === "default" ? "" : `${recipe.loss} loss`,
    checkpointing.kind === "none" ? "no checkpointing" : checkpointingWords(checkpointing),
    recipe.clip ? "" : "no clipping",
    recipe.evaluation ? `evaluation of ${recipe.evaluation.batch} at a time` : "",
    { plain: "", trainer: "Trainer", sft: "SFTTrainer" }[recipe.loop],
    recipe.parallel.kind === "none" ? "" : parallelWords(recipe.parallel),
    recipe.allocConf,
  ]
    .filter(Boolean)
    .join(", ");
}

function methodWords(method: PlanResult["recipe"]["method"]): string {
  switch (method.kind) {
    case "full":
      return method.frozenLayers > 0 ? `full training above layer ${method.frozenLayers}` : "full training";
    case "qat":
      return `quantisation-aware ${method.adapter ? `LoRA r${method.adapter.rank}` : "training"} at ${method.bits.join(", ")} bits`;
    case "lora": {
      const { rank, targets, dora, nonlinearity, dropout, autocast } = method.adapter;
      const name = `${method.quantization ? "Q" : ""}${dora ? "DoRA" : "LoRA"}`;
      const where = targets === "all-linear" ? "all linear layers" : targets.join(", ");
      return `${name} r${rank} on ${where}${dropout > 0 ? `, dropout ${dropout}` : ""}${
        nonlinearity === "none" ? "" : `, ${nonlinearity}`
      }${autocast ? ", computed under autocast" : ""}${method.quantization ? ` (${method.quantization.type}${method.quantization.doubleQuant ? ", double" : ""})` : ""}`;
    }
  }
}

const SPREAD: Readonly<Record<PlanResult["recipe"]["parallel"]["kind"], string>> = {
  none: "",
  ddp: "DDP",
  zero1: "ZeRO-1",
  zero2: "ZeRO-2",
  zero3: "ZeRO-3",
  fsdp2: "FSDP2",
  tensor: "tensor parallel",
  pipeline: "pipeline (1F1B)",
};

function parallelWords({
  kind,
  ranks,
  offload,
  nodes = 1,
  replicas = 1,
}: PlanResult["recipe"]["parallel"]): string {
  const over = ranks === 1 ? "one card" : `${ranks} cards`;
  const where =
    replicas > 1 ? ` of a node, a copy on each of ${replicas}` : nodes > 1 ? ` of ${nodes} nodes` : "";
  return `${SPREAD[kind]} over ${over}${where}${offload ? ", offloaded to host memory" : ""}`;
}

function checkpointingWords({
  kind,
  every,
  reentrant,
  offload,
}: PlanResult["recipe"]["checkpointing"]): string {
  if (kind === "selective") return "selective checkpointing";
  if (every > 1) return `every ${every}th layer checkpointed`;
  return `${reentrant ? "reentrant" : "full"} checkpointing${offload ? ", offloaded" : ""}`;
}
