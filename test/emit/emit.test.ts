import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { Emitter } from "../../src/emit/emitter.ts";
import { EMITTERS } from "../../src/emit/emitters.ts";
import { RULES } from "../../src/plan/levers.ts";
import { DEFAULT_RECIPE, type Recipe } from "../../src/plan/recipe.ts";
import { readRecipe } from "../../src/recipe-files/read.ts";
import keys from "../fixtures/emit/keys.json" with { type: "json" };
import { python } from "../support/python.ts";
import { ADAPTER, CHECKPOINTED, recipe } from "../plan/recipes.ts";
import { recipes } from "./recipes.ts";

const emitter = (name: string): Emitter => EMITTERS.find((one) => one.name === name)!;
const whole = ["trl", "trainer", "pytorch", "axolotl", "llamafactory", "torchtune", "hydra"];

/** In these only scripts name the allocator's settings; torchtune names every layer that "all-linear" means. */
function comparable(name: string, one: Recipe): Record<string, unknown> {
  const allocConf = ["trl", "trainer", "pytorch"].includes(name) ? one.allocConf : "";
  const method =
    name === "torchtune" && one.method.kind === "lora"
      ? {
          ...one.method,
          adapter: {
            ...one.method.adapter,
            targets:
              one.method.adapter.targets === "all-linear"
                ? ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
                : one.method.adapter.targets,
          },
        }
      : one.method;
  return { ...one, method, allocConf };
}

