import { execFile } from "node:child_process";

/** Longer than a cold start from a network disk; a driver that hangs answers never. */
const TIMEOUT_MS = 30_000;
const MAX_OUTPUT = 16e6;

export interface Said {
  readonly out: string;
  /** Null when it ended well. */
  readonly problem: string | null;
  /** There is no such program. */
  readonly absent: boolean;
}

/** Runs a program that only answers a question, without a shell. Never throws. */
export function ask(program: string, words: readonly string[]): Promise<Said> {
  return new Promise((resolve) => {
    execFile(
      program,
      [...words],
      { timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT, encoding: "utf8" },
      (error, out, err) => {
        const absent = error?.code === "ENOENT";
        resolve({ out, problem: error && problemOf(error, out, err), absent });
      },
    );
  });
}

function problemOf(error: Error & { killed?: boolean }, out: string, err: string): string {
  if (error.killed) return `no answer in ${TIMEOUT_MS / 1000} s`;
  const lines = `${err}\n${out}`.split("\n").map((line) => line.trim());
  return lines.findLast((line) => line !== "") ?? error.message;
}
