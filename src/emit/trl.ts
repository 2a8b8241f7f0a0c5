import type { Recipe } from "../plan/recipe.ts";
import { checkpointingKind, type Emitter, unsayable, type Vocabulary } from "./emitter.ts";
import { keywords, type Line } from "./lines.ts";
import { head, loading, lora, peftImport, someLayers, transformersImport } from "./script.ts";
import { OPTIM, trainerLines } from "./settings.ts";

/** trl 1.16, sft_config.py and sft_trainer.py. Its own loss already takes the logits a chunk at a time. */
const CAN: Vocabulary = {
  loop: "sft",
  optimizers: OPTIM,
  checkpointings: ["none", "full", "reentrant", "every", "selective", "offload"],
  losses: ["default"],
  inBackward: false,
  prepares: false,
  // The launcher's file says how: --emit accelerate.
  spread: ["none", "ddp", "zero1", "zero2", "zero3", "fsdp2"],
};

function lines(recipe: Recipe): Line[] {
  const kind = checkpointingKind(recipe.checkpointing);
  return [
    { key: "output_dir", value: "out", why: "checkpoints go here" },
    { key: "max_length", value: recipe.seq, why: "tokens in a sequence; SFTConfig would cut at 1024" },
    {
      key: "packing",
      value: !recipe.mask,
      why: recipe.mask ? "one sample a row, padded" : "rows are filled with samples: no padding, no mask",
    },
    ...trainerLines(recipe),
    ...(kind === "every"
      ? [
          {
            key: "gradient_checkpointing",
            value: false,
            why: "it is on already, for the layers chosen above; SFTConfig would turn it on for all",
          },
        ]
      : []),
    ...(kind === "offload"
      ? [
          {
            key: "activation_offloading",
            value: true,
            why: "layer inputs wait in host memory until backward",
          },
        ]
      : []),
  ];
}

export const trl: Emitter = {
  name: "trl",
  summary: "a script with TRL's SFTTrainer, PEFT and bitsandbytes",
  loop: "sft",
  cannot: (recipe) => unsayable(recipe, CAN),
  files: (recipe) => [
    {
      name: "train.py",
      text: [
        head(recipe, [
          ...peftImport(recipe, "LoraConfig"),
          transformersImport(recipe, ["AutoModelForCausalLM"]),
          "from trl import SFTConfig, SFTTrainer",
        ]),
        loading(recipe),
        ...someLayers(recipe),
        "",
        `args = SFTConfig(\n${keywords(lines(recipe))}\n)`,
        "",
        ...(recipe.method.kind === "lora" ? [`peft_config = ${lora(recipe)}`, ""] : []),
        "trainer = SFTTrainer(",
        "    model=model,",
        "    args=args,",
        '    train_dataset=load_dataset(sys.argv[1], split="train"),',
        ...(recipe.method.kind === "lora" ? ["    peft_config=peft_config,"] : []),
        ")",
        "trainer.train()",
        "trainer.save_model()",
        "",
      ].join("\n"),
    },
  ],
};
