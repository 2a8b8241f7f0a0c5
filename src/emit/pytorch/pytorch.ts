import { OPTIMIZERS } from "../../optimizers/optimizers.ts";
import type { Recipe } from "../../plan/recipe.ts";
import { checkpointingKind, type Emitter, unsayable, type Vocabulary } from "../emitter.ts";
import { loading, lora } from "../script.ts";
import { batchWhy, checkpointingWhy, TORCH_DTYPE } from "../settings.ts";
import { ownLoss } from "./loss.ts";
import { stepping } from "./optimizer.ts";

const CAN: Vocabulary = {
  loop: "plain",
  optimizers: Object.fromEntries(Object.keys(OPTIMIZERS).map((name) => [name, name])),
  checkpointings: ["none", "full", "reentrant", "every", "selective", "offload"],
  losses: ["default", "chunked", "fused"],
  inBackward: true,
  onHost: true,
  autocastAdapters: true,
  prepares: null,
  spread: ["none"],
};

/** Families whose head is model.lm_head over model.model: what a loss of the script's own needs. */
const OWN_HEAD = /^(?:llama|mistral|mixtral|qwen2|qwen3|qwen3_moe|phi3|olmo2|starcoder2|stablelm|gemma)$/;

const autocastAdapters = ({ method }: Recipe): boolean =>
  method.kind === "lora" && method.adapter.autocast === true;

/** What the forward is cast to, for the model's sake or its adapters'. */
const castOf = (recipe: Recipe): Recipe["dtype"] | null =>
  recipe.autocast ?? (autocastAdapters(recipe) ? recipe.dtype : null);

function cannot(recipe: Recipe): string | null {
  const { checkpointing, attention, loss, model } = recipe;
  const type = String(model.config["model_type"]);
  if (castOf(recipe) === "fp16") return "fp16 autocast, which needs a gradient scaler";
  if (checkpointing.kind === "selective" && attention !== "sdpa")
    return `selective checkpointing of ${attention} attention`;
  if ((loss === "chunked" || loss === "fused") && !OWN_HEAD.test(type))
    return `the ${loss} loss of ${type} models`;
  return unsayable(recipe, CAN);
}

function checkpointing(recipe: Recipe): { imports: string[]; code: string[] } {
  const { every, reentrant } = recipe.checkpointing;
  const kind = checkpointingKind(recipe.checkpointing);
  if (kind === "none") return { imports: [], code: [] };
  const kwargs = `{"use_reentrant": ${reentrant ? "True" : "False"}${kind === "selective" ? ', "context_fn": contexts' : ""}}`;
  const more = (every > 1 ? `, every_n_layers=${every}` : "") + (kind === "offload" ? ", offload=True" : "");
  const enable = [
    `# ${checkpointingWhy(recipe)}`,
    `model.gradient_checkpointing_enable(gradient_checkpointing_kwargs=${kwargs}${more})`,
  ];
  if (kind !== "selective") return { imports: [], code: enable };
  return {
    imports: ["from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts"],
    code: [
      "# Attention is the dearest to compute again: its results are kept.",
      'KERNELS = ("cudnn", "flash", "efficient")',
      'KEPT = {getattr(torch.ops.aten, f"_scaled_dot_product_{name}_attention").default for name in KERNELS}',
      "",
      "",
      "def policy(context, op, *args, **kwargs):",
      "    return CheckpointPolicy.MUST_SAVE if op in KEPT else CheckpointPolicy.PREFER_RECOMPUTE",
      "",
      "",
      "def contexts():",
      "    return create_selective_checkpoint_contexts(policy)",
      "",
      "",
      ...enable,
    ],
  };
}

/** Rows of tokens: filled end to end, or one line of text each with a mask for what is left. */
const data = ({ mask }: Recipe): string[] =>
  mask
    ? [
        "# One line a row, padded; the mask says what is text.",
        "lines = [line for line in open(sys.argv[1]) if line.strip()]",
        "tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token",
        'rows = tokenizer(lines, truncation=True, padding="max_length", max_length=SEQ_LEN, return_tensors="pt")',
        'rows = list(zip(rows["input_ids"], rows["attention_mask"]))',
      ]
    : [
        "# The text end to end, in rows of full length: no padding and no mask.",
        'tokens = torch.tensor(tokenizer(open(sys.argv[1]).read())["input_ids"])',
        "rows = tokens[: len(tokens) // SEQ_LEN * SEQ_LEN].view(-1, SEQ_LEN)",
      ];

