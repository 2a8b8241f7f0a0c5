import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { UserError } from "../../src/base/errors.ts";
import { DEFAULT_RECIPE, type Recipe } from "../../src/plan/recipe.ts";
import { isRecipeFile, readRecipe } from "../../src/recipe-files/read.ts";
import type { RecipeReading } from "../../src/recipe-files/reading.ts";

const script = (text: string, files: Readonly<Record<string, string>> = {}): RecipeReading =>
  readRecipe({ name: "train.py", text }, (name) => files[name] ?? null);

const yaml = (text: string, files: Readonly<Record<string, string>> = {}): RecipeReading =>
  readRecipe({ name: "run.yaml", text }, (name) => files[name] ?? null);

const whyOf = (reading: RecipeReading, field: string): string =>
  reading.assumed.find((one) => one.field === field)?.why ?? "";

const lineOf = (reading: RecipeReading, field: string): number =>
  reading.found.find((one) => one.field === field)?.place.line ?? 0;

const trainer = (args: string): string =>
  `from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
model = AutoModelForCausalLM.from_pretrained("gpt2")
args = TrainingArguments("out", ${args})
Trainer(model=model, args=args).train()
`;

describe("loops written by hand", () => {
  const loop = (parameters: string, more = ""): string => `import torch
from transformers import AutoModelForCausalLM
def load():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return AutoModelForCausalLM.from_pretrained("gpt2").cpu().to(device)
model = load()
trained = [p for p in model.parameters() if p.requires_grad]
${more}
optimizer = torch.optim.AdamW(${parameters})
`;

  test("step where their parameters are", () => {
    for (const parameters of ["model.parameters()", "trained", "[p for p in model.parameters()]"])
      expect(script(loop(parameters)).recipe.optimizerOnHost).toBeUndefined();
    const copies = "copies = {p: p.detach().cpu() for p in trained}";
    expect(script(loop("copies.values()", copies)).recipe.optimizerOnHost).toBe(true);
    const copy = "for p in trained:\n    copy = torch.nn.Parameter(p.detach().to('cpu'))";
    expect(script(loop("[copy]", copy)).recipe.optimizerOnHost).toBe(true);
  });

  test("step inside backward when a hook does", () => {
    const hooked = (body: string): string =>
      `${loop("trained")}def hook(p):\n    ${body}\nfor p in trained:\n    p.register_post_accumulate_grad_hook(hook)\n`;
    expect(script(hooked("optimizer.step()")).recipe.optimizerInBackward).toBe(true);
    expect(script(hooked("print(p.grad.norm())")).recipe.optimizerInBackward).toBeUndefined();
  });

  test("compute the loss in chunks when a checkpoint holds it", () => {
    const body = (inner: string): string =>
      `${loop("trained")}from torch.utils.checkpoint import checkpoint\ndef part(h, y):\n    return ${inner}\nloss = checkpoint(part, h, y)\n`;
    expect(script(body("torch.nn.functional.cross_entropy(head(h), y)")).recipe.loss).toBe("chunked");
    expect(script(body("layer(h)")).recipe.loss).toBeUndefined();
  });
});

