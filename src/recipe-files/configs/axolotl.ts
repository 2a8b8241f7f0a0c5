import type { Draft } from "../draft.ts";
import { type Located, type Table, isList, isTable } from "../located.ts";
import { takeOptimizerName } from "../optimizers.ts";
import type { Beside } from "../reading.ts";
import { takeCheckpointingKwargs, takeSpread } from "../trainer-arguments.ts";
import { ATTENTION, CLIP, COUNT, DTYPE, FLAG, FRACTION, TARGETS, TEXT } from "../words.ts";

export const isAxolotl = (table: Table): boolean =>
  table.has("base_model") &&
  ["micro_batch_size", "sequence_len", "adapter", "datasets", "pretraining_dataset", "sample_packing"].some(
    (key) => table.has(key),
  );

/** Axolotl's older switches for attn_implementation (utils/schemas/enums.py, LEGACY_ATTN_FLAG_TO_IMPL). */
const ATTENTION_FLAGS = {
  flash_attention: "flash_attention_2",
  sdp_attention: "sdpa",
  eager_attention: "eager",
} as const;

/** Axolotl's YAML (utils/schemas/*.py; defaults as there). It trains with a subclass of transformers' Trainer. */
export function takeAxolotl(draft: Draft, table: Table, beside: Beside): void {
  const get = (key: string): Located | undefined => table.get(key);
  const on = (key: string): boolean => FLAG.read(get(key)?.value ?? false) === true;
  const unset = "not set: the default of axolotl";
  draft.take("model", "base_model", get("base_model"), TEXT, "");
  draft.take("batch", "micro_batch_size", get("micro_batch_size"), COUNT, 1);
  draft.assume("batch", 1, unset);
  draft.take("accumulation", "gradient_accumulation_steps", get("gradient_accumulation_steps"), COUNT, 1);
  draft.take("seq", "sequence_len", get("sequence_len"), COUNT, 512);
  draft.assume("seq", 512, unset);
  takeOptimizerName(draft, "optimizer", get("optimizer"));
  draft.assume("optimizer", "adamw_fused", unset);
  // None by default: TrainingArguments' own 1.0 then holds.
  if (get("max_grad_norm")?.value !== null)
    draft.take("clip", "max_grad_norm", get("max_grad_norm"), CLIP, true);
  draft.set("loop", "trainer", "base_model", get("base_model")!.place);
  takePrecision(draft, get);
  takeAdapter(draft, table, on);
  takeCheckpointing(draft, table, on);
  for (const [key, kind] of Object.entries(ATTENTION_FLAGS))
    if (on(key)) draft.set("attention", kind, key, get(key)!.place);
  draft.take("attention", "attn_implementation", get("attn_implementation"), ATTENTION, "sdpa");
  for (const [key, loss] of [
    ["liger_fused_linear_cross_entropy", "fused"],
    ["cut_cross_entropy", "fused"],
    ["chunked_cross_entropy", "chunked"],
  ] as const)
    if (on(key)) draft.set("loss", loss, key, get(key)!.place);
  if (on("cut_cross_entropy"))
    draft.warn("cut_cross_entropy is planned as Liger's fused loss", get("cut_cross_entropy")!.place);
  if (on("sample_packing")) draft.set("mask", false, "sample_packing", get("sample_packing")!.place);
  else draft.assume("mask", true, "not packed: the collator pads and passes a mask");
  takeSpread(draft, table, beside);
  takeEvaluation(draft, table);
  takeUnmodelled(draft, table);
}

/** With a share or a set held out; eval_batch_size is micro_batch_size unless said (utils/config/__init__.py). */
function takeEvaluation(draft: Draft, table: Table): void {
  const share = table.get("val_set_size");
  const sets = table.get("test_datasets");
  const held =
    typeof share?.value === "number" && share.value > 0 ? share : sets && isList(sets.value) ? sets : null;
  if (!held) return;
  draft.take("evaluation.batch", "eval_batch_size", table.get("eval_batch_size"), COUNT, 1);
  draft.assume("evaluation.batch", draft.get("batch") ?? 1, "eval_batch_size is not set: micro_batch_size");
}

/** utils/config/__init__.py, resolve_dtype; core/builders/base.py hands bf16 or bfloat16 to the Trainer. */
function takePrecision(draft: Draft, get: (key: string) => Located | undefined): void {
  for (const [key, type] of [
    ["bf16", "bf16"],
    ["bfloat16", "bf16"],
    ["fp16", "fp16"],
    ["float16", "fp16"],
  ] as const) {
    const at = get(key);
    if (!at || draft.has("dtype")) continue;
    const auto = at.value === "auto";
    if (!auto && at.value !== "full" && !FLAG.read(at.value)) continue;
    if (auto) {
      draft.assume("dtype", "bf16", `${key} is auto: bf16, on a card that has it`);
      draft.assume("autocast", "bf16", `${key} is auto: bf16, on a card that has it`);
      continue;
    }
    draft.set("dtype", type, key, at.place);
    draft.set("autocast", at.value === "full" || key === "float16" ? null : type, key, at.place);
  }
  draft.assume("dtype", "fp32", "neither bf16 nor fp16 is set: axolotl loads float32");
}

