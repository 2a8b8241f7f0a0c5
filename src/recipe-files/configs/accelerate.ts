import type { Draft } from "../draft.ts";
import { type Table, firstOf, isTable, lookup } from "../located.ts";
import { folderOf, joinPath } from "../paths.ts";
import type { Beside, Facts } from "../reading.ts";
import { CLIP, COUNT, FLAG, MIXED_PRECISION } from "../words.ts";
import { readYaml } from "../yaml.ts";
import { takeDeepSpeed } from "./deepspeed.ts";

export const isAccelerate = (table: Table): boolean =>
  table.has("compute_environment") || table.has("distributed_type");

const KINDS: Readonly<Record<string, Facts["parallel.kind"]>> = {
  NO: "none",
  MULTI_GPU: "ddp",
  FSDP: "fsdp2",
  DEEPSPEED: "zero2",
  MEGATRON_LM: "tensor",
};

/** `accelerate config`'s YAML (accelerate 1.15, commands/config/cluster.py). */
export function takeAccelerate(draft: Draft, table: Table, beside: Beside): void {
  const distributed = table.get("distributed_type");
  const kind = typeof distributed?.value === "string" ? distributed.value.toUpperCase() : "";
  const ranks = table.get("num_processes");
  draft.take("parallel.ranks", "num_processes", ranks, COUNT, 1);
  const machines = table.get("num_machines");
  if (machines && Number(machines.value) > 1)
    draft.take("parallel.nodes", "num_machines", machines, COUNT, 1);
  takeReplicas(draft, table);
  draft.take("autocast", "mixed_precision", table.get("mixed_precision"), MIXED_PRECISION, null);
  draft.take(
    "accumulation",
    "gradient_accumulation_steps",
    table.get("gradient_accumulation_steps"),
    COUNT,
    1,
  );
  const deepspeed = table.get("deepspeed_config");
  if (kind === "DEEPSPEED" && deepspeed && isTable(deepspeed.value))
    takeDeepSpeedPlugin(draft, deepspeed.value, beside);
  const fsdp = table.get("fsdp_config");
  if (kind === "FSDP" && fsdp && isTable(fsdp.value)) takeFsdpConfig(draft, fsdp.value);
  if (distributed && !draft.has("parallel.kind")) {
    draft.take(
      "parallel.kind",
      "distributed_type",
      { ...distributed, value: kind },
      { read: (value) => KINDS[String(value)], expected: Object.keys(KINDS).join(", ") },
      "ddp",
    );
  }
}

/** Copies of the sharded model; a number of processes that they do not divide is the launcher's to refuse. */
function takeReplicas(draft: Draft, table: Table): void {
  const key = "parallelism_config.parallelism_config_dp_replicate_size";
  const copies = lookup(table, key);
  if (!copies || !(Number(copies.value) > 1)) return;
  if (Number(table.get("num_processes")?.value) % Number(copies.value) !== 0) {
    draft.warn(`${key} does not divide num_processes`, copies.place);
    return;
  }
  draft.take("parallel.replicas", key, copies, COUNT, 1);
}

/** The `fsdp_` keys, with or without their prefix (TrainingArguments.fsdp_config drops it). */
export function takeFsdpConfig(draft: Draft, table: Table): void {
  const get = (name: string): ReturnType<typeof firstOf> => firstOf(table, `fsdp_${name}`, name);
  const version = get("version");
  if (version && Number(version.at.value) === 1)
    draft.warn("FSDP1 is planned as FSDP2, whose flat parameters it does not have", version.at.place);
  const offload = get("offload_params") ?? get("cpu_offload");
  if (offload) draft.take("parallel.offload", offload.key, offload.at, FLAG, false);
  // FSDP1 calls it a sharding strategy; false and SHARD_GRAD_OP keep the gathered weights, as ZeRO-2 does.
  const reshard = get("reshard_after_forward") ?? get("sharding_strategy");
  if (reshard) {
    const word = String(reshard.at.value).toUpperCase();
    const kept = word === "FALSE" || word === "SHARD_GRAD_OP" || word === "2";
    const none = word === "NO_SHARD" || word === "3";
    draft.set("parallel.kind", none ? "ddp" : kept ? "zero2" : "fsdp2", reshard.key, reshard.at.place);
  }
  const version2 = version ?? get("auto_wrap_policy") ?? get("state_dict_type");
  if (version2) draft.set("parallel.kind", "fsdp2", version2.key, version2.at.place);
  const checkpointing = get("activation_checkpointing");
  if (checkpointing && FLAG.read(checkpointing.at.value))
    draft.set("checkpointing.kind", "full", checkpointing.key, checkpointing.at.place);
}

/** Keys that `accelerate config` writes for DeepSpeed, or the path of DeepSpeed's own file. */
function takeDeepSpeedPlugin(draft: Draft, table: Table, beside: Beside): void {
  const file = table.get("deepspeed_config_file");
  if (file && typeof file.value === "string") {
    const name = joinPath(folderOf(file.place.file), file.value);
    const text = beside(name);
    const inner = text === null ? null : readYaml({ name, text }).value;
    if (inner && isTable(inner)) return takeDeepSpeed(draft, inner);
    draft.warn(
      `deepspeed_config_file ${file.value} could not be read, so that its settings are not in the plan`,
      file.place,
    );
  }
  const stage = table.get("zero_stage");
  const kinds = ["ddp", "zero1", "zero2", "zero3"] as const;
  draft.take(
    "parallel.kind",
    "zero_stage",
    stage,
    { read: (value) => kinds[Number(value)], expected: "0, 1, 2 or 3" },
    "zero2",
  );
  draft.take(
    "accumulation",
    "gradient_accumulation_steps",
    table.get("gradient_accumulation_steps"),
    COUNT,
    1,
  );
  draft.take("clip", "gradient_clipping", table.get("gradient_clipping"), CLIP, true);
  for (const [key, field] of [
    ["offload_optimizer_device", "optimizerOnHost"],
    ["offload_param_device", "parallel.offload"],
  ] as const) {
    const device = lookup(table, key);
    if (device && device.value !== "none" && device.value !== null) draft.set(field, true, key, device.place);
  }
}
