import { Calls } from "./calls.ts";
import { link } from "./nodes.ts";
import type { NodesByKind } from "./nodes.ts";
import type { NotebookCell } from "./notebook.ts";
import { mayHave, newOwner } from "./runs.ts";
import { Scopes } from "./scopes.ts";
import type { Definition } from "./scopes.ts";
import { Lines } from "./source.ts";
import { parse } from "./statements.ts";
import type { Arg, Call, Comment, Expr, Name, Node, NodeOf, Tree } from "./tree.ts";

/** No real name has more parts. */
const MAX_ATTRIBUTES = 20;

/** What a module or package of this name is called in full, seen from a module; null where there is nothing to choose. */
type Nearest = (name: string, module: string, isPackage: boolean) => string | null;

/** One parsed Python text: its tree, its nodes by kind, its scopes, and what each name stands for. */
export class PythonFile {
  /** Relative to the audited root, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly tree: Tree;
  #lines: Lines | null = null;
  #code: string | null = null;
  #bare: string | null = null;
  readonly #said = new Map<string, boolean>();
  readonly #owner: number = newOwner();
  readonly #names = new Map<string, Map<string, string>>();
  readonly #mentions = new Map<string, boolean>();
  readonly #qualified = new Map<Node, string>();
  readonly #imported = new Map<Node, string>();
  readonly #answers = new Map<unknown, unknown>();
  /** "pkg.sub.module" from the path; what relative imports count from. */
  readonly module: string;
  readonly #byKind: NodesByKind;
  #scopes: Scopes | null = null;
  #calls: Calls | null = null;

  readonly #nearest: Nearest | null;

  /**
   * `nearest`: where the tree around this file has several modules of one name. `outline`: without the bodies of functions.
   * `cells`: of a notebook, each of which is parsed by itself.
   */
  constructor(
    path: string,
    text: string,
    nearest: Nearest | null = null,
    outline = false,
    cells: readonly NotebookCell[] | null = null,
  ) {
    this.path = path;
    this.#nearest = nearest;
    this.text = text;
    this.tree = parse(text, outline, cells);
    this.#byKind = link(this.tree.module);
    this.module = moduleName(path);
  }

  get lines(): Lines {
    this.#lines ??= new Lines(this.text);
    return this.#lines;
  }

  get scopes(): Scopes {
    this.#scopes ??= new Scopes(this.#byKind);
    return this.#scopes;
  }

