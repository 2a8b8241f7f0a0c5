import { parseArgs } from "node:util";
import { UserError } from "../base/errors.ts";
import type { Command, Input, Option } from "./command.ts";
import { nearest } from "./suggest.ts";

/** Understood by every command, handled before it runs. */
export const GLOBAL_OPTIONS: Readonly<Record<string, Option>> = {
  help: { type: "boolean", short: "h", summary: "show this help" },
  debug: { type: "boolean", summary: "show the stack trace of an error" },
};

export interface Parsed extends Input {
  readonly help: boolean;
}

/** Reads the words after the command's name. Every mistake is a UserError that names the word at fault. */
export function parseCommandLine(command: Command, words: readonly string[]): Parsed {
  const known: Record<string, Option> = { ...command.options, ...GLOBAL_OPTIONS };
  const help = `see: plimsoll ${command.name} --help`;
  const { tokens } = parseArgs({
    args: [...words],
    strict: false,
    tokens: true,
    options: Object.fromEntries(
      Object.entries(known).map(([name, { type: declared, short, alone }]) => {
        const type = alone === undefined ? declared : "boolean";
        return [name, short ? { type, short } : { type }];
      }),
    ),
  });

  const options: Record<string, string | boolean | string[]> = {};
  const positionals: string[] = [];
  const rest: string[] = [];
  let terminated = false;
  for (const token of tokens) {
    if (token.kind === "option-terminator") terminated = true;
    else if (token.kind === "positional") (terminated ? rest : positionals).push(token.value);
    else {
      const option = Object.hasOwn(known, token.name) ? known[token.name] : undefined;
      if (!option) throw new UserError(unknownOption(token.rawName, Object.keys(known)), help);
      const value = checkedValue(token.rawName, option, token.value, token.inlineValue === true);
      const given = options[token.name];
      if (option.multiple) options[token.name] = [...(Array.isArray(given) ? given : []), String(value)];
      else if (given !== undefined && given !== value) {
        throw new UserError(
          `${token.rawName} is given twice, as ${String(given)} and as ${String(value)}`,
          help,
        );
      } else options[token.name] = value;
    }
  }
  const wantsHelp = options["help"] === true;
  if (!wantsHelp) checkArguments(command, positionals, help);
  return { options, positionals, rest, help: wantsHelp };
}

function unknownOption(rawName: string, known: readonly string[]): string {
  const guess = nearest(rawName.replace(/^-+/, ""), known);
  return `unknown option ${rawName}${guess ? ` (did you mean --${guess}?)` : ""}`;
}

function checkedValue(
  rawName: string,
  option: Option,
  given: string | undefined,
  inline: boolean,
): string | boolean {
  const value = given ?? option.alone;
  if (option.type === "boolean") {
    if (value !== undefined) throw new UserError(`${rawName} takes no value, got "${value}"`);
    return true;
  }
  if (value === undefined || (!inline && given !== undefined && /^--?[a-z]/i.test(value))) {
    throw new UserError(`${rawName} needs a value: ${rawName} <${option.value ?? "value"}>`);
  }
  if (option.choices && !option.choices.includes(value))
    throw new UserError(notAChoice(rawName, value, option.choices));
  return value;
}

function checkArguments(command: Command, given: readonly string[], help: string): void {
  const { name, min, max, choices } = command.arguments ?? { name: "", min: 0, max: 0 };
  if (given.length < min) throw new UserError(`${command.name} needs ${name}`, `usage: ${command.usage}`);
  if (given.length > max)
    throw new UserError(`unexpected argument "${given[max]}"`, `usage: ${command.usage}`);
  for (const value of given) {
    if (choices && !choices.includes(value)) throw new UserError(notAChoice(name, value, choices), help);
  }
}

function notAChoice(what: string, value: string, choices: readonly string[]): string {
  const guess = nearest(value, choices);
  return `${what} cannot be "${value}"${guess ? ` (did you mean ${guess}?)` : ""}; one of: ${choices.join(", ")}`;
}
