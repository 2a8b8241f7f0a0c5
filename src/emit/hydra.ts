import type { Recipe } from "../plan/recipe.ts";
import { type Emitter, unsayable, type Vocabulary } from "./emitter.ts";
import { type Line, yaml } from "./lines.ts";
import { loraLines, OPTIM, quantizationLines, TORCH_DTYPE, trainerLines } from "./settings.ts";

const CAN: Vocabulary = {
  loop: "trainer",
  optimizers: OPTIM,
  checkpointings: ["none", "full", "reentrant"],
  losses: ["default", "fused"],
  inBackward: false,
  prepares: false,
  spread: ["none", "ddp"],
};

function parts(recipe: Recipe): string {
  const top: Line[] = [
    { key: "model_name_or_path", value: recipe.model.name, why: "the model that was planned" },
    { key: "torch_dtype", value: TORCH_DTYPE[recipe.dtype]!, why: "type the weights are held in" },
    { key: "attn_implementation", value: recipe.attention, why: "as planned" },
    { key: "max_seq_length", value: recipe.seq, why: "tokens in a sequence" },
  ];
  const adapter = loraLines(recipe);
  const quantization = quantizationLines(recipe).map((line) => ({
    ...line,
    value: typeof line.value === "string" ? line.value.replace("torch.", "") : line.value,
  }));
  const section = (name: string, target: string, lines: readonly Line[]): string =>
    lines.length === 0 ? "" : `${name}:\n  _target_: ${target}\n${yaml(lines, "  ")}`;
  return [
    "defaults:\n  - _self_\n",
    yaml(top),
    section("lora", "peft.LoraConfig", adapter),
    section("quantization", "transformers.BitsAndBytesConfig", quantization),
    section("training", "transformers.TrainingArguments", [
      { key: "output_dir", value: "./out", why: "checkpoints go here" },
      ...trainerLines(recipe),
    ]),
  ].join("");
}

export const hydra: Emitter = {
  name: "hydra",
  summary: "a Hydra config whose sections instantiate PEFT's and transformers' classes",
  loop: "trainer",
  cannot: (recipe) => (recipe.mask ? "a padding mask" : unsayable(recipe, CAN)),
  files: (recipe) => [
    {
      name: "config.yaml",
      text: `# Written by plimsoll fit. Usage: hydra.utils.instantiate(cfg.training), and so on.\n${parts(recipe)}`,
    },
  ],
};
