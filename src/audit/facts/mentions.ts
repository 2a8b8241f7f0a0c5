import type { PythonFile } from "../../python/file.ts";
import { statementOf } from "../../python/nodes.ts";
import { copied } from "../../python/source.ts";
import type { Node, NodeOf } from "../../python/tree.ts";
import { armsOf, choicesOf, otherOption, whenRun } from "./choices.ts";
import type { Role } from "./classes.ts";
import { importedByName } from "./imported-by-name.ts";
import { OF_LOSSES } from "./naming.ts";
import type { CallGraph, Fn } from "./graph.ts";
import type { Names } from "./names.ts";
import { MAIN } from "./summary.ts";
import type { ClassSummary, FileSummary, FunctionSummary } from "./summary.ts";
import { isCapital, last } from "./torch-names.ts";

/** "models.Encoder" in a table of names, not a sentence. */
const NAMES = /^\w+(?:\.\w+)*$/;
const LONGEST_NAME = 100;
/** Imported by everybody, and nobody's own: what is taken from them is no mention. */
const LIBRARIES = /^(?:torch|numpy)(?:\.|$)/;
/** Started from outside of the tree, or by Python. */
const OUTSIDE = /^_*(?:main|cli|run|app|test|demo)(?:_|$)|^__\w+__$|^<body>$/;
/** The tests of a program are no unit tests. */
const OUTSIDE_PROGRAM = /^_*(?:main|cli|run|app)(?:_|$)|^__\w+__$|^<body>$/;

/** What the `setup.py` of a package says that is installed, for others to use what it hands on. */
export const INSTALLED = "setuptools";
/** Before the path of a file of settings by which activation checkpointing is on. */
export const CHECKPOINTED_BY = "gradient_checkpointing:";

/**
 * Words by which files speak of classes, functions and modules; "nets." where functions of a module may be meant, "nets.*"
 * where anything in it may be, "^Net" where a package only hands it on.
 */
export class Words {
  readonly all = new Set<string>();
  /** Imports that were taken apart already: the files of a tree begin alike. */
  readonly #imports = new Set<string>();

  add(word: string): void {
    if (!this.all.has(word)) this.all.add(copied(word));
  }

  /** Of a file, about the others: what it says of its own classes, its summary knows. */
  addFrom(file: PythonFile): void {
    const handsOn = isPackage(file.path);
    // Where names are imported by texts, nobody asks what is chosen.
    const spoken = new Spoken(file, isByName(this.all) ? NO_ARMS : file.once(armsOf));
    // `from nets import Encoder2 as Encoder`: what is called Encoder here is another one.
    const own = new Set<string>();
    const imported = new Map<string, string>();
    for (const alias of file.all("Alias")) this.#addAlias(alias, handsOn, own, imported, spoken);
    for (const { name, parent } of file.all("ClassDef")) if (parent?.kind === "Module") own.add(name);
    for (const name of file.all("Name")) {
      const { id } = name;
      // Most are known. And what somebody speaks of in any case is not chosen.
      if (!isCapital(id) || this.all.has(id) || own.has(id)) continue;
      if (spoken.isChoosy) spoken.add(id, name);
      else this.add(id);
    }
    for (const attribute of file.all("Attribute")) this.#addAttribute(attribute, imported, spoken);
    for (const text of file.all("Str"))
      // `args.net == "Small"` chooses, and names nothing.
      if (text.parent?.kind !== "Compare") this.#addStr(text, handsOn);
    for (const { args } of file.callsNamed("getattr", "vars", "getmembers")) {
      const of = args[0]?.value;
      if (of?.kind === "Name" && imported.has(of.id)) this.add(`${imported.get(of.id)!}.*`);
    }
    // `import_module(f"models.{kind}_model")`, of which the classes are taken that go by that name.
    for (const one of importedByName(file)) if (one.endsWith(".")) this.add(`${last(one.slice(0, -1))}.*`);
    if (file.callsNamed("globals", "locals", "eval").some(({ func }) => func.kind === "Name"))
      this.add(`${last(file.module)}.*`);
    if (spoken.isChoosy) for (const word of spoken.words()) this.add(word);
  }

