import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { patchScript, patchText } from "../../src/emit/patch/patch.ts";
import { trainer } from "../../src/emit/trainer.ts";
import { trl } from "../../src/emit/trl.ts";
import { DEFAULT_RECIPE, type Recipe } from "../../src/plan/recipe.ts";
import { readRecipe } from "../../src/recipe-files/read.ts";
import { CHECKPOINTED, recipe } from "../plan/recipes.ts";
import { plimsoll } from "../support/cli.ts";
import { recipes } from "./recipes.ts";

const NF4 = { type: "nf4", doubleQuant: true, computeDtype: "bf16", prepared: false } as const;

const read = (files: Readonly<Record<string, string>>, name = "train.py"): Recipe => ({
  ...recipe("Qwen/Qwen2.5-7B"),
  ...readRecipe({ name, text: files[name]! }, (other) => files[other] ?? null).recipe,
});

function patched(
  files: Readonly<Record<string, string>>,
  change: (now: Recipe) => Partial<Recipe>,
): { after: Record<string, string>; byHand: readonly string[]; diff: string; wanted: Recipe } {
  const wanted = { ...read(files), ...change(read(files)) };
  const patch = patchScript(
    { name: "train.py", text: files["train.py"]! },
    (name) => files[name] ?? null,
    wanted,
  );
  const after = { ...files, ...Object.fromEntries(patch.files.map(({ name, after: text }) => [name, text])) };
  return { after, byHand: patch.byHand, diff: patchText(patch, "train.patch"), wanted };
}

const SFT = `import torch
from peft import LoraConfig
from transformers import AutoModelForCausalLM
from trl import SFTConfig, SFTTrainer

BATCH = 8  # fits on the big machine

model = AutoModelForCausalLM.from_pretrained(
    'Qwen/Qwen2.5-7B',
    dtype=torch.bfloat16,  # half the bytes
)
args = SFTConfig(
    output_dir='out',
    per_device_train_batch_size=BATCH,
    gradient_checkpointing=False,  # fast
    optim='adamw_torch',
    packing=True,
    max_length=2048  # tokens
)
trainer = SFTTrainer(model=model, args=args, train_dataset=data, peft_config=LoraConfig(r=16, target_modules='all-linear'))
trainer.train()
`;

describe.each([trl, trainer])("a script as $name writes it", ({ cannot, files, loop }) => {
  it("is brought from any recipe to any other", () => {
    let tried = 0;
    fc.assert(
      fc.property(recipes, recipes, (one, other) => {
        const from = { ...one, loop: loop! };
        // Only the quantisation of a method is a lever; fit keeps the rest.
        const method =
          from.method.kind === "lora" && other.method.kind === "lora" && !from.method.quantization
            ? { ...other.method }
            : from.method;
        const wanted = { ...other, loop: loop!, method, mask: from.mask, allocConf: other.allocConf };
        if (cannot(from) !== null || cannot(wanted) !== null) return;
        tried++;
        const text = files(from)[0]!.text;
        const patch = patchScript({ name: "train.py", text }, () => null, wanted);
        expect(patch.byHand).toEqual([]);
        const after = patch.files[0]?.after ?? text;
        const { model, ...settings } = wanted;
        expect({ ...DEFAULT_RECIPE, ...readRecipe({ name: "train.py", text: after }).recipe }).toEqual(
          settings,
        );
        expect(model.name).toBe("Qwen/Qwen2.5-7B");
      }),
      { numRuns: 400, seed: 7 },
    );
    expect(tried).toBeGreaterThan(5);
  });
});

