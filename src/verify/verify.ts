import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UserError } from "../base/errors.ts";
import { probeEnvironment, type Environment } from "../monitor/probe.ts";
import { runChild, type CommandLine, type Ran } from "./child.ts";
import { judge, type Limits } from "./gates.ts";
import { compareMemory, memoryCurves } from "./memory.ts";
import { lastNumber, metricIn, type MetricPattern } from "./metric.ts";
import { compareQuantity } from "./quantity.ts";
import { readMeasured, readValues, type Measured, type Values } from "./readings.ts";
import type { Quantity, Side, Speed, Verification } from "./result.ts";
import { compareResults, identical, type Samples } from "./sameness.ts";
import { findSource, type Source } from "./sources.ts";
import { compareSpeed } from "./speed.ts";
import { Tree } from "./trees.ts";
import { compareWarnings, warningsOf } from "./warnings.ts";

export type SideName = "before" | "after";

export interface Request {
  readonly before: { readonly source: string; readonly command: CommandLine };
  readonly after: { readonly source: string; readonly command: CommandLine };
  readonly repeats: number;
  readonly seed: number;
  readonly deterministic: boolean;
  readonly share: readonly string[];
  readonly metrics: readonly MetricPattern[];
  readonly metricCommand: string | null;
  readonly limits: Limits;
  readonly cwd: string;
  readonly env: Environment;
  readonly cancel: AbortSignal;
  /** Told of each run before it starts. */
  readonly progress: (text: string) => void;
}

/** A side did not run; `log` is the end of what it wrote. */
export class SideFailed extends UserError {
  readonly log: string;
  constructor(message: string, hint: string, log: string) {
    super(message, hint);
    this.log = log;
  }
}

type Mode = "values" | "nudge" | "measure";

interface Runner {
  readonly name: SideName;
  readonly source: Source;
  readonly tree: Tree;
  readonly command: CommandLine;
  readonly measured: Measured[];
  readonly warnings: Set<string>[];
  readonly metrics: Map<string, number[]>;
}

export async function verify(request: Request): Promise<Verification> {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), "plimsoll-verify-")));
  const trees: Tree[] = [];
  try {
    const sides = sidesOf(request, scratch);
    trees.push(sides.before.tree, sides.after.tree);
    const bench = new Bench(request, scratch);
    const samples = await computed(bench, sides.before, sides.after);
    for (let pair = 0; pair < request.repeats; pair++) {
      // ABBA: what drifts (heat, other users of the machine) meets both sides alike.
      const order = pair % 2 === 0 ? [sides.before, sides.after] : [sides.after, sides.before];
      for (const side of order) await bench.measure(side, pair, request.repeats);
    }
    return verification(request, sides, samples);
  } finally {
    for (const tree of trees) tree.remove();
    rmSync(scratch, { recursive: true, force: true });
  }
}

function sidesOf(request: Request, scratch: string): { before: Runner; after: Runner } {
  const side = (name: SideName): Runner => {
    const { source: text, command } = request[name];
    const source = findSource(text, `--${name}`, request.cwd);
    return {
      name,
      source,
      tree: new Tree(join(scratch, name), source, request.share, request.cwd),
      command,
      measured: [],
      warnings: [],
      metrics: new Map(),
    };
  };
  return { before: side("before"), after: side("after") };
}

/** Once each; only where the two are not bit-identical, as often as it takes to say what the difference means. */
async function computed(bench: Bench, before: Runner, after: Runner): Promise<Samples> {
  const first = await bench.values(before, "values");
  const second = await bench.values(after, "values");
  const done = { before: [first], after: [second], nudged: [] };
  if (identical(first, second) || first.steps.length !== second.steps.length) return done;
  const again = await bench.values(before, "values");
  const nudged = await bench.values(before, "nudge");
  const twice = identical(first, again) ? [] : [await bench.values(after, "values")];
  return { before: [first, again], after: [second, ...twice], nudged: [nudged] };
}

class Bench {
  readonly #request: Request;
  readonly #scratch: string;
  #runs = 0;