function loop(recipe: Recipe, step: readonly string[], own: boolean): string[] {
  const { mask, accumulation } = recipe;
  const autocast = castOf(recipe);
  const call = own
    ? `loss_of(ids${mask ? ", attention_mask=attention_mask" : ""})`
    : mask
      ? "model(input_ids=ids, attention_mask=attention_mask, labels=ids.masked_fill(attention_mask == 0, -100)).loss"
      : "model(input_ids=ids, labels=ids).loss";
  const indent = (lines: readonly string[]): string[] => lines.map((line) => `    ${line}`);
  const forward = autocast
    ? [`with torch.autocast(DEVICE, dtype=torch.${TORCH_DTYPE[autocast]}):`, `    loss = ${call}`]
    : [`loss = ${call}`];
  const taken =
    accumulation > 1 && step.length > 0
      ? ["if (step + 1) % ACCUMULATION_STEPS == 0:", ...indent(step)]
      : [...step];
  return [
    mask ? "for step, (ids, attention_mask) in enumerate(loader):" : "for step, ids in enumerate(loader):",
    ...indent([
      mask ? "ids, attention_mask = ids.to(DEVICE), attention_mask.to(DEVICE)" : "ids = ids.to(DEVICE)",
      ...forward,
      accumulation > 1 ? "(loss / ACCUMULATION_STEPS).backward()" : "loss.backward()",
      ...taken,
      "print(step, loss.item())",
    ]),
  ];
}

function script(recipe: Recipe): string {
  const { method } = recipe;
  const quantization = method.kind === "lora" ? method.quantization : null;
  const steps = stepping(recipe);
  const loss = ownLoss(recipe);
  const saved = checkpointing(recipe);
  const peft = [
    ...(method.kind === "lora" ? ["LoraConfig", "get_peft_model"] : []),
    ...(quantization?.prepared ? ["prepare_model_for_kbit_training"] : []),
  ];
  const classes = ["AutoModelForCausalLM", "AutoTokenizer", ...(quantization ? ["BitsAndBytesConfig"] : [])];
  const imports = [
    steps.import,
    "import torch",
    peft.length > 0 ? `from peft import ${peft.join(", ")}` : null,
    autocastAdapters(recipe) ? "from peft.tuners.tuners_utils import BaseTunerLayer" : null,
    ...(loss?.imports ?? []),
    ...saved.imports,
    "from torch.utils.data import DataLoader",
    `from transformers import ${classes.join(", ")}`,
  ].filter((line) => line !== null);
  return [
    '"""Written by plimsoll fit. Usage: python train.py TEXT_FILE"""',
    "",
    ...(recipe.allocConf === ""
      ? ["import sys", ""]
      : [
          "import os",
          "import sys",
          "",
          "# Read when CUDA starts, so before anything touches the card.",
          `os.environ["PYTORCH_CUDA_ALLOC_CONF"] = ${JSON.stringify(recipe.allocConf)}`,
          "",
        ]),
    ...imports,
    "",
    'DEVICE = "cuda" if torch.cuda.is_available() else "cpu"',
    "# Tokens in a sequence.",
    `SEQ_LEN = ${recipe.seq}`,
    `# Micro-batch: ${batchWhy(recipe)}.`,
    `BATCH = ${recipe.batch}`,
    ...(recipe.accumulation > 1
      ? [
          "# Micro-batches whose gradients are added up before a step.",
          `ACCUMULATION_STEPS = ${recipe.accumulation}`,
        ]
      : []),
    "# Yours to choose.",
    `LEARNING_RATE = ${method.kind === "lora" ? "2e-4" : "1e-5"}`,
    "",
    // Where weights are packed, loading places them; others are moved.
    quantization ? loading(recipe, ["device_map=DEVICE"]) : `${loading(recipe)}.to(DEVICE)`,
    ...(quantization?.prepared
      ? [
          "# The weights that are not packed, in fp32.",
          "model = prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)",
        ]
      : []),
    ...(method.kind === "lora" ? [`model = get_peft_model(model, ${lora(recipe)})`] : []),
    ...(autocastAdapters(recipe)
      ? [
          "# Adapters stay in fp32 and compute in the model's type: autocast casts them, and PEFT leaves their inputs alone.",
          "for module in model.modules():",
          "    if isinstance(module, BaseTunerLayer):",
          "        module.cast_input_dtype_enabled = False",
        ]
      : []),
    ...saved.code,
    "model.train()",
    "trained = [p for p in model.parameters() if p.requires_grad]",
    "",
    `tokenizer = AutoTokenizer.from_pretrained(${JSON.stringify(recipe.model.name)})`,
    ...data(recipe),
    "loader = DataLoader(rows, batch_size=BATCH, shuffle=True, drop_last=True)",
    "",
    ...(loss ? [...loss.setup, "", ""] : []),
    ...steps.setup,
    "",
    ...loop(recipe, steps.step, loss !== null),
    'model.save_pretrained("out")',
    "",
  ].join("\n");
}

export const pytorch: Emitter = {
  name: "pytorch",
  summary: "a script with a loop of its own: what no trainer can be told",
  loop: "plain",
  cannot,
  files: (recipe) => [{ name: "train.py", text: script(recipe) }],
};