describe("a script by hand", () => {
  it("changes only the arguments of the levers that move, with comments and quotes as they were", () => {
    const { after, byHand } = patched({ "train.py": SFT }, () => ({
      batch: 2,
      accumulation: 4,
      checkpointing: CHECKPOINTED,
      optimizer: "paged_adamw_8bit",
    }));
    expect(byHand).toEqual([]);
    expect(after["train.py"]).toBe(
      SFT.replace("BATCH = 8 ", "BATCH = 2 ")
        .replace("gradient_checkpointing=False,  # fast", "gradient_checkpointing=True,  # fast")
        .replace("'adamw_torch'", "'paged_adamw_8bit'")
        .replace(
          "max_length=2048  # tokens\n",
          'max_length=2048,  # tokens\n    gradient_checkpointing_kwargs={"use_reentrant": False},\n    gradient_accumulation_steps=4,\n',
        ),
    );
  });

  it("leaves a constant alone that something else uses too", () => {
    const text = SFT.replace("trainer.train()", "print(BATCH)\ntrainer.train()");
    const { after } = patched({ "train.py": text }, () => ({ batch: 2 }));
    expect(after["train.py"]).toBe(text.replace("batch_size=BATCH", "batch_size=2"));
  });

  it("lets a quotient follow the number it is computed from", () => {
    const text = SFT.replace(
      "batch_size=BATCH,",
      "batch_size=opts.batch,\n    gradient_accumulation_steps=16 // opts.batch,",
    ).replace(
      "BATCH = 8 ",
      'import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument("--batch", type=int, default=8)\nopts = parser.parse_args() ',
    );
    const { after, byHand } = patched({ "train.py": text }, () => ({ batch: 2, accumulation: 8 }));
    expect(byHand).toEqual([]);
    expect(after["train.py"]).toBe(text.replace("default=8", "default=2"));
  });

  it("changes a table in another file", () => {
    const files = {
      "train.py": SFT.replace("per_device_train_batch_size=BATCH,", "**SETTINGS,").replace(
        "from trl",
        "from conf.run import SETTINGS\nfrom trl",
      ),
      "conf/run.py": 'SETTINGS = {"per_device_train_batch_size": 8, "seed": 1}\n',
    };
    const { after } = patched(files, () => ({ batch: 1 }));
    expect(after["conf/run.py"]).toBe(files["conf/run.py"].replace("8", "1"));
    expect(after["train.py"]).toBe(files["train.py"]);
  });

  it("names what only a run can know, with its line", () => {
    const text = SFT.replace("batch_size=BATCH", "batch_size=choose()");
    const { after, byHand } = patched({ "train.py": text }, () => ({ batch: 2 }));
    expect(after["train.py"]).toBe(text);
    expect(byHand).toHaveLength(1);
    expect(byHand[0]).toMatch(/^per_device_train_batch_size 2: .*train\.py:14/);
  });

  it("leaves to the user what a loop written by hand has no argument for", () => {
    const text = `import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B", dtype=torch.bfloat16).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
for batch in DataLoader(data, batch_size=4):
    model(**batch).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
`;
    const { after, byHand } = patched({ "train.py": text }, () => ({
      batch: 2,
      optimizer: "adamw_bnb_8bit",
      optimizerInBackward: true,
      checkpointing: CHECKPOINTED,
    }));
    expect(byHand.map((one) => one.replace(/:.*| \(.*/, ""))).toEqual([
      "the optimizer stepped inside backward",
    ]);
    expect(after["train.py"]).toBe(
      `import bitsandbytes\n${text}`
        .replace("batch_size=4", "batch_size=2")
        .replace(
          "torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)",
          "bitsandbytes.optim.AdamW8bit(model.parameters(), lr=1e-5)",
        )
        .replace(
          ".cuda()\n",
          '.cuda()\nmodel.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})\n',
        ),
    );
  });

  it("of a notebook is left to the user whole", () => {
    const cell = { cell_type: "code", source: SFT, metadata: {}, outputs: [], execution_count: null };
    const text = JSON.stringify({ cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 5 });
    const file = { name: "train.ipynb", text };
    const wanted = { ...recipe("Qwen/Qwen2.5-7B"), ...readRecipe(file).recipe, batch: 1 };
    const patch = patchScript(file, () => null, wanted);
    expect(patch.files).toEqual([]);
    expect(patch.byHand[0]).toContain("cell 1:6");
  });
});

describe("the diff", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "plimsoll-patch-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    ["with \\n", SFT],
    ["with \\r\\n", SFT.replaceAll("\n", "\r\n")],
    ["without a line end at the end", SFT.trimEnd()],
  ])("is taken by git apply and by patch -p1, from a text %s", (_, text) => {
    const files = { "train.py": text };
    const { after, byHand, diff, wanted } = patched(files, (now) => ({
      batch: 1,
      accumulation: 8,
      checkpointing: { ...CHECKPOINTED, every: 2 },
      method: now.method.kind === "lora" ? { ...now.method, quantization: NF4 } : now.method,
      allocConf: "expandable_segments:True",
      optimizer: "adamw_bnb_8bit",
    }));
    expect(byHand).toEqual([]);
    expect(read(after)).toEqual(wanted);
    expect(after["train.py"]!.includes("\r\n")).toBe(text.includes("\r\n"));
    expect(/[^\r]\n/.test(after["train.py"]!)).toBe(/[^\r]\n/.test(text));
    for (const [tool, ...args] of [
      ["git", "apply", "train.patch"],
      ["patch", "-p1", "--binary", "-i", "train.patch"],
    ]) {
      for (const [name, content] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        writeFileSync(join(folder, name), content);
      }
      writeFileSync(join(folder, "train.patch"), diff);
      execFileSync(tool!, args, { cwd: folder, stdio: "pipe" });
      expect(readFileSync(join(folder, "train.py"), "utf8")).toBe(after["train.py"]);
    }
    execFileSync("python3", [
      "-c",
      "import ast, sys; ast.parse(open(sys.argv[1]).read())",
      join(folder, "train.py"),
    ]);
  });

  it("is what fit --emit patch writes: applied, the script is planned as recommended", async () => {
    const text = SFT.replace("Qwen/Qwen2.5-7B", "gpt2").replace("max_length=2048", "max_length=512");
    writeFileSync(join(folder, "tune.py"), text);
    const words = ["fit", "tune.py", "--card", "4GB", "--emit", "patch"];
    const wrote = await plimsoll([...words, "--out", "fitted", "--json"], { cwd: folder });
    expect(wrote.stderr).toBe("wrote fitted/tune.patch\n");
    execFileSync("git", ["apply", "fitted/tune.patch"], { cwd: folder, stdio: "pipe" });
    const planned = await plimsoll(["plan", "tune.py", "--json"], { cwd: folder });
    const recommended = (JSON.parse(wrote.stdout) as { chosen: { recipe: object } }).chosen.recipe;
    expect((JSON.parse(planned.stdout) as { recipe: object }).recipe).toMatchObject(recommended);
  });

  it("is printed without a folder to write to", async () => {
    writeFileSync(join(folder, "tune.py"), SFT.replace("Qwen/Qwen2.5-7B", "gpt2").replace("2048", "64"));
    const kept = "checkpointing,loss,micro-batch,precision,quantization,offload,attention";
    const words = ["fit", "tune.py", "--card", "4GB", "--keep", kept, "--emit", "patch"];
    const { stdout } = await plimsoll(words, { cwd: folder });
    expect(stdout).toContain("\n--- a/tune.py\n+++ b/tune.py\n");
    expect(await plimsoll([...words, "--json"], { cwd: folder })).toMatchObject({ code: 2, stdout: "" });
  });

  it("is not written for what the script's trainer has no words for, which is said", async () => {
    writeFileSync(join(folder, "tune.py"), SFT.replace("Qwen/Qwen2.5-7B", "gpt2").replace("2048", "64"));
    const words = ["fit", "tune.py", "--card", "4GB", "--loss", "fused", "--keep", "loss", "--emit", "patch"];
    const { code, stderr } = await plimsoll(words, { cwd: folder });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^--emit patch leaves out .* the fused loss$/m);
  });

  it("is of a script, and says so", async () => {
    const { code, stderr } = await plimsoll(["fit", "gpt2", "--card", "8GB", "--emit", "patch"]);
    expect(code).toBe(2);
    expect(stderr).toContain("changes a script");
    writeFileSync(join(folder, "marked.py"), `\uFEFF${SFT}`);
    const marked = await plimsoll(["fit", "marked.py", "--card", "24GB", "--emit", "patch"], { cwd: folder });
    expect(marked).toMatchObject({ code: 2, stderr: expect.stringContaining("not plain UTF-8") });
  });
});
