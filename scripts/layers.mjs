// The floors of the house: a file imports only from its own folder and from floors below it.
import { readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, normalize, sep } from "node:path";
import { parseSync, Visitor } from "rolldown/utils";
import { ROOT, say } from "./process.mjs";

/** From the ground up. Folders of one row do not see each other. */
const FLOORS = [
  ["base"],
  ["tape"],
  ["allocator", "snapshot", "python", "autograd"],
  ["nets", "optimizers"],
  ["losses"],
  ["plan", "inspect"],
  ["recipe-files"],
  ["fit", "emit", "audit", "monitor", "preflight"],
  ["verify"],
  ["report"],
  ["cli"],
];

/** These run in a browser as they are: they touch nothing of Node's. */
const BROWSER_SAFE = new Set([
  "base",
  "tape",
  "allocator",
  "snapshot",
  "autograd",
  "nets",
  "optimizers",
  "losses",
  "plan",
  "inspect",
  "fit",
  "emit",
  "recipe-files",
]);

/** The only files on those floors that may touch Node, and that those floors may not import. */
const NODE_DOORS = new Set(["snapshot/file.ts", "tape/file.ts", "recipe-files/file.ts"]);

const NODE_GLOBALS = new Set(["process", "Buffer", "require"]);
const PRINTING = "console";

const src = process.argv[2] ?? join(ROOT, "src");
const problems = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.split(sep).join("/"))
  .sort()
  .flatMap((file) => problemsOf(file, readFileSync(join(src, file), "utf8")));
for (const problem of problems) say(`src/${problem}`);
process.exitCode = problems.length > 0 ? 1 : 0;

/** @param {string} file @param {string} text @returns {string[]} */
function problemsOf(file, text) {
  const floor = floorOf(file);
  const row = rowOf(floor);
  if (row < 0) return [`${file}:1: ${floor} is on no floor: place it in scripts/layers.mjs`];
  const safe = BROWSER_SAFE.has(floor) && !NODE_DOORS.has(file);
  return usesOf(file, text).flatMap(({ name, global, start }) => {
    const at = `${file}:${text.slice(0, start).split("\n").length}`;
    if (name === PRINTING) return floor === "cli" ? [] : [`${at}: ${floor} cannot print: only cli does`];
    if (global || isBuiltin(name)) {
      return safe ? [`${at}: ${floor} must run in a browser, so it cannot use ${name}`] : [];
    }
    const path = normalize(join(file, "..", name))
      .split(sep)
      .join("/");
    const other = floorOf(path);
    if (!name.startsWith(".") || other === "..") return [];
    if (safe && NODE_DOORS.has(path)) {
      return [`${at}: ${floor} must run in a browser, so it cannot import ${path}`];
    }
    if (other === floor || rowOf(other) < row) return [];
    return [`${at}: ${floor} cannot import from ${other}, which is not below it`];
  });
}

/**
 * What a file imports and which of Node's globals it uses, and where.
 * @param {string} file
 * @param {string} text
 */
function usesOf(file, text) {
  /** @type {{ name: string, global: boolean, start: number }[]} */
  const uses = [];
  /** @param {{ source?: object | null }} node */
  const imported = ({ source }) => {
    if (source && "value" in source && "start" in source) {
      uses.push({ name: String(source.value), global: false, start: Number(source.start) });
    }
  };
  new Visitor({
    ImportDeclaration: imported,
    ExportNamedDeclaration: imported,
    ExportAllDeclaration: imported,
    ImportExpression: imported,
    TSImportType: imported,
    MemberExpression({ object }) {
      if (object.type === "Identifier" && (NODE_GLOBALS.has(object.name) || object.name === PRINTING)) {
        uses.push({ name: object.name, global: true, start: object.start });
      }
    },
  }).visit(parseSync(file, text).program);
  return uses;
}

/** @param {string} path relative to src */
function floorOf(path) {
  return path.split("/")[0] ?? "";
}

/** @param {string} floor */
function rowOf(floor) {
  return FLOORS.findIndex((row) => row.includes(floor));
}