function takeAdapter(draft: Draft, table: Table, on: (key: string) => boolean): void {
  const adapter = table.get("adapter");
  if (typeof adapter?.value !== "string" || adapter.value === "") {
    if (adapter?.value === null || !adapter) draft.assume("method.kind", "full", "no adapter is set");
    return;
  }
  if (!/^q?lora$/.test(adapter.value))
    draft.warn(`adapter ${adapter.value} is planned as LoRA`, adapter.place);
  draft.set("method.kind", "lora", "adapter", adapter.place);
  draft.take("method.adapter.rank", "lora_r", table.get("lora_r"), COUNT, 8);
  draft.take("method.adapter.dropout", "lora_dropout", table.get("lora_dropout"), FRACTION, 0);
  draft.take("method.adapter.dora", "peft_use_dora", table.get("peft_use_dora"), FLAG, false);
  if (on("lora_target_linear"))
    draft.set(
      "method.adapter.targets",
      "all-linear",
      "lora_target_linear",
      table.get("lora_target_linear")!.place,
    );
  const targets = table.get("lora_target_modules");
  if (targets && targets.value !== null)
    draft.take("method.adapter.targets", "lora_target_modules", targets, TARGETS, "all-linear");
  const save = table.get("lora_modules_to_save");
  if (save && isList(save.value) && save.value.length > 0)
    draft.warn("lora_modules_to_save is not modelled", save.place);
  const four = table.get("load_in_4bit");
  if (on("load_in_8bit"))
    draft.warn(
      "8-bit weights (LLM.int8) are not modelled: weights are planned in their own type",
      table.get("load_in_8bit")!.place,
    );
  if (!four || !on("load_in_4bit")) return;
  draft.set("method.quantization", true, "load_in_4bit", four.place);
  // loaders/model.py: nf4, doubled, computing in the model's type unless bnb_config_kwargs says otherwise.
  const given = table.get("bnb_config_kwargs")?.value;
  const kwargs = given && isTable(given) ? given : new Map<string, Located>();
  draft.take(
    "method.quantization.type",
    "bnb_4bit_quant_type",
    kwargs.get("bnb_4bit_quant_type"),
    { read: (v) => (v === "nf4" || v === "fp4" ? v : undefined), expected: "nf4 or fp4" },
    "nf4",
  );
  draft.take(
    "method.quantization.doubleQuant",
    "bnb_4bit_use_double_quant",
    kwargs.get("bnb_4bit_use_double_quant"),
    FLAG,
    true,
  );
  draft.take(
    "method.quantization.computeDtype",
    "bnb_4bit_compute_dtype",
    kwargs.get("bnb_4bit_compute_dtype"),
    DTYPE,
    "bf16",
  );
  draft.set("method.quantization.type", "nf4", "load_in_4bit", four.place);
  draft.set("method.quantization.doubleQuant", true, "load_in_4bit", four.place);
  draft.set("method.quantization.computeDtype", draft.get("dtype") ?? "bf16", "load_in_4bit", four.place);
  const sharded = table.has("fsdp") || table.has("fsdp_config") || draft.get("parallel.kind") === "zero3";
  draft.set("method.quantization.prepared", !sharded, "load_in_4bit", four.place);
}

function takeCheckpointing(draft: Draft, table: Table, on: (key: string) => boolean): void {
  const at = table.get("gradient_checkpointing");
  const offloaded = typeof at?.value === "string" && at.value.startsWith("offload");
  if (offloaded || on("gradient_checkpointing"))
    draft.set("checkpointing.kind", "full", "gradient_checkpointing", at!.place);
  else if (at) draft.set("checkpointing.kind", "none", "gradient_checkpointing", at.place);
  const offload = offloaded ? at! : table.get("activation_offloading");
  const asked = offload && (offloaded || FLAG.read(offload.value) || typeof offload.value === "string");
  if (asked) {
    draft.set(
      "checkpointing.offload",
      true,
      offloaded ? "gradient_checkpointing" : "activation_offloading",
      offload.place,
    );
    // loaders/model.py: with an adapter, offload takes the place of recomputation.
    if (draft.get("method.kind") === "lora" && offload.value !== "hidden_states")
      draft.warn(
        "with an adapter axolotl offloads every activation instead of recomputing: planned as checkpoints kept on the host",
        offload.place,
      );
  }
  const kwargs = table.get("gradient_checkpointing_kwargs");
  if (kwargs && isTable(kwargs.value)) takeCheckpointingKwargs(draft, kwargs.value);
  const selective = table.get("selective_checkpointing");
  if (selective && (isTable(selective.value) || on("selective_checkpointing")))
    draft.replace("checkpointing.kind", "selective", "selective_checkpointing", selective.place);
}

function takeUnmodelled(draft: Draft, table: Table): void {
  const rl = table.get("rl");
  if (rl && typeof rl.value === "string")
    draft.warn(`rl: ${rl.value} keeps more than one model's outputs, which is not modelled`, rl.place);
  for (const key of ["tensor_parallel_size", "context_parallel_size", "sequence_parallel_degree"]) {
    const at = table.get(key);
    if (at && typeof at.value === "number" && at.value > 1) draft.warn(`${key} is not modelled`, at.place);
  }
  for (const key of ["unfrozen_parameters", "layer_offloading", "tiled_mlp", "relora", "qat"]) {
    const at = table.get(key);
    if (at && at.value !== null && at.value !== false) draft.warn(`${key} is not modelled`, at.place);
  }
}
