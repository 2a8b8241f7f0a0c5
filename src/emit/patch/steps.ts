import { loraLines, quantizationLines, TORCH_DTYPE } from "../settings.ts";
import { checkpointing } from "./checkpointing.ts";
import { addBefore } from "./edit.ts";
import { changeConstant, setKeyword } from "./keyword.ts";
import { quantization } from "./quantization.ts";
import { argument, type Edits, type Lever, off, type Stage, together } from "./stage.ts";
import { stepping } from "./stepping.ts";

/** The constant a field was read from, wherever that stands. */
function found({ reading, parts }: Stage, field: string, value: number): Edits {
  const source = reading.found.find((one) => one.field === field);
  return source ? changeConstant(source.place, value, parts) : null;
}

/** from_pretrained's keywords; SFTTrainer("name") takes them through model_init_kwargs. */
function loading({ parts, where }: Stage, keys: readonly string[], value: string): Edits {
  const key = keys.find((one) => parts.load?.made.args.has(one)) ?? keys[0]!;
  if (parts.load) return setKeyword(parts.load, key, value, parts, where);
  return parts.args?.made.args.has("model_init_kwargs")
    ? null
    : setKeyword(parts.args, "model_init_kwargs", { [key]: value.replace("torch.", "") }, parts, where);
}

function autocast(stage: Stage): Edits {
  const { parts, wanted, where } = stage;
  if (!parts.args)
    return wanted.autocast
      ? setKeyword(parts.autocast, "dtype", `torch.${TORCH_DTYPE[wanted.autocast]}`, parts, where)
      : setKeyword(parts.autocast, "enabled", false, parts, where);
  const other = wanted.autocast === "fp16" ? "bf16" : "fp16";
  const own = wanted.autocast ?? "bf16";
  return together(
    off(stage, parts.args, other),
    setKeyword(parts.args, own, wanted.autocast !== null, parts, where),
  );
}

function method(stage: Stage): Edits {
  const { parts, wanted, where, reading } = stage;
  const now = reading.recipe.method;
  if (wanted.method.kind !== "lora" || now?.kind !== "lora") return null;
  const { adapter } = wanted.method;
  const changed = (key: string): boolean =>
    ({
      r: adapter.rank !== now.adapter.rank,
      lora_dropout: adapter.dropout !== now.adapter.dropout,
      target_modules: JSON.stringify(adapter.targets) !== JSON.stringify(now.adapter.targets),
      use_dora: adapter.dora !== now.adapter.dora,
    })[key] ?? false;
  const lora = loraLines(wanted)
    .filter(({ key }) => changed(key))
    .map(({ key, value }) => setKeyword(parts.lora, key, value, parts, where));
  if (JSON.stringify(wanted.method.quantization) === JSON.stringify(now.quantization))
    return together(...lora);
  if (now.quantization && wanted.method.quantization)
    return together(
      ...lora,
      ...quantizationLines(wanted).map(({ key, value }) =>
        setKeyword(parts.quantization, key, value, parts, where),
      ),
    );
  return together(...lora, quantization(stage));
}

/** os.environ["PYTORCH_CUDA_ALLOC_CONF"] before anything that may start CUDA is imported. */
function allocator({ reading, parts, wanted }: Stage): Edits {
  const source = reading.found.find(({ field }) => field === "allocConf");
  if (source) return changeConstant(source.place, wanted.allocConf, parts);
  const { main } = parts.survey.program;
  const first = main.file.tree.module.body.find(
    (one) => one.kind === "Import" || (one.kind === "ImportFrom" && one.module !== "__future__"),
  );
  if (!first) return null;
  return addBefore(
    first,
    [
      "import os",
      "",
      "# Read when CUDA starts, so before anything touches the card.",
      `os.environ["PYTORCH_CUDA_ALLOC_CONF"] = ${JSON.stringify(wanted.allocConf)}`,
      "",
    ],
    main,
  );
}

function packing({ parts, wanted, where }: Stage): Edits {
  return wanted.loop === "sft" ? setKeyword(parts.args, "packing", !wanted.mask, parts, where) : null;
}

function length(stage: Stage): Edits {
  const { parts, wanted, where } = stage;
  const direct = found(stage, "seq", wanted.seq);
  if (direct || wanted.loop !== "sft") return direct;
  const key = parts.args?.made.args.has("max_seq_length") ? "max_seq_length" : "max_length";
  return setKeyword(parts.args, key, wanted.seq, parts, where);
}

/** Edits that bring one lever of the script to what is wanted. The order: what others are computed from comes first. */
export const STEPS: readonly (readonly [Lever, (stage: Stage) => Edits])[] = [
  ["method", method],
  ["dtype", (stage) => loading(stage, ["dtype", "torch_dtype"], `torch.${TORCH_DTYPE[stage.wanted.dtype]}`)],
  ["attention", (stage) => loading(stage, ["attn_implementation"], stage.wanted.attention)],
  ["autocast", autocast],
  ["checkpointing", checkpointing],
  ["loss", (stage) => argument(stage, "use_liger_kernel")],
  ["optimizer", stepping],
  ["clip", (stage) => argument(stage, "max_grad_norm")],
  ["mask", packing],
  ["seq", length],
  [
    "batch",
    (stage) =>
      stage.parts.args
        ? argument(stage, "per_device_train_batch_size")
        : found(stage, "batch", stage.wanted.batch),
  ],
  [
    "accumulation",
    (stage) =>
      stage.parts.args
        ? argument(stage, "gradient_accumulation_steps")
        : found(stage, "accumulation", stage.wanted.accumulation),
  ],
  ["evaluation", () => null],
  ["optimizerOnHost", () => null],
  ["optimizerInBackward", () => null],
  ["parallel", () => null],
  ["allocConf", allocator],
];
