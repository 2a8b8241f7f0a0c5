import { isTrue } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { functionOf, lastWord } from "../../python/nodes.ts";
import type { Arg, Call, Expr, Name, Node } from "../../python/tree.ts";
import type { CallGraph } from "./graph.ts";
import { targetOf } from "./summary.ts";
import type { FileSummary } from "./summary.ts";
import { isSelf } from "./classes.ts";
import type { Mentioned } from "./mentions.ts";
import type { Names } from "./names.ts";
import { holdsOptions } from "./options.ts";
import { last } from "./torch-names.ts";

/** What one argument of a call is, as far as it matters to whoever tests it. */
export type Given =
  /** "debug" of `args.debug` */
  { readonly option: string } | { readonly value: null | false } | "something";

/** One call: what it gives by position, and by name. */
export interface Handed {
  readonly inOrder: readonly Given[];
  readonly byName: ReadonlyMap<string, Given>;
}

/** Of a call with `*args`, or with more than is said: nobody knows what it gives. */
const ANYTHING = "*";
const POSITION = /^\?/;

/** A call's arguments in a few letters: "?,?=lr,debug=debug,writer:None", where "=" is an option and ":" a value. */
export function given({ args }: Call, file: PythonFile): string {
  let text = "";
  for (const { name, star, value } of args) {
    if (star !== 0) return ANYTHING;
    text += `${text === "" ? "" : ","}${name ?? "?"}${said(value, file)}`;
  }
  return text;
}

/** `fp16`, where the program says `fp16 = False`, is that. */
export function givenBy(argument: Expr, file: PythonFile): Given {
  const value = (argument.kind === "Name" ? file.scopes.onlyValue(argument) : null) ?? argument;
  if (value.kind === "Const" && (value.value === null || value.value === false))
    return { value: value.value };
  return value.kind === "Attribute" && !isSelf(value.value) && holdsOptions(value.value)
    ? { option: value.attr }
    : "something";
}

function said(value: Expr, file: PythonFile): string {
  const given = givenBy(value, file);
  if (given === "something") return "";
  return "option" in given ? `=${given.option}` : given.value === null ? ":None" : ":False";
}

/** The other way round; null of what nobody knows. */
export function read(text: string): Handed | null {
  if (text === ANYTHING) return null;
  const inOrder: Given[] = [];
  const byName = new Map<string, Given>();
  for (const part of text === "" ? [] : text.split(",")) {
    const [, name, mark, rest] = /^([^=:]*)([=:]?)(.*)$/.exec(part)!;
    const one: Given =
      mark === "="
        ? { option: rest! }
        : mark === ":"
          ? { value: rest === "None" ? null : false }
          : "something";
    if (POSITION.test(name!)) inOrder.push(one);
    else byName.set(name!, one);
  }
  return { inOrder, byName };
}

/**
 * Functions at the top of the file, classes there, and their methods ("Net.fit"), that may be given something or nothing,
 * `def update(net, writer=None)`, or test what they are given.
 */
export function asked(file: PythonFile): readonly string[] | undefined {
  const tests = new Set<Node | null>();
  for (const { test } of file.all("If")) {
    const name = test.kind === "Unary" ? test.operand : test;
    const fn = name.kind === "Name" ? functionOf(name) : null;
    if (fn?.params.some((param) => param.name === (name as Name).id) === true) tests.add(fn);
  }
  const found: string[] = [];
  for (const fn of file.all("FunctionDef")) {
    const { parent } = fn;
    if (fn.decorators.length > 0) continue;
    if (!tests.has(fn) && !fn.params.some(({ default: one }) => one?.kind === "Const" && !isTrue(one)))
      continue;
    if (parent?.kind === "Module") found.push(fn.name);
    else if (parent?.kind === "ClassDef" && parent.parent?.kind === "Module") {
      if (fn.name === "__init__") {
        if (parent.decorators.length === 0) found.push(parent.name);
      } else if (!OF_FRAMEWORKS.test(fn.name) && parent.args.every(isOfNothing))
        found.push(`${parent.name}.${fn.name}`);
    }
  }
  return found.length > 0 ? found : undefined;
}

/** What others call without its name, or with what nobody sees. */
const OF_FRAMEWORKS = /^(?:__\w+__|forward|training_step|validation_step|test_step)$/;

/** `(object)`, `(nn.Module)`: no base calls the methods that a class has of its own. */
const isOfNothing = ({ name, value }: Arg): boolean =>
  name !== null || lastWord(value) === "object" || lastWord(value) === "Module";

/**
 * For functions that do something else where nobody gives them a parameter: what the calls in other files give them. Those
 * of which not every call is known are not among them.
 */
export function handedFromOutside(
  summaries: readonly FileSummary[],
  graph: CallGraph,
  names: Names,
  mentioned: Mentioned,
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const words = new Set<string>();
  for (const file of summaries) {
    const module = last(file.module);
    // `from engine import *`, or a text that was not read: it may call anything in here.
    if (!file.asks || mentioned.has(`${module}.`) || mentioned.has(`${module}.*`)) continue;
    for (const name of file.asks) {
      if (mentioned.has(`${last(name)}.`)) continue;
      found.set(`${file.module}.${name}`, []);
      words.add(last(name));
    }
  }
  if (found.size === 0) return found;
  const nameOf = (target: string): string =>
    graph.targets.get(target)?.summary.name ??
    (words.has(last(target)) && !found.has(target) ? names.base(target) : target);
  for (const file of summaries) {
    for (const name of file.escapes) found.delete(name);
    for (const name of file.values ?? [])
      if (words.has(last(name)))
        for (const one of [names.resolve(name, graph.byName), names.base(name), name])
          if (one !== null) found.delete(one);
    for (const [target, calls] of Object.entries(file.gives)) found.get(nameOf(target))?.push(...calls);
  }
  // `trainer.fit(…)` of we know not what may be any of them.
  const unseen = new Set<string>();
  for (const { functions } of summaries)
    for (const { calls } of functions)
      for (const call of calls) {
        const target = targetOf(call);
        if (typeof target === "string" && target.startsWith(".") && words.has(target.slice(1)))
          unseen.add(target.slice(1));
      }
  const bases = new Set<string>();
  for (const { classes } of summaries)
    for (const { bases: of } of classes) for (const one of of) bases.add(names.base(one));
  for (const name of found.keys()) {
    const isClass = names.classes.has(name);
    const fn = graph.byName.get(name);
    // What derives from a class makes it in a way of its own.
    if (isClass ? bases.has(name) : !fn || (fn.summary.method === true && unseen.has(last(name))))
      found.delete(name);
  }
  return found;
}
