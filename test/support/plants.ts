import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { auditTexts } from "../../src/audit/session.ts";
import { DEFAULTS } from "../../src/audit/settings.ts";
import { RULES } from "../../src/audit/rules.ts";
import { HOSTS } from "./plant-hosts.ts";
import type { Host } from "./plant-hosts.ts";

const FIXTURES = join(import.meta.dirname, "../fixtures/audit");

/** One way to write one of the catalogue's patterns: pieces of text for named places of a host. */
export interface Plant {
  readonly pattern: number;
  readonly what: string;
  /** Hosts it makes sense in; null for all that have its places. */
  readonly hosts: readonly string[] | null;
  readonly pieces: readonly { readonly place: string; readonly text: string }[];
}

/**
 * A file a pattern: `## 25 what it is`, an optional `hosts: a b`, then `=> place` lines each followed by the text for it.
 * `=> file name.py` is another file beside the host.
 */
export function readPlants(): Plant[] {
  return readdirSync(join(FIXTURES, "plants"))
    .sort()
    .flatMap((name) => {
      const text = readFileSync(join(FIXTURES, "plants", name), "utf8");
      return text
        .split(/^## /m)
        .slice(1)
        .map((block) => {
          const hosts = /^hosts: (.+)$/m.exec(block)?.[1]?.split(/\s+/) ?? null;
          const [title, ...pieces] = block.replace(/^hosts: .+\n?/m, "").split(/^=> /m);
          const head = title!.split("\n")[0];
          const [number, ...what] = head!.split(" ");
          return {
            pattern: Number(number),
            what: what.join(" "),
            hosts,
            pieces: pieces.map((piece) => {
              const end = piece.indexOf("\n");
              return { place: piece.slice(0, end).trim(), text: piece.slice(end + 1).trimEnd() };
            }),
          };
        });
    });
}

export function cleanText(host: Host): string {
  return readFileSync(join(FIXTURES, "clean", host.file), "utf8");
}

/** The host's files with the plant in them; null where the host lacks a place or a name the plant needs. */
export function planted(plant: Plant, host: Host): { path: string; text: string }[] | null {
  if (plant.hosts && !plant.hosts.includes(host.name)) return null;
  const files: { path: string; text: string }[] = [];
  let lines = sourceLines(host);
  for (const { place, text } of plant.pieces) {
    const filled = fill(text, host);
    if (filled === null) return null;
    if (place.startsWith("file ")) {
      files.push({ path: place.slice(5), text: `${filled}\n` });
      continue;
    }
    const spot = host.places[place];
    if (!spot) return null;
    const [how, anchor, deeper = ""] = spot;
    const at = lines.findIndex((line) => line.trim() === anchor);
    if (at < 0) throw new Error(`${host.file} has no line \`${anchor}\``);
    const indent = /^\s*/.exec(lines[at]!)![0] + deeper;
    const added = filled.split("\n").map((line) => (line === "" ? "" : indent + line));
    lines = [
      ...lines.slice(0, how === "after" ? at + 1 : at),
      ...added,
      ...lines.slice(how === "before" ? at : at + 1),
    ];
  }
  return [{ path: host.file, text: asFile(host, lines) }, ...files];
}

function fill(text: string, host: Host): string | null {
  let missing = false;
  const filled = text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = host.names[name];
    if (value === undefined) missing = true;
    return value ?? "";
  });
  return missing ? null : filled;
}

const CELL = "#%% cell";

function sourceLines(host: Host): string[] {
  const text = cleanText(host);
  if (!host.file.endsWith(".ipynb")) return text.split("\n");
  const { cells } = JSON.parse(text) as { cells: { cell_type: string; source: string[] }[] };
  return cells.flatMap((cell) =>
    cell.cell_type === "code" ? [CELL, ...cell.source.join("").split("\n")] : [],
  );
}

function asFile(host: Host, lines: readonly string[]): string {
  if (!host.file.endsWith(".ipynb")) return lines.join("\n");
  const notebook = JSON.parse(cleanText(host)) as { cells: { cell_type: string; source: string[] }[] };
  const texts = lines.join("\n").split(`${CELL}\n`).slice(1);
  let at = 0;
  for (const cell of notebook.cells)
    if (cell.cell_type === "code") cell.source = [texts[at++]!.replace(/\n$/, "")];
  return JSON.stringify(notebook);
}

export interface Outcome {
  readonly plant: Plant;
  readonly host: string;
  readonly found: boolean;
}

const known = new Map<string, ReadonlySet<string>>();

/** What the audit says about a host as it is. */
function before(host: Host): ReadonlySet<string> {
  let found = known.get(host.name);
  if (!found) {
    const { findings } = auditTexts([{ path: host.file, text: cleanText(host) }], DEFAULTS);
    known.set(
      host.name,
      (found = new Set(findings.map(({ fingerprint, rule }) => `${rule} ${fingerprint}`))),
    );
  }
  return found;
}

/**
 * Each plant in every host that can take it, or in so many of them: whether a rule of its pattern reports what the clean host does not have.
 */
export function tryPlants(plants: readonly Plant[], most = Infinity): Outcome[] {
  return plants.flatMap((plant, at) => {
    const outcomes: Outcome[] = [];
    const select = RULES.flatMap(({ meta }) => (meta.patterns.includes(plant.pattern) ? [meta.code] : []));
    // Beginning with another host each time, so that a few of them are not always the same.
    const start = at % HOSTS.length;
    for (const host of [...HOSTS.slice(start), ...HOSTS.slice(0, start)]) {
      const files = outcomes.length < most ? planted(plant, host) : null;
      if (!files) continue;
      const { findings, diagnostics } = auditTexts(files, { ...DEFAULTS, select });
      if (diagnostics.length > 0)
        throw new Error(`${plant.pattern} ${plant.what} in ${host.name}: ${diagnostics[0]!.message}`);
      const found = findings.some(({ rule, fingerprint }) => !before(host).has(`${rule} ${fingerprint}`));
      outcomes.push({ plant, host: host.name, found });
    }
    return outcomes;
  });
}
