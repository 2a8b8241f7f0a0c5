import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test, vi } from "vitest";
import { command } from "../../src/cli/commands/preflight.ts";
import { parseCommandLine } from "../../src/cli/parse.ts";
import type { Check } from "../../src/preflight/check.ts";
import type { PreflightResult } from "../../src/preflight/preflight.ts";
import { emptyFolder } from "../support/folder.ts";

interface World {
  /** Lines of nvidia-smi's two answers; null for a machine without it. */
  readonly gpus?: string | null;
  readonly processes?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Versions a stand-in for Python gives. */
  readonly packages?: Readonly<Record<string, string>>;
  readonly cuda?: string | null;
}

afterEach(() => void vi.unstubAllEnvs());

const CARD = "0, GPU-aaaa, NVIDIA GeForce RTX 4090, 24564, 24000, 580.65.06";
const SMALL = ["gpt2", "--seq", "256"];
const FIXTURES = fileURLToPath(new URL("../fixtures/preflight", import.meta.url));
const INSTALLED = { torch: "2.11.0", transformers: "5.17.0" };

function program(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** A folder that goes first on the PATH, with the programs that stand for this machine's. */
function machine({ gpus = null, processes = "", env = {}, packages, cuda = "12.8" }: World): string {
  const folder = emptyFolder();
  writeFileSync(join(folder, "cards"), gpus ?? "");
  writeFileSync(join(folder, "processes"), processes);
  // An nvidia-smi that is not there cannot be put before one that is: this one answers as a machine without a driver.
  const answer = `case "$1" in --query-gpu=*) cat '${folder}/cards';; *) cat '${folder}/processes';; esac`;
  program(folder, "nvidia-smi", gpus === null ? "echo 'no devices were found' >&2; exit 6" : answer);
  const said = JSON.stringify({ version: "3.11.9", packages: packages ?? INSTALLED, cuda });
  program(folder, "python3", `echo '${said}'`);
  for (const name of Object.keys(process.env)) {
    if (/^(?:CUDA_|PYTORCH_|NCCL_|TORCH_|OMP_|TOKENIZERS_)/.test(name)) vi.stubEnv(name, undefined);
  }
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  vi.stubEnv("PATH", [folder, process.env["PATH"]].join(delimiter));
  return folder;
}

async function preflight(words: readonly string[], onWait: () => void = () => {}) {
  let out = "";
  let err = "";
  const io = {
    out: (text: string) => void (out += text),
    err: (text: string) => {
      err += text;
      onWait();
    },
    color: false,
    width: 100,
    interactive: false,
  };
  const code = await command.run(parseCommandLine(command, words), io);
  return { code, out, err };
}

async function checked(words: readonly string[], world: World) {
  machine(world);
  const at = words.indexOf("--");
  const before = at < 0 ? words : words.slice(0, at);
  const { code, out } = await preflight([...before, "--json", ...words.slice(before.length)]);
  const result = JSON.parse(out) as PreflightResult;
  const of = (name: string): Check | undefined => result.checks.find((check) => check.name === name);
  return { code, result, of };
}

test("a machine without a GPU is said to have none, and the rest is checked", async () => {
  const { code, result, of } = await checked(SMALL, { gpus: null });
  expect(code).toBe(0);
  expect(of("GPU")).toMatchObject({ status: "warn", says: expect.stringContaining("no GPU here") });
  expect(of("memory")?.status).toBe("warn");
  expect(of("python")?.says).toContain("torch 2.11.0");
  expect(result.checks.map(({ name }) => name)).toContain("disk");
});

test("without an nvidia-smi there is no GPU either", async () => {
  vi.stubEnv("PATH", emptyFolder());
  const { code, out } = await preflight(["--json"]);
  expect(code).toBe(0);
  expect(out).toContain("no nvidia-smi on the PATH");
  expect(out).toContain("its libraries are not checked");
});

test("a free card with room passes", async () => {
  const { code, result, of } = await checked(SMALL, { gpus: CARD });
  expect({ code, status: result.status }).toEqual({ code: 0, status: "pass" });
  expect(of("GPU 0")?.says).toBe("NVIDIA GeForce RTX 4090, 25.8 GB, driver 580.65.06");
  expect(of("GPU 0 memory")?.status).toBe("pass");
});

test("a card that another process fills fails, and the process is named", async () => {
  const busy = CARD.replace("24000", "900");
  const { code, of } = await checked(SMALL, {
    gpus: busy,
    processes: "GPU-aaaa, 4242, /opt/a, b/python, 23100\nGPU-bbbb, 7, elsewhere, 1\n",
  });
  expect(code).toBe(1);
  expect(of("GPU 0 processes")).toMatchObject({
    status: "warn",
    says: "/opt/a,b/python (pid 4242, 24.2 GB)",
    mend: expect.stringContaining("ps -o user,pid,etime,args -p 4242"),
  });
  expect(of("GPU 0 memory")).toMatchObject({ status: "fail", mend: expect.stringContaining("--wait") });
});

test("a run too large for the whole card is sent to fit, and not waited for", async () => {
  const { code, of } = await checked(["Qwen/Qwen2.5-7B", "--wait"], { gpus: CARD });
  expect(code).toBe(1);
  expect(of("GPU 0 memory")?.mend).toMatch(/^plimsoll fit Qwen\/Qwen2\.5-7B … --card 25\.\dGB$/);
});

test("--card stands in for a card that is not here", async () => {
  const { code, of } = await checked(["Qwen/Qwen2.5-7B", "--card", "24GB"], { gpus: null });
  expect(code).toBe(1);
  expect(of("memory")?.says).toContain("the 24.0 GB card has 24.0 GB");
});

test("--wait ends when the memory is free, and says what it waits for", async () => {
  const folder = machine({ gpus: CARD.replace("24000", "900") });
  const { code, out, err } = await preflight([...SMALL, "--wait=5"], () =>
    writeFileSync(join(folder, "cards"), CARD),
  );
  expect(err).toMatch(/^waiting for [\d.]+ GB: GPU 0 has 944 MB free\n/);
  expect(out).toMatch(/pass {2}GPU 0 memory/);
  expect(code).toBe(0);
});

test("--wait gives up when its time is over, and says the same thing once", async () => {
  machine({
    gpus: CARD.replace("24000", "900"),
    processes: "GPU-aaaa, 4242, python, 23100\n",
  });
  const { code, out, err } = await preflight([...SMALL, "--wait=0.04"]);
  expect(err).toMatch(/^waiting for [\d.]+ GB: GPU 0 has 944 MB free, held by python \(pid 4242\)\n$/);
  expect(code).toBe(1);
  expect(out).toMatch(/fail {2}GPU 0 memory/);
});

test("an allocator string that does not parse fails; a good one is part of the plan", async () => {
  const bad = await checked(SMALL, {
    gpus: CARD,
    env: { PYTORCH_CUDA_ALLOC_CONF: "expandable_segment:True" },
  });
  expect(bad.code).toBe(1);
  expect(bad.of("PYTORCH_CUDA_ALLOC_CONF")).toMatchObject({
    status: "fail",
    says: expect.stringContaining('unknown key "expandable_segment"'),
  });
  const unset = await checked(SMALL, {});
  expect(unset.of("fragmentation")?.mend).toBe("export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True");
  const good = await checked(SMALL, {
    env: { PYTORCH_CUDA_ALLOC_CONF: "expandable_segments:True" },
  });
  expect(good.of("PYTORCH_CUDA_ALLOC_CONF")?.status).toBe("pass");
  expect(good.of("fragmentation")).toBeUndefined();
});

test.each([
  ["CUDA_LAUNCH_BLOCKING", "1", "warn"],
  ["NCCL_DEBUG", "INFO", "warn"],
  ["TOKENIZERS_PARALLELISM", "true", "warn"],
  ["TOKENIZERS_PARALLELISM", "false", "pass"],
  ["OMP_NUM_THREADS", "many", "warn"],
  ["OMP_NUM_THREADS", "1", "pass"],
  ["CUDA_VISIBLE_DEVICES", "", "fail"],
  ["CUDA_VISIBLE_DEVICES", "3", "fail"],
])("%s=%s: %s", async (name, value, status) => {
  const { of } = await checked([], { gpus: CARD, env: { [name]: value } });
  expect(of(name)?.status).toBe(status);
});

test("NCCL_DEBUG=WARN is nobody's leftover", async () => {
  const { result } = await checked([], { gpus: CARD, env: { NCCL_DEBUG: "WARN" } });
  expect(result.status).toBe("pass");
});

test("only the cards that the run will see are held against the plan", async () => {
  const two = `${CARD.replace("24000", "900")}\n1, GPU-bbbb, NVIDIA GeForce RTX 4090, 24564, 24000, 580.65.06\n`;
  const { code, of } = await checked(SMALL, { gpus: two, env: { CUDA_VISIBLE_DEVICES: "GPU-b" } });
  expect(code).toBe(0);
  expect(of("GPU 0 memory")).toBeUndefined();
  expect(of("GPU 1 memory")?.status).toBe("pass");
});

test("a run over several cards is held against each, and fails where there are too few", async () => {
  const two = `${CARD}\n1, GPU-bbbb, NVIDIA GeForce RTX 4090, 24564, 900, 580.65.06\n`;
  const { code, of } = await checked([...SMALL, "--ddp"], { gpus: two });
  expect(code).toBe(1);
  expect(of("GPU 0 memory")?.status).toBe("pass");
  expect(of("GPU 1 memory")?.status).toBe("fail");
  const few = await checked([...SMALL, "--ddp", "--cards", "4x4090"], { gpus: two });
  expect(few.of("GPUs")).toMatchObject({ status: "fail", says: "2 here, and the run is spread over 4" });
});

test("every rule that a recipe breaks is a fail with its hint", async () => {
  const words = [...SMALL, "--optimizer-in-backward", "--accumulation", "2"];
  const { code, result } = await checked(words, { gpus: CARD });
  expect(code).toBe(1);
  const said = result.checks.filter(({ name }) => name === "recipe");
  expect(said.map(({ status }) => status)).toEqual(["fail", "fail"]);
  expect(said[0]).toMatchObject({ mend: "--accumulation 1, or drop --optimizer-in-backward" });
  expect(result.need).toBeNull();
});

test("too little disk for the checkpoints kept fails", async () => {
  const { code, of } = await checked([...SMALL, "--checkpoints", "1000000000"], { gpus: CARD });
  expect(code).toBe(1);
  expect(of("disk")).toMatchObject({
    status: "fail",
    says: expect.stringContaining("1000000000 kept and one being written"),
  });
});

test("a script tells where it saves and how many it keeps", async () => {
  const folder = emptyFolder();
  const script = join(folder, "train.py");
  writeFileSync(
    script,
    `from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
model = AutoModelForCausalLM.from_pretrained("gpt2")
args = TrainingArguments(output_dir="${folder}/to/come", save_total_limit=999999999, per_device_train_batch_size=1)
Trainer(model=model, args=args).train()
`,
  );
  const { of } = await checked(["--", "python3", script], { gpus: CARD });
  expect(of("disk")).toMatchObject({ status: "fail", says: expect.stringContaining(`${folder}/to/come`) });
  expect(of("accelerate")).toMatchObject({ status: "fail", mend: "python3 -m pip install accelerate" });
});

test.each<[string, World, readonly string[], Partial<Check> & { name: string }]>([
  ["a torch without CUDA beside a card", { cuda: null }, [], { name: "torch build", status: "fail" }],
  [
    "a driver too old for torch's CUDA",
    { cuda: "13.0", gpus: CARD.replace("580.65.06", "570.86.10") },
    [],
    { name: "driver", status: "fail" },
  ],
  [
    "transformers 4's fp32",
    { packages: { torch: "2.8.0", transformers: "4.57.1" } },
    SMALL,
    { name: "weights' type", status: "warn" },
  ],
  [
    "peft's torchao",
    { packages: { ...INSTALLED, peft: "0.21.0", torchao: "0.15.0" } },
    [...SMALL, "--method", "lora"],
    { name: "torchao", status: "fail" },
  ],
  [
    "the allocator's new name in an old torch",
    {
      packages: { ...INSTALLED, torch: "2.9.1+cu128" },
      env: { PYTORCH_ALLOC_CONF: "expandable_segments:True" },
    },
    [],
    { name: "PYTORCH_ALLOC_CONF", status: "warn", source: expect.stringContaining("183387") as string },
  ],
  [
    "a library that the recipe needs",
    {},
    [...SMALL, "--optimizer", "adamw-8bit"],
    { name: "bitsandbytes", status: "fail", mend: "python3 -m pip install bitsandbytes" },
  ],
])("%s", async (_, world, words, expected) => {
  const { result } = await checked([...words, "--", "python3", "train.py"], { gpus: CARD, ...world });
  expect(result.checks).toContainEqual(expect.objectContaining(expected));
});

test("a Python that is only guessed warns where the command's own would fail", async () => {
  const { code, of } = await checked([...SMALL, "--optimizer", "adamw-8bit"], { gpus: CARD });
  expect(of("bitsandbytes")?.status).toBe("warn");
  expect(code).toBe(0);
});

test("the Python behind a launcher is the one its first line names", async () => {
  const folder = machine({ gpus: CARD });
  mkdirSync(join(folder, "venv"));
  const said = JSON.stringify({ version: "3.12.1", packages: { torch: "2.10.0" }, cuda: "12.8" });
  const python = program(join(folder, "venv"), "python3", `echo '${said}'`);
  writeFileSync(join(folder, "torchrun"), `#!${python}\nimport sys\n`);
  chmodSync(join(folder, "torchrun"), 0o755);
  const { out } = await preflight(["--", "torchrun", "train.py"]);
  expect(out).toContain(`${python} 3.12.1: torch 2.10.0\n`);
});

test("a real Python is asked without importing torch", async () => {
  machine({ gpus: CARD });
  const folder = emptyFolder();
  mkdirSync(join(folder, "torch"));
  mkdirSync(join(folder, "torch-9.9.dist-info"));
  writeFileSync(
    join(folder, "torch-9.9.dist-info/METADATA"),
    "Metadata-Version: 2.1\nName: torch\nVersion: 9.9\n",
  );
  writeFileSync(
    join(folder, "torch/version.py"),
    "from typing import Optional\ncuda: Optional[str] = '12.8'\n",
  );
  writeFileSync(
    join(folder, "torch/__init__.py"),
    `open(${JSON.stringify(join(folder, "imported"))}, "w")\n`,
  );
  vi.stubEnv("PYTHONPATH", folder);
  const { PYTHON } = await import("../support/python.ts");
  const { out } = await preflight(["--", PYTHON, "train.py"]);
  expect(out).toContain("torch 9.9");
  expect(out).not.toContain("built without CUDA");
  expect(existsSync(join(folder, "imported"))).toBe(false);
});

test.each([
  ["ids.jsonl", `{"input_ids":[1,2,3]}\n{"input_ids":[${Array(300).fill(1).join(",")}]}\n`, 300, true],
  ["chat.jsonl", `{"messages":[{"role":"user","content":"${"word ".repeat(400)}"}]}\n`, 502, false],
  [
    "list.json",
    `[{"text":"a b c"},{"text":"${"a ".repeat(600)}","other":"${"x".repeat(9999)}"}]`,
    600,
    false,
  ],
  ["rows.csv", `text,label\n"${'a, ""b""\n'.repeat(200)}",1\nshort,0\n`, 400, false],
  ["lines.txt", `one\n\n${"語".repeat(400)}\n`, 300, false],
])("the longest sample of %s", async (name, text, tokens, exact) => {
  const file = join(emptyFolder(), name);
  writeFileSync(file, text);
  const { of } = await checked([...SMALL, "--data", file], { gpus: CARD });
  const data = of("data")!;
  expect(data.says).toContain(`${tokens} tokens`);
  expect(data.says.includes("an estimate")).toBe(!exact);
  expect(data.status).toBe(exact ? "fail" : "warn");
});

test("samples within --seq pass, and SFTTrainer cuts those that are not", async () => {
  const file = join(emptyFolder(), "a.jsonl");
  writeFileSync(file, `{"input_ids":[${Array(300).fill(1).join(",")}]}\n`);
  const within = await checked(["gpt2", "--seq", "300", "--data", file], { gpus: CARD });
  expect(within.of("data")?.status).toBe("pass");
  const cut = await checked([...SMALL, "--loop", "sft", "--data", file], { gpus: CARD });
  expect(cut.of("data")).toMatchObject({ status: "warn", says: expect.stringContaining("cut to 256") });
});

test.each([
  ["ids-zstd.parquet", true],
  ["text-snappy.parquet", false],
  ["chat-gzip.parquet", false],
  ["ids-stream.arrow", true],
  ["chat-file.arrow", false],
  ["text.feather", false],
])("the longest sample of the table %s", async (name, exact) => {
  const { of } = await checked([...SMALL, "--data", join(FIXTURES, name)], { gpus: CARD });
  expect(of("data")?.says).toMatch(
    exact
      ? /^longest of 6 samples: 300 tokens, sample 4/
      : /^longest of 6 samples: about 30[02] tokens, sample 4/,
  );
});

test.each(["a.parquet", "a.arrow"])("%s that is none is said in one line", async (name) => {
  const file = join(emptyFolder(), name);
  writeFileSync(file, "nothing of the kind ".repeat(20));
  machine({ gpus: CARD });
  await expect(preflight([...SMALL, "--data", file])).rejects.toThrow(/^--data .* cannot be read as/);
});

/** What a real driver and a real Python answered: test/fixtures/preflight/h200. */
function h200(state: "idle" | "busy"): World {
  const read = (name: string): string => readFileSync(join(FIXTURES, "h200", name), "utf8");
  const { packages, cuda } = JSON.parse(read("python.json")) as Required<Pick<World, "packages" | "cuda">>;
  return { gpus: read(`${state}-cards.txt`), processes: read(`${state}-apps.txt`), packages, cuda };
}

test("an H200 as its driver describes it, with nothing on it", async () => {
  const { code, result, of } = await checked(SMALL, h200("idle"));
  expect({ code, status: result.status }).toEqual({ code: 0, status: "pass" });
  expect(result.gpus).toEqual([
    {
      index: 0,
      uuid: "GPU-6ac15b3c-7e60-3f06-b188-3f38d2f84b5d",
      name: "NVIDIA H200",
      total: 143771 * 2 ** 20,
      free: 143156 * 2 ** 20,
      driver: "580.159.04",
      holders: [],
    },
  ]);
  expect(of("GPU 0")?.says).toBe("NVIDIA H200, 151 GB, driver 580.159.04");
  expect(of("python")?.says).toContain("torch 2.11.0, transformers 5.17.0");
});

test("an H200 that a process holds 40 GiB of", async () => {
  const { of } = await checked(SMALL, h200("busy"));
  expect(of("GPU 0 processes")).toMatchObject({ status: "warn", says: "python3 (pid 425, 43.6 GB)" });
  expect(of("GPU 0 memory")?.status).toBe("pass");
  const large = await checked(["Qwen/Qwen2.5-7B", "--seq", "8192"], h200("busy"));
  expect(large.of("GPU 0 memory")?.status).toBe("fail");
  const alone = await checked(["Qwen/Qwen2.5-7B", "--seq", "8192"], h200("idle"));
  expect(alone.of("GPU 0 memory")?.status).toBe("pass");
});

test("host memory too small for what is offloaded fails", async () => {
  const words = ["Qwen/Qwen2.5-72B", "--optimizer-host", "--no-clip", "--seq", "16", "--card", "10TB"];
  const { of } = await checked(words, { gpus: null });
  expect(of("host memory")?.status).toBe("fail");
});

test.each([
  [["--wait=soon"], "--wait takes minutes"],
  [["--wait"], "for how much memory"],
  [["--checkpoints", "0"], "--checkpoints takes a whole number"],
  [["--card", "24GB", "--cards", "2x24GB"], "exclude each other"],
  [["nothing-of-the-kind"], "nothing-of-the-kind"],
])("%s is a mistake said in one line", async (words, message) => {
  machine({});
  await expect(preflight(words)).rejects.toThrow(message);
});
