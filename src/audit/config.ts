import { parse as parseToml } from "smol-toml";
import { isMap, isPair, isScalar, isSeq, parseAllDocuments } from "yaml";
import type { Document, Node, Pair, Scalar } from "yaml";
import { tomlPath, tomlPlaces } from "./toml-places.ts";

/** One setting: its path, its value and where both stand. */
export interface Setting {
  /** The last part of the path. */
  readonly key: string;
  /** "zero_optimization.stage"; list positions are numbers. */
  readonly path: string;
  readonly value: string | number | boolean | null;
  readonly keyAt: { readonly start: number; readonly end: number };
  readonly valueAt: { readonly start: number; readonly end: number };
}

/** Whoever trains reads YAML 1.1, as PyYAML does. */
const WORDS = new Map([
  ...["yes", "Yes", "YES", "on", "On", "ON"].map((word) => [word, true] as const),
  ...["no", "No", "NO", "off", "Off", "OFF"].map((word) => [word, false] as const),
]);

const plainValue = ({ type, value }: Scalar): unknown =>
  type === "PLAIN" && typeof value === "string" ? (WORDS.get(value) ?? value) : value;

/** A YAML, JSON or TOML file of training settings, flattened. */
export class ConfigFile {
  readonly path: string;
  readonly text: string;
  readonly format: "yaml" | "json" | "toml";
  readonly settings: readonly Setting[];
  /** The documents of a YAML file; of others itself. */
  readonly documents: readonly ConfigFile[];

  constructor(
    path: string,
    text: string,
    format: ConfigFile["format"],
    documents: readonly (readonly Setting[])[],
  ) {
    this.path = path;
    this.text = text;
    this.format = format;
    this.settings = documents.flat();
    this.documents =
      documents.length > 1 ? documents.map((one) => new ConfigFile(path, text, format, [one])) : [this];
  }

  /** Every setting with this key, at any depth. */
  named(key: string): readonly Setting[] {
    return this.settings.filter((setting) => setting.key === key);
  }

  /** Whether a key like this stands beside a setting, under the same one. */
  besides({ path, key }: Setting, pattern: RegExp): boolean {
    const under = path.slice(0, -key.length);
    return this.settings.some((one) => one.path === under + one.key && pattern.test(one.key));
  }

  has(key: string): boolean {
    return this.settings.some((setting) => setting.key === key);
  }
}

/** Words that only files configuring training have. */
export const TRAINING_CONFIG =
  /per_device_(?:train|eval)_batch_size|gradient_accumulation_steps|gradient_checkpointing|zero_optimization|micro_batch_size|finetuning_type|base_model|distributed_type|fsdp_config|load_in_4bit|mixed_precision|optimizer|find_unused_parameters|detect_anomaly|torch_empty_cache_steps|dataloader_pin_memory|\bnum_workers|output_(?:attentions|hidden_states)|pad_to_max_length|_target_\W+torch\.|\bstrategy\W{1,4}(?:fsdp|dp\b)|distributed_backend/;

export function turnsCheckpointingOn(config: ConfigFile): boolean {
  return config
    .named("gradient_checkpointing")
    .some(({ value }) => value === true || value === "true" || value === "unsloth");
}

/** The settings of a file, or one line saying why it cannot be read. */
export function readConfig(path: string, text: string): ConfigFile | string {
  const format = path.endsWith(".toml") ? "toml" : path.endsWith(".json") ? "json" : "yaml";
  const documents: Setting[][] = [];
  if (format === "toml") {
    try {
      const settings: Setting[] = [];
      fromToml(parseToml(text), [], tomlPlaces(text), settings);
      documents.push(settings);
    } catch (problem) {
      return `invalid TOML: ${firstLine(problem)}`;
    }
  } else {
    try {
      const first = read(text);
      const problem = problemOf(first);
      const again = problem?.code === "BAD_INDENT" ? read(withBracesOpen(text)) : first;
      if (problemOf(again)) return `invalid ${format === "json" ? "JSON" : "YAML"}: ${firstLine(problem)}`;
      for (const { contents } of again) {
        const settings: Setting[] = [];
        fromYaml(contents as Node | null, "", settings, 0);
        documents.push(settings);
      }
    } catch (problem) {
      return `invalid YAML: ${firstLine(problem)}`;
    }
  }
  return new ConfigFile(path, text, format, documents);
}

/** Braces that close at the beginning of a line are all the same to PyYAML: put behind the line before, without its comment, everything else stays in place. */
function withBracesOpen(text: string): string {
  return text
    .replaceAll(/(?<=^|\s)#[^\n]*/gm, (comment) => " ".repeat(comment.length))
    .replaceAll(/\n(?=[}\]])/g, " ");
}

function read(text: string): readonly Document.Parsed[] {
  // Of nothing at all it makes an object without documents.
  return [...parseAllDocuments(text, { uniqueKeys: false, logLevel: "silent" })];
}

const problemOf = (documents: readonly Document.Parsed[]): Document.Parsed["errors"][number] | undefined =>
  documents.flatMap(({ errors }) => errors)[0];

function firstLine(problem: unknown): string {
  return (problem instanceof Error ? problem.message : String(problem)).split("\n")[0]!;
}

function fromYaml(node: Node | null, path: string, into: Setting[], depth: number): void {
  if (depth > 50) return;
  if (isMap(node)) {
    for (const pair of node.items as Pair[]) {
      if (!isPair(pair) || !isScalar(pair.key) || !pair.key.range) continue;
      const key = String(pair.key.value);
      const inner = path === "" ? key : `${path}.${key}`;
      if (isScalar(pair.value) && pair.value.range) {
        const value = plainValue(pair.value);
        if (
          value === null ||
          typeof value === "string" ||
          typeof value === "number" ||
          typeof value === "boolean"
        )
          into.push({
            key,
            path: inner,
            value,
            keyAt: { start: pair.key.range[0], end: pair.key.range[1] },
            valueAt: { start: pair.value.range[0], end: pair.value.range[1] },
          });
      } else fromYaml(pair.value as Node | null, inner, into, depth + 1);
    }
  } else if (isSeq(node))
    for (const [at, item] of node.items.entries()) fromYaml(item as Node, `${path}.${at}`, into, depth + 1);
}

type TomlPlaces = ReturnType<typeof tomlPlaces>;

function fromToml(
  value: unknown,
  path: readonly (string | number)[],
  places: TomlPlaces,
  into: Setting[],
): void {
  if (Array.isArray(value))
    for (const [at, item] of value.entries()) fromToml(item, [...path, at], places, into);
  else if (typeof value === "object" && value !== null && !(value instanceof Date))
    for (const [key, inner] of Object.entries(value)) fromToml(inner, [...path, key], places, into);
  else if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
    const key = path.at(-1);
    const place = places.get(tomlPath(path));
    if (place && typeof key === "string") into.push({ key, path: path.join("."), value, ...place });
  }
}
