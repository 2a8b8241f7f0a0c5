import { isNone, isOfStar, starModules } from "../../python/file.ts";
import { lastWord, walk } from "../../python/nodes.ts";
import type { Assign, Attribute, Call, ClassDef, Expr, FunctionDef, Name, Node } from "../../python/tree.ts";
import { selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import type { FunctionFacts, ProjectFacts } from "./project.ts";
import { returnedFor } from "./backwarded.ts";
import { last } from "./torch-names.ts";

/** Parameters of a method that it adds to, or lists in, an attribute of self: meters and buffers. */
export interface Keeps {
  readonly sum: readonly string[];
  readonly list: readonly string[];
  /** Written into rows of a tensor on self, which takes their graph over. */
  readonly rows: readonly string[];
  /** Sums and lists among its parameters that it adds a loss of its own to, as `grownParameters` writes them. */
  readonly grown?: readonly string[];
}

type Kept = Exclude<keyof Keeps, "grown">;

/** What meters and buffers call their doors: every method of a large tree would be too many to walk. */
const KEEPS =
  /^_?(?:update|add|push|append|put|store|save|record|log|accumulate|track|insert|observe|collect|remember|write|step|query|enqueue|feed|register|extend|set|__call__)(?:_\w+)?$/;

/** Whether a method reads a parameter on the host: `float(v)`, `v.item()`; or logs each of a dict's values, which nobody sees in there. */
export function readsParameter(fn: FunctionDef): boolean {
  const method = fn.parent?.kind === "ClassDef";
  if (fn.params.length < (method ? 2 : 1) || !KEEPS.test(fn.name)) return false;
  // `batch=1` is how many, not what.
  const params = new Set(
    fn.params.slice(method ? 1 : 0).flatMap((one) => (one.default?.kind === "Num" ? [] : [one.name])),
  );
  // `value.detach().mean().item()` too.
  const isParam = (expr: Expr | undefined): boolean =>
    expr?.kind === "Call" &&
    expr.func.kind === "Attribute" &&
    /^(?:detach|mean|sum|cpu)$/.test(expr.func.attr)
      ? isParam(expr.func.value)
      : expr?.kind === "Name" && params.has(expr.id);
  const entries = new Set<string>();
  let found = false;
  let logged = false;
  let counts = false;
  for (const statement of fn.body)
    walk(statement, (node) => {
      // `for name, value in values.items():`
      if (node.kind === "For" && isEntries(node.iter, params))
        for (const item of node.target.kind === "Tuple" ? node.target.items : [node.target])
          if (item.kind === "Name") {
            params.add(item.id);
            entries.add(item.id);
          }
      if (node.kind === "Comp")
        for (const { iter, target } of node.clauses)
          if (isEntries(iter, params))
            for (const item of target.kind === "Tuple" ? target.items : [target])
              if (item.kind === "Name") params.add(item.id);
      if (node.kind === "Call") {
        if (node.func.kind === "Name" && node.func.id === "float" && isParam(node.args[0]?.value))
          found = true;
        if (node.func.kind === "Attribute" && node.func.attr === "item" && isParam(node.func.value))
          found = true;
        const value = node.args[1]?.value;
        if (
          node.func.kind === "Attribute" &&
          node.func.attr === "add_scalar" &&
          value?.kind === "Name" &&
          entries.has(value.id)
        )
          logged = true;
      }
      // `if step % every == 0:`: how often it logs is its own affair.
      if (node.kind === "Binary" && node.op === "%" && node.left.kind !== "Str") counts = true;
      return !found;
    });
  return (found || logged) && !counts;
}

/** `values.items()` */
function isItems(iter: Expr): iter is Call & { func: Attribute & { value: Name } } {
  return (
    iter.kind === "Call" &&
    iter.func.kind === "Attribute" &&
    iter.func.attr === "items" &&
    iter.func.value.kind === "Name"
  );
}

function isEntries(iter: Expr, params: ReadonlySet<string>): boolean {
  return (
    iter.kind === "Call" &&
    iter.func.kind === "Attribute" &&
    /^(?:items|values)$/.test(iter.func.attr) &&
    iter.func.value.kind === "Name" &&
    params.has(iter.func.value.id)
  );
}

/** Reads only the shape of each statement: this runs over every function of the tree. */
export function keptParameters(fn: FunctionDef): Keeps | null {
  const isMethod = fn.parent?.kind === "ClassDef";
  if (fn.params.length < (isMethod ? 2 : 1) || !KEEPS.test(fn.name)) return null;
  const sum = new Set<string>();
  const list = new Set<string>();
  const rows = new Set<string>();
  const outer = new Set<string>();
  const through = new Map<string, string>();
  const isKept = (expr: Expr): boolean =>
    isMethod ? selfAttribute(root(expr)) !== null : isOuter(root(expr), fn, outer);
  for (const statement of fn.body)
    walk(statement, (node) => {
      if (node.kind === "FunctionDef" || node.kind === "Lambda") return false;
      // `for image in images:` goes through what was passed.
      if (node.kind === "For" && node.iter.kind === "Name" && node.target.kind === "Name")
        through.set(node.target.id, node.iter.id);
      // `for name, value in values.items():`
      if (node.kind === "For" && node.target.kind === "Tuple" && isItems(node.iter)) {
        const value = node.target.items[1];
        if (value?.kind === "Name") through.set(value.id, node.iter.func.value.id);
      }
      // `for name in values: self.sums[name] += values[name]`
      if (
        node.kind === "AugAssign" &&
        node.op === "+" &&
        isKept(node.target) &&
        node.value.kind === "Subscript" &&
        node.value.value.kind === "Name" &&
        node.value.index.kind === "Name" &&
        through.get(node.value.index.id) === node.value.value.id
      )
        sum.add(node.value.value.id);
      if (node.kind === "Global" || node.kind === "Nonlocal") for (const name of node.names) outer.add(name);
      if (node.kind === "AugAssign" && node.op === "+" && isKept(node.target))
        for (const name of plainNames(node.value)) sum.add(name);
      // `self.mean = 0.9 * self.mean + 0.1 * v`
      if (node.kind === "Assign" && node.targets.length === 1 && node.value.kind === "Binary") {
        const [target] = node.targets;
        const own = target ? selfAttribute(target) : null;
        if (own !== null && readsOwn(node.value, own))
          for (const name of plainNames(node.value)) sum.add(name);
      }
      const written = isMethod ? writtenRows(node) : null;
      if (written && isTensorOf(fn.parent as ClassDef, written.into))
        for (const name of plainNames(written.value)) rows.add(name);
      if (
        node.kind === "Call" &&
        node.func.kind === "Attribute" &&
        /^(?:append|appendleft|extend)$/.test(node.func.attr) &&
        node.args.length === 1 &&
        isKept(node.func.value)
      )
        for (const name of [...plainNames(node.args[0]!.value), ...recorded(node.args[0]!.value)])
          list.add(name);
      // `self.memory[self.place] = Step(*values)`, and `(state, action)` where the memory is a list.
      if (node.kind === "Assign" && node.targets[0]?.kind === "Subscript" && isKept(node.targets[0])) {
        for (const name of recorded(node.value)) list.add(name);
        const into = isMethod ? selfAttribute(node.targets[0].value) : null;
        if (into !== null && node.targets[0].index.kind !== "Str" && isListOf(fn.parent as ClassDef, into))
          for (const name of plainNames(node.value)) list.add(name);
      }
      return true;
    });
  for (const [item, whole] of through) {
    // `value = value.item()`
    if (isRebound(fn, item)) continue;
    if (list.has(item)) list.add(whole);
    if (sum.has(item)) sum.add(whole);
    if (rows.has(item)) rows.add(whole);
  }
  // A name bound anew in the body is no longer what was passed.
  const params = fn.params
    .slice(isMethod ? 1 : 0)
    .map(({ name }) => name)
    .filter((name) => (sum.has(name) || list.has(name) || rows.has(name)) && !isRebound(fn, name));
  const kept = {
    sum: params.filter((name) => sum.has(name)),
    list: params.filter((name) => list.has(name)),
    rows: params.filter((name) => rows.has(name)),
  };
  return kept.sum.length + kept.list.length + kept.rows.length > 0 ? kept : null;
}

/** Begun by `self.buffer = []` or `[None] * size`, and never as an array: what is put into a place of it is kept as it is. */
function isListOf(cls: ClassDef, attribute: string): boolean {
  let found = false;
  let other = false;
  for (const statement of cls.body)
    walk(statement, (node) => {
      const value = node.kind === "Assign" ? writtenTo(node, attribute) : null;
      const begun = value?.kind === "Binary" ? value.left : value;
      if (begun?.kind === "List") found = true;
      else if (begun && !(begun.kind === "Call" && lastWord(begun.func) === "load")) other = true;
      return true;
    });
  return found && !other;
}

/** `[]` of `self.rows = []` and of `self.size, self.rows = size, []`. */
function writtenTo({ targets, value }: Assign, attribute: string): Expr | null {
  for (const target of targets) {
    if (selfAttribute(target) === attribute) return value;
    if (target.kind !== "Tuple" || value.kind !== "Tuple") continue;
    const at = target.items.findIndex((item) => selfAttribute(item) === attribute);
    if (at >= 0) return value.items[at] ?? null;
  }
  return null;
}

/** `self.priority[places] = errors`, `self.bank.index_copy_(0, places, keys)`: into which attribute, and what. */
export function writtenRows(node: Node): { readonly into: string; readonly value: Expr } | null {
  if (node.kind === "Assign") {
    const [target] = node.targets;
    const into =
      target?.kind === "Subscript" && target.index.kind !== "Str" ? selfAttribute(target.value) : null;
    return into === null ? null : { into, value: node.value };
  }
  if (node.kind !== "Call" || node.func.kind !== "Attribute") return null;
  const { attr, value } = node.func;
  const into = /^(?:index_copy_|index_put_|scatter_|masked_scatter_)$/.test(attr)
    ? selfAttribute(value)
    : null;
  const given = node.args.at(-1)?.value;
  return into === null || !given ? null : { into, value: given };
}

/** Begun by `self.priority = torch.zeros(size)`, and not as an array, which takes nothing that has a graph. */
export function isTensorOf(cls: ClassDef, attribute: string): boolean {
  let found = false;
  let other = false;
  for (const statement of cls.body)
    walk(statement, (node) => {
      if (node.kind === "Assign" && node.targets.some((target) => selfAttribute(target) === attribute)) {
        if (isFactory(node.value)) found = true;
        else if (!isNone(node.value)) other = true;
      }
      return true;
    });
  return found && !other;
}

/** `torch.zeros(size)`, also sent on: `torch.ones(size).to(device)` */
export function isFactory(expr: Expr): boolean {
  if (expr.kind !== "Call" || expr.func.kind !== "Attribute") return false;
  const { attr, value } = expr.func;
  if (/^(?:to|cuda|float|half)$/.test(attr)) return isFactory(value);
  return /^(?:zeros|ones|empty|full|rand|randn)$/.test(attr) && value.kind === "Name" && value.id === "torch";
}

/** `stats["loss"]` → `stats`. */
function root(expr: Expr): Expr {
  return expr.kind === "Subscript" ? root(expr.value) : expr;
}

/** A variable of the code around the function: declared so, or filled without being bound here. */
function isOuter(expr: Expr, fn: FunctionDef, declared: ReadonlySet<string>): boolean {
  if (expr.kind !== "Name") return false;
  if (declared.has(expr.id)) return true;
  const filled = expr.parent?.kind === "Subscript" || expr.parent?.kind === "Attribute";
  return filled && !fn.params.some(({ name }) => name === expr.id) && !isRebound(fn, expr.id);
}

function readsOwn(expr: Expr, attribute: string): boolean {
  let found = false;
  walk(expr, (node) => {
    if (node.kind === "Attribute" && selfAttribute(node) === attribute) found = true;
    return !found;
  });
  return found;
}

function isRebound(fn: FunctionDef, name: string): boolean {
  let found = false;
  for (const statement of fn.body)
    walk(statement, (node) => {
      if (
        node.kind === "Assign" &&
        node.targets.some((target) => target.kind === "Name" && target.id === name)
      )
        found = true;
      return !found;
    });
  return found;
}

/** Methods of a tensor whose result has its graph. */
const GRAPHS =
  /^(?:mean|sum|abs|norm|sqrt|pow|exp|log|float|view|reshape|flatten|squeeze|unsqueeze|clone|max|min|std|var|softmax|sigmoid|clamp|clip|square)$/;

/** Names that come through with their graph: `v`, `v * n`, `(v, n)`. */
function plainNames(expr: Expr): string[] {
  if (expr.kind === "Name") return [expr.id];
  if (expr.kind === "Binary") return [...plainNames(expr.left), ...plainNames(expr.right)];
  if (expr.kind === "Tuple" || expr.kind === "List") return expr.items.flatMap(plainNames);
  if (expr.kind === "Call" && expr.func.kind === "Attribute" && GRAPHS.test(expr.func.attr))
    return plainNames(expr.func.value);
  return [];
}

/** `values` of `Step(*values)`: a record of all that was passed. */
function recorded(expr: Expr): readonly string[] {
  if (expr.kind !== "Call" || expr.func.kind !== "Name" || !/^[A-Z]/.test(expr.func.id)) return [];
  const [one, ...more] = expr.args;
  return one?.star === 1 && more.length === 0 && one.value.kind === "Name" ? [one.value.id] : [];
}

/** What is handed on every step to a method that keeps it, with its graph. */
export interface KeptArgument {
  readonly arg: Expr;
  readonly into: string;
  readonly amongOthers: boolean;
  /** A dict of which some entry has a graph. */
  readonly isDict: boolean;
}

/** Arguments with a graph, handed on every step to a method that keeps them; also as an entry of a dict. */
export function* keptArguments(facts: Facts, how: Kept): Generator<KeptArgument> {
  const brings = (value: Expr): boolean => facts.value(value).graph === "yes";
  for (const { call, arg, amongOthers } of handedToKeepers(facts, how)) {
    if (!facts.hot(call) || facts.gradMode(call) === "off") continue;
    const into = facts.file.textOf(call.func);
    if (brings(arg)) yield { arg, into, amongOthers, isDict: false };
    else if (arg.kind === "Dict")
      for (const value of arg.values) {
        if (brings(value)) yield { arg: value, into, amongOthers, isDict: false };
      }
    else if (how !== "rows" && entriesOf(arg, facts).some(brings))
      yield { arg, into, amongOthers, isDict: true };
  }
}

/** Those of `stats = {"loss": loss}`, here or in the function of this file that handed it back. */
function entriesOf(arg: Expr, facts: Facts): readonly Expr[] {
  const [made, ...more] = arg.kind === "Name" ? facts.file.scopes.reaching(arg) : [];
  if (!made || more.length > 0) return [];
  const { scopes } = facts.file;
  const whole =
    made.how === "assign" && made.value?.kind === "Dict" ? [made.value] : returnedFor(made, facts);
  return whole
    .map((one) => (one.kind === "Name" ? scopes.onlyValue(one) : one))
    .flatMap((one) => (one?.kind === "Dict" ? one.values : []));
}

/** Arguments that are handed to a method that keeps them, whatever they are: `meter.update(logits, labels)`. */
export function* handedToKeepers(
  facts: Facts,
  how: Kept,
): Generator<{ readonly call: Call; readonly arg: Expr; readonly amongOthers: boolean }> {
  for (const call of facts.callsTo("keeps")) {
    const callee =
      facts.callee(call) ??
      (call.func.kind === "Attribute"
        ? (ofStar(call.func, facts) ?? soleMethod(call.func.attr, facts))
        : null);
    if (!callee?.keeps || callee.keeps[how].length === 0) continue;
    const positions = callee.params.filter((param) => !param.startsWith("**"));
    const shift = positions[0] === "self" ? 1 : 0;
    // More than it names: `def push(self, *values)` takes all that come.
    const amongOthers = call.args.filter((arg) => arg.name === null).length + shift > positions.length;
    for (const [at, { value, name, star }] of call.args.entries()) {
      let param = name ?? callee.params[at + shift] ?? (amongOthers ? positions.at(-1) : undefined);
      // `def record(self, **values)` has no parameter of that name.
      if (name !== null && !callee.params.includes(name)) {
        const rest = callee.params.at(-1);
        if (rest?.startsWith("**")) param = rest.slice(2);
      }
      if (star !== 0 || param === undefined || !callee.keeps[how].includes(param)) continue;
      yield { call, arg: value, amongOthers };
    }
  }
}

/** The methods of the tree that keep what they are given, by class and name: "AverageMeter.update". */
function keepersByClass({ project }: Facts): ReadonlyMap<string, readonly string[]> {
  let found = byClass.get(project);
  if (!found) {
    const all = new Map<string, string[]>();
    for (const [full, { keeps }] of project.functions) {
      if (!keeps) continue;
      const short = full.split(".").slice(-2).join(".");
      const alike = all.get(short);
      if (alike) alike.push(full);
      else all.set(short, [full]);
    }
    byClass.set(project, (found = all));
  }
  return found;
}

const byClass = new WeakMap<ProjectFacts, ReadonlyMap<string, readonly string[]>>();

/** `meter.update` of `meter = AverageMeter()` after `from timm.utils import *`: of the one class of that name in there. */
function ofStar({ attr, value }: Attribute, facts: Facts): FunctionFacts | null {
  const { file, project } = facts;
  const modules = value.kind === "Name" ? file.once(starModules) : [];
  const made = modules.length > 0 ? file.scopes.onlyValue(value as Name) : null;
  if (made?.kind !== "Call" || made.func.kind !== "Name" || !isOfStar(made.func, file)) return null;
  const all = keepersByClass(facts).get(`${made.func.id}.${attr}`) ?? [];
  // The names of modules may count from some folder above the file.
  const [one, ...more] = all.filter((full) =>
    modules.some((module) => module !== "" && `.${full}`.includes(`.${module}.`)),
  );
  return one !== undefined && more.length === 0 ? (project.functions.get(one) ?? null) : null;
}

/** Doors that plain lists, dicts, files and loggers have too. */
const COMMON = /^(?:append|add|update|insert|put|write|step|log|save|collect|register|extend|feed|__call__)$/;
const soles = new WeakMap<ProjectFacts, ReadonlyMap<string, FunctionFacts | null>>();

/** The one function of the tree with this name: what a call on a parameter goes to, which nobody says the class of. */
function soleMethod(name: string, { project }: Facts): FunctionFacts | null {
  if (COMMON.test(name)) return null;
  let found = soles.get(project);
  if (!found) {
    const byName = new Map<string, FunctionFacts | null>();
    for (const [full, one] of project.functions) {
      const short = last(full);
      if (KEEPS.test(short)) byName.set(short, byName.has(short) ? null : one);
    }
    soles.set(project, (found = byName));
  }
  return found.get(name) ?? null;
}
