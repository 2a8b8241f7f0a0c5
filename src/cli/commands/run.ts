import { existsSync, rmSync } from "node:fs";
import { basename } from "node:path";
import packageJson from "../../../package.json" with { type: "json" };
import { UserError } from "../../base/errors.ts";
import { writeAdvice } from "../../monitor/advice.ts";
import { DEFAULT_RULES, parseRule } from "../../monitor/alerts.ts";
import { collect } from "../../monitor/collector.ts";
import { deliver } from "../../monitor/deliver.ts";
import { launch } from "../../monitor/launch.ts";
import { Observer, type Live } from "../../monitor/observe.ts";
import { probeEnvironment } from "../../monitor/probe.ts";
import { openSinks, type Sinks } from "../../monitor/sinks/open.ts";
import { createRun, readRun, RUNS_FOLDER, writeRun } from "../../monitor/run-folder.ts";
import { alertText, liveLine, runText } from "../../report/run-text.ts";
import type { Command, Input, Io } from "../command.ts";
import type { ExitCode } from "../exit.ts";
import { advise, recipeFileOf } from "../run-advice.ts";

/** Often enough to feel live; what a look costs is measured, and looks never take more than a twentieth of the time. */
const LOOK_MS = 500;
const CLEAR = "\r\u001B[2K";

export const command: Command = {
  name: "run",
  summary:
    "run a training command unchanged and watch its memory: live line, alerts, leaks by line, OOM report",
  usage: "plimsoll run [options] -- python train.py …",
  examples: [
    { line: "plimsoll run -- python train.py --lr 1e-4", says: "watch a run" },
    { line: "plimsoll run -- torchrun --nproc-per-node 8 train.py", says: "every rank reports" },
    {
      line: 'plimsoll run --alert "reserved>90%" --alert-command ./page-me.sh -- python train.py',
      says: "be told",
    },
  ],
  options: {
    dir: { type: "string", value: "DIR", summary: `where run folders go (default ${RUNS_FOLDER})` },
    alert: {
      type: "string",
      value: "RULE",
      multiple: true,
      summary: 'such as "reserved>90%", "growth>100MB", "host>50GB"',
    },
    "alert-command": {
      type: "string",
      value: "CMD",
      summary: "run at each alert, the alert as JSON on its input",
    },
    "alert-webhook": { type: "string", value: "URL", summary: "gets each alert as JSON by POST" },
    listen: {
      type: "string",
      value: "HOST:PORT",
      summary: "take the records of other nodes (off loopback: PLIMSOLL_TOKEN)",
    },
    collector: {
      type: "string",
      value: "URL",
      summary: "also send this node's records to plimsoll run --listen",
    },
    recipe: {
      type: "string",
      value: "FILE",
      summary:
        "where the recipe is, for the advice at the end (default: the script or config of the command)",
    },
    deep: { type: "string", value: "FROM:TO", summary: "steps to watch with stacks and synchronisations" },
    prometheus: {
      type: "string",
      value: "[HOST:]PORT",
      summary: "serve the run's metrics to Prometheus (without a host: on loopback)",
    },
    otlp: { type: "string", value: "URL", summary: "send metrics to an OpenTelemetry collector" },
    tensorboard: { type: "string", value: "DIR", summary: "write curves for TensorBoard below DIR" },
    wandb: { type: "boolean", summary: "log into the script's own Weights & Biases run" },
    mlflow: { type: "boolean", summary: "log into the script's own MLflow run" },
    "no-leaks": { type: "boolean", summary: "do not look for leaks" },
    json: { type: "boolean", summary: "print the summary as JSON; the training's own output goes to stderr" },
  },
  async run(input, io) {
    if (input.rest.length === 0)
      throw new UserError("what is to be run?", "usage: plimsoll run -- python train.py …");
    const given = input.options["alert"] as readonly string[] | undefined;
    const rules = (given ?? DEFAULT_RULES).map(parseRule);
    const deep = text(input, "deep");
    if (deep !== undefined && !/^\d+:\d+$/.test(deep))
      throw new UserError(`--deep takes FROM:TO, such as 100:110, not "${deep}"`);
    const recipe = text(input, "recipe") ?? recipeFileOf(input.rest);
    if (recipe !== null && !existsSync(recipe)) throw new UserError(`--recipe ${recipe}: no such file`);
    const folder = createRun(text(input, "dir") ?? RUNS_FOLDER, input.rest, packageJson.version, new Date());
    const env = probeEnvironment(process.env, folder, {
      deep,
      collector: text(input, "collector"),
      leaks: !input.options["no-leaks"],
      trackers: (["wandb", "mlflow"] as const).filter((name) => input.options[name]),
    });
    const sinks = await openSinks(
      {
        prometheus: text(input, "prometheus"),
        otlp: text(input, "otlp"),
        tensorboard: text(input, "tensorboard"),
      },
      { name: basename(folder), version: packageJson.version },
    ).catch((error: unknown) => {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    });
    for (const note of sinks.notes) io.err(`plimsoll: ${note}\n`);
    const listen = text(input, "listen");
    const collector = listen ? await collect(folder, listen, process.env["PLIMSOLL_TOKEN"] ?? "") : null;
    const observer = new Observer(folder, rules);
    const watching = watch(observer, sinks, input, io);
    const ended = await launch(input.rest, env, input.options["json"] ? "stderr" : "inherit").catch(
      (error: unknown) => {
        watching.abandon();
        void sinks.close();
        void collector?.close();
        rmSync(folder, { recursive: true, force: true });
        throw error;
      },
    );
    await collector?.close();
    await watching.stop();
    // Meanwhile the run's own files are completed: a sink that takes its time shall not cost them.
    const sinksClosed = sinks.close();
    const { signal } = ended;
    const run = {
      ...readRun(folder),
      ended: new Date().toISOString(),
      exit: ended.code,
      rules: rules.map((rule) => rule.text),
      ...(signal ? { signal } : {}),
    };
    writeRun(folder, run);
    const live = watching.last();
    const advice = await advise(recipe, live.summary);
    writeAdvice(folder, advice);
    if (input.options["json"])
      io.out(`${JSON.stringify({ folder, run, summary: live.summary, advice }, null, 2)}\n`);
    else io.err(runText(run, live.summary, folder, io.color, advice));
    for (const problem of await sinksClosed) io.err(`plimsoll: ${problem}\n`);
    // The training's exit code is the run's, whatever it is.
    return ended.code as ExitCode;
  },
};