describe.each(whole)("%s", (name) => {
  const { cannot, files, loop } = emitter(name);

  it("is read back as the recipe it was written from", () => {
    let said = 0;
    fc.assert(
      fc.property(recipes, (made) => {
        const one = { ...made, loop: loop! };
        if (said === 100 || cannot(one) !== null || RULES.some(({ broken }) => broken(one, null))) return;
        said++;
        const [file] = files(one);
        const reading = readRecipe(file!);
        expect(reading.model?.name).toBe(name === "torchtune" ? "Qwen2.5-7B" : "Qwen/Qwen2.5-7B");
        expect(comparable(name, { ...DEFAULT_RECIPE, ...reading.recipe, model: one.model })).toEqual(
          comparable(name, one),
        );
      }),
      { numRuns: 2000, seed: 4 },
    );
    expect(said).toBeGreaterThan(2);
  });

  it("gives a reason for each setting", () => {
    const [file] = files({ ...recipe("Qwen/Qwen2.5-7B"), loop: loop! });
    const lines = file!.text.split("\n");
    const settings = lines.flatMap((line, at) =>
      /^ {4}\w+=|^\w+: [^|]|^[A-Z_]+ = \d/.test(line) &&
      !/=(?:model|args|peft_config|load_dataset|dataset)\b/.test(line)
        ? [lines[at - 1]!]
        : [],
    );
    expect(settings.length).toBeGreaterThan(3);
    for (const before of settings) expect(before).toMatch(/^\s*# \S/);
  });

  it("refuses another loop's recipe and says why", () => {
    const other = loop === "plain" ? "trainer" : "plain";
    expect(cannot({ ...recipe("Qwen/Qwen2.5-7B"), loop: other })).toContain(other);
  });
});

const LORA_4BIT: Partial<Recipe> = {
  method: {
    kind: "lora",
    adapter: { ...ADAPTER, dropout: 0.05 },
    quantization: { type: "nf4", doubleQuant: true, computeDtype: "bf16", prepared: false },
  },
  checkpointing: CHECKPOINTED,
  optimizer: "paged_adamw_8bit",
};

const PREPARED: Partial<Recipe> = {
  ...LORA_4BIT,
  method: {
    kind: "lora",
    adapter: ADAPTER,
    quantization: { type: "nf4", doubleQuant: true, computeDtype: "bf16", prepared: true },
  },
};

/** Keys at the top of a YAML or JSON file. */
const keysOf = (name: string, one: Recipe): string[] => {
  expect(emitter(name).cannot(one)).toBeNull();
  return Object.keys(parse(emitter(name).files(one)[0]!.text) as object);
};

async function unknownToTrainer(used: readonly string[]): Promise<string[]> {
  const snippet =
    "import sys; from dataclasses import fields; from transformers import TrainingArguments; " +
    "known = {f.name for f in fields(TrainingArguments)}; " +
    "print(' '.join(a for a in sys.argv[1:] if a not in known))";
  return (await python(snippet, used)).split(/\s+/).filter(Boolean);
}

describe("keys", () => {
  it("of axolotl are in its schemas", () => {
    for (const loss of ["default", "chunked", "fused"] as const)
      for (const key of keysOf("axolotl", recipe("Qwen/Qwen2.5-7B", { ...PREPARED, loss, loop: "trainer" })))
        expect(keys.axolotl.keys).toContain(key);
  });

  it("of LLaMA-Factory are its own or TrainingArguments'", async () => {
    const used = keysOf(
      "llamafactory",
      recipe("Qwen/Qwen2.5-7B", { ...LORA_4BIT, loss: "fused", loop: "trainer" }),
    );
    const others = used.filter((key) => !keys.llamafactory.keys.includes(key));
    expect(await unknownToTrainer(others)).toEqual([]);
  });

  it("of DeepSpeed are in its config classes", () => {
    const one = recipe("Qwen/Qwen2.5-7B", {
      optimizerOnHost: true,
      parallel: { kind: "zero3", ranks: 2, offload: true },
    });
    const config = parse(emitter("deepspeed").files(one)[0]!.text) as Record<string, unknown>;
    const all = (value: unknown): string[] =>
      typeof value === "object" && value !== null
        ? Object.entries(value).flatMap(([key, inner]) => [key, ...all(inner)])
        : [];
    for (const key of all(config)) expect(keys.deepspeed.keys).toContain(key);
  });

  it("of SFTConfig are its own or TrainingArguments'", async () => {
    const one = recipe("Qwen/Qwen2.5-7B", {
      ...LORA_4BIT,
      loop: "sft",
      checkpointing: { ...CHECKPOINTED, offload: true },
    });
    const text = emitter("trl").files(one)[0]!.text;
    const inside = /SFTConfig\(\n([\s\S]*?)\n\)/.exec(text)![1]!;
    const used = [...inside.matchAll(/^ {4}(\w+)=/gm)].map((found) => found[1]!);
    expect(await unknownToTrainer(used.filter((key) => !keys.trl.keys.includes(key)))).toEqual([]);
  });
});

describe("the real parsers take", () => {
  it("TrainingArguments, LoraConfig and BitsAndBytesConfig of the Trainer script", async () => {
    const one = recipe("Qwen/Qwen2.5-7B", { ...LORA_4BIT, loss: "fused", loop: "trainer" });
    const text = emitter("trainer").files(one)[0]!.text;
    const calls = ["TrainingArguments", "LoraConfig", "BitsAndBytesConfig"].map(
      (name) => new RegExp(`\\b${name}\\(\\n[\\s\\S]*?\\n *\\)`).exec(text)![0],
    );
    const shown = await python(
      [
        "import ast, sys, torch",
        "from transformers import TrainingArguments, BitsAndBytesConfig",
        "from peft import LoraConfig",
        `ast.parse(${JSON.stringify(text)})`,
        // Only whether the arguments are known matters: the libraries behind them are not installed.
        "TrainingArguments.__post_init__ = lambda self: None",
        "BitsAndBytesConfig.post_init = lambda self: None",
        `made = eval(${JSON.stringify(calls[0])})`,
        `lora = eval(${JSON.stringify(calls[1])})`,
        `quant = eval(${JSON.stringify(calls[2])})`,
        "from transformers.training_args import OptimizerNames",
        "print(made.gradient_accumulation_steps, OptimizerNames(made.optim).value, lora.r, quant.bnb_4bit_quant_type)",
      ].join("\n"),
    );
    expect(shown.trim()).toBe("1 paged_adamw_8bit 16 nf4");
  });

  it("accelerate's config file, for one card, DDP, FSDP2 and DeepSpeed", async () => {
    for (const kind of ["none", "ddp", "fsdp2", "zero2", "zero3"] as const) {
      const one = recipe("Qwen/Qwen2.5-7B", {
        parallel: { kind, ranks: kind === "none" ? 1 : 2, offload: false },
      });
      const text = emitter("accelerate").files(one)[0]!.text;
      const shown = await python(
        [
          "import os, tempfile",
          "from accelerate.commands.config.config_args import load_config_from_file",
          "path = os.path.join(tempfile.mkdtemp(), 'accelerate.yaml')",
          `open(path, 'w').write(${JSON.stringify(text)})`,
          "config = load_config_from_file(path)",
          "print(config.distributed_type.value if hasattr(config.distributed_type, 'value') else config.distributed_type, config.num_processes)",
        ].join("\n"),
      );
      const type = { none: "NO", ddp: "MULTI_GPU", fsdp2: "FSDP", zero2: "DEEPSPEED", zero3: "DEEPSPEED" }[
        kind
      ];
      expect(shown.trim()).toBe(`${type} ${kind === "none" ? 1 : 2}`);
      expect(readRecipe({ name: "accelerate.yaml", text }).recipe.parallel?.kind).toBe(kind);
    }
  });
});
