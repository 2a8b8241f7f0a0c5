import type { Draft } from "./draft.ts";
import { type Place, type Table, Unread } from "./located.ts";
import { COUNT, DTYPE, FLAG, FRACTION, TARGETS } from "./words.ts";

/** peft.LoraConfig (0.21, tuners/lora/config.py). */
export function takeLoraConfig(draft: Draft, args: Table, place: Place, key = "LoraConfig"): void {
  draft.set("method.kind", "lora", key, place);
  draft.take("method.adapter.rank", "r", args.get("r"), COUNT, 8);
  draft.assume("method.adapter.rank", 8, "not set: the default of LoraConfig");
  draft.take("method.adapter.dropout", "lora_dropout", args.get("lora_dropout"), FRACTION, 0);
  const targets = args.get("target_modules");
  if (targets && targets.value !== null)
    draft.take("method.adapter.targets", "target_modules", targets, TARGETS, "all-linear");
  draft.take("method.adapter.dora", "use_dora", args.get("use_dora"), FLAG, false);
  for (const key of ["modules_to_save", "layers_to_transform", "rank_pattern", "trainable_token_indices"]) {
    const at = args.get(key);
    const said = at && at.value !== null && !(at.value instanceof Map && at.value.size === 0);
    if (said)
      draft.warn(
        `${key} is not modelled: every target gets an adapter of rank r and nothing else trains`,
        at.place,
      );
  }
}

/** transformers.BitsAndBytesConfig (5.17, utils/quantization_config.py): fp4, no double quantisation, fp32 compute. */
export function takeBitsAndBytes(draft: Draft, args: Table, place: Place): void {
  const wide = args.get("load_in_8bit");
  if (wide && FLAG.read(wide.value))
    draft.warn(
      "8-bit weights (LLM.int8) are not modelled: weights are planned in their own type",
      wide.place,
    );
  const four = args.get("load_in_4bit");
  const flag = four?.value instanceof Unread ? four.value.guess?.value : four?.value;
  if (!four || flag === undefined || FLAG.read(flag) !== true) return;
  draft.set("method.quantization", true, "load_in_4bit", place);
  const unset = "not set: the default of BitsAndBytesConfig";
  draft.take(
    "method.quantization.type",
    "bnb_4bit_quant_type",
    args.get("bnb_4bit_quant_type"),
    { read: (value) => (value === "nf4" || value === "fp4" ? value : undefined), expected: "nf4 or fp4" },
    "fp4",
  );
  draft.assume("method.quantization.type", "fp4", unset);
  draft.take(
    "method.quantization.doubleQuant",
    "bnb_4bit_use_double_quant",
    args.get("bnb_4bit_use_double_quant"),
    FLAG,
    false,
  );
  draft.assume("method.quantization.doubleQuant", false, unset);
  draft.take(
    "method.quantization.computeDtype",
    "bnb_4bit_compute_dtype",
    args.get("bnb_4bit_compute_dtype"),
    DTYPE,
    "fp32",
  );
  draft.assume("method.quantization.computeDtype", "fp32", unset);
}
