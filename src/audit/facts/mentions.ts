import type { PythonFile } from "../../python/file.ts";
import type { Node } from "../../python/tree.ts";
import type { Role } from "./classes.ts";
import type { CallGraph } from "./graph.ts";
import type { ClassSummary, FileSummary, FunctionSummary } from "./summary.ts";
import { last } from "./torch-names.ts";

/** "models.Encoder" in a table of names, not a sentence. */
const NAMES = /^\w+(?:\.\w+)*$/;
const LONGEST_NAME = 100;
/** Imported by everybody, and nobody's own: what is taken from them is no mention. */
const LIBRARIES = /^(?:torch|numpy)(?:\.|$)/;
/** Started from outside of the tree, or by Python. */
const OUTSIDE = /^_*(?:main|cli|run|app|test|demo)(?:_|$)|^__\w+__$|^<body>$/;

/** Words by which files speak of classes, functions and modules; "utils." of what is in a module, whatever that is. */
export class Words {
  readonly all = new Set<string>();

  /** Copied: V8 makes a part of a long text a view of it, and the whole text would live as long. */
  add(word: string): void {
    if (!this.all.has(word)) this.all.add(` ${word}`.slice(1));
  }

  /** Of a file; of a class in its own body nobody makes an instance. */
  addFrom(file: PythonFile): void {
    // `from nets import Encoder2 as Encoder`: what is called Encoder here is another one.
    const renamed = new Set<string>();
    const imported = new Set<string>();
    for (const { name, as, parent } of file.all("Alias")) {
      if (as !== null && as !== name) renamed.add(as);
      if (!LIBRARIES.test(name)) imported.add(as ?? name);
      this.#addParts(name);
      if (parent?.kind === "ImportFrom") this.#addParts(parent.module);
    }
    // Classes in small letters are told from all the other names only where they are defined.
    const small = new Set<string>();
    for (const { name } of file.all("ClassDef")) if (!isCapital(name)) small.add(name);
    for (const name of file.all("Name")) {
      const { id } = name;
      if (
        (isCapital(id) || (small.size > 0 && small.has(id))) &&
        !this.all.has(id) &&
        !renamed.has(id) &&
        !isWithin(name, id)
      )
        this.add(id);
    }
    for (const { attr, value } of file.all("Attribute"))
      if (isCapital(attr) || (value.kind === "Name" && imported.has(value.id))) this.add(attr);
    for (const { value } of file.all("Str"))
      if (value !== null && value.length < LONGEST_NAME && NAMES.test(value)) this.#addParts(value);
  }

  /** Of a text with nothing for any rule, which may still hand on what others define. */
  addFromText(text: string): void {
    this.addImported(text);
    for (const word of text.match(/\b_*[A-Z]\w*/g) ?? []) this.add(word);
  }

  /** Of a text that defines what it speaks of, or imports it at its top. */
  addImported(text: string): void {
    for (const statement of text.match(/^[ \t]*(?:from|import)[ \t](?:.*\([^)]*\)|.*)/gm) ?? [])
      for (const word of statement.match(/\w+/g)!) {
        this.add(word);
        this.add(`${word}.`);
      }
  }

  #addParts(dotted: string): void {
    if (!dotted.includes(".")) this.add(dotted);
    else for (const part of dotted.split(".")) this.add(part);
  }
}

/** As nearly all Python code writes the names of classes. Asked of every name of a tree: no regular expression. */
function isCapital(word: string): boolean {
  let first = word.charCodeAt(0);
  for (let at = 1; first === 95; at++) first = word.charCodeAt(at);
  return first >= 65 && first <= 90;
}

function isWithin(node: Node, cls: string): boolean {
  for (let at = node.parent; at; at = at.parent) if (at.kind === "ClassDef" && at.name === cls) return true;
  return false;
}

/** Classes of networks, and functions, that nothing in the tree uses, where something trains: by their qualified names. */
export function unusedParts(
  summaries: readonly FileSummary[],
  roles: ReadonlyMap<string, Role>,
  graph: CallGraph,
  mentioned: ReadonlySet<string>,
): ReadonlySet<string> {
  const trainers = summaries.filter((file) => file.trains);
  const unused = new Set<string>();
  if (trainers.length === 0) return unused;
  for (const name of unusedNetworks(summaries, roles, mentioned)) unused.add(name);
  const escapes = new Set(summaries.flatMap((file) => file.escapes));
  // What only one file trains with, somebody will call from outside.
  const others = trainers.length > 1 ? summaries : summaries.filter((file) => file !== trainers[0]);
  const called = new Set<string>();
  for (const target of graph.targets.keys()) called.add(last(target));
  const isCandidate = ({ name, decorated }: FunctionSummary): boolean => {
    const own = last(name);
    return !decorated && !mentioned.has(own) && !called.has(own) && !escapes.has(name) && !OUTSIDE.test(own);
  };
  const candidates = others
    // `fire.Fire()` makes a command of each.
    .filter(({ module, imports }) => !mentioned.has(`${last(module)}.`) && !imports.includes("fire"))
    .flatMap((file) => {
      const plain = new Set(file.classes.filter(isOnItsOwn).map(({ name }) => name));
      const isTop = ({ name }: FunctionSummary): boolean => {
        const inside = name.slice(0, name.lastIndexOf("."));
        return inside === file.module || plain.has(inside);
      };
      return file.functions.filter((fn) => isTop(fn) && isCandidate(fn));
    })
    .map(({ name }) => graph.byName.get(name)!);
  for (let before = -1; before !== unused.size;) {
    before = unused.size;
    for (const { summary, callers } of candidates)
      if (
        callers.every(({ from }) => from.summary.name === summary.name || isPartOf(from.summary.name, unused))
      )
        unused.add(summary.name);
  }
  return unused;
}

/** Nobody but the tree itself knows what its methods are called. */
function isOnItsOwn({ name, bases, decorated }: ClassSummary): boolean {
  return !decorated && bases.every((base) => base === "builtins.object") && !/Mixin|Callback|Hook/.test(name);
}

/** A method of a class among them, or a function inside of a function among them. */
function isPartOf(name: string, parts: ReadonlySet<string>): boolean {
  for (let cut = name.length; cut > 0; cut = name.lastIndexOf(".", cut - 1))
    if (parts.has(name.slice(0, cut))) return true;
  return false;
}

/** Nobody mentions them, or they stand in a file that nobody imports and that does not train them itself. */
function* unusedNetworks(
  summaries: readonly FileSummary[],
  roles: ReadonlyMap<string, Role>,
  mentioned: ReadonlySet<string>,
): Iterable<string> {
  const byName = mentioned.has("importlib") || mentioned.has("pkgutil") || mentioned.has("import_module");
  for (const file of summaries) {
    const own = last(file.module);
    const left = !file.trains && !byName && !mentioned.has(own);
    const isKnown = (cls: string): boolean =>
      mentioned.has(cls) || (!isCapital(cls) && mentioned.has(`${own}.`));
    for (const { name, decorated } of file.classes)
      if (roles.get(name) === "module" && (left || (!decorated && !isKnown(last(name))))) yield name;
  }
}
