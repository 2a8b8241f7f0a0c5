import { spawn } from "node:child_process";
import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { constants } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { UserError } from "../base/errors.ts";
import type { Environment } from "../monitor/probe.ts";

/** Words as typed after `--`, or a line for the shell. */
export type CommandLine = readonly string[] | string;

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** How long a training may take to end after it was asked to. */
const PATIENCE_MS = 5000;
/** Of each stream, its end. */
const LOG_BYTES = 16 << 20;

export interface Place {
  readonly cwd: string;
  readonly userCwd: string;
  readonly env: Environment;
  /** Where its output goes: LOG.out and LOG.err. */
  readonly log: string;
  readonly cancel: AbortSignal;
}

/** Runs a command to its end in a process group of its own, so that whatever it started ends with it. */
export async function runChild(command: CommandLine, place: Place): Promise<Ran> {
  const [out, err] = [openSync(`${place.log}.out`, "w+"), openSync(`${place.log}.err`, "w+")];
  try {
    const code = await ended(command, place, out, err);
    return { code, out: endOf(out), err: endOf(err) };
  } finally {
    closeSync(out);
    closeSync(err);
  }
}

function ended(command: CommandLine, place: Place, out: number, err: number): Promise<number> {
  const [program, args] =
    typeof command === "string"
      ? ["/bin/sh", ["-c", command]]
      : [programOf(command[0]!, place), command.slice(1)];
  const child = spawn(program, args, {
    cwd: place.cwd,
    env: place.env as NodeJS.ProcessEnv,
    stdio: ["ignore", out, err],
    detached: true,
  });
  const signalGroup = (signal: NodeJS.Signals): void => {
    try {
      process.kill(-child.pid!, signal);
    } catch {
      // It has ended by itself.
    }
  };
  const stop = (): void => {
    signalGroup("SIGINT");
    setTimeout(() => signalGroup("SIGKILL"), PATIENCE_MS).unref();
  };
  return new Promise<number>((done, fail) => {
    child.on("error", (error: NodeJS.ErrnoException) =>
      fail(
        new UserError(
          error.code === "ENOENT"
            ? `${program} was not found`
            : `${program} could not be started: ${error.message}`,
          "usage: plimsoll verify --before REV -- python train.py …",
        ),
      ),
    );
    child.on("exit", (code, signal) => done(code ?? 128 + (signal ? constants.signals[signal] : 0)));
    if (place.cancel.aborted) stop();
    else place.cancel.addEventListener("abort", stop, { once: true });
  }).finally(() => place.cancel.removeEventListener("abort", stop));
}

/** `.venv/bin/python` is ignored by git and so not in the tree: then the user's own is meant. */
function programOf(word: string, { cwd, userCwd }: Place): string {
  if (!word.includes("/") || isAbsolute(word) || existsSync(join(cwd, word))) return word;
  return existsSync(resolve(userCwd, word)) ? resolve(userCwd, word) : word;
}

function endOf(handle: number): string {
  const { size } = fstatSync(handle);
  const buffer = Buffer.alloc(Math.min(size, LOG_BYTES));
  readSync(handle, buffer, 0, buffer.length, size - buffer.length);
  return buffer.toString("utf8");
}