describe("values in scripts", () => {
  test.each([
    ["a literal", "4", "", 4],
    ["arithmetic", "2 * (1 + 3) // 2", "", 4],
    ["a constant", "SIZE", "SIZE = 16", 16],
    ["a constant of a constant", "B", "A = 3\nB = A", 3],
    ["unpacking", "B", "A, B = 1, 5", 5],
    ["a dict", 'CONFIG["train"]["batch"]', 'CONFIG = {"train": {"batch": 7}}', 7],
    ["a dict changed later", 'C["b"]', 'C = {"b": 1}\nC["b"] = 9', 9],
    ["dict.get's fallback", 'C.get("b", 6)', "C = {}", 6],
    ["a class's field", "Config.batch", "class Config:\n    batch = 12", 12],
    ["an object's field", "Config(batch=2).batch", "class Config:\n    batch = 12", 2],
    ["a function with one return", "size()", "def size():\n    return 11", 11],
    ["the branch a constant chooses", "B", "FAST = False\nif FAST:\n    B = 1\nelse:\n    B = 10", 10],
    ["a conditional", "8 if LARGE else 2", "LARGE = True", 8],
    ["int of a text", 'int("14")', "", 14],
    ["max", "max(3, 13)", "", 13],
  ])("%s", (_, expression, before, batch) => {
    const reading = script(`${before}\n${trainer(`per_device_train_batch_size=${expression}`)}`);
    expect(reading.recipe.batch).toBe(batch);
    expect(whyOf(reading, "batch")).toBe("");
  });

  test("come from the file they are imported from, with its line", () => {
    const text = `from settings.base import BATCH\n${trainer("per_device_train_batch_size=BATCH")}`;
    const reading = script(text, { "settings/base.py": "\n\nBATCH = 5\n" });
    const source = reading.found.find((one) => one.field === "batch");
    expect(source).toMatchObject({ value: 5, place: { file: "settings/base.py", line: 3 } });
  });

  test("come from a YAML file the script loads", () => {
    const text = `import yaml\ncfg = yaml.safe_load(open("run.yaml"))\n${trainer('per_device_train_batch_size=cfg["batch"]')}`;
    expect(script(text, { "run.yaml": "lr: 1e-4\nbatch: 3\n" }).recipe.batch).toBe(3);
  });

  test("that several definitions reach are assumed to be the largest", () => {
    const reading = script(`B = 2\nif ready():\n    B = 6\n${trainer("per_device_train_batch_size=B")}`);
    expect(reading.recipe.batch).toBe(6);
    expect(whyOf(reading, "batch")).toContain("6 (train.py:3) or 2 (train.py:1)");
  });

  test("that only a run can know are assumed, with the expression's place", () => {
    const reading = script(trainer("per_device_train_batch_size=choose()"));
    expect(reading.recipe.batch).toBe(8);
    expect(whyOf(reading, "batch")).toContain("train.py:3");
  });

  test("in a branch that cannot run are not read", () => {
    const text = `USE_LORA = False\nfrom peft import LoraConfig\nif USE_LORA:\n    config = LoraConfig(r=4)\n${trainer("")}`;
    expect(script(text).recipe.method).toEqual({ kind: "full", frozenLayers: 0 });
  });

  test("of a main that runs only as a script", () => {
    const text = `from transformers import TrainingArguments
def main(batch):
    TrainingArguments("out", per_device_train_batch_size=batch)
if __name__ == "__main__":
    main(5)
`;
    expect(script(text).recipe.batch).toBe(5);
  });

  test("that go in circles end", () => {
    const reading = script(`A = B\nB = A\n${trainer("per_device_train_batch_size=A")}`);
    expect(reading.recipe.batch).toBe(8);
  });
});

describe("frameworks' defaults", () => {
  test("an assumed sequence is no longer than the model's positions", () => {
    const reading = script(trainer(""));
    expect(reading.recipe.seq).toBe(1024);
    expect(whyOf(reading, "seq")).toContain("the model has 1024 positions");
  });

  test("BitsAndBytesConfig is fp4 without double quantisation, computing in float32", () => {
    const reading =
      script(`from transformers import AutoModelForCausalLM, BitsAndBytesConfig, TrainingArguments
model = AutoModelForCausalLM.from_pretrained("gpt2", quantization_config=BitsAndBytesConfig(load_in_4bit=True))
TrainingArguments("out")
`);
    const { method } = reading.recipe;
    expect(method).toMatchObject({
      quantization: { type: "fp4", doubleQuant: false, computeDtype: "fp32", prepared: false },
    });
  });

  test("SFTConfig checkpoints, computes in bf16 and cuts at 1024; TrainingArguments does none of it", () => {
    const sft = script(`from trl import SFTConfig, SFTTrainer\nSFTTrainer("gpt2", SFTConfig("out"))\n`);
    expect(sft.recipe).toMatchObject({ batch: 8, seq: 1024, autocast: "bf16", loop: "sft", mask: true });
    expect(sft.recipe.checkpointing?.kind).toBe("full");
    const plain = script(trainer(""));
    expect(plain.recipe).toMatchObject({ batch: 8, autocast: null, loop: "trainer" });
    expect(plain.recipe.checkpointing?.kind ?? "none").toBe("none");
  });

  test("evaluation keeps logits only for metrics", () => {
    const text = (more: string): string =>
      trainer('eval_strategy="steps", per_device_eval_batch_size=4, eval_accumulation_steps=2')
        .replace(".train()", "")
        .replace("args=args", `args=args${more}`);
    expect(script(text("")).recipe.evaluation).toEqual({ batch: 4, keptLogits: 0 });
    expect(script(text(", compute_metrics=score")).recipe.evaluation).toEqual({ batch: 4, keptLogits: 2 });
    expect(script(trainer("")).recipe.evaluation).toBeUndefined();
  });

  test("DeepSpeed's auto says nothing", () => {
    const reading = readRecipe({
      name: "ds.json",
      text: '{"train_micro_batch_size_per_gpu": "auto", "zero_optimization": {"stage": 1}}',
    });
    expect(reading.recipe).toEqual({ parallel: { kind: "zero1", ranks: 1, offload: false } });
  });
});

