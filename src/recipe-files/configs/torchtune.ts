import type { Draft } from "../draft.ts";
import { type Located, type Table, isList, isTable, lookup } from "../located.ts";
import { takeOptimizerClass } from "../optimizers.ts";
import { CLIP, COUNT, DTYPE, FLAG, FRACTION } from "../words.ts";

export const isTorchtune = (table: Table): boolean =>
  [...table.values()].some(
    ({ value }) => isTable(value) && String(value.get("_component_")?.value ?? "").startsWith("torchtune."),
  );

/** torchtune's names for the attention's linear layers; the MLP's are w1, w2 and w3. */
const ATTENTION_NAMES: Readonly<Record<string, string>> = { output_proj: "o_proj" };
const MLP = ["gate_proj", "up_proj", "down_proj"];

/** torchtune's YAML (recipes/configs; recipes/lora_finetune_single_device.py and full_finetune_single_device.py). */
export function takeTorchtune(draft: Draft, table: Table): void {
  const get = (path: string): Located | undefined => lookup(table, path);
  takeModel(draft, get);
  draft.take("batch", "batch_size", get("batch_size"), COUNT, 1);
  draft.take("accumulation", "gradient_accumulation_steps", get("gradient_accumulation_steps"), COUNT, 1);
  const length = get("tokenizer.max_seq_len");
  if (length && length.value !== null) draft.take("seq", "tokenizer.max_seq_len", length, COUNT, 2048);
  else draft.assume("seq", 2048, "tokenizer.max_seq_len is null: the data decides");
  draft.take("dtype", "dtype", get("dtype"), DTYPE, "bf16");
  const clip = get("clip_grad_norm");
  if (clip) draft.take("clip", "clip_grad_norm", clip, CLIP, false);
  else draft.assume("clip", false, "clip_grad_norm is not set");
  const inBackward = get("optimizer_in_bwd");
  draft.take("optimizerInBackward", "optimizer_in_bwd", inBackward, FLAG, false);
  const optimizer = get("optimizer");
  const component = get("optimizer._component_");
  if (optimizer && isTable(optimizer.value) && typeof component?.value === "string")
    takeOptimizerClass(draft, component.value, optimizer.value, component.place);
  const checkpointing = get("enable_activation_checkpointing");
  draft.take(
    "checkpointing.kind",
    "enable_activation_checkpointing",
    checkpointing,
    {
      read: (v) => (FLAG.read(v) === undefined ? undefined : FLAG.read(v) ? "full" : "none"),
      expected: FLAG.expected,
    },
    "none",
  );
  draft.take(
    "checkpointing.offload",
    "enable_activation_offloading",
    get("enable_activation_offloading"),
    FLAG,
    false,
  );
  const loss = get("loss._component_");
  // Both run the head and the loss a chunk of tokens at a time (modules/loss).
  if (loss && /Linear|Chunked/.test(String(loss.value))) draft.set("loss", "chunked", "loss", loss.place);
  const packed = get("dataset.packed");
  if (packed && FLAG.read(packed.value))
    draft.warn("packed batches carry a block mask, which is not modelled", packed.place);
  draft.take("parallel.offload", "fsdp_cpu_offload", get("fsdp_cpu_offload"), FLAG, false);
  if (draft.has("parallel.offload"))
    draft.set("parallel.kind", "fsdp2", "fsdp_cpu_offload", get("fsdp_cpu_offload")!.place);
  const compile = get("compile");
  if (compile && FLAG.read(compile.value))
    draft.warn("compile is not modelled: the plan is of eager execution", compile.place);
  draft.set("loop", "plain", "model", (get("model") ?? get("batch_size"))!.place);
}

function takeModel(draft: Draft, get: (path: string) => Located | undefined): void {
  const folder = get("checkpointer.checkpoint_dir");
  const component = get("model._component_");
  const builder = String(component?.value ?? "").replace(/^.*\./, "");
  // The folder that `tune download` fills is named after the model.
  const name = typeof folder?.value === "string" ? folder.value.replace(/\/+$/, "").replace(/^.*\//, "") : "";
  if (name !== "") draft.set("model", name, "checkpointer.checkpoint_dir", folder!.place);
  else if (component) draft.set("model", hubName(builder), "model", component.place);
  const model = get("model");
  if (!component || !model || !isTable(model.value)) return;
  if (!/^q?lora_/.test(builder) && !model.value.has("lora_rank"))
    return draft.set("method.kind", "full", "model", component.place);
  takeAdapter(draft, model.value, component, builder);
}

function takeAdapter(draft: Draft, model: Table, component: Located, builder: string): void {
  draft.set("method.kind", "lora", "model", component.place);
  draft.take("method.adapter.rank", "lora_rank", model.get("lora_rank"), COUNT, 8);
  draft.take("method.adapter.dropout", "lora_dropout", model.get("lora_dropout"), FRACTION, 0);
  draft.take("method.adapter.dora", "use_dora", model.get("use_dora"), FLAG, false);
  const attention = model.get("lora_attn_modules");
  if (attention && isList(attention.value)) {
    const names = attention.value.map(({ value }) => ATTENTION_NAMES[String(value)] ?? String(value));
    const mlp = FLAG.read(model.get("apply_lora_to_mlp")?.value ?? false) ? MLP : [];
    draft.set("method.adapter.targets", [...names, ...mlp], "lora_attn_modules", attention.place);
  }
  draft.warn(
    "torchtune keeps adapters in the model's type; they are planned in float32, as PEFT's",
    component.place,
  );
  const quantized = model.get("quantize_base");
  if (!builder.startsWith("qlora_") && !(quantized && FLAG.read(quantized.value))) return;
  const place = quantized?.place ?? component.place;
  // torchao's NF4: blocks of 64 whose scales are quantised again, computing in the input's type.
  draft.set("method.quantization", true, "model", place);
  draft.set("method.quantization.type", "nf4", "model", place);
  draft.set("method.quantization.doubleQuant", true, "model", place);
  draft.set("method.quantization.computeDtype", "bf16", "model", place);
}

/** "qlora_llama3_1_8b" → "llama-3.1-8b", which the catalogue may know. */
function hubName(builder: string): string {
  return builder
    .replace(/^q?lora_/, "")
    .replaceAll(/(\d)_(?=\d)/g, "$1.")
    .replaceAll("_", "-");
}
