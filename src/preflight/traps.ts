import type { Recipe } from "../plan/recipe.ts";
import type { Status } from "./check.ts";
import type { Package } from "./python.ts";

/** What a trap may look at. */
export interface Scene {
  readonly packages: Readonly<Partial<Record<Package, string>>>;
  readonly cuda: string | null | undefined;
  /** Null where there is no card. */
  readonly driver: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly recipe: Recipe | null;
  /** The file or the options say in which type the weights are loaded. */
  readonly dtypeSaid: boolean;
}

export interface Trap {
  readonly name: string;
  readonly status: Exclude<Status, "pass">;
  readonly caught: (scene: Scene) => boolean;
  readonly says: string;
  readonly mend: string;
  readonly source: string;
}

/** Whether an installed version is below another; false where the package is not installed. */
function below(version: string | undefined, other: string): boolean {
  if (version === undefined) return false;
  const [a, b] = [version, other].map((text) => (text.match(/^[\d.]+/)?.[0] ?? "").split(".").map(Number));
  for (let at = 0; at < b!.length; at++) {
    const difference = (a![at] ?? 0) - b![at]!;
    if (difference !== 0) return difference < 0;
  }
  return false;
}

const since = (version: string | undefined, other: string): boolean =>
  version !== undefined && !below(version, other);

const quantized = (recipe: Recipe | null): boolean =>
  recipe?.method.kind === "lora" && recipe.method.quantization !== null;

/** From a CUDA release family to the oldest driver that runs it. */
const DRIVERS = { "13": "580", "12": "525", "11": "450" } as const;

