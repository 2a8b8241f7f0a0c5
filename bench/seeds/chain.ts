/** The six steps of one workload on the CPU, each by the program a user would call. */
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Verification } from "../../src/verify/result.ts";
import { farFrom, under, type Predicted } from "./evidence.ts";
import type { Place, Workload } from "./workloads.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const CLI = join(ROOT, "dist/plimsoll.js");
const PYTHON = join(ROOT, ".venv/bin/python");
const EVIDENCE = join(ROOT, "evidence/seeds");

export interface Outcome {
  readonly workload: Workload;
  readonly plans: ReadonlyMap<string, Predicted>;
  readonly failures: readonly string[];
}

interface Finding {
  readonly rule: string;
  readonly path: string;
  readonly line: number;
}

/** Runs the chain in `scratch`; what fails is named and the rest still run. */
export async function runChain(
  workload: Workload,
  scratch: string,
  told: (text: string) => void,
): Promise<Outcome> {
  const before = join(scratch, "before");
  const after = join(scratch, "after");
  for (const folder of [before, after]) {
    mkdirSync(folder, { recursive: true });
    cpSync(join(ROOT, "workloads"), folder, { recursive: true });
  }
  const failures: string[] = [];
  const plans = new Map<string, Predicted>();
  const step = async (name: string, body: () => Promise<readonly string[]>): Promise<void> => {
    told(`${workload.name}: ${name}`);
    try {
      for (const failure of await body()) failures.push(`${name}: ${failure}`);
    } catch (error) {
      failures.push(`${name}: ${(error as Error).message.split("\n").slice(-3).join(" | ")}`);
    }
  };
  await step("audit", () => audit(workload, before));
  await step("audit --fix", () => mend(workload, after));
  await step("plan", () => plan(workload, plans));
  await step("fit", () => fit(workload));
  await step("run", () => watch(workload, before, scratch));
  await step("verify", () => prove(workload, before, after));
  await step("evidence", async () => workload.bars.flatMap((bar) => under(bar, EVIDENCE) ?? []));
  return { workload, plans, failures };
}

async function audit({ name, audit: { path, found, never } }: Workload, folder: string): Promise<string[]> {
  const at = join(folder, name, path);
  const findings = await auditOf(at);
  const missed = found
    .filter((place) => !findings.some((one) => one.rule === place.rule && stands(one, place)))
    .map(({ rule, file, at: line }) => `${rule} not found in ${file} at "${line}"`);
  const wrong = findings
    .filter(({ rule }) => never.includes(rule))
    .map(({ rule, path: file, line }) => `${rule} is a wrong diagnosis in ${file}:${line}`);
  return [...missed, ...wrong];
}

async function auditOf(folder: string): Promise<Finding[]> {
  const { stdout } = await plimsoll(["audit", folder, "--json"], [0, 1]);
  return (JSON.parse(stdout) as { findings: Finding[] }).findings;
}

async function mend({ name, audit: { path }, fix }: Workload, folder: string): Promise<string[]> {
  const at = join(folder, name, path);
  await plimsoll(
    [
      "audit",
      at,
      "--fix",
      ...(fix.unsafe ? ["--unsafe-fixes"] : []),
      ...(fix.select ? ["--select", fix.select] : []),
    ],
    [0, 1],
  );
  const left = await auditOf(at);
  return fix.gone
    .filter((rule) => left.some((one) => one.rule === rule))
    .map((rule) => `${rule} is still there`);
}

async function plan({ plans, fits }: Workload, into: Map<string, Predicted>): Promise<string[]> {
  const failures: string[] = [];
  if (fits) {
    const { code } = await plimsoll(["plan", ...fits, "--json"], [0, 1]);
    if (code === 1) failures.push(`does not fit: plimsoll plan ${fits.join(" ")}`);
  }
  for (const [run, args] of Object.entries(plans)) {
    const { stdout } = await plimsoll(["plan", ...args, "--json"], [0, 1]);
    into.set(run, JSON.parse(stdout) as Predicted);
    failures.push(...[farFrom(run, into.get(run)!, EVIDENCE) ?? []].flat());
  }
  return failures;
}

async function fit({ fit: args }: Workload): Promise<string[]> {
  const { stdout, code } = await plimsoll(["fit", ...args, "--json"], [0, 1]);
  if (code === 1) return ["nothing fits"];
  const { before, chosen } = JSON.parse(stdout) as { before: Predicted; chosen: Predicted };
  return chosen.peak.reserved < before.peak.reserved
    ? []
    : ["the recipe found needs no less than the one given"];
}

/** At the tiny size every run is over these thresholds: what is tested is that somebody is told. */
const hasCard = (): boolean => spawnSync("nvidia-smi", ["-L"]).status === 0;

async function watch({ run }: Workload, folder: string, scratch: string): Promise<string[]> {
  const alerts = join(scratch, "alerts.jsonl");
  const alert = hasCard() ? "reserved>4MB" : "host>100MB";
  const { stdout } = await plimsoll(
    ["run", "--json", "--dir", join(scratch, "runs"), "--alert", alert].concat(
      ["--alert-command", `cat >> '${alerts}'`, "--", PYTHON],
      run.command.split(" "),
    ),
    [0],
    folder,
  );
  const { leaks } = (JSON.parse(stdout) as { summary: { leaks: { file: string; line: number }[] } }).summary;
  const failures: string[] = [];
  if (!readFileSync(alerts, "utf8").includes(alert.split(">")[0]!)) failures.push(`no alert of ${alert}`);
  if (run.leak && !leaks.some((leak) => stands({ path: leak.file, line: leak.line }, run.leak!)))
    failures.push(`the leak at "${run.leak.at}" was not named`);
  if (!run.leak && leaks.length > 0) failures.push(`a leak where there is none: ${JSON.stringify(leaks[0])}`);
  return failures;
}

async function prove({ verify }: Workload, before: string, after: string): Promise<string[]> {
  const { stdout } = await plimsoll(
    ["verify", "--json", "--before", before, "--after", after, "--same-results"].concat(
      ["--max-memory-increase", "0%"],
      verify.slowdown ? ["--max-slowdown", verify.slowdown] : [],
      ["--before-command", `${PYTHON} ${verify.before}`, "--after-command", `${PYTHON} ${verify.after}`],
    ),
    [0, 1],
  );
  const result = JSON.parse(stdout) as Verification;
  const failures = result.gates.filter((gate) => !gate.passed).map(({ name, why }) => `${name}: ${why}`);
  const peak = result.memory.find(({ name }) => name === "peak of tensors");
  if (peak?.verdict !== "less") failures.push(`peak of tensors: ${peak?.verdict ?? "not measured"}`);
  return failures;
}

function stands(one: { readonly path: string; readonly line: number }, { file, at }: Place): boolean {
  if (!one.path.endsWith(`/${file}`)) return false;
  return readFileSync(one.path, "utf8").split("\n")[one.line - 1]!.includes(at);
}

interface Ran {
  readonly stdout: string;
  readonly code: number | null;
}

function plimsoll(args: readonly string[], allowed: readonly number[], cwd = ROOT): Promise<Ran> {
  return new Promise((resolve, reject) => {
    // One thread: at these sizes more only wait for each other.
    const env = { ...process.env, OMP_NUM_THREADS: "1", NO_COLOR: "1" };
    const child = spawn(process.execPath, [CLI, ...args], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code !== null && allowed.includes(code)) resolve({ stdout, code });
      else reject(new Error(`exit ${code}: ${stderr.trim()}`));
    });
  });
}
