import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runProgram, type Where } from "./cli.ts";

/** The Python of the tests' own virtual environment (torch, transformers, peft: requirements-test.txt). */
export const PYTHON = fileURLToPath(new URL("../../.venv/bin/python", import.meta.url));

/** Runs a Python snippet with `args` as sys.argv[1:] and gives what it printed; fails with its traceback. */
export async function python(
  snippet: string,
  args: readonly string[] = [],
  where: Where = {},
): Promise<string> {
  if (!existsSync(PYTHON))
    throw new Error(".venv is missing: run npm test once, or node scripts/bootstrap.mjs");
  const { code, stdout, stderr } = await runProgram(PYTHON, ["-c", snippet, ...args], where);
  if (code !== 0) throw new Error(`python exited with ${code}\n${stderr}`);
  return stdout;
}
