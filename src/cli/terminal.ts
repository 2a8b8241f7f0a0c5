import type { Io } from "./command.ts";

/** Wide enough for the tables, narrow enough to read, when nobody says how wide the output is. */
const PIPE_WIDTH = 100;

export function terminalIo(): Io {
  const { stdout, stderr } = process;
  quietWhenTheReaderLeaves(stdout);
  quietWhenTheReaderLeaves(stderr);
  return {
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    color: wantsColor(process.env, stdout.isTTY),
    width: stdout.columns || Number(process.env["COLUMNS"]) || PIPE_WIDTH,
    interactive: stdout.isTTY && stderr.isTTY,
  };
}

/** FORCE_COLOR outranks NO_COLOR, as in Node itself; see no-color.org for the rest. */
function wantsColor(env: NodeJS.ProcessEnv, isTerminal: boolean): boolean {
  const force = env["FORCE_COLOR"];
  if (force !== undefined) return force !== "0" && force !== "false";
  if (env["NO_COLOR"]) return false;
  return isTerminal && env["TERM"] !== "dumb";
}

/** `plimsoll … | head` closes the pipe early: that is not an error. */
function quietWhenTheReaderLeaves(stream: NodeJS.WriteStream): void {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(process.exitCode ?? 0);
    throw error;
  });
}
