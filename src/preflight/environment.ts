import { parseSettings } from "../allocator/settings.ts";
import { UserError } from "../base/errors.ts";
import { type Check, fail, pass, warn } from "./check.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Around {
  /** CPU cores. */
  readonly cores: number;
  /** Processes of the run on this machine. */
  readonly ranks: number;
}

/** Settings for finding faults, left behind by many a hunt; each slows the run or changes what was planned. */
const LEFTOVERS: readonly {
  readonly name: string;
  readonly value: RegExp;
  readonly says: string;
  readonly source: string;
}[] = [
  {
    name: "CUDA_LAUNCH_BLOCKING",
    value: /^(?!0?$)/,
    says: "every kernel waits for the one before to end",
    source: "CUDA programming guide, environment variables",
  },
  {
    name: "PYTORCH_NO_CUDA_MEMORY_CACHING",
    value: /^(?!0?$)/,
    says: "the caching allocator is off: every tensor is a cudaMalloc, and the plan counts on the cache",
    source: "https://docs.pytorch.org/docs/stable/cuda_environment_variables.html",
  },
  {
    name: "NCCL_DEBUG",
    value: /^(?:INFO|TRACE)/i,
    says: "NCCL prints what it does; settings for debugging are not to be kept",
    source: "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
  },
  {
    name: "NCCL_P2P_DISABLE",
    value: /^1$/,
    says: "cards talk through host memory, not to each other",
    source: "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
  },
  {
    name: "NCCL_IB_DISABLE",
    value: /^1$/,
    says: "nodes talk through sockets, not InfiniBand",
    source: "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
  },
  {
    name: "TORCH_NCCL_BLOCKING_WAIT",
    value: /^1$/,
    says: "each collective blocks the host",
    source: "https://pytorch.org/docs/stable/torch_nccl_environment_variables.html",
  },
  {
    name: "TORCH_NCCL_DESYNC_DEBUG",
    value: /^1$/,
    says: "collectives are tracked to find a rank that went astray",
    source: "https://pytorch.org/docs/stable/torch_nccl_environment_variables.html",
  },
  {
    name: "TORCH_DISTRIBUTED_DEBUG",
    value: /^DETAIL$/i,
    says: "every collective is checked against the other ranks first",
    source: "torch 2.13, distributed/distributed_c10d.py: the process group wrapper",
  },
];

/** The string that steers the allocator, and the variable it stands in. */
export function allocatorSetting(env: Environment): { readonly name: string; readonly value: string } | null {
  for (const name of ["PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"]) {
    const value = env[name];
    if (value) return { name, value };
  }
  return null;
}

export function environmentChecks(env: Environment, around: Around): Check[] {
  const leftovers = LEFTOVERS.flatMap(({ name, value, says, source }) =>
    value.test(env[name] ?? "") ? [warn(name, `${env[name]}: ${says}`, `unset ${name}`, source)] : [],
  );
  const checks = [allocator(env), tokenizers(env), threads(env, around), ...leftovers].filter(
    (check) => check !== null,
  );
  return checks.length > 0 ? checks : [pass("environment", "nothing set that slows or changes the run")];
}

function allocator(env: Environment): Check | null {
  const setting = allocatorSetting(env);
  if (!setting) return null;
  const { name, value } = setting;
  try {
    parseSettings(value);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return fail(name, error.message, `export ${name}=expandable_segments:True`, error.hint ?? null);
  }
  const other = env["PYTORCH_CUDA_ALLOC_CONF"];
  if (other && other !== value) {
    const says = `"${value}", and PYTORCH_CUDA_ALLOC_CONF is "${other}": one of them is ignored`;
    return warn(name, says, `unset PYTORCH_CUDA_ALLOC_CONF`);
  }
  return pass(name, value);
}

/** The words that tokenizers reads as off; any other is on. */
const OFF = /^(?:off|false|f|no|n|0)?$/i;

function tokenizers(env: Environment): Check | null {
  const value = env["TOKENIZERS_PARALLELISM"];
  if (value === undefined) return null;
  if (OFF.test(value)) return pass("TOKENIZERS_PARALLELISM", value);
  return warn(
    "TOKENIZERS_PARALLELISM",
    `${value}: threads of the tokenizer and the data loader's forks may lock each other`,
    "export TOKENIZERS_PARALLELISM=false",
    "tokenizers, utils/parallelism.rs",
  );
}

function threads(env: Environment, { cores, ranks }: Around): Check | null {
  const name = "OMP_NUM_THREADS";
  const value = env[name];
  if (value === undefined) return null;
  const each = Number(value.split(",")[0]);
  const good = `export ${name}=${Math.max(1, Math.floor(cores / ranks))}`;
  if (!Number.isInteger(each) || each < 1)
    return warn(name, `"${value}" is not a number of threads: it is ignored`, good);
  if (each * ranks > cores) {
    const by = ranks > 1 ? ` × ${ranks} processes` : "";
    return warn(name, `${each} threads${by} on ${cores} cores wait for each other`, good);
  }
  return pass(name, value);
}