  constructor(request: Request, scratch: string) {
    this.#request = request;
    this.#scratch = scratch;
  }

  async values(side: Runner, mode: "values" | "nudge"): Promise<Values> {
    const what = mode === "values" ? "what it computes" : "what one rounding changes";
    this.#request.progress(`${side.name}: ${what}`);
    const { folder, ran } = await this.#run(side, mode);
    return readValues(folder) ?? noSteps(side, ran);
  }

  async measure(side: Runner, pair: number, pairs: number): Promise<void> {
    this.#request.progress(`${side.name}: time and memory, ${pair + 1} of ${pairs}`);
    const { folder, ran, trees } = await this.#run(side, "measure");
    side.measured.push(readMeasured(folder) ?? noSteps(side, ran));
    side.warnings.push(warningsOf(ran.err, trees));
    const keep = (name: string, value: number | null): void => {
      if (value !== null) side.metrics.set(name, [...(side.metrics.get(name) ?? []), value]);
    };
    for (const metric of this.#request.metrics) keep(metric.name, metricIn(metric, `${ran.err}\n${ran.out}`));
    const { metricCommand } = this.#request;
    if (metricCommand === null) return;
    const asked = await runChild(metricCommand, this.#place(side, this.#request.env, "metric"));
    this.#request.cancel.throwIfAborted();
    if (asked.code !== 0) throw failed(side, `the metric command ended with exit code ${asked.code}`, asked);
    keep("metric-command", lastNumber(asked.out));
  }

  async #run(side: Runner, mode: Mode): Promise<{ folder: string; ran: Ran; trees: readonly string[] }> {
    const { cancel } = this.#request;
    cancel.throwIfAborted();
    const name = `${++this.#runs}-${side.name}-${mode}`;
    const folder = join(this.#scratch, name);
    mkdirSync(folder);
    side.tree.fill();
    const ran = await runChild(side.command, this.#place(side, this.#environment(side, mode, folder), name));
    cancel.throwIfAborted();
    if (ran.code !== 0) throw failed(side, `ended with exit code ${ran.code}`, ran);
    return { folder, ran, trees: [side.tree.path, side.source.root] };
  }

  #place(side: Runner, env: Environment, name: string) {
    const { cwd, cancel } = this.#request;
    return { cwd: side.tree.cwd, userCwd: cwd, env, log: join(this.#scratch, name), cancel };
  }

  #environment(side: Runner, mode: Mode, folder: string): Environment {
    const { env, seed, deterministic } = this.#request;
    const strict = deterministic && mode !== "measure";
    return {
      // Eight runs of a comparison are nobody's experiments.
      WANDB_MODE: "offline",
      // cuBLAS is deterministic only with a fixed workspace (its documentation, "Results reproducibility").
      ...(strict ? { CUBLAS_WORKSPACE_CONFIG: ":4096:8" } : {}),
      ...probeEnvironment(env, folder, { leaks: false }),
      PYTHONHASHSEED: String(seed % 2 ** 32),
      PLIMSOLL_VERIFY: mode,
      PLIMSOLL_SEED: String(seed),
      PLIMSOLL_DETERMINISTIC: strict ? "1" : "0",
      PLIMSOLL_ORIGIN: side.source.root,
      PLIMSOLL_TREE: side.tree.path,
    };
  }
}

function failed(side: Runner, what: string, ran: Ran): SideFailed {
  const log = ran.err.trim() === "" ? ran.out : ran.err;
  const missing = /FileNotFoundError|No such file or directory/.test(log);
  return new SideFailed(
    `${side.name} (${side.source.text}) does not run: ${what}`,
    missing
      ? "files that git ignores are not in the tree: name data and models with --share"
      : "its last lines are above",
    log.trimEnd().split("\n").slice(-15).join("\n"),
  );
}

function noSteps(side: Runner, ran: Ran): never {
  throw new SideFailed(
    `${side.name} (${side.source.text}) ran, but no step of a torch.optim.Optimizer was seen`,
    "does the command train at all, in Python started without -I, -E or -S, and end by itself?",
    ran.err.trimEnd().split("\n").slice(-5).join("\n"),
  );
}

function verification(
  request: Request,
  sides: { before: Runner; after: Runner },
  samples: Samples,
): Verification {
  const { before, after } = sides;
  const results = compareResults(samples);
  const speed = compareSpeed(
    before.measured.map(({ seconds }) => seconds),
    after.measured.map(({ seconds }) => seconds),
  );
  const runs = {
    before: { measured: before.measured, values: samples.before },
    after: { measured: after.measured, values: samples.after },
  };
  const memory = compareMemory(runs.before, runs.after);
  const gates = judge(request.limits, results, memory, speed);
  const losses = (name: SideName) =>
    samples[name][0]!.steps.map(({ loss }) => (Number.isFinite(loss) ? loss : null));
  return {
    version: 1,
    passed: gates.every((gate) => gate.passed),
    seed: request.seed,
    repeats: request.repeats,
    sides: { before: described(before, samples.before), after: described(after, samples.after) },
    results,
    speed,
    memory,
    warnings: compareWarnings(before.warnings, after.warnings),
    metrics: metricsOf(request, before, after),
    gates,
    notes: [...notesOf(request, sides, samples, results.losses?.same ?? 0), ...unevenSteps(speed)],
    curves: {
      loss: { before: losses("before"), after: losses("after") },
      memory: memoryCurves(runs.before, runs.after),
    },
  };
}

function described({ source, command }: Runner, values: readonly Values[]): Side {
  return {
    source: source.text,
    commit: source.kind === "revision" ? source.commit : null,
    command: typeof command === "string" ? command : command.join(" "),
    steps: values[0]!.steps.length,
  };
}

function metricsOf(request: Request, before: Runner, after: Runner): Quantity[] {
  const names = [
    ...request.metrics.map(({ name }) => name),
    ...(request.metricCommand === null ? [] : ["metric-command"]),
  ];
  return names.map((name) =>
    compareQuantity(name, "number", before.metrics.get(name) ?? [], after.metrics.get(name) ?? [], {
      share: 0,
      amount: 0,
    }),
  );
}

/** Where the ordinary step is the same, all steps together may differ by less than this without a word. */
const UNEVEN = 0.2;

function unevenSteps({ verdict, changeOfAllSteps: all }: Speed): string[] {
  if (verdict !== "no difference" || all === null || Math.abs(Math.log1p(all)) < Math.log1p(UNEVEN))
    return [];
  const change = `${all < 0 ? "−" : "+"}${Math.abs(all * 100).toFixed(0)} %`;
  return [
    `an ordinary step takes as long as before, but some do not: all steps together take ${change} time`,
  ];
}

/** Beyond this, two runs of the same code say little about other code. */
const LOOSE = 0.01;

function notesOf(
  request: Request,
  { before, after }: { before: Runner; after: Runner },
  samples: Samples,
  same: number,
): string[] {
  const notes: string[] = [];
  const { before: a, after: b } = request;
  const place = ({ source }: Runner): string =>
    source.kind === "revision" ? source.commit : join(source.root, source.inside);
  if (place(before) === place(after) && String(a.command) === String(b.command))
    notes.push("before and after are the same code: what is shown is the noise of this machine");
  for (const side of [before, after]) {
    const outside = new Set([...side.measured, ...samples[side.name]].flatMap((run) => run.outside));
    if (outside.size > 0)
      notes.push(
        `${side.name} loaded ${[...outside].slice(0, 3).join(", ")} from ${side.source.root}, not from its own tree: an editable install or PYTHONPATH points there`,
      );
  }
  if (same > LOOSE)
    notes.push(
      `two runs of the same code differ by ${(same * 100).toPrecision(2)} % in their losses: seed what is random to compare more finely`,
    );
  const world = Math.max(...samples.before.map((run) => run.world));
  if (world > 1) notes.push(`of ${world} ranks, rank 0 is compared`);
  return notes;
}
