import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { UserError } from "../../src/base/errors.ts";
import { command } from "../../src/cli/commands/plan.ts";
import { describeFailure } from "../../src/cli/failure.ts";
import { parseCommandLine } from "../../src/cli/parse.ts";
import type { PlanResult } from "../../src/plan/result.ts";
import { readSnapshotFile } from "../../src/snapshot/file.ts";
import { readTapeFile } from "../../src/tape/file.ts";
import { plimsoll } from "../support/cli.ts";
import { emptyFolder } from "../support/folder.ts";

const CONFIG = {
  model_type: "llama",
  hidden_size: 256,
  intermediate_size: 512,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  vocab_size: 32_000,
  max_position_embeddings: 1024,
};

const SCRIPT = `from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
model = AutoModelForCausalLM.from_pretrained("HuggingFaceTB/SmolLM2-135M")
args = TrainingArguments("out", per_device_train_batch_size=2, gradient_accumulation_steps=2, gradient_checkpointing=True)
Trainer(model=model, args=args, train_dataset=data).train()
`;

/** What a mistake is answered with, in this process: what the exit code and stream are, main.test.ts says for all. */
async function refusal(words: readonly string[]): Promise<string> {
  const silent = () => expect.unreachable("a mistake prints nothing");
  try {
    const io = { out: silent, err: silent, color: false, width: 100, interactive: false };
    await command.run(parseCommandLine(command, words), io);
  } catch (error) {
    expect(error).toBeInstanceOf(UserError);
    return describeFailure(error, false);
  }
  return expect.unreachable("not refused");
}

