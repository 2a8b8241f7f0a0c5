import type { Draft } from "../draft.ts";
import { type Located, type Table } from "../located.ts";
import type { Beside } from "../reading.ts";
import { takeTrainerArguments } from "../trainer-arguments.ts";
import { COUNT, FLAG, FRACTION, TARGETS, TEXT } from "../words.ts";

export const isLlamaFactory = (table: Table): boolean =>
  table.has("model_name_or_path") &&
  ["stage", "finetuning_type", "cutoff_len", "template", "lora_target", "quantization_bit"].some((key) =>
    table.has(key),
  );

/** flash_attn's values (extras/constants.py, AttentionFunction). "auto" leaves the choice to transformers: SDPA. */
const ATTENTION = {
  disabled: "eager",
  sdpa: "sdpa",
  fa2: "flash_attention_2",
  fa3: "flash_attention_2",
  auto: "sdpa",
} as const;

/** LLaMA-Factory's YAML (hparams/*.py; TrainingArguments' keys as they are). */
export function takeLlamaFactory(draft: Draft, table: Table, beside: Beside): void {
  const get = (key: string): Located | undefined => table.get(key);
  const on = (key: string): boolean => FLAG.read(get(key)?.value ?? false) === true;
  const unset = "not set: the default of LLaMA-Factory";
  draft.take("model", "model_name_or_path", get("model_name_or_path"), TEXT, "");
  draft.take("seq", "cutoff_len", get("cutoff_len"), COUNT, 2048);
  draft.assume("seq", 2048, unset);
  takeMethod(draft, get, unset);
  takeTypes(draft, get, on);
  const off = get("disable_gradient_checkpointing");
  if (off)
    draft.set(
      "checkpointing.kind",
      on("disable_gradient_checkpointing") ? "none" : "full",
      "disable_gradient_checkpointing",
      off.place,
    );
  else draft.assume("checkpointing.kind", "full", unset);
  draft.take("checkpointing.reentrant", "use_reentrant_gc", get("use_reentrant_gc"), FLAG, true);
  draft.assume("checkpointing.reentrant", true, unset);
  if (on("use_unsloth_gc"))
    draft.set("checkpointing.offload", true, "use_unsloth_gc", get("use_unsloth_gc")!.place);
  const flash = get("flash_attn");
  draft.take(
    "attention",
    "flash_attn",
    flash,
    {
      read: (value) => ATTENTION[String(value) as keyof typeof ATTENTION],
      expected: Object.keys(ATTENTION).join(", "),
    },
    "sdpa",
  );
  if (on("enable_liger_kernel"))
    draft.set("loss", "fused", "enable_liger_kernel", get("enable_liger_kernel")!.place);
  const packed = ["packing", "neat_packing"].find(on);
  if (packed) draft.set("mask", false, packed, get(packed)!.place);
  else draft.assume("mask", true, "not packed: the collator pads and passes a mask");
  const stage = get("stage");
  if (stage && !["sft", "pt"].includes(String(stage.value)))
    draft.warn(
      `stage ${String(stage.value)} runs more than one model: only the trained one is planned`,
      stage.place,
    );
  for (const key of ["use_galore", "use_apollo", "use_badam", "use_adam_mini", "use_muon", "use_unsloth"])
    if (on(key)) draft.warn(`${key} is not modelled`, get(key)!.place);
  draft.set("loop", "trainer", "model_name_or_path", get("model_name_or_path")!.place);
  takeTrainerArguments(draft, table, "trainer", beside);
}

function takeMethod(draft: Draft, get: (key: string) => Located | undefined, unset: string): void {
  const type = get("finetuning_type");
  const kind = type?.value ?? "lora";
  if (kind === "full") return draft.set("method.kind", "full", "finetuning_type", type!.place);
  if (kind === "freeze") return takeFreeze(draft, get);
  if (type) draft.set("method.kind", "lora", "finetuning_type", type.place);
  else draft.assume("method.kind", "lora", unset);
  if (kind === "oft") draft.warn("OFT is planned as LoRA", type!.place);
  draft.take("method.adapter.rank", "lora_rank", get("lora_rank"), COUNT, 8);
  draft.assume("method.adapter.rank", 8, unset);
  draft.take("method.adapter.dropout", "lora_dropout", get("lora_dropout"), FRACTION, 0);
  draft.take("method.adapter.targets", "lora_target", get("lora_target"), TARGETS, "all-linear");
  draft.assume("method.adapter.targets", "all-linear", unset);
  draft.take("method.adapter.dora", "use_dora", get("use_dora"), FLAG, false);
  const bits = get("quantization_bit");
  if (!bits || bits.value === null) return;
  if (Number(bits.value) !== 4)
    return draft.warn(
      `quantization_bit ${String(bits.value)} is not modelled: weights are planned in their own type`,
      bits.place,
    );
  draft.set("method.quantization", true, "quantization_bit", bits.place);
  draft.take(
    "method.quantization.type",
    "quantization_type",
    get("quantization_type"),
    { read: (v) => (v === "nf4" || v === "fp4" ? v : undefined), expected: "nf4 or fp4" },
    "nf4",
  );
  draft.assume("method.quantization.type", "nf4", unset);
  draft.take(
    "method.quantization.doubleQuant",
    "double_quantization",
    get("double_quantization"),
    FLAG,
    true,
  );
  draft.assume("method.quantization.doubleQuant", true, unset);
}

/** The last freeze_trainable_layers layers train (model/adapter.py). */
function takeFreeze(draft: Draft, get: (key: string) => Located | undefined): void {
  const at = get("freeze_trainable_layers");
  const kept = at ? COUNT.read(at.value) : 2;
  const layers = draft.modelConfig?.["num_hidden_layers"];
  const place = (at ?? get("finetuning_type"))!.place;
  draft.set("method.kind", "full", "finetuning_type", get("finetuning_type")!.place);
  if (kept !== undefined && typeof layers === "number")
    draft.set("method.frozenLayers", Math.max(0, layers - kept), "freeze_trainable_layers", place);
  else
    draft.warn(
      "freeze_trainable_layers needs a model of the catalogue: all layers are planned to train",
      place,
    );
}

/** model/adapter.py: trainable weights go to float32 unless pure_bf16; the rest keep the checkpoint's type. */
function takeTypes(
  draft: Draft,
  get: (key: string) => Located | undefined,
  on: (key: string) => boolean,
): void {
  const pure = get("pure_bf16");
  const compute = on("pure_bf16") || on("bf16") ? "bf16" : on("fp16") ? "fp16" : "fp32";
  if (draft.get("method.quantization"))
    draft.assume(
      "method.quantization.computeDtype",
      compute,
      "the Trainer's precision (model_utils/quantization.py)",
    );
  if (pure && on("pure_bf16")) draft.set("dtype", "bf16", "pure_bf16", pure.place);
  else if (draft.get("method.kind") === "full")
    draft.assume("dtype", "fp32", "LLaMA-Factory trains float32 weights unless pure_bf16");
  else draft.assume("dtype", "bf16", "the checkpoint's own type, taken as bf16");
}
