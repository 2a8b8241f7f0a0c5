import type { PythonFile } from "../../python/file.ts";
import type { Call, Expr } from "../../python/tree.ts";
import type { CallGraph } from "./graph.ts";
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
  const own = new Map<string, FileSummary>();
  for (const file of summaries) {
    const module = last(file.module);
    // `from engine import *`, or a text that was not read: it may call anything in here.
    if (!file.asks || mentioned.has(`${module}.`) || mentioned.has(`${module}.*`)) continue;
    for (const name of file.asks)
      if (!mentioned.has(`${name}.`)) {
        found.set(`${file.module}.${name}`, []);
        own.set(`${file.module}.${name}`, file);
      }
  }
  if (found.size === 0) return found;
  const words = new Set(summaries.flatMap(({ asks }) => asks ?? []));
  const files = new Map(summaries.map((file) => [file.module, file]));
  const nameOf = (target: string): string => graph.targets.get(target)?.summary.name ?? target;
  for (const file of summaries) {
    for (const name of file.escapes) found.delete(name);
    for (const name of file.values ?? [])
      if (words.has(last(name))) found.delete(names.resolve(name, graph.byName) ?? name);
    for (const [target, calls] of Object.entries(file.gives ?? {})) found.get(nameOf(target))?.push(...calls);
  }
  for (const name of found.keys()) {
    const isTold = ({ from }: { from: { summary: { name: string } } }): boolean => {
      const file = fileOf(from.summary.name, files);
      return file !== null && (file === own.get(name) || file.gives !== undefined);
    };
    if (graph.byName.get(name)?.callers.every(isTold) !== true) found.delete(name);
  }
  return found;
}

function fileOf(name: string, files: ReadonlyMap<string, FileSummary>): FileSummary | null {
  for (let cut = name.lastIndexOf("."); cut > 0; cut = name.lastIndexOf(".", cut - 1)) {
    const file = files.get(name.slice(0, cut));
    if (file) return file;
  }
  return null;
}
