import { isTrue, keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Dict, Expr } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import { handedIn } from "./handed-in.ts";
import { returnsByName } from "./returns.ts";

/** What a call is given by name, also through `**settings` where these are a dict written out, or built up key by key. */
export function given(call: Call, name: string, file: PythonFile): Expr | null {
  const direct = keyword(call, name);
  if (direct) return direct.value;
  for (const { star, value } of call.args) {
    if (star !== 2) continue;
    const added = new Map<string, Expr>();
    const dict = literalDict(value, file) ?? builtUp(value, file, added);
    const found = added.get(name) ?? (dict && entry(dict, name));
    if (found) return found;
  }
  return null;
}

/** Whether `*args`, or `**settings` that cannot be read, may pass what is not seen. */
export function hidesArguments(call: Call, file: PythonFile): boolean {
  return call.args.some(
    ({ star, value }) =>
      star === 1 ||
      (star === 2 && literalDict(value, file) === null && builtUp(value, file, new Map()) === null),
  );
}

/** The value under a string key of a dict display or of `dict(key=value)`. */
export function entry(dict: Dict | Call, key: string): Expr | null {
  if (dict.kind === "Call") return keyword(dict, key)?.value ?? null;
  const at = dict.keys.findIndex((one) => one?.kind === "Str" && one.value === key);
  return at < 0 ? null : dict.values[at]!;
}