  /** Whether the code has the word anywhere; looked for once a file, however often it is asked. */
  mentions(word: string): boolean {
    let known = this.#mentions.get(word);
    if (known === undefined) {
      known = mayHave(this.bare, this.#owner, word) && this.bare.includes(word);
      this.#mentions.set(word, known);
    }
    return known;
  }

  /**
   * What `ask` says of this file, asked once. Kept here and not in a WeakMap beside `ask`: what an old WeakMap holds
   * counts as alive for the young collector, and with it the whole tree.
   */
  once<T>(ask: (file: PythonFile) => T): T {
    let answer = this.#answers.get(ask) as T | undefined;
    if (answer === undefined) this.#answers.set(ask, (answer = ask(this)));
    return answer;
  }

  /** Every node of a kind, in source order. */
  all<K extends Node["kind"]>(kind: K): readonly NodeOf<K>[] {
    return (this.#byKind.get(kind) ?? []) as readonly NodeOf<K>[];
  }

  /** The calls by what is written: whether that is what a rule looks for is for the rule to ask. */
  get calls(): Calls {
    this.#calls ??= new Calls(this.#byKind);
    return this.#calls;
  }

  /** Calls that may go to something of one of these names, in source order. */
  callsNamed(...words: readonly string[]): readonly Call[] {
    return this.calls.named(words);
  }

  /** Assignments to an attribute of this name, of whatever: `config.use_cache = True`. */
  assignsTo(attribute: string): readonly NodeOf<"Assign">[] {
    return this.once(assignsByAttribute).get(attribute) ?? [];
  }

  textOf(node: { readonly start: number; readonly end: number }): string {
    return this.text.slice(node.start, node.end);
  }

  /** The text with nothing in place of its comments: what is commented out does not run. */
  get code(): string {
    this.#code ??= withoutComments(this.text, this.tree.comments, 0, this.text.length);
    return this.#code;
  }

  says(pattern: RegExp): boolean {
    // The same is asked of each call, and written as a literal it is another object each time.
    const key = pattern.flags + pattern.source;
    let said = this.#said.get(key);
    if (said === undefined) this.#said.set(key, (said = pattern.test(this.bare)));
    return said;
  }

  /** The code without its docstrings, half of many a library's text: dozens of words and patterns are looked for in it. */
  get bare(): string {
    this.#bare ??= bareCode(this.text, this.tree.comments, this.all("ExprStmt"));
    return this.#bare;
  }

  codeOf(node: { readonly start: number; readonly end: number }): string {
    return withoutComments(this.text, this.tree.comments, node.start, node.end);
  }

  /**
   * The full dotted name an expression stands for, through imports and aliases: `F.softmax` is "torch.nn.functional.softmax".
   * Names defined in this file come out as "<module>.name", builtins as "builtins.name"; null where the binding is anything else.
   */
  dotted(expr: Expr): string | null {
    if (expr.kind !== "Name" && expr.kind !== "Attribute") return null;
    if (expr.dotted !== undefined) return expr.dotted;
    // Also the answer to itself, for `x = x.y` in a loop.
    expr.dotted = null;
    let result: string | null = null;
    if (expr.kind === "Attribute") {
      let root: Expr = expr.value;
      for (let depth = 1; root.kind === "Attribute" && depth < MAX_ATTRIBUTES; depth++) root = root.value;
      // Most attributes are of plain variables: their names need not be put together.
      if (root.kind === "Name" && this.dotted(root) !== null)
        result = this.joined(this.dotted(expr.value)!, expr.attr);
    } else {
      const all = this.scopes.lookup(expr)?.definitions;
      if (!all)
        result =
          (this.once(starModules).length > 0 ? customary(expr.id, this) : undefined) ?? `builtins.${expr.id}`;
      // Most names are plain variables: those need no flow analysis.
      else if (all.some(mayBeDotted)) {
        let one: string | null | undefined;
        for (const definition of this.scopes.reaching(expr)) {
          const name = this.#bound(definition);
          if (name === "None") continue;
          one =
            one === undefined || one === name
              ? name
              : name === null || one === null
                ? null
                : oneOf(one, name);
          if (one === null) break;
        }
        result = one ?? null;
      }
    }
    expr.dotted = result;
    return result;
  }

  /** One string for each name, however often it is written: its hash is then computed once. */
  joined(base: string, attr: string): string {
    let attributes = this.#names.get(base);
    if (!attributes) this.#names.set(base, (attributes = new Map()));
    let name = attributes.get(attr);
    if (name === undefined) attributes.set(attr, (name = `${base}.${attr}`));
    return name;
  }

  #bound(definition: Definition): string | null {
    const { node } = definition;
    if (definition.how === "import" && node.kind === "Alias") return this.importedName(node);
    if (definition.how === "function" || definition.how === "class")
      return this.qualified(node as NodeOf<"FunctionDef"> | NodeOf<"ClassDef">);
    if (definition.how === "assign" && definition.value) {
      if (definition.value.kind === "Const" && definition.value.value === null) return "None";
      // An alias by assignment: `checkpoint = torch.utils.checkpoint.checkpoint`.
      if (definition.value.kind === "Attribute") {
        const name = this.dotted(definition.value);
        if (name !== null && /^(?:torch|time|math)\./.test(name)) return name;
      }
    }
    return null;
  }

  /** `import utils`: as `utils` is called from the root of the tree. */
  importedModule(name: string): string {
    if (!this.#nearest) return name;
    const cut = name.indexOf(".");
    const first = cut < 0 ? name : name.slice(0, cut);
    const full = this.#nearest(first, this.module, this.#isPackage);
    return full === null ? name : full + name.slice(first.length);
  }

  get #isPackage(): boolean {
    return this.path.endsWith("/__init__.py") || this.path === "__init__.py";
  }

  importedName(alias: NodeOf<"Alias">): string {
    let name = this.#imported.get(alias);
    if (name === undefined) this.#imported.set(alias, (name = this.#importedName(alias)));
    return name;
  }

  #importedName(alias: NodeOf<"Alias">): string {
    const statement = alias.parent!;
    if (statement.kind !== "ImportFrom")
      return this.importedModule(alias.as === null ? alias.name.split(".")[0]! : alias.name);
    if (statement.level === 0) return `${this.importedModule(statement.module)}.${alias.name}`;
    const isPackage = this.#isPackage;
    // Each dot but the first goes one folder up; in a package's own file, the first is the package itself.
    let base = this.module;
    for (let up = statement.level - (isPackage ? 1 : 0); up > 0; up--)
      base = base.slice(0, Math.max(0, base.lastIndexOf(".")));
    const module =
      statement.module === "" ? base : base === "" ? statement.module : `${base}.${statement.module}`;
    return module === "" ? alias.name : `${module}.${alias.name}`;
  }

