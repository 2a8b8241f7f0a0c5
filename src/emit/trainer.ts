import { checkpointingKind, type Emitter, unsayable, type Vocabulary } from "./emitter.ts";
import { keywords } from "./lines.ts";
import { head, loading, lora, peftImport, someLayers, transformersImport } from "./script.ts";
import { OPTIM, trainerLines } from "./settings.ts";

/** transformers 5.17, training_args.py and trainer.py. */
const CAN: Vocabulary = {
  loop: "trainer",
  optimizers: OPTIM,
  checkpointings: ["none", "full", "reentrant", "every"],
  losses: ["default", "fused"],
  inBackward: false,
  prepares: false,
  // The launcher's file says how: --emit accelerate.
  spread: ["none", "ddp", "zero1", "zero2", "zero3", "fsdp2"],
};

export const trainer: Emitter = {
  name: "trainer",
  summary: "a script with transformers' Trainer, PEFT and bitsandbytes",
  loop: "trainer",
  cannot: (recipe) => unsayable(recipe, CAN),
  files: (recipe) => {
    const collator = recipe.mask ? "DataCollatorForLanguageModeling" : "DataCollatorWithFlattening";
    const kind = checkpointingKind(recipe.checkpointing);
    const args = [
      { key: "output_dir", value: "out", why: "checkpoints go here" },
      ...trainerLines(recipe),
      ...(kind === "every"
        ? [
            {
              key: "gradient_checkpointing",
              value: false,
              why: "it is on already, for the layers chosen above",
            },
          ]
        : []),
    ];
    return [
      {
        name: "train.py",
        text: [
          head(recipe, [
            ...peftImport(recipe, "LoraConfig, get_peft_model"),
            transformersImport(recipe, [
              "AutoModelForCausalLM",
              "AutoTokenizer",
              collator,
              "Trainer",
              "TrainingArguments",
            ]),
          ]),
          loading(recipe),
          ...someLayers(recipe),
          ...(recipe.method.kind === "lora" ? [`model = get_peft_model(model, ${lora(recipe)})`] : []),
          "",
          `tokenizer = AutoTokenizer.from_pretrained(${JSON.stringify(recipe.model.name)})`,
          'dataset = load_dataset(sys.argv[1], split="train")',
          "dataset = dataset.map(",
          `    lambda row: tokenizer(row["text"], truncation=True, max_length=${recipe.seq}),`,
          "    remove_columns=dataset.column_names,",
          ")",
          "",
          `args = TrainingArguments(\n${keywords(args)}\n)`,
          "",
          "trainer = Trainer(",
          "    model=model,",
          "    args=args,",
          "    train_dataset=dataset,",
          recipe.mask
            ? "    data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),"
            : "    # Samples end to end in one row: no padding and no mask.\n    data_collator=DataCollatorWithFlattening(),",
          ")",
          "trainer.train()",
          "trainer.save_model()",
          "",
        ].join("\n"),
      },
    ];
  },
};
