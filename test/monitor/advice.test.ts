import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { advise, recipeFileOf } from "../../src/cli/run-advice.ts";
import { plannedLadder } from "../../src/monitor/planned-ladder.ts";
import { Record } from "../../src/monitor/record.ts";
import { summarize, type RunSummary } from "../../src/monitor/summary.ts";
import { cardOf } from "../../src/plan/cards.ts";
import { findModel } from "../../src/plan/catalogue/catalogue.ts";
import { DEFAULT_RECIPE } from "../../src/plan/recipe.ts";
import { runText } from "../../src/report/run-text.ts";
import { emptyFolder } from "../support/folder.ts";

const GB = 1e9;
const SCRIPT = `
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B")
args = TrainingArguments("out", per_device_train_batch_size=16, bf16=True, max_steps=100)
losses = []
for batch in loader:
    loss = model(**batch).loss
    loss.backward()
    losses.append(loss)
    optimizer.step()
Trainer(model=model, args=args).train()
`;

/** A run that asked for 2 GB more than the card had. */
function ranOut(script: string, room: number, ranks = 1, steps = 1): RunSummary {
  const total = Math.max(25.4 * GB, room);
  const device = { index: 0, name: "NVIDIA RTX A5000", total, uuid: "u" };
  const columns = ["step", "seconds", "allocated", "reserved", "peak", "retries"];
  const oom = {
    k: "oom",
    t: 1,
    step: 3,
    phase: "forward",
    asked: 2 * GB,
    free: 1 * GB,
    total,
    reserved: room - 1 * GB,
    allocated: room - 1.5 * GB,
    module: "model.layers.3 (Qwen2DecoderLayer)",
    kinds: { weight: 1 * GB },
    modules: [{ module: "model.layers.*.mlp.up_proj", bytes: 5e8 }],
    unnamed: [{ size: 4e8, count: 12, bytes: 48e8 }],
    stack: [{ file: script, line: 9, text: "losses.append(loss)" }],
  };
  const records = Array.from({ length: ranks }, (_, rank) => {
    const record = new Record();
    const lines = [
      { k: "head", rank, host: "h", t: 0, columns, device },
      oom,
      ...(steps > 0 ? [[1, 0.1, 2 * GB, room - GB, 3 * GB, 0]] : []),
    ];
    record.feed(new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join("")));
    return record;
  });
  return summarize(records);
}

const RUN = { version: 1, name: "r", command: [], cwd: "/", host: "h", plimsoll: "0", started: "" } as const;

test("an out-of-memory of a readable script gets its ladder from plan, and audit's word on the line", async () => {
  const script = join(emptyFolder(), "train.py");
  writeFileSync(script, SCRIPT);
  expect(recipeFileOf(["python", script, "--lr", "1"])).toBe(script);
  const summary = ranOut(script, 9 * GB);
  const advice = await advise(script, summary);
  expect(advice).toMatchObject({ recipe: script, ladder: { fits: false } });
  const { alone } = advice.ladder!;
  expect(alone.every((rung) => rung.reserved < advice.ladder!.reserved)).toBe(true);
  const changes = alone.map((rung) => rung.change);
  expect(changes.indexOf("8-bit optimizer")).toBeLessThan(changes.indexOf("full gradient checkpointing"));
  expect(advice.findings[0]).toMatchObject({ file: script, line: 9 });
  expect(advice.todo).toHaveLength(2);
  const text = runText(RUN, summary, "/runs/r", false, advice);
  expect(text).toContain("in forward of model.layers.3 (Qwen2DecoderLayer)");
  expect(text).toContain("12 × 400 MB");
  expect(text).toMatch(/plan for .*train\.py as it stands needs [\d.]+ GB, and 9\.00 GB were to be had/);
});

test("a run that ran out before its first step had ended gets the same report", async () => {
  const script = join(emptyFolder(), "train.py");
  writeFileSync(script, SCRIPT);
  const summary = ranOut(script, 9 * GB, 1, 0);
  expect(summary.ranks).toMatchObject([{ steps: 0, device: "NVIDIA RTX A5000", peakReserved: 8 * GB }]);
  const advice = await advise(script, summary);
  expect(advice).toMatchObject({ recipe: script, ladder: { fits: false } });
  const text = runText(RUN, summary, "/runs/r", false, advice);
  expect(text).toContain("no step was finished");
  expect(text).toContain("in forward of model.layers.3 (Qwen2DecoderLayer)");
  expect(text).toMatch(/as it stands needs [\d.]+ GB, and 9\.00 GB were to be had/);
});

test("several ranks of a script that says nothing of them are planned as DDP", async () => {
  const script = join(emptyFolder(), "train.py");
  writeFileSync(script, SCRIPT);
  const { recipe, why, planned } = await advise(script, ranOut(script, 400 * GB, 2));
  expect({ recipe, why }).toEqual({ recipe: script, why: null });
  const alone = await advise(script, ranOut(script, 400 * GB, 1));
  // DDP keeps its buckets: never less than on one card.
  expect(planned!.allocated).toBeGreaterThanOrEqual(alone.planned!.allocated);
});

test("where plan finds room, or there is no recipe, the ladder is in general terms and says why", async () => {
  const script = join(emptyFolder(), "train.py");
  writeFileSync(script, SCRIPT);
  const fits = ranOut(script, 200 * GB);
  expect(runText(RUN, fits, "/r", false, await advise(script, fits))).toContain(
    "which fits: what ran out is not in the recipe",
  );
  writeFileSync(script, "print('no training here')\n");
  expect(runText(RUN, fits, "/r", false, await advise(script, fits))).toContain(
    "no training recipe found in it",
  );
});

test("where no lever suffices alone they are laid on each other until it fits", () => {
  const { name, config } = findModel("Qwen/Qwen2.5-0.5B")!;
  const recipe = { ...DEFAULT_RECIPE, model: { name, config }, batch: 16, seq: 1024 };
  const { alone, together } = plannedLadder(recipe, cardOf("4GB"));
  expect(alone.some((rung) => rung.fits)).toBe(false);
  const needs = together.map((rung) => rung.reserved);
  expect(needs).toEqual(needs.toSorted((a, b) => b - a));
  expect(together.at(-1)!.fits).toBe(true);
});

test("levers that the last one makes needless are not asked for", () => {
  const { name, config } = findModel("meta-llama/Llama-3.2-1B")!;
  const recipe = { ...DEFAULT_RECIPE, model: { name, config }, batch: 8, seq: 2048 };
  const { together } = plannedLadder(recipe, cardOf("24GB"));
  // Checkpointing makes an 8-bit optimizer needless, which rounds, and a smaller micro-batch, which is slower.
  expect(together.map((rung) => rung.change)).toEqual([
    "chunked cross-entropy",
    "full gradient checkpointing",
  ]);
  expect(together.at(-1)!.fits).toBe(true);
});
