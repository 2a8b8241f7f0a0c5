import type { Recipe } from "../plan/recipe.ts";
import { checkpointingKind } from "./emitter.ts";
import { keywords, type Line, python } from "./lines.ts";
import { checkpointingWhy, loraLines, quantizationLines, TORCH_DTYPE } from "./settings.ts";

/** Parts of a Python script that loads the model as planned. */
export function head(recipe: Recipe, imports: readonly string[]): string {
  const environment =
    recipe.allocConf === ""
      ? []
      : [
          "# Read when CUDA starts, so before anything touches the card.",
          `os.environ["PYTORCH_CUDA_ALLOC_CONF"] = ${JSON.stringify(recipe.allocConf)}`,
          "",
        ];
  return [
    '"""Written by plimsoll fit. Usage: python train.py DATASET, with a "text" column."""',
    "",
    ...(recipe.allocConf === "" ? [] : ["import os"]),
    "import sys",
    "",
    ...environment,
    "import torch",
    "from datasets import load_dataset",
    ...imports,
    "",
  ].join("\n");
}

export const peftImport = ({ method }: Recipe, names: string): string[] =>
  method.kind === "lora" ? [`from peft import ${names}`] : [];

export const transformersImport = (recipe: Recipe, names: readonly string[]): string => {
  const quantized = recipe.method.kind === "lora" && recipe.method.quantization !== null;
  const all = [...names, ...(quantized ? ["BitsAndBytesConfig"] : [])].toSorted();
  return `from transformers import ${all.join(", ")}`;
};

/** `model = AutoModelForCausalLM.from_pretrained(…)`, with `more` arguments. */
export function loading(recipe: Recipe, more: readonly string[] = []): string {
  const lines: Line[] = [
    {
      key: "dtype",
      value: `torch.${TORCH_DTYPE[recipe.dtype]!}`,
      why: "type the weights are held in",
    },
    {
      key: "attn_implementation",
      value: recipe.attention,
      why:
        recipe.attention === "eager" ? "as asked for" : "attention that never holds the whole score matrix",
    },
  ];
  const quantization = quantizationLines(recipe);
  const config =
    quantization.length > 0
      ? `    # QLoRA: the frozen weights are packed, the adapters are not.\n    quantization_config=BitsAndBytesConfig(\n${keywords(quantization, "        ")}\n    ),\n`
      : "";
  const others = more.map((one) => `    ${one},\n`).join("");
  return `model = AutoModelForCausalLM.from_pretrained(\n    ${python(recipe.model.name)},\n${keywords(lines)}\n${config}${others})`;
}

/** Checkpointing of some layers only, which a trainer's arguments cannot say. */
export function someLayers(recipe: Recipe): string[] {
  if (checkpointingKind(recipe.checkpointing) !== "every") return [];
  return [
    `# ${checkpointingWhy(recipe)}`,
    "model.gradient_checkpointing_enable(",
    `    gradient_checkpointing_kwargs={"use_reentrant": False}, every_n_layers=${recipe.checkpointing.every}`,
    ")",
    ...(recipe.method.kind === "lora"
      ? [
          "# Frozen embeddings: without this nothing in a checkpointed layer would require a gradient.",
          "model.enable_input_require_grads()",
        ]
      : []),
  ];
}

export function lora(recipe: Recipe): string {
  return `LoraConfig(\n${keywords([...loraLines(recipe), { key: "task_type", value: "CAUSAL_LM", why: "a language model" }])}\n)`;
}
