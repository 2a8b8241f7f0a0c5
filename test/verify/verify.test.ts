import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { probeEnvironment } from "../../src/monitor/probe.ts";
import { readValues, type Values } from "../../src/verify/readings.ts";
import type { Verification } from "../../src/verify/result.ts";
import { compareResults } from "../../src/verify/sameness.ts";
import { CLI, plimsoll, runProgram } from "../support/cli.ts";
import { emptyFolder } from "../support/folder.ts";
import { PYTHON } from "../support/python.ts";

vi.setConfig({ testTimeout: 600_000 });

const TRAINING = `
import sys, time, warnings
import torch
model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Dropout(0.1), torch.nn.Linear(64, 8))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
kept = []
for step in range(20):
    x = torch.randn(64, 32)
    loss = torch.nn.functional.mse_loss(model(x), x[:, :8])
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    # changes go here
print(f"final={loss.item():.4f}")
`;

/** A git repository with the training in it, and a place of its own for temporary files. */
function project(source: string) {
  const cwd = emptyFolder();
  const scratch = emptyFolder();
  writeFileSync(join(cwd, "train.py"), source);
  const git = (...args: string[]): void => {
    const ran = spawnSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], {
      cwd,
      encoding: "utf8",
    });
    expect(ran.status, ran.stderr).toBe(0);
  };
  git("init", "--quiet");
  git("add", ".");
  git("commit", "--quiet", "-m", "before");
  const worktrees = (): number =>
    readdirSync(join(cwd, ".git")).filter((name) => name === "worktrees").length;
  return { cwd, scratch, worktrees, env: { OMP_NUM_THREADS: "1", TMPDIR: scratch } };
}

/** The types of a value, down to the leaves; lists by their first element. */
function shape(value: unknown): unknown {
  if (Array.isArray(value)) return value.length > 0 ? [shape(value[0])] : [];
  if (value === null || typeof value !== "object") return value === null ? "null" : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shape(inner)]));
}

test("a leak that came in: the same bits, more memory, slower, a new warning; by revision, with a report", async () => {
  const { cwd, scratch, worktrees, env } = project(TRAINING);
  const leaky = "kept.append(x.clone()); time.sleep(0.1)\n    if step == 3: warnings.warn(f'kept {step}')";
  writeFileSync(join(cwd, "train.py"), TRAINING.replace("# changes go here", leaky));
  const options = ["--json", "--out", "report", "--repeats", "3", "--metric", "final=([0-9.]+)"];
  const gates = ["--same-results", "--max-memory-increase", "1%", "--max-slowdown", "1%"];
  const ran = await plimsoll(["verify", ...options, ...gates, "--", PYTHON, "train.py"], { cwd, env });
  expect(ran.stderr).toBe("");
  expect(ran.code).toBe(1);
  const result = JSON.parse(ran.stdout) as Verification;
  expect(result.results).toMatchObject({
    verdict: "bit-identical",
    dtype: "float32",
    losses: { compared: 20, identical: 20, between: 0 },
    weights: { compared: 4, identical: 4 },
  });
  const memory = Object.fromEntries(result.memory.map((quantity) => [quantity.name, quantity]));
  // 64 × 32 floats are kept at each step.
  expect(memory["growth in 100 steps"]).toMatchObject({ before: 0, after: 819_200, verdict: "more" });
  expect(memory["peak of tensors"]!.verdict).toBe("more");
  expect(result.speed.verdict).toBe("slower");
  expect(result.warnings).toEqual({ new: ["UserWarning: kept N"], gone: [] });
  expect(result.metrics).toMatchObject([{ name: "final", change: 0, verdict: "no difference" }]);
  expect(result.gates.map(({ passed }) => passed)).toEqual([true, false, false]);
  expect(result.sides).toMatchObject({
    before: { source: "HEAD", steps: 20 },
    after: { source: ".", commit: null },
  });
  expect(shape({ ...result, notes: [] })).toMatchSnapshot();
  const report = readFileSync(join(cwd, "report/report.md"), "utf8");
  expect(report).toContain("| results | loss ");
  for (const picture of ["loss.svg", "memory.svg"]) {
    expect(report).toContain(`](${picture})`);
    expect(readFileSync(join(cwd, "report", picture), "utf8")).toMatch(
      /^<svg [\s\S]*<path d="M[\s\S]*<\/svg>\n$/,
    );
  }
  expect(JSON.parse(readFileSync(join(cwd, "report/verify.json"), "utf8"))).toEqual(result);
  expect(readdirSync(scratch).filter((name) => name.startsWith("plimsoll"))).toEqual([]);
  expect(worktrees()).toBe(0);
});

