import picomatch from "picomatch";
import { UserError } from "../base/errors.ts";
import type { RuleMeta, Severity } from "./rule.ts";

/** What the user chose, from pyproject.toml and the command line. Plain data: it crosses threads. */
export interface Settings {
  /** Code prefixes: "PLM", "PLM02", "PLM021". */
  readonly select: readonly string[];
  readonly ignore: readonly string[];
  readonly perFileIgnores: Readonly<Record<string, readonly string[]>>;
  readonly severity: Readonly<Record<string, Severity>>;
  readonly exclude: readonly string[];
  /** Judge generated files as well. */
  readonly generated: boolean;
  /** Leave errors and warnings what they are where their rule has often been wrong. */
  readonly unproven: boolean;
  /** Tell also what is only likely, in notes. */
  readonly likely: boolean;
}

export const DEFAULTS: Settings = {
  select: ["PLM"],
  ignore: [],
  perFileIgnores: {},
  severity: {},
  exclude: [],
  generated: false,
  unproven: false,
  likely: true,
};

/** Reads the `[tool.plimsoll]` table; unknown keys and wrong types are the user's mistakes. */
export function settingsFrom(table: unknown, where: string): Settings {
  if (!isTable(table)) throw new UserError(`${where}: [tool.plimsoll] must be a table`);
  const wrong = (key: string, wants: string): never => {
    throw new UserError(`${where}: [tool.plimsoll] ${key} must be ${wants}`);
  };
  const strings = (key: string, value: unknown): string[] =>
    Array.isArray(value) && value.every((one) => typeof one === "string")
      ? (value as string[])
      : wrong(key, "a list of strings");
  const flag = (key: string, value: unknown): boolean =>
    typeof value === "boolean" ? value : wrong(key, "true or false");
  let { select, ignore, perFileIgnores, severity, exclude, generated, unproven, likely } = DEFAULTS;
  for (const [key, value] of Object.entries(table)) {
    if (key === "select") select = strings(key, value);
    else if (key === "ignore") ignore = strings(key, value);
    else if (key === "exclude") exclude = strings(key, value);
    else if (key === "generated") generated = flag(key, value);
    else if (key === "unproven") unproven = flag(key, value);
    else if (key === "likely") likely = flag(key, value);
    else if (key === "per-file-ignores" && isTable(value))
      perFileIgnores = Object.fromEntries(
        Object.entries(value).map(([glob, codes]) => [glob, strings(`${key}."${glob}"`, codes)]),
      );
    else if (key === "severity" && isTable(value))
      severity = Object.fromEntries(
        Object.entries(value).map(([code, level]) => [
          code,
          level === "error" || level === "warning" || level === "note"
            ? level
            : wrong(`severity.${code}`, '"error", "warning" or "note"'),
        ]),
      );
    else
      throw new UserError(
        `${where}: unknown setting "${key}" in [tool.plimsoll]`,
        "known: select, ignore, exclude, generated, unproven, likely, per-file-ignores, severity",
      );
  }
  return { select, ignore, perFileIgnores, severity, exclude, generated, unproven, likely };
}

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether a prefix names at least one rule. `where`: who says it; null for the command line. */
export function checkCodes(codes: readonly string[], rules: readonly RuleMeta[], where: string | null): void {
  for (const code of codes)
    if (!rules.some((rule) => rule.code.startsWith(code)))
      throw new UserError(
        `${where === null ? "" : `${where}: `}no rule starts with "${code}"`,
        "plimsoll rules lists them",
      );
}

/** The longest matching prefix decides, as in ruff; a tie goes to ignore. */
export function isSelected(code: string, settings: Settings): boolean {
  const longest = (prefixes: readonly string[]): number =>
    Math.max(-1, ...prefixes.filter((prefix) => code.startsWith(prefix)).map((prefix) => prefix.length));
  return longest(settings.select) > longest(settings.ignore);
}

/** What the user says of a rule; of several prefixes the longest. */
export function severityOf(code: string, { severity }: Settings): Severity | undefined {
  let longest = "";
  for (const prefix in severity)
    if (code.startsWith(prefix) && prefix.length > longest.length) longest = prefix;
  return severity[longest];
}

export function isIgnoredIn(path: string, code: string, settings: Settings): boolean {
  for (const glob in settings.perFileIgnores)
    if (settings.perFileIgnores[glob]!.some((prefix) => code.startsWith(prefix)) && matchesGlob(glob, path))
      return true;
  return false;
}

/** A glob without a slash matches the file's name anywhere. */
export function matchesGlob(glob: string, path: string): boolean {
  return (
    picomatch.isMatch(path, glob, { dot: true, basename: !glob.includes("/") }) ||
    picomatch.isMatch(path, `${glob.replace(/\/$/, "")}/**`, { dot: true })
  );
}
