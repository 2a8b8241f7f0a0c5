import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { UserError } from "../../src/base/errors.ts";
import { command } from "../../src/cli/commands/fit.ts";
import { parseCommandLine } from "../../src/cli/parse.ts";
import type { FitResult } from "../../src/fit/fit.ts";
import { readRecipe } from "../../src/recipe-files/read.ts";
import { emptyFolder } from "../support/folder.ts";

async function run(...words: string[]): Promise<{ code: number; out: string }> {
  let out = "";
  const io = {
    out: (text: string) => void (out += text),
    err: () => {},
    color: false,
    width: 100,
    interactive: false,
  };
  return { code: await command.run(parseCommandLine(command, words), io), out };
}

async function refused(...words: string[]): Promise<string> {
  try {
    await run(...words);
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
  return expect.unreachable("not refused");
}

const SMALL = ["Qwen/Qwen2.5-0.5B", "--seq", "1024", "--effective-batch", "4"];

describe("plimsoll fit", () => {
  it("finds the 7 B LoRA of rank 128 at 2048 tokens and effective batch 16 on 24 GB", async () => {
    const asked =
      "Qwen/Qwen2.5-7B --method lora --rank 128 --seq 2048 --effective-batch 16 --card 24GB --json";
    const { code, out } = await run(...asked.split(" "));
    const result = JSON.parse(out) as FitResult;
    expect(code).toBe(0);
    expect(result.counts.considered).toBeGreaterThan(10_000);
    expect(result.before.verdict.fits).toBe(false);
    expect(result.chosen!.verdict.fits).toBe(true);
    const { recipe } = result.chosen!;
    expect(recipe.seq).toBe(2048);
    expect(recipe.batch * recipe.accumulation).toBe(16);
    expect(result.changes.some(({ memory }) => memory !== null && memory > 1e9)).toBe(true);
  });

  it("finds full training of 13 B within 48 GB, with room in host memory", async () => {
    const { code, out } = await run(
      "meta-llama/Llama-2-13b-hf",
      "--card",
      "48GB",
      "--host",
      "128GB",
      "--json",
    );
    const { chosen } = JSON.parse(out) as FitResult;
    expect(code).toBe(0);
    expect(chosen!.recipe.optimizerInBackward).toBe(true);
    expect(chosen!.recipe.clip).toBe(false);
    expect(chosen!.peak.reserved).toBeLessThan(47.5e9);
    expect(chosen!.host!.total).toBeLessThan(128e9);
  });

  it("says what is missing when nothing fits, and exits 1", async () => {
    const { code, out } = await run("meta-llama/Llama-3.1-70B", "--card", "24GB");
    expect(code).toBe(1);
    expect(out).toMatch(/nothing fits: short by [\d.]+ GB/);
    expect(out).toContain("nearest:");
    expect(out).toMatch(/no single card would do|smallest card that would do/);
    expect(out).toContain("--host");
  });

  it("shortens the sequence only when it may", async () => {
    const long = ["Qwen/Qwen2.5-0.5B", "--method", "lora", "--seq", "32768", "--card", "3GB", "--json"];
    const without = await run(...long);
    const cut = await run(...long, "--may-shrink", "seq");
    expect(without.code).toBe(1);
    expect(cut.code).toBe(0);
    const result = JSON.parse(cut.out) as FitResult;
    expect(result.chosen!.recipe.seq).toBeLessThan(32_768);
    expect(result.notes.join()).toContain("shortened from 32768");
  });

  it("reads the run from a file and keeps its effective batch", async () => {
    const file = join(emptyFolder(), "train.py");
    await writeFile(
      file,
      `from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B")
args = TrainingArguments("out", per_device_train_batch_size=4, gradient_accumulation_steps=2)
Trainer(model=model, args=args, train_dataset=data).train()
`,
    );
    const { code, out } = await run(file, "--seq", "512", "--card", "16GB", "--json");
    const result = JSON.parse(out) as FitResult;
    expect(code).toBe(0);
    expect(result.effectiveBatch).toBe(8);
    expect(result.chosen!.recipe.loop).toBe("trainer");
  });

  it("writes files that are read back as the recipe it chose, and not over others", async () => {
    const folder = emptyFolder();
    const words = [...SMALL, "--card", "6GB", "--emit", "trl,env,launch,accelerate", "--out", folder];
    const { out } = await run(...words, "--json");
    const chosen = (JSON.parse(out) as FitResult).chosen!.recipe;
    const names = await readdir(folder);
    expect(names.toSorted()).toEqual(
      [
        "accelerate.yaml",
        "job.slurm",
        "launch-accelerate.sh",
        "launch.sh",
        "plimsoll.env",
        "train.py",
      ].toSorted(),
    );
    const text = await readFile(join(folder, "train.py"), "utf8");
    const { recipe } = readRecipe({ name: "train.py", text });
    for (const field of [
      "batch",
      "accumulation",
      "seq",
      "optimizer",
      "checkpointing",
      "method",
      "loop",
    ] as const)
      expect(recipe[field]).toEqual(chosen[field]);
    expect(await refused(...words)).toContain("is there already");
  });

  it("spreads a run over two cards that neither could hold", async () => {
    const { code, out } = await run("Qwen/Qwen2.5-0.5B", "--seq", "512", "--cards", "2x6GB", "--json");
    const result = JSON.parse(out) as FitResult;
    expect(code).toBe(0);
    const { parallel, batch, accumulation } = result.chosen!.recipe;
    expect(parallel.ranks).toBe(2);
    expect(batch * accumulation * parallel.ranks).toBe(result.effectiveBatch);
    expect(result.chosen!.peak.reserved).toBeLessThan(5.5e9);
  });

  it("prints tables for markdown", async () => {
    const { out } = await run(...SMALL, "--card", "8GB", "--markdown");
    expect(out).toContain("| component | before | after |");
    expect(out).toContain("| recipe | tokens/s | reserved | spare | gives up |");
  });

  it("refuses what it cannot do", async () => {
    expect(await refused("gpt2")).toContain("no card");
    expect(await refused("gpt2", "--card", "8GB", "--keep", "colour")).toContain("--keep");
    expect(await refused("gpt2", "--card", "8GB", "--emit", "word")).toContain("--emit");
    expect(await refused("gpt2", "--card", "8GB", "--emit", "trl,axolotl")).toContain("loops differ");
    expect(await refused("gpt2", "--card", "8GB", "--batch", "3", "--effective-batch", "16")).toContain(
      "not a multiple",
    );
  });
});