describe("plimsoll plan", () => {
  test("says the verdict first, then budget, binding moment, levers and band", async () => {
    const ran = await plimsoll(["plan", "qwen2.5-0.5b", "--batch", "4", "--seq", "1024", "--card", "24GB"]);
    expect(ran.stderr).toBe("");
    expect(ran.code).toBe(0);
    expect(ran.stdout).toMatch(/^fits with \S+ GB to spare on a 24\.0 GB card \(23\.5 GB usable/);
    for (const part of [
      "Peak: ",
      "  weights ",
      "Binding moment: backward of the loss",
      "One lever alone",
      "Error band: ",
    ])
      expect(ran.stdout).toContain(part);
  });

  test("exits with 1 when it does not fit", async () => {
    const ran = await plimsoll(["plan", "Qwen/Qwen2.5-7B", "--seq", "512", "--card", "4090"]);
    expect(ran.code).toBe(1);
    expect(ran.stdout).toMatch(/^does not fit: short by \S+ GB on the RTX 4090/);
  });

  test("exits with 1 when host memory does not suffice", async () => {
    const host = (memory: string) =>
      plimsoll([
        "plan",
        "gpt2",
        "--seq",
        "512",
        "--card",
        "24GB",
        "--optimizer-host",
        "--no-clip",
        "--host",
        memory,
      ]);
    expect((await host("64GB")).code).toBe(0);
    const ran = await host("1GB");
    expect(ran.code).toBe(1);
    expect(ran.stdout).toMatch(/host memory: .*does not fit: short by/);
  });

  test("names the worst rank of a pipeline, and says when all ranks are alike", async () => {
    const words = ["plan", "HuggingFaceTB/SmolLM2-135M", "--seq", "512", "--cards", "2xA5000"];
    const staged = await plimsoll([...words, "--pipeline", "--accumulation", "4"]);
    expect(staged.stderr).toBe("");
    expect(staged.stdout).toMatch(
      /\n {2}on rank [01], the worst of 2; reserved by rank: 0 \S+ [GM]B, 1 \S+ [GM]B\n/,
    );
    const sharded = await plimsoll([...words, "--fsdp", "--offload", "--json"]);
    const { ranks, host, recipe, peak } = JSON.parse(sharded.stdout) as PlanResult;
    expect(recipe.parallel).toEqual({ kind: "fsdp2", ranks: 2, offload: true });
    expect(ranks!.all.map(({ reserved }) => reserved)).toEqual([peak.reserved, peak.reserved]);
    // Weights, gradients and two states of 135 M parameters, in two bytes each.
    expect(host!.total).toBeGreaterThanOrEqual(4 * 2 * 134e6);
  });

  test("without a card it says what is needed", async () => {
    const ran = await plimsoll(["plan", "gpt2", "--seq", "512"]);
    expect(ran.code).toBe(0);
    expect(ran.stdout).toMatch(/^needs \S+ GB, and the CUDA context/);
  });

  test("--json is the documented result, to the byte the same each time", async () => {
    const words = [
      "plan",
      "gpt2",
      "--method",
      "lora",
      "--rank",
      "8",
      "--seq",
      "512",
      "--card",
      "24GB",
      "--json",
    ];
    const first = await plimsoll(words);
    expect(await plimsoll(words)).toEqual(first);
    const result = JSON.parse(first.stdout) as Record<string, unknown>;
    expect(Object.keys(result)).toEqual([
      "schema",
      "model",
      "trainable",
      "recipe",
      "card",
      "verdict",
      "peak",
      "ranks",
      "budget",
      "moment",
      "phases",
      "levers",
      "band",
      "host",
      "notes",
      "source",
    ]);
    expect(result).toMatchObject({
      schema: "plimsoll.plan/1",
      model: { name: "openai-community/gpt2", type: "gpt2", parameters: 124_439_808, known: true },
      recipe: { method: { kind: "lora", adapter: { rank: 8 } } },
    });
  });

  test("reads a config.json, or its folder, and falls back on the nearest family", async () => {
    const folder = emptyFolder();
    const file = join(folder, "config.json");
    await writeFile(file, JSON.stringify(CONFIG));
    const words = ["--seq", "256", "--json"];
    const [byFile, byFolder] = await Promise.all([
      plimsoll(["plan", file, ...words]),
      plimsoll(["plan", folder, ...words]),
    ]);
    const peak = (text: string) => (JSON.parse(text) as { peak: unknown }).peak;
    expect(peak(byFile.stdout)).toEqual(peak(byFolder.stdout));
    await writeFile(file, JSON.stringify({ ...CONFIG, model_type: "zebra" }));
    const strange = await plimsoll(["plan", file, "--seq", "256"]);
    expect(strange.stdout).toContain('unknown model_type "zebra"');
    expect(strange.stdout.replaceAll(/\s+/g, " ")).toContain("the model's own family is not known");
  });

  test("reads the recipe from a script, lays options over it, and lists what it read and assumed", async () => {
    const folder = emptyFolder();
    const file = join(folder, "train.py");
    await writeFile(file, SCRIPT);
    const ran = await plimsoll(["plan", file, "--batch", "4", "--json"]);
    expect(ran.stderr).toBe("");
    const { model, recipe, source } = JSON.parse(ran.stdout) as PlanResult;
    expect(model.name).toBe("HuggingFaceTB/SmolLM2-135M");
    expect(recipe).toMatchObject({
      batch: 4,
      accumulation: 2,
      loop: "trainer",
      checkpointing: { kind: "full" },
    });
    expect(source!.found).toContainEqual({
      field: "accumulation",
      value: 2,
      key: "gradient_accumulation_steps",
      place: `${file}:3`,
    });
    expect(source!.assumed.map(({ field }) => field)).toContain("seq");
  });

  test("takes the model from --model where the file names none", async () => {
    const file = join(emptyFolder(), "accelerate.yaml");
    await writeFile(file, "distributed_type: MULTI_GPU\nnum_processes: 2\nmixed_precision: bf16\n");
    expect(await refusal([file])).toMatch(/names no model; --model NAME/);
    expect(await refusal(["gpt2", "--model", "gpt2"])).toMatch(/--model beside the model gpt2/);
    const ran = await plimsoll(["plan", file, "--model", "gpt2", "--json"]);
    const { model, recipe } = JSON.parse(ran.stdout) as PlanResult;
    expect(model.name).toBe("openai-community/gpt2");
    expect(recipe).toMatchObject({ seq: 1024, autocast: "bf16", parallel: { kind: "ddp", ranks: 2 } });
  });

  test("writes a tape and a snapshot, and compares with each and with saved JSON", async () => {
    const folder = emptyFolder();
    const at = (name: string) => join(folder, name);
    const words = ["plan", "gpt2", "--seq", "256", "--batch"];
    const four = [...words, "4"];
    const saved = await plimsoll([...four, "--json", "--tape", at("t.arrow"), "--snapshot", at("s.pickle")]);
    await writeFile(at("p.json"), saved.stdout);
    expect((await readTapeFile(at("t.arrow"))).length).toBeGreaterThan(1000);
    expect((await readSnapshotFile(at("s.pickle"))).devices[0]!.tape.length).toBeGreaterThan(1000);
    const read = await plimsoll(["inspect", at("t.arrow")]);
    expect(read.stdout).toMatch(/\npredicted by plimsoll plan\n\nPeak: \S+ GB allocated, in step/);
    for (const other of ["p.json", "t.arrow"]) {
      const same = await plimsoll([...four, "--compare", at(other)]);
      expect(same.stderr).toBe("");
      expect(same.stdout).toMatch(/ {2}reserved +(\S+ GB) +\1 +0 B/);
    }
    const twice = await plimsoll([...words, "8", "--compare", at("p.json")]);
    expect(twice.stdout).toMatch(/ {2}loss .*\+100\.00 %/);
    expect(await readFile(at("p.json"), "utf8")).toBe(saved.stdout);
  });

  test("lays a prediction over a recorded run", async () => {
    const recorded = "test/fixtures/snapshots/gpt2-frames.pickle.gz";
    const ran = await plimsoll(["plan", "gpt2", "--batch", "2", "--seq", "256", "--compare", recorded]);
    expect(ran.stdout).toMatch(/ {2}weights +249 MB +249 MB +0 B/);
    expect(ran.stdout).toMatch(/ {2}optimizer state +498 MB +498 MB +0 B/);
    // torch.cuda.max_memory_allocated() of that run: 1,492,090,368.
    expect(ran.stdout).toMatch(/ {2}allocated +1\.49 GB/);
    expect(ran.stdout).not.toContain("without Python stacks");
  });

  test("--json and --markdown together are refused", async () => {
    expect(await refusal(["gpt2", "--json", "--markdown"])).toContain("exclude each other");
  });

  test("--markdown is a before/after table with the biggest lever", async () => {
    const ran = await plimsoll([
      "plan",
      "gpt2",
      "--batch",
      "8",
      "--seq",
      "1024",
      "--card",
      "24GB",
      "--markdown",
    ]);
    const rows = ran.stdout.split("\n").filter((line) => line.startsWith("|"));
    expect(rows[0]).toMatch(/^\| component \| this recipe \| with .* \| change \|$/);
    expect(new Set(rows.map((row) => row.split("|").length)).size).toBe(1);
    expect(rows.at(-1)).toMatch(/fits, \S+ GB spare/);
  });

  test.each<[string, readonly string[], RegExp]>([
    ["unknown model", ["qwen2.5-7"], /unknown model "qwen2\.5-7".*Qwen\/Qwen2\.5-7B/],
    ["unknown model, misspelled", ["Qwen/Qwen2.5-7C"], /did you mean Qwen\/Qwen2\.5-7B/],
    ["no such file", ["nowhere/config.json"], /nowhere\/config\.json: no such file/],
    ["sequence beyond the positions", ["gpt2", "--seq", "2048"], /"n_positions" is 1024; Expected 1 to 1024/],
    [
      "huge batch",
      ["gpt2", "--batch", "1e9"],
      /--batch is 1000000000; Expected a whole number from 1 to 65,536/,
    ],
    ["not a number", ["gpt2", "--batch", "NaN"], /--batch takes a number, not "NaN"/],
    ["negative", ["gpt2", "--batch", "-1"], /--batch takes a whole number, not "-1"/],
    [
      "unknown optimizer",
      ["gpt2", "--optimizer", "adamww"],
      /--optimizer cannot be "adamww" \(did you mean adamw\?\)/,
    ],
    [
      "unknown checkpointing",
      ["gpt2", "--checkpointing=some"],
      /one of: none, full, reentrant, every:K, selective, offload/,
    ],
    ["unknown target", ["gpt2", "--targets", "q_proj", "--seq", "64"], /no layer is named q_proj.*c_attn/],
    [
      "rank without LoRA",
      ["gpt2", "--method", "full", "--rank", "8"],
      /--rank has no meaning with --method full/,
    ],
    [
      "conflicting levers",
      ["gpt2", "--seq", "64", "--optimizer-in-backward"],
      /cannot be clipped; add --no-clip/,
    ],
    ["unknown card", ["gpt2", "--card", "banana"], /unknown card "banana"/],
    ["a card beyond any", ["gpt2", "--card", "1e30GB"], /Give 1 GB to 10 TB/],
    ["more logits than tokens", ["gpt2", "--seq", "64", "--logits-to-keep", "65"], /Expected 1 to 64/],
    ["a value of one letter", ["gpt2", "--zero", "4"], /--zero cannot be "4"; one of: 1, 2, 3/],
    ["both cards", ["gpt2", "--card", "24GB", "--cards", "2xA5000"], /exclude each other/],
    [
      "several cards, no way to spread",
      ["gpt2", "--cards", "2xA5000"],
      /--ddp, --zero 1\|2\|3, --fsdp, --tensor/,
    ],
    [
      "tensor parallelism of a family that is not divided",
      ["gpt2", "--cards", "2xA5000", "--tensor"],
      /tensor parallelism of model_type "gpt2" is not planned; --fsdp, or one of: llama/,
    ],
    [
      "a pipeline with frozen layers",
      ["gpt2", "--cards", "2xA5000", "--pipeline", "--freeze", "2"],
      /--freeze is not planned with --pipeline/,
    ],
    ["two ways to spread", ["gpt2", "--cards", "2xA5000", "--ddp", "--tensor"], /only one way to spread/],
    ["one card to spread over", ["gpt2", "--pipeline"], /--pipeline needs several cards/],
    [
      "offload of what is not sharded",
      ["gpt2", "--cards", "2xA5000", "--ddp", "--offload"],
      /--zero 1\|2\|3 or --fsdp/,
    ],
    ["host", ["gpt2", "--host", "lots"], /--host takes an amount of memory/],
    ["bad allocator settings", ["gpt2", "--seq", "64", "--alloc-conf", "nonsense"], /nonsense/],
    [
      "not a plan to compare with",
      ["gpt2", "--seq", "64", "--compare", "package.json"],
      /package\.json: not a plan/,
    ],
  ])("one line and exit 2: %s", async (_, words, message) => {
    const said = await refusal(words);
    expect(said).toMatch(message);
    expect(said.trimEnd().split("\n")).toHaveLength(1);
  });

  test.each<[string, string, string, RegExp]>([
    [
      "a script that is not Python",
      "train.py",
      "def f(:\n",
      /train\.py:1: not Python: .*; nothing that trains/,
    ],
    ["YAML with tabs", "run.yaml", "base_model: gpt2\n\tbatch: 1\n", /run\.yaml:2: invalid YAML: Tabs/],
    ["YAML of brackets only", "run.yaml", "[".repeat(300_000), /not a file of settings/],
    ["JSON of brackets only", "config.json", "[".repeat(300_000), /not JSON/],
  ])("one line and exit 2 for %s", async (_, name, text, message) => {
    const file = join(emptyFolder(), name);
    await writeFile(file, text);
    expect(await refusal([file])).toMatch(message);
  });

  test("writes nothing when a file cannot be written or compared with", async () => {
    const folder = emptyFolder();
    const words = ["gpt2", "--seq", "64"];
    for (const option of ["--html", "--tape", "--snapshot"]) {
      expect(await refusal([...words, option, folder])).toMatch(/cannot write .*: it is a folder/);
      expect(await refusal([...words, option, join(folder, "no", "x")])).toMatch(
        /ENOENT: no such file or directory$/m,
      );
      expect(await refusal([...words, option, join(folder, "x"), "--compare", join(folder, "none")])).toMatch(
        /none/,
      );
    }
    expect(await readdir(folder)).toEqual([]);
  });

  test("a sequence is by default no longer than the model's positions, and a config may begin with a byte-order mark", async () => {
    const file = join(emptyFolder(), "config.json");
    await writeFile(file, `\uFEFF${JSON.stringify(CONFIG)}`);
    const ran = await plimsoll(["plan", file, "--json"]);
    expect((JSON.parse(ran.stdout) as PlanResult).recipe.seq).toBe(1024);
  });

  test("a mistake exits with 2", async () => {
    const ran = await plimsoll(["plan", "gpt2", "--batch", "1e9"]);
    expect(ran).toMatchObject({ code: 2, stdout: "" });
  });

  test.each<[string, string, RegExp]>([
    ["broken JSON", "{", /not JSON/],
    ["NaN", '{"hidden_size": NaN}', /NaN is not a number in JSON/],
    ["a list", "[]", /not a model's config/],
    [
      "a negative size",
      JSON.stringify({ ...CONFIG, vocab_size: -1 }),
      /"vocab_size" is -1; Expected a whole number/,
    ],
    [
      "heads that do not divide",
      JSON.stringify({ ...CONFIG, num_attention_heads: 3 }),
      /"num_attention_heads" 3/,
    ],
    [
      "a probability above 1",
      JSON.stringify({ ...CONFIG, attention_dropout: 2 }),
      /"attention_dropout" is 2; Expected a number from 0 to 1/,
    ],
    ["bytes that steer a terminal", "\u001b[2J\u0000", /^plimsoll: \P{Cc}*not JSON/u],
    ["a missing key", JSON.stringify({ model_type: "llama" }), /missing key "hidden_size"/],
  ])("one line and exit 2 for a config with %s", async (_, text, message) => {
    const folder = emptyFolder();
    await mkdir(join(folder, "m"));
    await writeFile(join(folder, "m", "config.json"), text);
    const said = await refusal([join(folder, "m"), "--seq", "64"]);
    expect(said).toMatch(message);
    expect(said.trimEnd().split("\n")).toHaveLength(1);
  });
});
