import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Says what the scripts are doing on stderr, so that stdout stays with the program they run. @param {string} text */
export function say(text) {
  process.stderr.write(`${text}\n`);
}

/** A reason to stop that the reader can act on: shown without a stack. */
export class Stop extends Error {}

/**
 * Runs a program in the repository with its output on stderr; stops everything when it fails.
 * @param {string} program
 * @param {readonly string[]} args
 */
export function must(program, args) {
  const { status, error } = spawnSync(program, args, { cwd: ROOT, stdio: ["ignore", 2, 2] });
  if (error) throw new Stop(`cannot run ${program}: ${error.message}`);
  if (status !== 0) throw new Stop(`failed (${status}): ${program} ${args.join(" ")}`);
}

/**
 * Runs a program in the repository on this terminal and gives its exit code.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 */
export function run(program, args, env = process.env) {
  const { status, error } = spawnSync(program, args, { cwd: ROOT, stdio: "inherit", env });
  if (error) throw new Stop(`cannot run ${program}: ${error.message}`);
  return status ?? 1;
}

/** True when the program runs and ends well. @param {string} program @param {readonly string[]} args */
export function works(program, args) {
  return spawnSync(program, args, { cwd: ROOT, stdio: "ignore" }).status === 0;
}

/** The whole of a script: a Stop becomes one line, anything else keeps its stack. @param {() => number | void | Promise<number | void>} body */
export async function script(body) {
  try {
    process.exitCode = (await body()) ?? 0;
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    say(error.message);
    process.exitCode = 1;
  }
}