  /** The function or method of this file that a qualified name is of. */
  functionNamed(name: string | null): NodeOf<"FunctionDef"> | undefined {
    return name === null ? undefined : this.once(functionsByName).get(name);
  }

  /** "<module>.Class.method" for a definition; nested functions get their parents' names too. */
  qualified(node: NodeOf<"FunctionDef"> | NodeOf<"ClassDef">): string {
    let name = this.#qualified.get(node);
    if (name === undefined) {
      let outer = node.parent;
      while (outer && outer.kind !== "FunctionDef" && outer.kind !== "ClassDef") outer = outer.parent;
      name = `${outer ? this.qualified(outer) : this.module}.${node.name}`;
      this.#qualified.set(node, name);
    }
    return name;
  }
}

function mayBeDotted({ how, value }: Definition): boolean {
  return (
    how === "import" ||
    how === "function" ||
    how === "class" ||
    (how === "assign" && value?.kind === "Attribute")
  );
}

/** Of two of a name the first. */
function functionsByName(file: PythonFile): ReadonlyMap<string, NodeOf<"FunctionDef">> {
  const found = new Map<string, NodeOf<"FunctionDef">>();
  for (const fn of file.all("FunctionDef")) {
    const name = file.qualified(fn);
    if (!found.has(name)) found.set(name, fn);
  }
  return found;
}

/** What nearly every file calls these by, where another file's imports come in with `from layers import *`. */
const CUSTOM: ReadonlyMap<string, string> = new Map([
  ["torch", "torch"],
  ["nn", "torch.nn"],
  ["F", "torch.nn.functional"],
  ["optim", "torch.optim"],
  ["np", "numpy"],
  ["math", "math"],
  ["time", "time"],
  ["random", "random"],
]);

/** `t` and `th`, of which names are taken that only torch has: `from layers import *`, which says `import torch as t`. */
function customary(name: string, file: PythonFile): string | undefined {
  const short = SHORT.get(name);
  return CUSTOM.get(name) ?? (short && file.says(short) ? "torch" : undefined);
}

const SHORT: ReadonlyMap<string, RegExp> = new Map(
  ["t", "th"].map((name) => [
    name,
    new RegExp(
      `(?<![\\w.])${name}\\.(?:nn|cat|stack|[tT]ensor|no_grad|randn|bmm|matmul|cuda|softmax|sigmoid|relu|distributions|optim|backends|(?:zeros|ones)_like|(?:Long|Float)Tensor)\\b`,
    ),
  ]),
);

/** Modules of which all names are taken: `from layers import *`. */
export function starModules(file: PythonFile): readonly string[] {
  return file
    .all("Alias")
    .flatMap((alias) => (alias.name === "*" ? [file.importedName(alias).slice(0, -2)] : []));
}

/**
 * `try: from torch.amp import GradScaler`, and otherwise from elsewhere: what is torch's under either name is meant to be
 * the same thing.
 */