describe("YAML", () => {
  test("OmegaConf's references are followed to the line they end at", () => {
    const reading = yaml("model: {name: gpt2}\nsize: ${micro}\nmicro: 4\ntrain:\n  batch_size: ${size}\n");
    expect(reading.recipe.batch).toBe(4);
    expect(lineOf(reading, "batch")).toBe(3);
  });

  test("references in a circle are unread, not endless", () => {
    expect(yaml("model_name: gpt2\nbatch_size: ${a}\na: ${b}\nb: ${a}\n").recipe.batch).toBe(1);
  });

  test("a defaults list without _self_ lies under the config that has it", () => {
    const files = { "train/a.yaml": "batch_size: 2\nmax_length: 64\n" };
    const { recipe } = yaml("defaults:\n  - train: a\nmodel_name: gpt2\ntrain:\n  batch_size: 3\n", files);
    expect(recipe).toMatchObject({ batch: 3, seq: 64 });
  });

  test("a missing member of a defaults list is not fatal", () => {
    expect(yaml("defaults:\n  - train: gone\nmodel_name: gpt2\nbatch_size: 3\n").recipe.batch).toBe(3);
  });

  test("a choice that plans do not know is assumed, not refused", () => {
    const reading = yaml("base_model: gpt2\nmicro_batch_size: 1\nattn_implementation: flex_attention\n");
    expect(reading.recipe.attention).toBe("sdpa");
    expect(whyOf(reading, "attention")).toContain("flex_attention");
  });

  test("a model in another account is planned by the sizes of the one it is named after", () => {
    const reading = yaml("base_model: unsloth/Qwen2.5-7B\nmicro_batch_size: 1\n");
    expect(reading.model?.name).toBe("Qwen/Qwen2.5-7B");
    expect(reading.warnings.join()).toContain("unsloth/Qwen2.5-7B");
  });
});

describe("mistakes", () => {
  test.each([
    ["micro_batch_size: -1", "run.yaml:2: micro_batch_size is -1"],
    ["micro_batch_size: two", 'run.yaml:2: micro_batch_size is "two"'],
    ["sequence_len: 0.5", "run.yaml:2: sequence_len is 0.5"],
    ["adapter: lora\nlora_dropout: 3", "run.yaml:3: lora_dropout is 3"],
  ])("%s names the line and the key", (line, message) => {
    expect(() => yaml(`base_model: gpt2\n${line}\n`)).toThrow(message);
  });

  test("a file of no framework says what was looked for", () => {
    const wrong = [() => yaml("name: my-service\nport: 80\n"), () => script("print('hello')\n")];
    for (const read of wrong) {
      expect(read).toThrow(UserError);
      expect(read).toThrow(/no training recipe/);
    }
  });

  test("broken YAML names the line", () => {
    expect(() => yaml("a: 1\nb: [1, 2\n")).toThrow(/run\.yaml:\d+: invalid YAML/);
  });

  test("a model's own config is no recipe", () => {
    const name = "config.json";
    expect(isRecipeFile({ name, text: '{"model_type": "gpt2", "n_embd": 768}' })).toBe(false);
    expect(isRecipeFile({ name, text: '{"zero_optimization": {"stage": 2}}' })).toBe(true);
  });
});