test("other arithmetic is told from other rounding", async () => {
  const cwd = emptyFolder();
  // As often as the machine adds differently, and a learning rate that differs in its fourth digit.
  const source = TRAINING.replace("nn.Dropout(0.1)", "nn.Identity()")
    .replace("lr=1e-3", "lr=float(sys.argv[2])")
    .replace(
      /loss = .*\n.*backward\(\)/,
      "for part in x.chunk(int(sys.argv[1])):\n        loss = torch.nn.functional.mse_loss(model(part), part[:, :8]) / int(sys.argv[1])\n        loss.backward()",
    );
  writeFileSync(join(cwd, "train.py"), source);
  const compute = async (mode: string, ...args: string[]): Promise<Values> => {
    const folder = emptyFolder();
    const env = { OMP_NUM_THREADS: "1", PLIMSOLL_VERIFY: mode, PLIMSOLL_SEED: "0" };
    const probed = probeEnvironment(env, folder, { leaks: false }) as { [name: string]: string };
    const { code, stderr } = await runProgram(PYTHON, ["train.py", ...args], { cwd, env: probed });
    expect(code, stderr).toBe(0);
    return readValues(folder)!;
  };
  const [before, nudged, halves, faster] = await Promise.all([
    compute("values", "1", "1e-3"),
    compute("nudge", "1", "1e-3"),
    compute("values", "2", "1e-3"),
    compute("values", "1", "1.001e-3"),
  ]);
  const compare = (after: Values) =>
    compareResults({ before: [before!, before!], after: [after], nudged: [nudged!] });
  expect(before!.steps).toHaveLength(20);
  expect(compare(halves!)).toMatchObject({ verdict: "same within rounding", deterministic: true });
  expect(compare(halves!).weights!.identical).toBeLessThan(4);
  expect(compare(faster!)).toMatchObject({
    verdict: "different",
    losses: { beyond: expect.any(String) },
  });
});

test("a model in a function is gone at exit: its frozen half precision and the names are known all the same", async () => {
  const cwd = emptyFolder();
  const folder = emptyFolder();
  writeFileSync(
    join(cwd, "train.py"),
    `
import torch
def main():
    base = torch.nn.Linear(8, 8).bfloat16().requires_grad_(False)
    model = torch.nn.ModuleDict({"base": base, "head": torch.nn.Linear(8, 1)})
    optimizer = torch.optim.SGD(model["head"].parameters(), lr=0.1)
    for step in range(3):
        model["head"](base(torch.randn(4, 8).bfloat16()).float()).sum().backward()
        optimizer.step()
main()
`,
  );
  const env = { OMP_NUM_THREADS: "1", PLIMSOLL_VERIFY: "values", PLIMSOLL_SEED: "0" };
  const probed = probeEnvironment(env, folder, { leaks: false }) as { [name: string]: string };
  const { code, stderr } = await runProgram(PYTHON, ["train.py"], { cwd, env: probed });
  expect(code, stderr).toBe(0);
  const values = readValues(folder)!;
  expect(values).toMatchObject({ failed: null, dtype: "bfloat16", roundoff: 2 ** -8 });
  expect(values.weights.map((weight) => weight.name)).toEqual(["head.weight", "head.bias"]);
});

test("a side that does not run is exit 2, with its last lines; so is one that takes no step", async () => {
  const { cwd, scratch, worktrees, env } = project("raise SystemExit('no data here')");
  const broken = await plimsoll(["verify", "--", PYTHON, "train.py"], { cwd, env });
  expect(broken.code).toBe(2);
  expect(broken.stderr).toMatch(
    /^no data here\nplimsoll: before \(HEAD\) does not run: ended with exit code 1; /,
  );
  const idle = await plimsoll(["verify", "--before-command", "true", "--after-command", "true"], {
    cwd,
    env,
  });
  expect(idle.code).toBe(2);
  expect(idle.stderr).toContain("no step of a torch.optim.Optimizer was seen");
  expect(readdirSync(scratch).filter((name) => name.startsWith("plimsoll"))).toEqual([]);
  expect(worktrees()).toBe(0);
});

test("Ctrl-C ends the training and leaves nothing behind", async () => {
  const { cwd, scratch, worktrees, env } = project(
    "import os, time\nopen(os.environ['UP'], 'w').write(str(os.getpid()))\ntime.sleep(600)\n",
  );
  const up = join(emptyFolder(), "up");
  const child = spawn(process.execPath, [CLI, "verify", "--", PYTHON, "train.py"], {
    cwd,
    env: { ...process.env, ...env, UP: up },
    stdio: "ignore",
  });
  const ended = new Promise<number | null>((resolve) => child.on("exit", (code) => resolve(code)));
  while (!existsSync(up) || readFileSync(up, "utf8") === "") await sleep(50);
  child.kill("SIGINT");
  expect(await ended).toBe(130);
  expect(() => process.kill(Number(readFileSync(up, "utf8")), 0)).toThrow("ESRCH");
  expect(readdirSync(scratch).filter((name) => name.startsWith("plimsoll"))).toEqual([]);
  expect(worktrees()).toBe(0);
});

test("mistakes are one line, exit 2", async () => {
  const { cwd, env } = project("");
  mkdirSync(join(cwd, "HEAD"));
  const outside = emptyFolder();
  const cases: [string[], RegExp, string?][] = [
    [["verify"], /what is to be run\?; usage/],
    [["verify", "--before-command", "true"], /what is to be run after\?/],
    [["verify", "--before", "nosuch", "--", "true"], /--before nosuch is neither a revision .* nor a folder/],
    [["verify", "--before", "HEAD", "--", "true"], /--before HEAD is both a revision and a folder/],
    [
      ["verify", "--before", "HEAD~1", "--", "true"],
      /is no folder, and .* is not in a git repository/,
      outside,
    ],
    [["verify", "--before", ".", "--", "no-such-program"], /no-such-program was not found/],
    [["verify", "--repeats", "0", "--", "true"], /--repeats takes a whole number/],
    [["verify", "--max-slowdown", "3", "--", "true"], /--max-slowdown takes a percentage/],
    [["verify", "--before", ".", "--share", "nothing", "--", "true"], /--share nothing: there is no such/],
  ];
  for (const [words, expected, where] of cases) {
    const { code, stderr } = await plimsoll(words, { cwd: where ?? cwd, env });
    expect(stderr).toMatch(expected);
    expect(code, words.join(" ")).toBe(2);
  }
});
