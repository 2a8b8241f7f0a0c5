import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parse as parseToml } from "smol-toml";
import { ALL_META } from "../audit/rules.ts";
import { checkCodes, DEFAULTS, settingsFrom } from "../audit/settings.ts";
import type { Settings } from "../audit/settings.ts";
import { UserError } from "../base/errors.ts";
import type { Input } from "./command.ts";

export interface Chosen {
  readonly select: readonly string[];
  readonly ignore: readonly string[];
  readonly exclude: readonly string[];
  readonly generated: boolean;
}

export function chosenRules(options: Input["options"]): Chosen {
  const list = (name: string): string[] =>
    [options[name] ?? []]
      .flat()
      .flatMap((value) => (typeof value === "string" ? value.split(",") : []))
      .map((value) => value.trim())
      .filter((value) => value !== "");
  return {
    select: list("select"),
    ignore: list("ignore"),
    exclude: list("exclude"),
    generated: options["generated"] === true,
  };
}

/** The nearest pyproject.toml above `near`, and what the command line says on top of it. */
export function settingsNear(near: string, chosen: Chosen): Settings {
  const file = nearestPyproject(resolve(near));
  checkCodes([...chosen.select, ...chosen.ignore], ALL_META, null);
  let settings = DEFAULTS;
  if (file) {
    let data: { tool?: { plimsoll?: unknown } };
    try {
      data = parseToml(readFileSync(file, "utf8")) as typeof data;
    } catch (error) {
      throw new UserError(
        `${file}: invalid TOML: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`,
      );
    }
    if (data.tool?.plimsoll !== undefined) {
      settings = settingsFrom(data.tool.plimsoll, file);
      const { select, ignore, perFileIgnores, severity } = settings;
      const codes = [...select, ...ignore, ...Object.values(perFileIgnores).flat(), ...Object.keys(severity)];
      checkCodes(codes, ALL_META, file);
    }
  }
  settings = {
    ...settings,
    select: chosen.select.length > 0 ? chosen.select : settings.select,
    ignore: [...settings.ignore, ...chosen.ignore],
    exclude: [...settings.exclude, ...chosen.exclude],
    generated: settings.generated || chosen.generated,
  };
  return settings;
}

function nearestPyproject(from: string): string | null {
  for (let at = from; ; at = dirname(at)) {
    const file = join(at, "pyproject.toml");
    if (existsSync(file)) return file;
    if (dirname(at) === at) return null;
  }
}