/** What is known to go wrong, each with where that was read. */
export const TRAPS: readonly Trap[] = [
  {
    name: "torch build",
    status: "fail",
    caught: ({ cuda, driver }) => cuda === null && driver !== null,
    says: "this torch was built without CUDA: it will not see the card",
    mend: "install a torch with CUDA: https://pytorch.org/get-started/locally",
    source: "torch/version.py: cuda is None",
  },
  {
    name: "driver",
    status: "fail",
    caught: ({ cuda, driver }) => {
      const oldest = DRIVERS[(cuda ?? "").split(".")[0] as keyof typeof DRIVERS];
      return driver !== null && oldest !== undefined && below(driver, oldest);
    },
    says: "the driver is older than torch's CUDA runs on (CUDA 13 needs 580, 12 needs 525, 11 needs 450)",
    mend: "a newer driver, or a torch built for an older CUDA",
    source: "https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html",
  },
  {
    name: "weights' type",
    status: "warn",
    caught: ({ packages, recipe, dtypeSaid }) =>
      below(packages.transformers, "5") && !dtypeSaid && recipe !== null && recipe.dtype !== "fp32",
    says: "transformers before 5 loads weights in fp32 unless told otherwise: twice the memory planned for them",
    mend: 'from_pretrained(…, torch_dtype="auto"), or plan with --dtype fp32',
    source: "https://github.com/huggingface/transformers/pull/42805",
  },
  {
    name: "weights' type",
    status: "warn",
    caught: ({ packages, recipe, dtypeSaid }) =>
      since(packages.transformers, "5") && !dtypeSaid && recipe?.dtype === "fp32",
    says: "transformers 5 loads weights in the checkpoint's own type unless told otherwise; fp32 was planned",
    mend: 'from_pretrained(…, dtype="float32"), or plan with --dtype bf16',
    source: "https://github.com/huggingface/transformers/pull/42805",
  },
  {
    name: "torchao",
    status: "fail",
    caught: ({ packages, recipe }) =>
      since(packages.peft, "0.21") && below(packages.torchao, "0.16") && recipe?.method.kind === "lora",
    says: "peft refuses a torchao before 0.16, even where nothing uses it",
    mend: "python -m pip install -U torchao (or uninstall it)",
    source: "peft 0.21, import_utils.py: TORCHAO_MINIMUM_VERSION",
  },
  {
    name: "bitsandbytes",
    status: "fail",
    caught: ({ packages, recipe }) =>
      since(packages.transformers, "5.17") && below(packages.bitsandbytes, "0.46.1") && quantized(recipe),
    says: "transformers quantises to 4 bits with bitsandbytes 0.46.1 or newer only",
    mend: "python -m pip install -U bitsandbytes",
    source: "transformers 5.17, utils/import_utils.py: BITSANDBYTES_MIN_VERSION",
  },
  {
    name: "accelerate",
    status: "fail",
    caught: ({ packages, recipe }) =>
      since(packages.transformers, "5.17") &&
      below(packages.accelerate, "1.1.0") &&
      recipe !== null &&
      recipe.loop !== "plain",
    says: "transformers' Trainer needs accelerate 1.1.0 or newer",
    mend: "python -m pip install -U accelerate",
    source: "transformers 5.17, utils/import_utils.py: ACCELERATE_MIN_VERSION",
  },
  {
    name: "peft",
    status: "warn",
    caught: ({ packages }) => since(packages.transformers, "5.17") && below(packages.peft, "0.19.1"),
    says: "transformers 5.17 asks for peft 0.19.1 or newer",
    mend: "python -m pip install -U peft",
    source: "transformers 5.17, dependency_versions_table.py",
  },
  {
    name: "torch",
    status: "fail",
    caught: ({ packages }) => since(packages.transformers, "5.17") && below(packages.torch, "2.5"),
    says: "transformers 5.17 asks for torch 2.5 or newer",
    mend: "python -m pip install -U torch",
    source: "transformers 5.17, dependency_versions_table.py",
  },
  {
    name: "FSDP2",
    status: "fail",
    caught: ({ packages, recipe }) =>
      recipe?.parallel.kind === "fsdp2" && recipe.loop !== "plain" && below(packages.torch, "2.6"),
    says: "accelerate runs FSDP2 with torch 2.6 or newer only",
    mend: "python -m pip install -U torch",
    source: "accelerate 1.15, utils/constants.py: FSDP2_PYTORCH_VERSION",
  },
  {
    name: "use_reentrant",
    status: "warn",
    caught: ({ packages, recipe }) =>
      packages.torch !== undefined &&
      recipe?.loop === "plain" &&
      recipe.checkpointing.kind !== "none" &&
      !recipe.checkpointing.reentrant,
    says: "torch.utils.checkpoint is reentrant unless told otherwise: with frozen inputs such as LoRA's no gradient flows",
    mend: "checkpoint(…, use_reentrant=False)",
    source: "torch 2.13, utils/checkpoint.py: use_reentrant None warns and becomes True",
  },
  {
    name: "PYTORCH_ALLOC_CONF",
    status: "warn",
    caught: ({ packages, env }) =>
      env["PYTORCH_ALLOC_CONF"] !== undefined &&
      env["PYTORCH_CUDA_ALLOC_CONF"] === undefined &&
      below(packages.torch, "2.10"),
    says: "torch 2.9 and older pass over PYTORCH_ALLOC_CONF's settings for CUDA",
    mend: 'export PYTORCH_CUDA_ALLOC_CONF="$PYTORCH_ALLOC_CONF"',
    source: "https://github.com/pytorch/pytorch/issues/183387",
  },
];

interface Need {
  readonly package: Package;
  readonly for: string;
  readonly when: (recipe: Recipe) => boolean;
}

/** Which package what needs. */
export const NEEDS: readonly Need[] = [
  { package: "torch", for: "training", when: () => true },
  { package: "transformers", for: "the model", when: () => true },
  {
    package: "peft",
    for: "LoRA",
    when: ({ method, loop }) => method.kind === "lora" && loop !== "plain",
  },
  { package: "accelerate", for: "transformers' Trainer", when: ({ loop }) => loop !== "plain" },
  { package: "trl", for: "SFTTrainer", when: ({ loop }) => loop === "sft" },
  {
    package: "bitsandbytes",
    for: "4-bit weights or its optimizers",
    when: (recipe) => quantized(recipe) || /bnb|paged|lion/.test(recipe.optimizer),
  },
  {
    package: "torchao",
    for: "its optimizer",
    when: ({ optimizer, optimizerOnHost }) => optimizer.includes("torchao") || optimizerOnHost,
  },
  { package: "deepspeed", for: "ZeRO", when: ({ parallel }) => parallel.kind.startsWith("zero") },
  { package: "liger-kernel", for: "the fused loss", when: ({ loss }) => loss === "fused" },
  {
    package: "flash-attn",
    for: "flash_attention_2",
    when: ({ attention }) => attention === "flash_attention_2",
  },
];
