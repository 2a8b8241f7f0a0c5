import { takeDeepSpeed } from "./configs/deepspeed.ts";
import { takeFsdpConfig } from "./configs/accelerate.ts";
import type { Draft } from "./draft.ts";
import { type Located, type Table, Unread, isList, isTable, placeText } from "./located.ts";
import { takeOptimizerName } from "./optimizers.ts";
import { folderOf, joinPath } from "./paths.ts";
import type { Beside } from "./reading.ts";
import { CLIP, COUNT, FLAG } from "./words.ts";
import { readYaml } from "./yaml.ts";

/** Whose arguments: their defaults differ. "trl": a config of another of TRL's trainers. */
export type ArgumentsKind = "trainer" | "sft" | "trl";

const OWNERS: Readonly<Record<ArgumentsKind, string>> = {
  trainer: "TrainingArguments",
  sft: "SFTConfig",
  trl: "TRL's configs",
};

/** Keys of transformers.TrainingArguments (5.17, training_args.py) and trl.SFTConfig (1.16, sft_config.py). */
export function takeTrainerArguments(draft: Draft, args: Table, kind: ArgumentsKind, beside: Beside): void {
  const unset = `not set: the default of ${OWNERS[kind]}`;
  draft.take("batch", "per_device_train_batch_size", args.get("per_device_train_batch_size"), COUNT, 8);
  draft.assume("batch", 8, unset);
  draft.take(
    "accumulation",
    "gradient_accumulation_steps",
    args.get("gradient_accumulation_steps"),
    COUNT,
    1,
  );
  takeOptimizerName(draft, "optim", args.get("optim"));
  // With PyTorch 2.8 or later.
  draft.assume("optimizer", "adamw_fused", unset);
  draft.take("clip", "max_grad_norm", args.get("max_grad_norm"), CLIP, true);
  draft.assume("clip", true, `${unset}, 1.0`);
  takePrecision(draft, args, kind);
  takeCheckpointing(draft, args, kind);
  takeLoss(draft, args, kind);
  if (kind === "sft") takeSftLengths(draft, args);
  takeSpread(draft, args, beside);
  takeEvaluation(draft, args);
  if (FLAG.read(args.get("auto_find_batch_size")?.value ?? false))
    draft.warn(
      "auto_find_batch_size halves the batch after each failure: the first batch is planned",
      args.get("auto_find_batch_size")!.place,
    );
  if (FLAG.read(args.get("torch_compile")?.value ?? false))
    draft.warn(
      "torch_compile is not modelled: the plan is of eager execution",
      args.get("torch_compile")!.place,
    );
}

function takePrecision(draft: Draft, args: Table, kind: ArgumentsKind): void {
  for (const [key, type] of [
    ["bf16", "bf16"],
    ["fp16", "fp16"],
  ] as const) {
    const at = args.get(key);
    if (!at) continue;
    if (at.value instanceof Unread) {
      const on = at.value.guess ? FLAG.read(at.value.guess.value) : undefined;
      // Two arguments that exclude each other: a guess that one is off says nothing about the other.
      if (on !== false) draft.assume("autocast", type, `${key} (${placeText(at.place)}): ${at.value.why}`);
    } else if (FLAG.read(at.value) || at.value === "auto") draft.set("autocast", type, key, at.place);
  }
  if (draft.has("autocast")) return;
  const off = args.get("bf16");
  if (off && off.value === false) return draft.set("autocast", null, "bf16", off.place);
  // trl/trainer/base_config.py: bf16 unless fp16 is asked for.
  if (kind !== "trainer") draft.assume("autocast", "bf16", `not set: the default of ${OWNERS[kind]}`);
  else draft.assume("autocast", null, "neither bf16 nor fp16 is set: no mixed precision");
}

function takeCheckpointing(draft: Draft, args: Table, kind: ArgumentsKind): void {
  const at = args.get("gradient_checkpointing");
  draft.take(
    "checkpointing.kind",
    "gradient_checkpointing",
    at,
    {
      read: (value) => (FLAG.read(value) === undefined ? undefined : FLAG.read(value) ? "full" : "none"),
      expected: FLAG.expected,
    },
    kind === "trainer" ? "none" : "full",
  );
  // trl/trainer/base_config.py turns it on.
  if (kind !== "trainer")
    draft.assume("checkpointing.kind", "full", `not set: the default of ${OWNERS[kind]}`);
  const kwargs = args.get("gradient_checkpointing_kwargs");
  if (kwargs && isTable(kwargs.value)) takeCheckpointingKwargs(draft, kwargs.value);
  else if (kwargs?.value instanceof Unread)
    draft.warn(`gradient_checkpointing_kwargs: ${kwargs.value.why}; non-reentrant is assumed`, kwargs.place);
  const offload = args.get("activation_offloading");
  draft.take("checkpointing.offload", "activation_offloading", offload, FLAG, false);
  if (draft.get("checkpointing.offload") && draft.get("checkpointing.kind") === "none")
    draft.warn("activations are offloaded without checkpointing, which plans do not model", offload?.place);
}

