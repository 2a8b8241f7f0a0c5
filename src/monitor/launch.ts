import { spawn } from "node:child_process";
import { constants } from "node:os";
import { UserError } from "../base/errors.ts";
import type { Environment } from "./probe.ts";

export interface Ended {
  readonly code: number;
  readonly signal: NodeJS.Signals | null;
}

/** A terminal sends SIGINT and SIGQUIT to the training itself; these only reach whoever was named. */
const PASSED_ON = ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"] as const;
const FROM_TERMINAL = ["SIGINT", "SIGQUIT"] as const;

/** Runs the training as if plimsoll were not there: its terminal, its signals, its exit code. */
export function launch(
  command: readonly string[],
  env: Environment,
  stdout: "inherit" | "stderr",
): Promise<Ended> {
  const [program, ...args] = command;
  const child = spawn(program!, args, {
    env: env as NodeJS.ProcessEnv,
    stdio: ["inherit", stdout === "inherit" ? "inherit" : 2, "inherit"],
  });
  const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
  const ignore = (): void => {};
  const interrupt = process.stdin.isTTY ? ignore : pass;
  for (const signal of PASSED_ON) process.on(signal, pass);
  for (const signal of FROM_TERMINAL) process.on(signal, interrupt);
  return new Promise<Ended>((resolve, reject) => {
    child.on("error", (error: NodeJS.ErrnoException) =>
      reject(
        new UserError(
          error.code === "ENOENT"
            ? `${program} was not found`
            : `${program} could not be started: ${error.message}`,
          "usage: plimsoll run -- python train.py …",
        ),
      ),
    );
    child.on("exit", (code, signal) =>
      resolve({ code: code ?? 128 + (signal ? constants.signals[signal] : 0), signal }),
    );
  }).finally(() => {
    for (const signal of PASSED_ON) process.off(signal, pass);
    for (const signal of FROM_TERMINAL) process.off(signal, interrupt);
  });
}