  #addAlias(
    { name, as, parent }: NodeOf<"Alias">,
    handsOn: boolean,
    own: Set<string>,
    imported: Map<string, string>,
    spoken: Spoken,
  ): void {
    if (as !== null && as !== name) own.add(as);
    const from = parent?.kind === "ImportFrom" ? parent.module : null;
    if (!LIBRARIES.test(from ?? name)) imported.set(as ?? name, last(name));
    if (handsOn && from !== null) this.add(`^${name}`);
    else if (from !== null && as === null && isCapital(name) && spoken.isChoosy) spoken.wait(name);
    else this.#addParts(name);
    if (from === null) return;
    this.#addParts(from);
    if (name === "*") this.add(`${last(from)}.`);
  }

  #addAttribute(attribute: NodeOf<"Attribute">, imported: ReadonlyMap<string, string>, spoken: Spoken): void {
    const { attr, value } = attribute;
    const of = value.kind === "Name" && value.id !== "self" ? imported.get(value.id) : undefined;
    if (of !== undefined || isCapital(attr)) {
      if (!spoken.isChoosy) this.add(attr);
      else if (!this.all.has(attr)) spoken.add(attr, attribute);
    }
    // `nets.__dict__[args.net]`
    if (of !== undefined && attr === "__dict__") this.add(`${of}.*`);
  }

  #addStr(text: NodeOf<"Str">, handsOn: boolean): void {
    const { value } = text;
    if (value !== null && value.length < LONGEST_NAME && NAMES.test(value) && !(handsOn && isListed(text)))
      this.#addParts(value);
  }

  /** Of a text with nothing for any rule, which may still hand on what others define. */
  addFromText(path: string, text: string): void {
    let rest = text;
    if (isPackage(path)) {
      rest = text.replace(LISTED, "");
      for (const [statement, module, names] of rest.matchAll(HANDED_ON)) {
        for (const word of module!.match(/\w+/g) ?? []) this.add(word);
        for (const word of names!.match(/\w+/g) ?? []) this.add(`^${word}`);
        rest = rest.replace(statement, "");
      }
    }
    this.addImported(rest);
    for (const word of rest.match(/\b_*[A-Z]\w*/g) ?? []) this.add(word);
  }

  /** Of a text that defines what it speaks of, or imports it at its top. */
  addImported(text: string): void {
    for (const statement of text.match(/^[ \t]*(?:from|import)[ \t](?:.*\([^)]*\)|.*)/gm) ?? []) {
      if (this.#imports.has(statement)) continue;
      this.#imports.add(copied(statement));
      for (const word of statement.match(/\w+/g)!) {
        this.add(word);
        this.add(`${word}.`);
      }
    }
  }

  #addParts(dotted: string): void {
    if (!dotted.includes(".")) this.add(dotted);
    else for (const part of dotted.split(".")) this.add(part);
  }
}

type Arms = ReturnType<typeof armsOf>;
const NO_ARMS: Arms = [];

/** By which words a file speaks that chooses: what it speaks of only where an option is this or that. */
class Spoken {
  readonly isChoosy: boolean;
  readonly #file: PythonFile;
  readonly #arms: Arms;
  /** Imported, and perhaps never used. */
  readonly #waiting = new Set<string>();
  readonly #plain = new Set<string>();
  readonly #chosen = new Map<string, Set<string>>();

  constructor(file: PythonFile, arms: Arms) {
    this.#file = file;
    this.#arms = arms;
    this.isChoosy = arms.length > 0;
  }

  wait(name: string): void {
    this.#waiting.add(name);
  }

