import type { Reader } from "./draft.ts";
import { Dotted, Made, type Value, isList, lastPart } from "./located.ts";
import type { Facts } from "./reading.ts";

const DTYPES: Readonly<Record<string, Facts["dtype"]>> = {
  bfloat16: "bf16",
  bf16: "bf16",
  float16: "fp16",
  half: "fp16",
  fp16: "fp16",
  float32: "fp32",
  float: "fp32",
  fp32: "fp32",
  float64: "fp64",
};

const wordOf = (value: Value): string | undefined =>
  typeof value === "string" ? value : value instanceof Dotted ? value.name : undefined;

/** torch.bfloat16, "bfloat16", "bf16". "auto" is the caller's. */
export const DTYPE: Reader<Facts["dtype"]> = {
  read: (value) => {
    const word = wordOf(value);
    return word === undefined ? undefined : DTYPES[lastPart(word)];
  },
  expected: "a dtype (bfloat16, float16 or float32)",
  open: true,
};

export const COUNT: Reader<number> = {
  read: (value) => {
    // YAML readers and command lines hand numbers over as text.
    const number = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
    return typeof number === "number" && Number.isSafeInteger(number) && number > 0 ? number : undefined;
  },
  expected: "a whole number above 0",
};

export const FRACTION: Reader<number> = {
  read: (value) => {
    const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
    return typeof number === "number" && number >= 0 && number < 1 ? number : undefined;
  },
  expected: "a number from 0 to 1",
};

export const FLAG: Reader<boolean> = {
  read: (value) => {
    if (typeof value === "boolean") return value;
    if (value === null) return false;
    if (value === 0 || value === 1) return value === 1;
    // PyYAML reads YAML 1.1, where these words are booleans.
    const word = typeof value === "string" ? value.toLowerCase() : "";
    return ["true", "yes", "on", "1"].includes(word)
      ? true
      : ["false", "no", "off", "0"].includes(word)
        ? false
        : undefined;
  },
  expected: "true or false",
};

export const TEXT: Reader<string> = {
  read: (value) => (typeof value === "string" && value !== "" ? value : undefined),
  expected: "a text",
};

/** A gradient norm to clip at: 0 or null is no clipping (transformers' Trainer skips it unless above 0). */
export const CLIP: Reader<boolean> = {
  read: (value) => {
    if (value === null || value === false) return false;
    const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
    return typeof number === "number" && number >= 0 ? number > 0 : undefined;
  },
  expected: "a number, 0 for no clipping",
};

/** attn_implementation; other flash kernels save the same tensors as flash_attention_2. */
export const ATTENTION: Reader<Facts["attention"]> = {
  read: (value) => {
    const word = wordOf(value);
    if (word === "eager" || word === "sdpa" || word === "flash_attention_2") return word;
    if (word === undefined) return undefined;
    return /flash|fa[23]/i.test(word) ? "flash_attention_2" : undefined;
  },
  expected: "eager, sdpa or flash_attention_2",
  open: true,
};

/** The linear layers of the families plans know, by full module name, for target_modules given as a pattern. */
const LINEARS = [
  ...["q_proj", "k_proj", "v_proj", "o_proj", "qkv_proj", "out_proj"].map((name) => `self_attn.${name}`),
  ...["gate_proj", "up_proj", "down_proj", "gate_up_proj", "fc1", "fc2", "c_fc", "c_proj"].map(
    (name) => `mlp.${name}`,
  ),
  "attn.c_attn",
  "attn.c_proj",
  "attention.query_key_value",
  "attention.dense",
  "mlp.dense_h_to_4h",
  "mlp.dense_4h_to_h",
];

/** Where decoder layers live in text models and in the text half of others. */
const PREFIXES = [
  "model.layers.0.",
  "model.language_model.layers.0.",
  "language_model.model.layers.0.",
  "model.text_model.layers.0.",
  "transformer.h.0.",
  "gpt_neox.layers.0.",
];

/** PEFT's target_modules: names, "all-linear", or a pattern that must match a module's whole name. */
export const TARGETS: Reader<readonly string[] | "all-linear"> = {
  read: (value) => {
    if (isList(value)) {
      const names = value.map((item) => item.value);
      return names.length > 0 && names.every((name) => typeof name === "string")
        ? names.map((name) => name.slice(name.lastIndexOf(".") + 1))
        : undefined;
    }
    if (typeof value !== "string" || value === "") return undefined;
    if (value === "all-linear" || value === "all") return "all-linear";
    if (/^[\w, ]+$/.test(value)) return value.split(",").map((name) => name.trim());
    try {
      const pattern = new RegExp(`^(?:${value})$`);
      const names = LINEARS.filter((name) => PREFIXES.some((prefix) => pattern.test(prefix + name))).map(
        lastPart,
      );
      return names.length > 0 ? [...new Set(names)] : undefined;
    } catch {
      return undefined;
    }
  },
  expected: 'names of linear layers, or "all-linear"',
  open: true,
};

/** "bf16", "fp16", "no", Lightning's "bf16-mixed"; DTYPE's names too. */
export const MIXED_PRECISION: Reader<Facts["autocast"]> = {
  read: (value) => {
    const word = wordOf(value)?.toLowerCase();
    if (value === null || value === false || word === "no" || word === "none") return null;
    if (word === undefined) return typeof value === "number" ? (value === 16 ? "fp16" : null) : undefined;
    if (/bf16|bfloat16/.test(word)) return "bf16";
    if (/fp16|float16|^16/.test(word)) return "fp16";
    return /32/.test(word) ? null : undefined;
  },
  expected: "no, fp16 or bf16",
};

export const nameOf = (value: Value): string | undefined =>
  value instanceof Made ? value.callee : wordOf(value);
