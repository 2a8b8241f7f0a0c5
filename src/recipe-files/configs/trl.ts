import type { Draft } from "../draft.ts";
import type { Table } from "../located.ts";
import type { Beside } from "../reading.ts";
import { takeTrainerArguments } from "../trainer-arguments.ts";
import { takeBitsAndBytes, takeLoraConfig } from "../peft.ts";
import { ATTENTION, DTYPE, FLAG, TEXT } from "../words.ts";

/** `trl sft --config FILE`: SFTConfig's and trl.ModelConfig's keys in one YAML. */
export const isTrl = (table: Table): boolean =>
  table.has("model_name_or_path") &&
  ["use_peft", "per_device_train_batch_size", "max_length", "dataset_name", "dtype", "lora_r"].some((key) =>
    table.has(key),
  );

/** trl/trainer/model_config.py (1.16) gives defaults of its own: rank 16, dropout 0.05, nf4, float32. */
export function takeTrl(draft: Draft, table: Table, beside: Beside): void {
  const unset = "not set: the default of trl.ModelConfig";
  draft.take("model", "model_name_or_path", table.get("model_name_or_path"), TEXT, "");
  const dtype = table.get("dtype") ?? table.get("torch_dtype");
  if (dtype?.value === "auto")
    draft.assume("dtype", "bf16", "dtype is auto: the checkpoint's own type, taken as bf16");
  else draft.take("dtype", "dtype", dtype, DTYPE, "fp32");
  draft.assume("dtype", "fp32", unset);
  draft.take("attention", "attn_implementation", table.get("attn_implementation"), ATTENTION, "sdpa");
  const peft = table.get("use_peft");
  if (peft && FLAG.read(peft.value)) {
    takeLoraConfig(
      draft,
      renamed(table, {
        lora_r: "r",
        lora_target_modules: "target_modules",
        lora_modules_to_save: "modules_to_save",
      }),
      peft.place,
      "use_peft",
    );
    draft.assume("method.adapter.dropout", 0.05, unset);
    if (!table.has("lora_r")) draft.revise("method.adapter.rank", 16, unset);
  } else draft.assume("method.kind", "full", "use_peft is not set");
  const four = table.get("load_in_4bit");
  if (four) {
    takeBitsAndBytes(
      draft,
      renamed(table, { use_bnb_nested_quant: "bnb_4bit_use_double_quant" }),
      four.place,
    );
    if (!table.has("bnb_4bit_quant_type")) draft.revise("method.quantization.type", "nf4", unset);
    // trl/trainer/utils.py, get_quantization_config: it computes in the model's type.
    draft.revise("method.quantization.computeDtype", draft.get("dtype") ?? "fp32", "the model's dtype");
  }
  draft.set("loop", "sft", "model_name_or_path", table.get("model_name_or_path")!.place);
  takeTrainerArguments(draft, table, "sft", beside);
}

function renamed(table: Table, names: Readonly<Record<string, string>>): Table {
  return new Map([...table].map(([key, at]) => [names[key] ?? key, at]));
}
