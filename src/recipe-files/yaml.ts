import { type Node, isAlias, isMap, isScalar, isSeq, LineCounter, type Pair, parseDocument } from "yaml";
import { UserError } from "../base/errors.ts";
import type { Located, Value } from "./located.ts";
import type { RecipeFile } from "./reading.ts";

/** Generated files nest deeper than any written by hand. */
const MAX_DEPTH = 50;
/** Aliases of aliases double at every line: past this no file of settings is meant. */
const MAX_VALUES = 20_000;

/** Characters: the largest configs of frameworks are a few tens of thousands. */
export const MAX_TEXT = 1 << 18;

/** Every value of a YAML or JSON file, with its line. */
export function readYaml({ name, text }: RecipeFile): Located {
  if (text.length > MAX_TEXT)
    throw new UserError(`${name}: longer than ${MAX_TEXT} characters: not a file of settings`);
  const lines = new LineCounter();
  // 1.1 as PyYAML and OmegaConf read it: yes and on are booleans.
  const document = parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: false,
    version: "1.1",
    logLevel: "silent",
  });
  const [error] = document.errors;
  if (error) {
    const kind = name.endsWith(".json") ? "JSON" : "YAML";
    const line = lines.linePos(error.pos[0]).line;
    throw new UserError(`${name}:${line}: invalid ${kind}: ${error.message.split(" at line ")[0]}`);
  }
  const at = (node: Node | null): number =>
    node?.range ? Math.max(1, lines.linePos(node.range[0]).line) : 1;
  let values = 0;
  const read = (given: Node | null, line: number, depth: number): Located => {
    if (++values > MAX_VALUES)
      throw new UserError(`${name}: more than ${MAX_VALUES} values: not a file of settings`);
    const node = isAlias(given) ? (given.resolve(document) ?? null) : given;
    return { value: valueOf(node as Node | null, depth), place: { file: name, line } };
  };
  const valueOf = (node: Node | null, depth: number): Value => {
    if (depth > MAX_DEPTH) return null;
    if (isScalar(node)) {
      const { value } = node;
      if (typeof value === "bigint") return Number(value);
      // YAML 1.1 has no "1e-4" without a dot: PyYAML reads a text, frameworks make a number of it.
      if (typeof value === "string" && /^[+-]?\d+(?:\.\d*)?[eE][+-]?\d+$/.test(value)) return Number(value);
      return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
        ? value
        : null;
    }
    if (isSeq(node)) return node.items.map((item) => read(item as Node, at(item as Node), depth + 1));
    if (!isMap(node)) return null;
    const table = new Map<string, Located>();
    for (const { key, value } of node.items as Pair<Node, Node | null>[]) {
      const entry = read(value, at(key), depth + 1);
      const text = isScalar(key) ? String(key.value) : "";
      if (text === "<<" && entry.value instanceof Map) {
        for (const [inner, located] of entry.value) if (!table.has(inner)) table.set(inner, located);
      } else table.set(text, entry);
    }
    return table;
  };
  return read(document.contents, 1, 0);
}
