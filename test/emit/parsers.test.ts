import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { EMITTERS } from "../../src/emit/emitters.ts";
import type { Recipe } from "../../src/plan/recipe.ts";
import { readRecipe } from "../../src/recipe-files/read.ts";
import { ADAPTER, CHECKPOINTED, LORA, QLORA, recipe } from "../plan/recipes.ts";
import { PYTHON } from "../support/python.ts";
import { runProgram } from "../support/cli.ts";

const AXOLOTL: Partial<Recipe> = { loop: "trainer", autocast: "bf16" };
const PREPARED: Partial<Recipe> = {
  method: {
    kind: "lora",
    adapter: { ...ADAPTER, dropout: 0.05, dora: true },
    quantization: { type: "nf4", doubleQuant: true, computeDtype: "bf16", prepared: true },
  },
};
const SELECTIVE = { ...CHECKPOINTED, kind: "selective" } as const;
const OFFLOADED = { ...CHECKPOINTED, offload: true };
const NAMED: Partial<Recipe> = {
  method: { ...LORA, adapter: { ...ADAPTER, targets: ["q_proj", "v_proj"] } } as Recipe["method"],
};
const spread = (kind: Recipe["parallel"]["kind"], offload = false): Partial<Recipe> => ({
  optimizerOnHost: offload,
  parallel: { kind, ranks: kind === "none" ? 1 : 2, offload },
});

/** Each emitter with recipes that together say everything it has words for. */
const CASES: readonly (readonly [emitter: string, parser: string, recipes: readonly Partial<Recipe>[]])[] = [
  [
    "trl",
    "script",
    [
      { loop: "sft", method: QLORA, checkpointing: OFFLOADED, optimizer: "paged_adamw_8bit" },
      { loop: "sft", ...NAMED, checkpointing: SELECTIVE, optimizer: "lion_8bit", mask: true },
      { loop: "sft", checkpointing: { ...CHECKPOINTED, every: 2 }, optimizer: "adafactor", clip: false },
    ],
  ],
  [
    "trainer",
    "script",
    [
      {
        loop: "trainer",
        method: QLORA,
        checkpointing: CHECKPOINTED,
        optimizer: "paged_adamw",
        loss: "fused",
      },
      { loop: "trainer", dtype: "fp32", autocast: "bf16", optimizer: "adamw_torchao_8bit" },
    ],
  ],
  [
    "axolotl",
    "axolotl",
    [
      {
        ...AXOLOTL,
        ...PREPARED,
        loss: "chunked",
        checkpointing: CHECKPOINTED,
        optimizer: "paged_adamw_8bit",
      },
      { ...AXOLOTL, ...PREPARED, loss: "fused", mask: true },
      { ...AXOLOTL, checkpointing: SELECTIVE, clip: false },
      { ...AXOLOTL, ...NAMED },
    ],
  ],
  [
    "llamafactory",
    "llamafactory",
    [
      {
        loop: "trainer",
        method: QLORA,
        loss: "fused",
        checkpointing: CHECKPOINTED,
        optimizer: "adamw_bnb_8bit",
      },
      { loop: "trainer", ...NAMED, mask: true },
      { loop: "trainer", dtype: "fp32", autocast: "bf16", attention: "flash_attention_2" },
    ],
  ],
  [
    "torchtune",
    "tune",
    [
      { method: LORA, checkpointing: OFFLOADED },
      { optimizerInBackward: true, clip: false },
    ],
  ],
  [
    "hydra",
    "hydra",
    [
      { loop: "trainer", method: QLORA, checkpointing: CHECKPOINTED, optimizer: "lion" },
      { loop: "trainer", ...NAMED, loss: "fused" },
    ],
  ],
  [
    "deepspeed",
    "deepspeed",
    [spread("zero1"), spread("zero2"), { ...spread("zero3", true), optimizer: "sgd" }],
  ],
  [
    "accelerate",
    "accelerate",
    [
      ...(["none", "ddp", "fsdp2", "zero2", "zero3"] as const).map((kind) => spread(kind)),
      { parallel: { kind: "fsdp2", ranks: 4, offload: false, nodes: 2, replicas: 2 } },
    ],
  ],
];

