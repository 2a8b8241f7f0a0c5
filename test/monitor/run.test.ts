import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { Tail } from "../../src/monitor/tail.ts";
import { CLI, plimsoll } from "../support/cli.ts";
import { emptyFolder } from "../support/folder.ts";
import { PYTHON } from "../support/python.ts";

vi.setConfig({ testTimeout: 240_000 });

const STEPS = `
import os, sys, time
import torch
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def steps(n, pause=0.0):
    for _ in range(n):
        model(torch.randn(2, 4)).sum().backward()
        optimizer.step()
        time.sleep(pause)
`;

function project(source: string): { cwd: string; runs: () => string[]; env: { OMP_NUM_THREADS: string } } {
  const cwd = emptyFolder();
  writeFileSync(join(cwd, "train.py"), STEPS + source);
  const root = join(cwd, ".plimsoll/runs");
  const runs = (): string[] => (existsSync(root) ? readdirSync(root).map((name) => join(root, name)) : []);
  return { cwd, runs, env: { OMP_NUM_THREADS: "1" } };
}

test("two ranks under torchrun report, the launcher does not; the exit code is the training's", async () => {
  const { cwd, runs, env } = project(`
import torch.distributed as dist
dist.init_process_group("gloo")
steps(6, 0.01 if dist.get_rank() == 0 else 0.03)
dist.barrier()
dist.destroy_process_group()
`);
  const torchrun = join(dirname(PYTHON), "torchrun");
  const command = [torchrun, "--standalone", "--nproc-per-node", "2", "train.py"];
  const ran = await plimsoll(["run", "--json", "--", ...command], { cwd, env });
  expect(ran.code, ran.stderr).toBe(0);
  const { run, summary } = JSON.parse(ran.stdout);
  expect(run).toMatchObject({ command, exit: 0 });
  expect(summary.ranks.map((rank: { rank: number; steps: number }) => [rank.rank, rank.steps])).toEqual([
    [0, 6],
    [1, 6],
  ]);
  expect(summary.slowestRank).toBe(1);
  expect(readdirSync(runs()[0]!).filter((name) => name.startsWith("rank-"))).toHaveLength(2);
});

test("out of memory: step, phase, line, what it held, and the ladder; exit code kept, listed by runs", async () => {
  const { cwd, runs, env } = project(`
steps(3)
def hungry():
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")
hungry()
`);
  const ran = await plimsoll(["run", "--", PYTHON, "train.py"], { cwd, env });
  expect(ran.code).toBe(1);
  expect(ran.stdout).toBe("");
  expect(ran.stderr).toContain("out of memory at step 3, in forward, rank 0");
  expect(ran.stderr).toMatch(/at .*train\.py:14 {2}raise torch\.OutOfMemoryError/);
  expect(ran.stderr).toContain("the recipe of this run is not known");
  expect(ran.stderr).not.toContain("\u001B[");
  const listed = await plimsoll(["runs"], { cwd });
  expect(listed.stdout).toMatch(/-train +3 .*out of memory +exit 1\n$/);
  const one = await plimsoll(["runs", runs()[0]!, "--json"], { cwd });
  expect(one.code).toBe(1);
  expect(JSON.parse(one.stdout).summary.ooms[0]).toMatchObject({ step: 3, phase: "forward" });
});

test("alerts fire once each, to a command and a webhook; dead ones are only mentioned", async () => {
  const { cwd, env } = project("steps(400, 0.004)\nsys.exit(3)\n");
  const posted: string[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    let body = "";
    request
      .on("data", (chunk) => (body += chunk))
      .on("end", () => {
        posted.push(body);
        response.end();
      });
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const options = ["--alert", "host>1MB", "--alert-command", "cat >> alerts; exit 4", "--alert-webhook", url];
  const ran = await plimsoll(["run", ...options, "--", PYTHON, "train.py"], { cwd, env });
  expect(ran.code).toBe(3);
  expect(ran.stderr.match(/host is /g)).toHaveLength(1);
  expect(ran.stderr).toContain("alert command ended with 4");
  expect(posted.map((body) => JSON.parse(body).rule)).toEqual(["host>1MB"]);
  expect(readFileSync(join(cwd, "alerts"), "utf8")).toBe(`${posted[0]!}\n`);
});

test("SIGTERM reaches the training; SIGKILL of plimsoll does not; records stay readable", async () => {
  const { cwd, runs, env } = project(`
import signal
sys.stdout.write(f"up {os.getpid()} \\n")
sys.stdout.flush()
steps(3000, 0.005)
open("finished", "w").close()
`);
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    const child = spawn(process.execPath, [CLI, "run", "--", PYTHON, "train.py"], {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "ignore"],
    });
    const training = await new Promise<number>((resolve) =>
      child.stdout.on("data", (text) => resolve(Number(String(text).split(" ")[1]))),
    );
    const folder = runs().at(-1)!;
    while (!(new Tail(folder).read()[0]?.steps ?? 0)) await sleep(100);
    const ended = new Promise<number | null>((resolve) => child.on("exit", (code) => resolve(code)));
    child.kill(signal);
    const code = await ended;
    const before = new Tail(folder).read()[0]!.steps;
    expect(before).toBeGreaterThan(0);
    if (signal === "SIGTERM") {
      expect(code).toBe(143);
      expect(JSON.parse(readFileSync(join(folder, "run.json"), "utf8"))).toMatchObject({
        exit: 143,
        signal: "SIGTERM",
      });
      continue;
    }
    while (new Tail(folder).read()[0]!.steps <= before + 10) await sleep(100);
    process.kill(training, "SIGKILL");
    expect(new Tail(folder).read()[0]!.steps).toBeGreaterThan(before);
    expect((await plimsoll(["runs"], { cwd })).stdout).toContain("running, or cut off");
  }
});

test("mistakes are one line, exit 2", async () => {
  const cwd = emptyFolder();
  mkdirSync(join(cwd, "empty"));
  const cases: [string[], RegExp][] = [
    [["run"], /what is to be run/],
    [["run", "--", "no-such-program-here"], /no-such-program-here was not found/],
    [["run", "--alert", "speed>3", "--", "true"], /does not understand "speed>3"/],
    [["run", "--deep", "ten", "--", "true"], /--deep takes FROM:TO/],
    [["runs", "empty"], /empty is not a recorded run/],
  ];
  for (const [words, expected] of cases) {
    const { code, stderr } = await plimsoll(words, { cwd });
    expect(stderr).toMatch(expected);
    expect(code, words.join(" ")).toBe(2);
  }
});
