import packageJson from "../../package.json" with { type: "json" };
import { UserError } from "../base/errors.ts";
import type { Io } from "./command.ts";
import { COMMANDS, loadCommands } from "./commands.ts";
import type { ExitCode } from "./exit.ts";
import { describeFailure } from "./failure.ts";
import { commandHelp, overview } from "./help.ts";
import { parseCommandLine } from "./parse.ts";
import { nearest } from "./suggest.ts";
import { terminalIo } from "./terminal.ts";

async function dispatch(words: readonly string[], io: Io): Promise<ExitCode> {
  const at = words.findIndex((word) => word !== "--debug");
  const name = at < 0 ? undefined : words[at];
  if (name === undefined) {
    io.err(overview(await loadCommands()));
    return 2;
  }
  if (name === "--version" || name === "-V") {
    io.out(`${packageJson.version}\n`);
    return 0;
  }
  if (name === "--help" || name === "-h" || name === "help") {
    const topic = words[at + 1];
    io.out(topic === undefined ? overview(await loadCommands()) : commandHelp(await loadCommand(topic)));
    return 0;
  }
  const command = await loadCommand(name);
  const input = parseCommandLine(command, words.slice(at + 1));
  if (input.help) {
    io.out(commandHelp(command));
    return 0;
  }
  return command.run(input, io);
}

async function loadCommand(name: string) {
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (load) return (await load()).command;
  const what = name.startsWith("-") ? "option" : "command";
  const guess = nearest(name, Object.keys(COMMANDS));
  throw new UserError(
    `unknown ${what} ${name}${guess ? ` (did you mean ${guess}?)` : ""}`,
    "see: plimsoll --help",
  );
}

async function main(): Promise<void> {
  const words = process.argv.slice(2);
  const end = words.indexOf("--");
  const debug = (end < 0 ? words : words.slice(0, end)).includes("--debug");
  const io = terminalIo();
  // At once: a command that failed may have left a timer or a child behind that would keep the process alive.
  const fail = (error: unknown): never => {
    io.err(describeFailure(error, debug));
    process.exit(2);
  };
  // What a stream or a timer throws reaches no caller of ours.
  process.once("uncaughtException", fail);
  try {
    process.exitCode = await dispatch(words, io);
  } catch (error) {
    fail(error);
  }
}

await main();