interface Watching {
  stop(): Promise<void>;
  /** The training never started. */
  abandon(): void;
  last(): Live;
}

function watch(observer: Observer, sinks: Sinks, input: Input, io: Io): Watching {
  const to = { command: text(input, "alert-command"), webhook: text(input, "alert-webhook") };
  const sending: Promise<void>[] = [];
  let timer: NodeJS.Timeout | undefined;
  let live: Live | undefined;
  const show = (now: Live): void => {
    live = now;
    sinks.take(now);
    if (io.interactive) io.err(CLEAR);
    for (const alert of now.alerts) {
      io.err(alertText(alert, io.color));
      sending.push(deliver(alert, to).then((problem) => void (problem && io.err(`plimsoll: ${problem}\n`))));
    }
    if (io.interactive) io.err(liveLine(now, io.width));
  };
  const tick = (): void => {
    const began = performance.now();
    show(observer.look());
    timer = setTimeout(tick, Math.max(LOOK_MS, 20 * (performance.now() - began)));
  };
  timer = setTimeout(tick, LOOK_MS);
  return {
    async stop() {
      clearTimeout(timer);
      show(observer.close());
      if (io.interactive) io.err(CLEAR);
      await Promise.all(sending);
    },
    abandon: () => clearTimeout(timer),
    last: () => live!,
  };
}

function text(input: Input, name: string): string | undefined {
  const value = input.options[name];
  return typeof value === "string" ? value : undefined;
}