  add(word: string, at: Node): void {
    if (this.#plain.has(word)) return;
    const when = whenRun(at, this.#arms, this.#file);
    const known = this.#chosen.get(word);
    if (when === "") this.#plain.add(word);
    else if (known) known.add(when);
    else this.#chosen.set(word, new Set([when]));
  }

  *words(): Iterable<string> {
    yield* this.#plain;
    for (const [word, all] of this.#chosen)
      if (!this.#plain.has(word)) for (const when of all) yield `${CHOSEN}${word}?${when}`;
    for (const word of this.#waiting) if (!this.#chosen.has(word)) yield word;
  }
}

/** Before what is spoken of only where an option is something: "?Encoder?net=small". */
const CHOSEN = "?";

/** What files speak of, all they say: by has alone, for a tree has a hundred thousand words. */
export type Mentioned = Pick<ReadonlySet<string>, "has">;

/** What is spoken of only where an option is something: by name, when. */
export function chosenWords(words: ReadonlySet<string>): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const word of words) {
    if (!word.startsWith(CHOSEN)) continue;
    const cut = word.indexOf(CHOSEN, 1);
    const name = word.slice(1, cut);
    const known = found.get(name);
    if (known) known.push(word.slice(cut + 1));
    else found.set(name, [word.slice(cut + 1)]);
  }
  return found;
}

/** `from .nets import (Net, Other)` */
const HANDED_ON = /^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|.*)/gm;
const LISTED = /^__all__\s*\+?=\s*[[(][^\])]*[\])]/gm;

const isPackage = (path: string): boolean => /(?:^|\/)__init__\.py$/.test(path);

/** In `__all__ = ["Net", …]` */
function isListed(text: Node): boolean {
  const statement = statementOf(text);
  const target =
    statement?.kind === "Assign"
      ? statement.targets[0]
      : statement?.kind === "AugAssign"
        ? statement.target
        : null;
  return target?.kind === "Name" && target.id === "__all__";
}

/** Classes of networks, optimizers, those that train, and functions, that nothing in the tree uses, where something trains. */
export function unusedParts(
  summaries: readonly FileSummary[],
  roles: ReadonlyMap<string, Role>,
  graph: CallGraph,
  words: Mentioned,
): Unused {
  const trainers = summaries.filter((file) => file.trains);
  const left = new Set<string>();
  if (trainers.length === 0) return { unused: left, inner: left };
  const mentioned = isForOthers(summaries, words) ? withHandedOn(words) : words;
  const networks: Class[] = [];
  const agents: Class[] = [];
  for (const file of summaries) {
    const own = file.classes.filter(
      ({ bases, name }) => roles.get(name) === "module" || bases.some((base) => OPTIMIZER.test(base)),
    );
    // What trains by its methods, and is of no library's kind: `class A2C:`.
    const others = file.trains ? file.classes.filter(({ name }) => isAgent(name, file, roles)) : [];
    if (own.length === 0 && others.length === 0) continue;
    if (isLeft(file, mentioned)) for (const { name } of own) left.add(name);
    if (isTakenByName(file.module, mentioned)) continue;
    const isUnspoken = (cls: ClassSummary): boolean => !cls.decorated && !isMentioned(cls, file, mentioned);
    for (const cls of own) if (isUnspoken(cls)) networks.push({ file, cls });
    for (const cls of others) if (isUnspoken(cls)) agents.push({ file, cls });
  }
  const spread = (functions: readonly Fn[], classes: readonly Class[]): ReadonlySet<string> => {
    const unused = new Set(left);
    const isIdle = (user: string, file: FileSummary): boolean =>
      user === MAIN ? isTried(file, mentioned) : user !== "" && isPartOf(`${file.module}.${user}`, unused);
    for (let before = -1; before !== unused.size;) {
      before = unused.size;
      for (const { file, cls } of classes)
        if ((cls.users ?? []).every((user) => isIdle(user, file))) unused.add(cls.name);
      for (const { summary, callers } of functions)
        if (
          callers.every(
            ({ from }) => from.summary.name === summary.name || isPartOf(from.summary.name, unused),
          )
        )
          unused.add(summary.name);
    }
    return unused;
  };
  const unused = spread(uncalled(summaries, trainers, graph, mentioned), [...networks, ...agents]);
  // Where all that trains is there to be called, nothing says what is not.
  const stillTrains = trainers.some(({ functions }) => {
    const steps = functions.filter(({ backward, steps: taken }) => backward || taken);
    return steps.length === 0 || steps.some(({ name }) => !isPartOf(name, unused));
  });
  return {
    unused: stillTrains ? unused : spread([], networks),
    inner: new Set(networks.flatMap(({ cls }) => (cls.users ? [cls.name] : []))),
  };
}

const OPTIMIZER = /^torch\.optim\.(?:\w+\.)?Optimizer$/;

interface Class {
  readonly file: FileSummary;
  readonly cls: ClassSummary;
}