describe("plimsoll's own recipes", () => {
  const recipes: fc.Arbitrary<Omit<Recipe, "model">> = fc.record({
    method: fc.constantFrom<Recipe["method"]>(
      DEFAULT_RECIPE.method,
      { kind: "qat", bits: [4, 8], adapter: null },
      {
        kind: "lora",
        adapter: { rank: 8, dropout: 0.1, targets: "all-linear", dora: false, nonlinearity: "fourier" },
        quantization: { type: "nf4", doubleQuant: true, computeDtype: "bf16", prepared: true },
      },
    ),
    dtype: fc.constantFrom("bf16", "fp32"),
    autocast: fc.constantFrom("bf16", "fp16", null),
    attention: fc.constantFrom("eager", "sdpa"),
    checkpointing: fc.constantFrom<Recipe["checkpointing"]>(DEFAULT_RECIPE.checkpointing, {
      kind: "full",
      reentrant: true,
      every: 2,
      offload: true,
    }),
    loss: fc.constantFrom("default", "fused"),
    optimizer: fc.constantFrom("adamw_fused", "sgd"),
    optimizerOnHost: fc.boolean(),
    optimizerInBackward: fc.boolean(),
    clip: fc.boolean(),
    batch: fc.integer({ min: 1, max: 64 }),
    seq: fc.integer({ min: 1, max: 8192 }),
    accumulation: fc.integer({ min: 1, max: 64 }),
    mask: fc.boolean(),
    labelled: fc.constantFrom(0.5, 1),
    logitsToKeep: fc.constantFrom(null, 1),
    evaluation: fc.constantFrom(null, { batch: 2, keptLogits: 3 }),
    loop: fc.constantFrom("plain", "sft"),
    parallel: fc.constantFrom<Recipe["parallel"]>(DEFAULT_RECIPE.parallel, {
      kind: "zero3",
      ranks: 2,
      offload: true,
    }),
    allocConf: fc.constantFrom("", "expandable_segments:True"),
  });

  test("come back as they were written", () => {
    fc.assert(
      fc.property(recipes, (recipe) => {
        const text = JSON.stringify({ schema: "plimsoll.plan/1", model: { name: "gpt2" }, recipe }, null, 2);
        const reading = readRecipe({ name: "plan.json", text });
        expect(reading.recipe).toEqual(recipe);
        expect(reading.model?.name).toBe("gpt2");
      }),
    );
  });

  test("with a key they do not have are refused by name", () => {
    const text = JSON.stringify({ ...DEFAULT_RECIPE, microbatch: 3 });
    expect(() => readRecipe({ name: "plan.json", text })).toThrow(/no "microbatch"/);
  });
});

describe("hostile files", () => {
  const words = fc.constantFrom(
    ..."model = TrainingArguments ( ) { } [ ] : , \n **cfg cfg . batch per_device_train_batch_size=cfg def if else import from x 3 'a' lambda SFTConfig LoraConfig( r=r ${a} defaults: - _self_ a: b: &x *x <<: base_model: micro_batch_size: \t".split(
      " ",
    ),
  );
  const texts = fc.array(words, { maxLength: 60 }).map((parts) => parts.join(" "));

  test.each(["train.py", "train.ipynb", "run.yaml", "run.json"])(
    "%s: an answer or one clear line",
    (name) => {
      fc.assert(
        fc.property(fc.oneof(texts, fc.string()), (text) => {
          try {
            readRecipe({ name, text }, () => text);
          } catch (error) {
            expect(error).toBeInstanceOf(UserError);
          }
        }),
        { numRuns: 300 },
      );
    },
  );

  test("aliases that double at every line are refused", () => {
    const lines = Array.from({ length: 30 }, (_, at) => `k${at + 1}: &a${at + 1} [*a${at}, *a${at}]`);
    const text = `base_model: gpt2\nmicro_batch_size: 1\nk0: &a0 [x, x]\n${lines.join("\n")}\n`;
    expect(() => yaml(text)).toThrow(/more than 20000 values/);
  });
});