/** transformers' gradient_checkpointing_enable (every_n_layers, offload), torch's use_reentrant, TRL's selective. */
export function takeCheckpointingKwargs(draft: Draft, kwargs: Table): void {
  draft.take("checkpointing.reentrant", "use_reentrant", kwargs.get("use_reentrant"), FLAG, false);
  draft.take("checkpointing.every", "every_n_layers", kwargs.get("every_n_layers"), COUNT, 1);
  draft.take("checkpointing.offload", "offload", kwargs.get("offload"), FLAG, false);
  const selective = kwargs.get("selective");
  if (selective && FLAG.read(selective.value) && draft.get("checkpointing.kind") !== "none")
    draft.replace("checkpointing.kind", "selective", "selective", selective.place);
}

function takeLoss(draft: Draft, args: Table, kind: ArgumentsKind): void {
  const liger = args.get("use_liger_kernel");
  if (!liger || !FLAG.read(liger.value)) return;
  // SFTTrainer 1.16 keeps its own loss and applies Liger's layer kernels alone (sft_trainer.py).
  if (kind === "sft")
    draft.warn(
      "use_liger_kernel patches layers only under SFTTrainer: its kernels are not modelled",
      liger.place,
    );
  else draft.set("loss", "fused", "use_liger_kernel", liger.place);
}

export function takeSftLengths(draft: Draft, args: Table): void {
  // Renamed in TRL 0.20; older scripts still say max_seq_length.
  for (const key of ["max_length", "max_seq_length"]) {
    const at = args.get(key);
    if (at?.value === null)
      draft.assume("seq", 2048, `${key} is None (${placeText(at.place)}): the data decides`);
    else draft.take("seq", key, at, COUNT, 1024);
  }
  draft.assume("seq", 1024, "max_length is not set: the default of SFTConfig");
  const packed = ["packing", "padding_free"].find((key) => FLAG.read(args.get(key)?.value ?? false));
  if (packed) draft.set("mask", false, packed, args.get(packed)!.place);
  else draft.assume("mask", true, "not packed: the collator pads and passes a mask");
}

/** Losses only, unless the trainer is given metrics to compute (trainer.py, evaluate). */
function takeEvaluation(draft: Draft, args: Table): void {
  const strategy = args.get("eval_strategy") ?? args.get("evaluation_strategy");
  if (typeof strategy?.value !== "string" || strategy.value === "no") return;
  draft.take(
    "evaluation.batch",
    "per_device_eval_batch_size",
    args.get("per_device_eval_batch_size"),
    COUNT,
    8,
  );
  draft.assume(
    "evaluation.batch",
    8,
    "per_device_eval_batch_size is not set: the default of TrainingArguments",
  );
}

/** fsdp, fsdp_config and deepspeed. */
export function takeSpread(draft: Draft, args: Table, beside: Beside): void {
  const deepspeed = args.get("deepspeed");
  if (deepspeed) {
    const table = tableOf(draft, "deepspeed", deepspeed, beside);
    if (table) takeDeepSpeed(draft, table);
  }
  const fsdp = args.get("fsdp");
  const on =
    fsdp && (FLAG.read(fsdp.value) ?? (isList(fsdp.value) ? fsdp.value.length > 0 : fsdp.value !== ""));
  if (!fsdp || !on) return;
  const words = isList(fsdp.value) ? fsdp.value.map((one) => one.value) : String(fsdp.value).split(/\s+/);
  draft.set("parallel.kind", words.includes("shard_grad_op") ? "zero2" : "fsdp2", "fsdp", fsdp.place);
  if (words.includes("offload")) draft.set("parallel.offload", true, "fsdp", fsdp.place);
  const config = args.get("fsdp_config");
  const table = config ? tableOf(draft, "fsdp_config", config, beside) : null;
  if (table) takeFsdpConfig(draft, table);
}

/** A table given in place, or as the path of a JSON file. */
function tableOf(draft: Draft, key: string, at: Located, beside: Beside): Table | null {
  if (isTable(at.value)) return at.value;
  if (typeof at.value === "string") {
    // Relative to the folder the run starts in, which is often the file's own.
    for (const folder of [folderOf(at.place.file), ""]) {
      const name = joinPath(folder, at.value);
      const text = beside(name);
      const read = text === null ? null : readYaml({ name, text }).value;
      if (read && isTable(read)) return read;
    }
    draft.warn(`${key}: ${at.value} could not be read, so that its settings are not in the plan`, at.place);
  } else if (at.value instanceof Unread)
    draft.warn(`${key}: ${at.value.why}, so that its settings are not in the plan`, at.place);
  return null;
}
