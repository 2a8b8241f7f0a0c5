import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

export const CLI = fileURLToPath(new URL("../../dist/plimsoll.js", import.meta.url));

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Where {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
}

/** Runs the built plimsoll as a user would, with pipes instead of a terminal. */
export async function plimsoll(args: readonly string[], where: Where = {}): Promise<Ran> {
  const failure = process.env["PLIMSOLL_BUILD_FAILED"];
  if (failure) throw new Error(`the bundle was not built: ${failure}`);
  return runProgram(process.execPath, [CLI, ...args], where);
}

export function runProgram(program: string, args: readonly string[], where: Where = {}): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: where.cwd, env: { ...process.env, ...where.env } });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
    child.stdin.on("error", () => {});
    child.stdin.end(where.input ?? "");
  });
}
