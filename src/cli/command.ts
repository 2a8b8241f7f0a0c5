import type { ExitCode } from "./exit.ts";

/** One option of a command, in the words of node:util's parseArgs plus what --help and completion need. */
export interface Option {
  readonly type: "string" | "boolean";
  readonly short?: string;
  /** May be given several times. */
  readonly multiple?: boolean;
  /** Shown in --help: `--card <GB>`. Omitted for booleans. */
  readonly value?: string;
  readonly summary: string;
  /** Accepted values, when the set is closed: checked before `run`, offered by completion. */
  readonly choices?: readonly string[];
  /** What `--name` alone stands for; any other value then needs an equals sign: `--name=value`. */
  readonly alone?: string;
}

export interface Example {
  readonly line: string;
  readonly says: string;
}

export interface Input {
  readonly options: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
  readonly positionals: readonly string[];
  /** Everything after `--`. */
  readonly rest: readonly string[];
}

/** Where a command writes. Only the CLI floor prints; `color` and `width` already reflect NO_COLOR and pipes. */
export interface Io {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly color: boolean;
  readonly width: number;
  /** True on a terminal: progress may be shown on `err`. */
  readonly interactive: boolean;
}

/** What a command takes besides options; checked before `run`. Without it, a command takes nothing. */
export interface Arguments {
  /** As written in the usage line: "FILE". */
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Accepted values, when the set is closed. Otherwise completion offers files. */
  readonly choices?: readonly string[];
}

/** One file a command: `src/cli/commands/NAME.ts` exports `const command: Command`. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** "plimsoll inspect FILE [options]" */
  readonly usage: string;
  readonly examples: readonly Example[];
  readonly options: Readonly<Record<string, Option>>;
  readonly arguments?: Arguments;
  run(input: Input, io: Io): Promise<ExitCode>;
}