function isAgent(name: string, { functions }: FileSummary, roles: ReadonlyMap<string, Role>): boolean {
  return (
    (roles.get(name) ?? "other") === "other" &&
    functions.some((fn) => (fn.backward || fn.steps) && fn.name.startsWith(`${name}.`))
  );
}

/** By their qualified names. */
interface Unused {
  readonly unused: ReadonlySet<string>;
  /** Classes of networks that only their own file speaks of. */
  readonly inner: ReadonlySet<string>;
}

/** What a package hands on is for others, unless the tree is a program that nobody installs. */
function isForOthers(summaries: readonly FileSummary[], words: Mentioned): boolean {
  return words.has(INSTALLED) || !summaries.some((file) => file.trains && file.main);
}

const withHandedOn = (words: Mentioned): Mentioned => ({
  has: (word) => words.has(word) || words.has(`^${word}`),
});

/** Classes that other files speak of only where an option is another than by default: by name, the option. */
export function chosenOtherwise(
  summaries: readonly FileSummary[],
  chosen: ReturnType<typeof chosenWords>,
  words: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  // What is imported by a name, nobody sees.
  if (chosen.size === 0 || isByName(words)) return found;
  const plain = isForOthers(summaries, words) ? withHandedOn(words) : words;
  const choices = choicesOf(summaries);
  for (const [name, all] of chosen) {
    if (plain.has(name)) continue;
    const options = all.map((when) => otherOption(when, choices));
    if (options.every((one) => one !== null)) found.set(name, options[0]!);
  }
  // `getattr(nets, args.net)`
  if (found.size > 0)
    for (const { module, classes } of summaries)
      for (const { name } of classes)
        if (found.has(last(name)) && isTakenByName(module, words)) found.delete(last(name));
  return found;
}

/**
 * Classes of a module in which one is looked up by its name, `globals()[args.algorithm]`, where another is so by default, and neither
 * that nor what it derives from speaks of them: by name, the option.
 */
export function namedOtherwise(
  summaries: readonly FileSummary[],
  words: Mentioned,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const options = new Map<string, string>();
  for (const { options: own } of summaries)
    for (const [option, value] of Object.entries(own ?? {}))
      if (typeof value === "string" && isCapital(value)) options.set(value, option);
  if (options.size === 0) return found;
  for (const { classes, imports, module } of summaries) {
    if (!words.has(`${last(module)}.*`)) continue;
    const option = classes.map(({ name }) => options.get(last(name))).find((one) => one !== undefined);
    if (option === undefined) continue;
    const used = new Set(classes.map(({ name }) => last(name)).filter((name) => options.has(name)));
    // Sets grow while they are gone through: what these derive from, and whom they speak of.
    for (const name of used)
      for (const cls of classes)
        if (last(cls.name) === name) for (const base of cls.bases) used.add(last(base));
        else if (cls.users?.some((user) => user === name || !isCapital(user))) used.add(last(cls.name));
    for (const { name } of classes)
      if (
        !used.has(last(name)) &&
        !imports.includes(name) &&
        !summaries.some((file) => file.imports.includes(name))
      )
        found.set(last(name), option);
  }
  return found;
}

const isTakenByName = (module: string, mentioned: Mentioned): boolean =>
  module.split(".").some((part) => mentioned.has(`${part}.*`));

/** The first that a maker of losses is given; a loss is given what the network said. */
const SETTING =
  /^(?:\**k?w?args|opts?|options|num_\w+|n_\w+|\w*classes)$|weight|reduction|config|cfg|device|gamma|alpha|name/i;

/** What functions are called that are losses; those that judge or show them are not for the step. */
const IS_LOSS =
  /^(?!.*(?:val|eval|test|plot|log|print|show|draw)(?:_|$)).*(?:_loss|_loss_fn|_criterion)$|^(?:loss|criterion)(?:_|$)/;

/**
 * `getattr(losses, config["loss"])`: the functions of a module of losses, where somebody picks by their names; and
 * `train(net, focal_loss)`, of a function that is only ever handed on. Whoever calls what was picked or handed on is not seen; a
 * loss is there to be called once a step.
 */