/** `use_cuda`, `not args.no_cuda`, `torch.accelerator.is_available()`; not `not use_cuda`. */
const ON_DEVICE =
  /^(?!not (?!.*(?:no|disable)_?(?:cuda|gpu|accel))).*(?:cuda|gpu|\baccelerator\.is_available\()/i;

/** A test that holds on a device, also under a name: `use_accel = torch.accelerator.is_available()`. */
function holdsOnDevice(test: Expr, file: PythonFile): boolean {
  const named = test.kind === "Name" ? file.scopes.onlyValue(test) : null;
  return [test, named].some((one) => one !== null && ON_DEVICE.test(file.textOf(one)));
}

/** A dict written out in place, the one a name was bound to, or the one that a function of this file returns or is handed. */
export function literalDict(expr: Expr, file: PythonFile, depth = 0): Dict | Call | null {
  if (depth > 4) return null;
  if (expr.kind === "Dict") return expr.keys.includes(null) ? null : expr;
  if (expr.kind === "Call") {
    const name = file.dotted(expr.func);
    if (name === "builtins.dict") return expr.args.every((arg) => arg.name !== null) ? expr : null;
    const [made, ...more] = (name === null ? undefined : file.once(returnsByName).get(name)) ?? [];
    return made && more.length === 0 ? literalDict(made, file, depth + 1) : null;
  }
  if (expr.kind === "Attribute") return ownDict(expr, file);
  // `{"pin_memory": True} if use_cuda else {}`: what it is on a device
  if (expr.kind === "IfExp" && holdsOnDevice(expr.test, file) && expr.orelse.kind === "Dict")
    return expr.orelse.keys.length === 0 ? literalDict(expr.body, file, depth + 1) : null;
  if (expr.kind !== "Name") return null;
  const [one, ...more] = file.scopes.reaching(expr);
  if (more.length > 0 || !one) return null;
  if (one.how === "param") {
    const [handed, ...others] =
      one.node.kind === "Param" && one.node.star === 0 ? handedIn(one, file, false) : [];
    if (!handed || others.length > 0 || file.scopes.uses(one).some(changes)) return null;
    return literalDict(handed, file, depth + 1);
  }
  if (one.how !== "assign" || !one.value || one.value.kind === "Name") return null;
  return file.scopes.uses(one).some(changes) ? null : literalDict(one.value, file, depth + 1);
}

/** `self.settings = {…}`, bound once in its class and changed nowhere in the file. */
function ownDict(expr: Expr & { kind: "Attribute" }, file: PythonFile): Dict | Call | null {
  const cls = selfAttribute(expr) === null ? null : classOf(expr);
  const [write, ...more] = (cls && attributesOf(cls, file).get(expr.attr)?.writes) ?? [];
  const made = more.length === 0 ? write?.value : null;
  if (made?.kind !== "Dict" && made?.kind !== "Call") return null;
  return file.all("Attribute").some((one) => one.attr === expr.attr && changes(one))
    ? null
    : literalDict(made, file, 1);
}

/** `settings["x"] = …`, `settings.update(…)` */
function changes(use: Expr): boolean {
  const at = use.parent;
  if (at?.kind === "Attribute") return /^(?:update|setdefault|pop|clear|popitem)$/.test(at.attr);
  return (
    at?.kind === "Subscript" &&
    at.value === use &&
    (at.parent?.kind === "Delete" || (at.parent?.kind === "Assign" && at.parent.targets.includes(at)))
  );
}

/** What a call is given by keyword, its own and those of a dict written down in this file; null where more may come. */
export function settingsOf(call: Call, file: PythonFile): ReadonlyMap<string, Expr> | null {
  const found = new Map<string, Expr>();
  for (const { name, star, value } of call.args) {
    if (star === 0) {
      if (name !== null) found.set(name, value);
      continue;
    }
    const added = new Map<string, Expr>();
    const one = literalDict(value, file) ?? builtUp(value, file, added);
    const dicts = one ? [one] : eitherDict(value, file, added);
    if (!dicts) return null;
    for (const dict of dicts) for (const [key, given] of entriesOf(dict)) found.set(key, given);
    for (const [key, given] of added) found.set(key, given);
  }
  return found;
}

/** `kwargs = {"device_map": "auto"} if whole else {}`, and `kwargs = {}` that is another one under a test: both. Puts in what is added to either. */
function eitherDict(expr: Expr, file: PythonFile, into: Map<string, Expr>): readonly (Dict | Call)[] | null {
  const reaching = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  const added = addedTo(reaching, file);
  if (!added) return null;
  for (const [key, value] of added) into.set(key, value);
  if (reaching.length > 1) {
    const dicts = reaching.map(({ how, value }) =>
      how === "assign" && value ? literalDict(value, file) : null,
    );
    return dicts.every((one) => one !== null) ? dicts : null;
  }
  const made = expr.kind === "Name" ? file.scopes.onlyValue(expr) : expr;
  if (made?.kind !== "IfExp") return null;
  const [then, otherwise] = [literalDict(made.body, file), literalDict(made.orelse, file)];
  return then && otherwise && [then, otherwise];
}

/** `kwargs = {…}`, then `kwargs["load_in_4bit"] = True` with a key written down: puts these in, and gives the dict begun with. */
function builtUp(expr: Expr, file: PythonFile, into: Map<string, Expr>): Dict | Call | null {
  const begun = expr.kind === "Name" ? file.scopes.onlyValue(expr) : null;
  const [one] = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  if (!begun || !one) return null;
  const added = addedTo([one], file);
  const dict = added && literalDict(begun, file);
  if (dict) for (const [key, value] of added) into.set(key, value);
  return dict;
}

/** What is put into dicts after they were bound, key by key or by `update`; null where that cannot be read. */
function addedTo(definitions: readonly Definition[], file: PythonFile): ReadonlyMap<string, Expr> | null {
  const added = new Map<string, Expr>();
  for (const use of new Set(definitions.flatMap((one) => file.scopes.uses(one)))) {
    const at = use.parent;
    if (at?.kind === "Attribute") {
      const update = at.attr === "update" && at.parent?.kind === "Call" ? at.parent : null;
      const more = update && updatedBy(update, file);
      if (!more) return null;
      for (const [key, value] of more) added.set(key, value);
      continue;
    }
    if (at?.kind !== "Subscript" || at.value !== use) continue;
    if (at.parent?.kind === "Delete") return null;
    if (at.parent?.kind !== "Assign" || !at.parent.targets.includes(at)) continue;
    const keys = keysOf(at.index, file);
    if (!keys) return null;
    // Put in or not, as a run is told to: what is asked for in one of them counts.
    for (const key of keys) if (!isTrue(added.get(key) ?? null)) added.set(key, at.parent.value);
  }
  return added;
}

/** What `kwargs.update(cuda_kwargs)` or `kwargs.update(pin_memory=True)` puts in; null where that cannot be read. */
export function updatedBy(update: Call, file: PythonFile): ReadonlyMap<string, Expr> | null {
  const { args } = update;
  if (args.length > 0 && args.every(({ name }) => name !== null)) return entriesOf(update);
  const dict = args.length === 1 && args[0]!.star === 0 ? literalDict(args[0]!.value, file) : null;
  return dict && entriesOf(dict);
}

/** A key written down, or `key = "eval_strategy" if new else "evaluation_strategy"`: either of them. */
function keysOf(index: Expr, file: PythonFile): readonly string[] | null {
  const said = index.kind === "Name" ? file.scopes.onlyValue(index) : index;
  const keys = said?.kind === "IfExp" ? [said.body, said.orelse] : [said];
  const found = keys.flatMap((key) => (key?.kind === "Str" && key.value !== null ? [key.value] : []));
  return found.length === keys.length ? found : null;
}

export function entriesOf(dict: Dict | Call): ReadonlyMap<string, Expr> {
  const found = new Map<string, Expr>();
  if (dict.kind === "Call") for (const arg of dict.args) found.set(arg.name ?? "", arg.value);
  else
    for (const [at, key] of dict.keys.entries())
      if (key?.kind === "Str" && key.value !== null) found.set(key.value, dict.values[at]!);
  return found;
}
