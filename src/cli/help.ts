import type { Command, Option } from "./command.ts";
import { GLOBAL_OPTIONS } from "./parse.ts";

/** In the overview: enough to begin with; the rest is in each command's help. */
const EXAMPLES = 5;

export function overview(commands: readonly Command[]): string {
  return [
    "Plimsoll: the load line for GPU memory in model training",
    "",
    "usage: plimsoll COMMAND [arguments] [options]",
    "",
    "commands:",
    ...columns(commands.map((command) => [command.name, command.summary])),
    "",
    "options:",
    ...columns([
      ["-h, --help", "show this help, or a command's: plimsoll COMMAND --help"],
      ["-V, --version", "show the version"],
      ["    --debug", "show the stack trace of an error"],
    ]),
    "",
    "examples:",
    ...exampleLines(commands.slice(0, EXAMPLES).flatMap((command) => command.examples.slice(0, 1))),
    "",
    "exit code: 0 fine; 1 findings, does not fit, verdict failed; 2 the command could not do its work",
    "",
  ].join("\n");
}

export function commandHelp(command: Command): string {
  const options = Object.entries({ ...command.options, ...GLOBAL_OPTIONS });
  return [
    `plimsoll ${command.name}: ${command.summary}`,
    "",
    `usage: ${command.usage}`,
    "",
    "options:",
    ...columns(options.map(([name, option]) => [optionName(name, option), optionSummary(option)])),
    "",
    "examples:",
    ...exampleLines(command.examples),
    "",
  ].join("\n");
}

function optionName(name: string, option: Option): string {
  const short = option.short ? `-${option.short}, ` : "    ";
  if (option.type === "boolean") return `${short}--${name}`;
  const value = `<${option.value ?? "value"}>`;
  return `${short}--${name}${option.alone === undefined ? ` ${value}` : `[=${value}]`}`;
}

function optionSummary(option: Option): string {
  const choices = option.choices ? ` (${option.choices.join(", ")})` : "";
  return `${option.summary}${choices}${option.multiple ? "; may be repeated" : ""}`;
}

function exampleLines(examples: Command["examples"]): readonly string[] {
  return examples.flatMap(({ line, says }) => [`  # ${says}`, `  ${line}`]);
}

function columns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