export function pickedLosses(
  summaries: readonly FileSummary[],
  { byName }: CallGraph,
  mentioned: Mentioned,
  names: Names,
): readonly Fn[] {
  const found: Fn[] = [];
  const handed = new Set<string>();
  for (const { escapes, values } of summaries) {
    for (const name of escapes) handed.add(name);
    for (const name of values ?? [])
      if (IS_LOSS.test(last(name))) handed.add(names.resolve(name, byName) ?? name);
  }
  for (const { module, functions } of summaries) {
    const isPicked =
      OF_LOSSES.test(module) &&
      module.split(".").some((part) => OF_LOSSES.test(part) && mentioned.has(`${part}.*`));
    if (!isPicked && handed.size === 0) continue;
    for (const { name, params, grad } of functions) {
      if (!isPicked && !handed.has(name)) continue;
      const fn = byName.get(name)!;
      const word = last(name);
      if (
        (isPicked || IS_LOSS.test(word)) &&
        fn.callers.length === 0 &&
        name.length === module.length + 1 + word.length &&
        grad !== "off" &&
        params !== "" &&
        !/^(?:_|(?:get|make|build|create)_)/.test(word) &&
        !SETTING.test(params.split(",", 1)[0]!) &&
        // `def focal(gamma): def loss(x, y): …`: it hands out the loss.
        !functions.some((other) => other.name.startsWith(`${name}.`))
      )
        found.push(fn);
    }
  }
  return found;
}

/** Programs, whoever imports them. */
const PROGRAM = /train|main|run|tune|fit|exp/i;

/** Others import it; what it does when it is started itself is to try it, unless it trains, and has options for that. */
export function isTried({ main, module, options, trains }: FileSummary, mentioned: Mentioned): boolean {
  return (
    main === true &&
    isImported(module, mentioned) &&
    !PROGRAM.test(last(module)) &&
    !(trains && options !== undefined)
  );
}

/** In a file that nobody imports and that does not train itself. */
function isLeft({ trains, module }: FileSummary, mentioned: Mentioned): boolean {
  return !trains && !isByName(mentioned) && !isImported(module, mentioned);
}

/** Modules that `import_module(f"models.{args.model}")`, or `f"models.{args.model}_model"`, comes to only with another name than the default. */
export function otherChoices(summaries: readonly FileSummary[], mentioned: Mentioned): ReadonlySet<string> {
  if (!isByName(mentioned)) return new Set();
  const defaults = new Set(summaries.flatMap(({ options }) => Object.values(options ?? {})));
  const folder = (module: string): string => module.slice(0, module.lastIndexOf("."));
  const modules = summaries.flatMap(({ module, main, trains }) =>
    module.includes(".") && !(main && trains) ? [module] : [],
  );
  const isDefault = (module: string): boolean =>
    defaults.has(last(module)) || defaults.has(last(module).replace(/_[a-z]+$/, ""));
  const chosen = new Set(modules.filter(isDefault).map(folder));
  const others = new Set(
    modules.filter(
      (module) => chosen.has(folder(module)) && !isDefault(module) && !isImported(module, mentioned),
    ),
  );
  if (others.size === 0) return others;
  // What only these import is chosen with them.
  const importers = new Map<string, string[]>();
  for (const { imports, module } of summaries)
    for (const name of imports)
      for (const word of name.split(".").slice(-2)) {
        const known = importers.get(word);
        if (known) known.push(module);
        else importers.set(word, [module]);
      }
  for (const { main, module } of summaries) {
    const by = (importers.get(last(module)) ?? []).filter((one) => one !== module);
    if (!main && by.length > 0 && by.every((one) => others.has(one))) others.add(module);
  }
  return others;
}

const isByName = (mentioned: Mentioned): boolean =>
  mentioned.has("importlib") || mentioned.has("pkgutil") || mentioned.has("import_module");

/** Also by a package alone: what it imports, runs. */
function isImported(module: string, mentioned: Mentioned): boolean {
  return mentioned.has(last(module)) || mentioned.has(`^${last(module)}`);
}

/** Another file speaks of it. */
function isMentioned({ name }: ClassSummary, { module }: FileSummary, mentioned: Mentioned): boolean {
  const own = last(name);
  return mentioned.has(own) || (!isCapital(own) && mentioned.has(`${last(module)}.`));
}

