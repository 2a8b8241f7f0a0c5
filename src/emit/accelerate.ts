import type { Recipe } from "../plan/recipe.ts";
import type { Emitter } from "./emitter.ts";
import { type Line, yaml } from "./lines.ts";

/** accelerate 1.15, commands/config/cluster.py. */
const TYPES: Partial<Record<Recipe["parallel"]["kind"], string>> = {
  none: "NO",
  ddp: "MULTI_GPU",
  fsdp2: "FSDP",
  zero1: "DEEPSPEED",
  zero2: "DEEPSPEED",
  zero3: "DEEPSPEED",
};

function lines(recipe: Recipe): Line[] {
  const { parallel, autocast } = recipe;
  const { ranks, nodes = 1, replicas = 1 } = parallel;
  const type = TYPES[parallel.kind]!;
  const result: Line[] = [
    { key: "compute_environment", value: "LOCAL_MACHINE", why: "this machine" },
    { key: "distributed_type", value: type, why: "how the run is spread" },
    { key: "num_machines", value: nodes, why: nodes > 1 ? "nodes" : "one node" },
    {
      key: "machine_rank",
      value: 0,
      why:
        nodes > 1 ? "the first; the others say theirs: accelerate launch --machine_rank N" : "the only one",
    },
    { key: "num_processes", value: ranks * replicas, why: "one process a card" },
    {
      key: "mixed_precision",
      value: autocast ?? "no",
      why: autocast ? "autocast, as planned" : "no autocast: the weights' own type is used",
    },
    { key: "main_training_function", value: "main", why: "accelerate's own default" },
    { key: "rdzv_backend", value: "static", why: "accelerate's own default" },
    { key: "same_network", value: true, why: nodes > 1 ? "nodes that reach each other" : "one node" },
    { key: "use_cpu", value: false, why: "train on the card" },
  ];
  if (type === "FSDP")
    result.push({
      key: "fsdp_config",
      value: {
        fsdp_version: 2,
        fsdp_reshard_after_forward: true,
        fsdp_auto_wrap_policy: "TRANSFORMER_BASED_WRAP",
        fsdp_cpu_ram_efficient_loading: true,
        fsdp_offload_params: parallel.offload,
        fsdp_activation_checkpointing: false,
        fsdp_state_dict_type: "SHARDED_STATE_DICT",
      },
      why: "each card holds its share of every layer; checkpointing is left to the Trainer, not both",
    });
  if (replicas > 1)
    result.push({
      key: "parallelism_config",
      value: {
        parallelism_config_dp_replicate_size: replicas,
        parallelism_config_dp_shard_size: ranks,
      },
      why: "sharded within a node, a copy on each: gathers stay off the network",
    });
  if (type === "DEEPSPEED")
    result.push({
      key: "deepspeed_config",
      value: {
        zero_stage: Number(parallel.kind.slice(-1)),
        gradient_accumulation_steps: recipe.accumulation,
        ...(recipe.clip ? { gradient_clipping: 1 } : {}),
        offload_optimizer_device: recipe.optimizerOnHost ? "cpu" : "none",
        offload_param_device: parallel.offload ? "cpu" : "none",
        zero3_init_flag: parallel.kind === "zero3",
        zero3_save_16bit_model: parallel.kind === "zero3",
      },
      why: "what ZeRO shards between the cards, and what it places in host memory",
    });
  return result;
}

export const accelerate: Emitter = {
  name: "accelerate",
  summary: "accelerate's YAML: one card, DDP, FSDP2 or DeepSpeed",
  loop: null,
  cannot: ({ parallel }) => (TYPES[parallel.kind] ? null : `a run spread by ${parallel.kind}`),
  files: (recipe) => [
    {
      name: "accelerate.yaml",
      text: `# Written by plimsoll fit. Usage: accelerate launch --config_file accelerate.yaml train.py\n${yaml(lines(recipe))}`,
    },
  ],
};
