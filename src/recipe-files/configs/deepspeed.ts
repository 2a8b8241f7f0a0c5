import type { Draft } from "../draft.ts";
import { type Located, type Table, isTable, lookup } from "../located.ts";
import { takeOptimizerClass } from "../optimizers.ts";
import type { Facts } from "../reading.ts";
import { CLIP, COUNT, FLAG } from "../words.ts";

const STAGES: readonly Facts["parallel.kind"][] = ["ddp", "zero1", "zero2", "zero3"];

/** Hugging Face's integration fills "auto" in from the Trainer's own arguments: it says nothing by itself. */
const said = (at: Located | undefined): Located | undefined => (at?.value === "auto" ? undefined : at);

export const isDeepSpeed = (table: Table): boolean =>
  table.has("zero_optimization") || table.has("train_micro_batch_size_per_gpu");

/** DeepSpeed's JSON (deepspeed.ai/docs/config-json; runtime/zero/config.py). */
export function takeDeepSpeed(draft: Draft, table: Table): void {
  draft.take(
    "batch",
    "train_micro_batch_size_per_gpu",
    said(table.get("train_micro_batch_size_per_gpu")),
    COUNT,
    1,
  );
  draft.take(
    "accumulation",
    "gradient_accumulation_steps",
    said(table.get("gradient_accumulation_steps")),
    COUNT,
    1,
  );
  draft.take("clip", "gradient_clipping", said(table.get("gradient_clipping")), CLIP, true);
  for (const type of ["bf16", "fp16"] as const) {
    const on = said(lookup(table, `${type}.enabled`));
    if (on && FLAG.read(on.value)) draft.set("dtype", type, `${type}.enabled`, on.place);
  }
  const zero = table.get("zero_optimization");
  const stage = lookup(table, "zero_optimization.stage");
  draft.take(
    "parallel.kind",
    "zero_optimization.stage",
    stage,
    { read: (value) => (typeof value === "number" ? STAGES[value] : undefined), expected: "0, 1, 2 or 3" },
    "zero2",
  );
  // runtime/zero/config.py: stage 0 when the section says none.
  if (zero && !stage)
    draft.assume("parallel.kind", "ddp", "zero_optimization has no stage: DeepSpeed's default is 0");
  takeOffload(draft, table, "zero_optimization.offload_optimizer", "optimizerOnHost");
  takeOffload(draft, table, "zero_optimization.offload_param", "parallel.offload");
  const optimizer = table.get("optimizer");
  const type = lookup(table, "optimizer.type");
  if (optimizer && typeof type?.value === "string" && type.value !== "auto") {
    const options = lookup(table, "optimizer.params")?.value;
    // DeepSpeed's own "Adam" and "AdamW" are fused (FusedAdam) unless torch_adam is asked for (runtime/engine.py).
    if (/^adamw?$/i.test(type.value)) draft.set("optimizer", "adamw_fused", "optimizer.type", type.place);
    else takeOptimizerClass(draft, type.value, options && isTable(options) ? options : new Map(), type.place);
  }
  const cpu = lookup(table, "activation_checkpointing.cpu_checkpointing");
  if (cpu && FLAG.read(cpu.value)) draft.set("checkpointing.offload", true, "cpu_checkpointing", cpu.place);
  const tensor = lookup(table, "tensor_parallel.autotp_size");
  if (tensor && typeof tensor.value === "number" && tensor.value > 1)
    draft.warn("tensor parallelism beside ZeRO is not modelled", tensor.place);
}

function takeOffload(
  draft: Draft,
  table: Table,
  path: string,
  field: "optimizerOnHost" | "parallel.offload",
): void {
  const device = lookup(table, `${path}.device`);
  if (!device || device.value === "none" || device.value === null) return;
  if (device.value === "nvme") draft.warn(`${path} on nvme is planned as host memory`, device.place);
  draft.set(field, true, `${path}.device`, device.place);
}
