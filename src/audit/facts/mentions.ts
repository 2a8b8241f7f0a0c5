import type { PythonFile } from "../../python/file.ts";
import type { Role } from "./classes.ts";
import type { CallGraph, Fn } from "./graph.ts";
import { MAIN } from "./summary.ts";
import type { ClassSummary, FileSummary, FunctionSummary } from "./summary.ts";
import { last } from "./torch-names.ts";

/** "models.Encoder" in a table of names, not a sentence. */
const NAMES = /^\w+(?:\.\w+)*$/;
const LONGEST_NAME = 100;
/** Imported by everybody, and nobody's own: what is taken from them is no mention. */
const LIBRARIES = /^(?:torch|numpy)(?:\.|$)/;
/** Started from outside of the tree, or by Python. */
const OUTSIDE = /^_*(?:main|cli|run|app|test|demo)(?:_|$)|^__\w+__$|^<body>$/;

/**
 * Words by which files speak of classes, functions and modules; "nets." where functions of a module may be meant, "nets.*"
 * where anything in it may be.
 */
export class Words {
  readonly all = new Set<string>();

  /** Copied: V8 makes a part of a long text a view of it, and the whole text would live as long. */
  add(word: string): void {
    if (!this.all.has(word)) this.all.add(` ${word}`.slice(1));
  }

  /** Of a file, about the others: what it says of its own classes, its summary knows. */
  addFrom(file: PythonFile): void {
    // `from nets import Encoder2 as Encoder`: what is called Encoder here is another one.
    const own = new Set<string>();
    const imported = new Map<string, string>();
    for (const { name, as, parent } of file.all("Alias")) {
      if (as !== null && as !== name) own.add(as);
      if (!LIBRARIES.test(name)) imported.set(as ?? name, last(name));
      this.#addParts(name);
      if (parent?.kind !== "ImportFrom") continue;
      this.#addParts(parent.module);
      if (name === "*") this.add(`${last(parent.module)}.`);
    }
    for (const { name, parent } of file.all("ClassDef")) if (parent?.kind === "Module") own.add(name);
    for (const { id } of file.all("Name"))
      if (isCapital(id) && !this.all.has(id) && !own.has(id)) this.add(id);
    for (const { attr, value } of file.all("Attribute")) {
      const of = value.kind === "Name" ? imported.get(value.id) : undefined;
      if (of !== undefined || isCapital(attr)) this.add(attr);
      // `nets.__dict__[args.net]`
      if (of !== undefined && attr === "__dict__") this.add(`${of}.*`);
    }
    for (const { args } of file.callsNamed("getattr", "vars", "getmembers")) {
      const of = args[0]?.value;
      if (of?.kind === "Name" && imported.has(of.id)) this.add(`${imported.get(of.id)!}.*`);
    }
    if (file.callsNamed("globals", "locals", "eval").some(({ func }) => func.kind === "Name"))
      this.add(`${last(file.module)}.*`);
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
  const networks = summaries.flatMap((file) =>
    file.classes.filter(({ name }) => roles.get(name) === "module").map((cls) => ({ file, cls })),
  );
  for (const { file, cls } of networks) if (isLeft(file, mentioned)) unused.add(cls.name);
  const classes = networks.filter(({ file, cls }) => !cls.decorated && !isMentioned(cls, file, mentioned));
  const functions = uncalled(summaries, trainers, graph, mentioned);
  const isIdle = (user: string, file: FileSummary): boolean =>
    user === MAIN ? isTried(file, mentioned) : user !== "" && isPartOf(`${file.module}.${user}`, unused);
  for (let before = -1; before !== unused.size;) {
    before = unused.size;
    for (const { file, cls } of classes)
      if ((cls.users ?? []).every((user) => isIdle(user, file))) unused.add(cls.name);
    for (const { summary, callers } of functions)
      if (
        callers.every(({ from }) => from.summary.name === summary.name || isPartOf(from.summary.name, unused))
      )
        unused.add(summary.name);
  }
  return unused;
}

/** Programs, whoever imports them. */
const PROGRAM = /train|main|run|tune|fit|exp/i;

/** Others import it; what it does when it is started itself is to try it. */
export function isTried({ main, module }: FileSummary, mentioned: ReadonlySet<string>): boolean {
  return main === true && mentioned.has(last(module)) && !PROGRAM.test(last(module));
}

/** In a file that nobody imports and that does not train itself. */
function isLeft({ trains, module }: FileSummary, mentioned: ReadonlySet<string>): boolean {
  const byName = mentioned.has("importlib") || mentioned.has("pkgutil") || mentioned.has("import_module");
  return !trains && !byName && !mentioned.has(last(module));
}

/** Another file speaks of it. */
function isMentioned(
  { name }: ClassSummary,
  { module }: FileSummary,
  mentioned: ReadonlySet<string>,
): boolean {
  const [own, of] = [last(name), last(module)];
  return mentioned.has(own) || mentioned.has(`${of}.*`) || (!isCapital(own) && mentioned.has(`${of}.`));
}

/** Functions that no other file calls or speaks of; their own may. */
function uncalled(
  summaries: readonly FileSummary[],
  trainers: readonly FileSummary[],
  graph: CallGraph,
  mentioned: ReadonlySet<string>,
): readonly Fn[] {
  const escapes = new Set(summaries.flatMap((file) => file.escapes));
  const called = new Set<string>();
  for (const target of graph.targets.keys()) called.add(last(target));
  const isCandidate = ({ name, decorated }: FunctionSummary): boolean => {
    const own = last(name);
    return !decorated && !mentioned.has(own) && !called.has(own) && !escapes.has(name) && !OUTSIDE.test(own);
  };
  return (
    summaries
      // What only one file trains with, somebody will call from outside.
      .filter((file) => trainers.some((one) => one !== file))
      .filter(({ module }) => !mentioned.has(`${last(module)}.`) && !mentioned.has(`${last(module)}.*`))
      // `fire.Fire()` makes a command of each.
      .filter(({ imports }) => !imports.includes("fire"))
      .flatMap((file) => {
        const plain = new Set(file.classes.filter(isOnItsOwn).map(({ name }) => name));
        const isTop = ({ name }: FunctionSummary): boolean => {
          const inside = name.slice(0, name.lastIndexOf("."));
          return inside === file.module || plain.has(inside);
        };
        return file.functions.filter((fn) => isTop(fn) && isCandidate(fn));
      })
      .map(({ name }) => graph.byName.get(name)!)
  );
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