/** A key that each stack does not know, where one of its own stood. */
const WRONG: Readonly<Record<string, readonly [RegExp, string]>> = {
  trl: [/packing=/, "pack_rows="],
  trainer: [/optim=/, "optimizer_name="],
  axolotl: [/sequence_len:/, "sequence_length:"],
  llamafactory: [/cutoff_len:/, "cutoff_length:"],
  torchtune: [/lora_rank:/, "lora_r:"],
  hydra: [/lora_dropout:/, "dropout_of_lora:"],
  deepspeed: [/"gradient_clipping"/, '"gradient_clip"'],
  accelerate: [/num_processes:/, "processes:"],
};

/** The value of one key made another that its stack refuses. */
const WRONG_INSIDE: Readonly<Record<string, readonly [RegExp, string]>> = {
  trl: [/optim="\w+"/, 'optim="adamw_nonsense"'],
  llamafactory: [/finetuning_type: \w+/, "finetuning_type: nonsense"],
  torchtune: [/torch\.optim\.AdamW/, "torchtune.optim.AdamNonsense"],
  deepspeed: [/"stage"/, '"stages"'],
};

describe("the stacks' own parsers", () => {
  it("take every file, and refuse a renamed key", { timeout: 600_000 }, async () => {
    const cases = CASES.flatMap(([name, kind, recipes]) => {
      const emitter = EMITTERS.find((one) => one.name === name)!;
      return recipes.flatMap((more) => {
        const one = recipe("Qwen/Qwen2.5-7B", more);
        expect(emitter.cannot(one), name).toBeNull();
        const { text } = emitter.files(one)[0]!;
        const wrong = [WRONG[name]!, WRONG_INSIDE[name]].flatMap((change, at) =>
          change && change[0].test(text)
            ? [{ name: `${name}, wrong ${at}`, kind, right: false, text: text.replace(...change) }]
            : [],
        );
        return [{ name, kind, right: true, text }, ...wrong];
      });
    });
    const { code, stdout, stderr } = await runProgram(
      PYTHON,
      ["-W", "ignore", fileURLToPath(new URL("parsers.py", import.meta.url))],
      {
        env: {
          OMP_NUM_THREADS: "1",
          PYTHONPATH: fileURLToPath(new URL("../../.venv/parsers", import.meta.url)),
        },
        input: JSON.stringify(cases.map(({ kind, text }) => ({ kind, text }))),
      },
    );
    expect(code, stderr).toBe(0);
    const answers = JSON.parse(stdout.trim().split("\n").at(-1)!) as (string | null)[];
    const said = cases.map(({ name, right }, at) => ({ name, right, answer: answers[at] ?? null }));
    expect(said.filter(({ right, answer }) => right && answer !== null)).toEqual([]);
    expect(said.filter(({ right, answer }) => !right && answer === null)).toEqual([]);
    for (const [name] of CASES) expect(said.some((one) => one.name === `${name}, wrong 0`)).toBe(true);
    for (const name of Object.keys(WRONG_INSIDE))
      expect(said.some((one) => one.name === `${name}, wrong 1`)).toBe(true);
  });

  it("and plan read accelerate's file the same way", () => {
    for (const kind of ["none", "ddp", "fsdp2", "zero2", "zero3"] as const) {
      const text = EMITTERS.find(({ name }) => name === "accelerate")!.files(
        recipe("Qwen/Qwen2.5-7B", spread(kind)),
      )[0]!.text;
      expect(readRecipe({ name: "accelerate.yaml", text }).recipe.parallel?.kind).toBe(kind);
    }
  });

  it("and plan read copies on several nodes the same way", () => {
    const parallel = { kind: "fsdp2", ranks: 4, offload: false, nodes: 2, replicas: 2 } as const;
    const emitted = (name: string, file: number): string =>
      EMITTERS.find((one) => one.name === name)!.files(recipe("Qwen/Qwen2.5-7B", { parallel }))[file]!.text;
    const text = emitted("accelerate", 0);
    expect(text).toContain("num_processes: 8");
    expect(readRecipe({ name: "accelerate.yaml", text }).recipe.parallel).toEqual(parallel);
    expect(emitted("launch", 0)).toContain("--nnodes 2");
    expect(emitted("launch", 0)).toContain("--nproc_per_node 4");
    expect(emitted("launch", 2)).toContain("#SBATCH --nodes=2");
  });
});