function oneOf(one: string, other: string): string | null {
  // `XlaFullyShardedDataParallel as FSDP` is what it stands in for.
  if (!last(one).endsWith(last(other)) && !last(other).endsWith(last(one))) return null;
  if (one.startsWith("torch.")) return one;
  return other.startsWith("torch.") ? other : null;
}

const last = (name: string): string => name.slice(name.lastIndexOf(".") + 1);

/** Not defined in the file, and there are modules of which all names are taken. */
export function isOfStar(name: Name, file: PythonFile): boolean {
  return file.scopes.lookup(name) === null && file.once(starModules).length > 0;
}

function assignsByAttribute(file: PythonFile): ReadonlyMap<string, readonly NodeOf<"Assign">[]> {
  const found = new Map<string, NodeOf<"Assign">[]>();
  for (const statement of file.all("Assign")) {
    const [target] = statement.targets;
    if (target?.kind !== "Attribute") continue;
    const list = found.get(target.attr);
    if (list) list.push(statement);
    else found.set(target.attr, [statement]);
  }
  return found;
}

/** "pkg.sub.module" of "pkg/sub/module.py". */
export function moduleName(path: string): string {
  return (
    path
      .replace(/\.(?:pyi?|ipynb)$/, "")
      .replace(/(?:^|\/)__init__$/, "")
      .replace(/^\.?\//, "")
      // A dot at the start of a folder's name is no separator.
      .replace(/(?<=^|\/)\./g, "_")
      .replaceAll("/", ".")
  );
}

/** The value of a keyword argument, or null. */
export function keyword(call: Call, name: string): Arg | null {
  return call.args.find((arg) => arg.name === name) ?? null;
}

/** The n-th positional argument, when no star stands before it. */
export function positional(call: Call, index: number): Expr | null {
  let at = 0;
  for (const arg of call.args) {
    if (arg.star !== 0) return null;
    if (arg.name !== null) continue;
    if (at++ === index) return arg.value;
  }
  return null;
}

/** `name` given by keyword or at `index`; null when absent. */
export function argument(call: Call, name: string, index: number): Expr | null {
  return keyword(call, name)?.value ?? positional(call, index);
}

/** Whether `*args` or `**kwargs` may be passing what we do not see. */
export function hasStars(call: Call): boolean {
  return call.args.some((arg) => arg.star !== 0);
}

export function isTrue(expr: Expr | null): boolean {
  return expr?.kind === "Const" && expr.value === true;
}
export function isFalse(expr: Expr | null): boolean {
  return expr?.kind === "Const" && expr.value === false;
}
export function isNone(expr: Expr | null | undefined): boolean {
  return expr?.kind === "Const" && expr.value === null;
}

/** Whether it imports something of a library that is called so. To look for the word in the text takes longer. */
export function importsFrom(file: PythonFile, library: RegExp): boolean {
  return file
    .all("Alias")
    .some(({ name, parent }) => library.test(parent?.kind === "ImportFrom" ? parent.module : name));
}

/** Each as long as it was, in spaces: whatever stands behind it stays where it is. */
/** The text with nothing in place of its comments and of the strings that are statements. */
function bareCode(
  text: string,
  comments: readonly Comment[],
  statements: readonly NodeOf<"ExprStmt">[],
): string {
  let bare = "";
  let from = 0;
  let comment = 0;
  const upTo = (end: number): void => {
    for (; comment < comments.length && comments[comment]!.start < end; comment++) {
      const next = comments[comment]!;
      bare += text.slice(from, next.start);
      from = next.end;
    }
  };
  for (const { value } of statements) {
    if (value.kind !== "Str" || value.parts.length > 0) continue;
    upTo(value.start);
    bare += text.slice(from, value.start);
    from = value.end;
  }
  upTo(text.length);
  return bare + text.slice(from);
}

function withoutComments(text: string, comments: readonly Comment[], first: number, last: number): string {
  const parts: string[] = [];
  let from = first;
  for (const { start, end } of comments) {
    if (start < first) continue;
    if (start >= last) break;
    parts.push(text.slice(from, start), " ".repeat(end - start));
    from = end;
  }
  const rest = text.slice(from, last);
  return parts.length === 0 ? rest : parts.join("") + rest;
}