/** Functions that no other file calls or speaks of; their own may. */
function uncalled(
  summaries: readonly FileSummary[],
  trainers: readonly FileSummary[],
  graph: CallGraph,
  mentioned: Mentioned,
): readonly Fn[] {
  const escapes = new Set(summaries.flatMap((file) => file.escapes));
  const isOwn = ownClasses(summaries);
  const called = new Set<string>();
  for (const target of graph.targets.keys()) called.add(last(target));
  const isCandidate = ({ name, decorated }: FunctionSummary, shut: boolean): boolean => {
    const own = last(name);
    // What costs most is asked last.
    return (
      !decorated &&
      (shut || !called.has(own)) &&
      !escapes.has(name) &&
      !(shut ? OUTSIDE_PROGRAM : OUTSIDE).test(own) &&
      (shut || !mentioned.has(own))
    );
  };
  let known: ReadonlySet<string> | null = null;
  // A program that nobody imports, or a function that trains and that nobody takes from its file: what others call or
  // speak of by the same name is not this one.
  const isShut = ({ main, trains, module }: FileSummary, fn: FunctionSummary): boolean => {
    if (!trains || !(main || fn.backward) || isByName(mentioned)) return false;
    const own = last(module);
    known ??= importedWords(summaries);
    if (!known.has(own)) return main === true;
    return (
      fn.backward === true &&
      !known.has(`.${own}`) &&
      !known.has(`${own}.*`) &&
      !known.has(`${own}.${last(fn.name)}`)
    );
  };
  return (
    summaries
      // What only one file trains with, somebody will call from outside.
      .filter((file) => trainers.some((one) => one !== file))
      .filter(({ module }) => !mentioned.has(`${last(module)}.`) && !mentioned.has(`${last(module)}.*`))
      // `fire.Fire()` makes a command of each.
      .filter(({ imports }) => !imports.includes("fire"))
      .flatMap((file) => {
        const inside = ({ name }: FunctionSummary): string => name.slice(0, name.lastIndexOf("."));
        const isTop = (fn: FunctionSummary): boolean => inside(fn) === file.module || isOwn(inside(fn));
        return file.functions.filter((fn) =>
          isShut(file, fn) && inside(fn) === file.module
            ? isCandidate(fn, true)
            : isCandidate(fn, false) && isTop(fn),
        );
      })
      .map(({ name }) => graph.byName.get(name)!)
  );
}

/** Of what files import: each word of its path; the last with a dot before it, and with the one before. */
function importedWords(summaries: readonly FileSummary[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { imports } of summaries)
    for (const name of imports) {
      const words = name.split(".");
      for (const word of words) found.add(word);
      found.add(`.${words.at(-1)!}`).add(words.slice(-2).join("."));
    }
  return found;
}

/** Whether nobody but the tree itself knows what the methods of a class are called; by its qualified name. */
function ownClasses(summaries: readonly FileSummary[]): (cls: string) => boolean {
  const byName = new Map<string, ClassSummary>();
  const alike = new Map<string, ClassSummary[]>();
  for (const { classes } of summaries)
    for (const cls of classes) {
      byName.set(cls.name, cls);
      const own = last(cls.name);
      const others = alike.get(own);
      if (others) others.push(cls);
      else alike.set(own, [cls]);
    }
  const known = new Map<ClassSummary, boolean>();
  const isOwn = (cls: ClassSummary): boolean => {
    const before = known.get(cls);
    if (before !== undefined) return before;
    // Of classes that are bases of each other nobody can tell.
    known.set(cls, false);
    const own =
      !cls.decorated &&
      !/Mixin|Callback|Hook/.test(cls.name) &&
      cls.bases.every((base) => base === "builtins.object" || alike.get(last(base))?.every(isOwn) === true);
    known.set(cls, own);
    return own;
  };
  return (name) => {
    const cls = byName.get(name);
    return cls !== undefined && isOwn(cls);
  };
}

/** A method of a class among them, or a function inside of a function among them. */
function isPartOf(name: string, parts: ReadonlySet<string>): boolean {
  for (let cut = name.length; cut > 0; cut = name.lastIndexOf(".", cut - 1))
    if (parts.has(name.slice(0, cut))) return true;
  return false;
}
