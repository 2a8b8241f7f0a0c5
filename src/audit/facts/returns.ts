import { argument } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Arg, Attribute, Call, ClassDef, Expr, FunctionDef, Name, Param } from "../../python/tree.ts";
import { attributesOf, methodsOf, selfAttribute } from "./classes.ts";
import { lexicalGrad } from "./gradmode.ts";
import { callTarget } from "./summary.ts";
import { GRAPHLESS, METHODS, OF_DISTRIBUTIONS, PLAIN_ATTRIBUTES, isCapital, last } from "./torch-names.ts";

/** The calls in this file, not its own, of one of its functions or methods. */
export function callsOf(fn: FunctionDef, file: PythonFile): readonly Call[] {
  const name = file.qualified(fn);
  return file.callsNamed(fn.name).filter((site) => !contains(fn, site) && callTarget(site, file) === name);
}

/** The parameter of a function or method of this file that a call gives the argument for. */
export function paramGiven(call: Call, arg: Arg, file: PythonFile): Param | null {
  const fn = calledHere(call, file);
  if (!fn || arg.star !== 0) return null;
  if (arg.name !== null) return fn.params.find(({ name }) => name === arg.name) ?? null;
  const shift = call.func.kind === "Attribute" && fn.params[0]?.name === "self" ? 1 : 0;
  return fn.params[call.args.indexOf(arg) + shift] ?? null;
}

/** `help(x)`, `self.help(x)` */
function calledHere(call: Call, file: PythonFile): FunctionDef | null {
  if (call.func.kind === "Name") {
    const [one, ...more] = file.scopes.lookup(call.func)?.definitions ?? [];
    return one?.node.kind === "FunctionDef" && more.length === 0 ? one.node : null;
  }
  const own = selfAttribute(call.func);
  const cls = own === null ? null : classOf(call);
  return (cls && methodsOf(cls).find(({ name }) => name === own)) ?? null;
}

/** By the qualified names of generators, what they yield; without those that hand on another's. */
export function yieldsByName(file: PythonFile): ReadonlyMap<string, readonly Expr[]> {
  const found = new Map<string, Expr[]>();
  const unknown = new Set<string>();
  for (const one of file.all("Yield")) {
    const fn = functionOf(one);
    if (fn?.kind !== "FunctionDef") continue;
    const name = file.qualified(fn);
    const list = found.get(name);
    if (!one.value || one.from) unknown.add(name);
    else if (list) list.push(one.value);
    else found.set(name, [one.value]);
  }
  for (const name of unknown) found.delete(name);
  return found;
}

/** By the qualified names of functions, what they return; without those that yield, or return nothing somewhere. */
export function returnsByName(file: PythonFile): ReadonlyMap<string, readonly Expr[]> {
  const found = new Map<string, Expr[]>();
  const unknown = new Set(file.all("Yield").map((one) => functionOf(one)));
  for (const statement of file.all("Return")) {
    const fn = functionOf(statement);
    if (fn?.kind !== "FunctionDef") continue;
    if (!statement.value) unknown.add(fn);
    if (!statement.value || unknown.has(fn)) continue;
    const name = file.qualified(fn);
    const list = found.get(name);
    if (list) list.push(statement.value);
    else found.set(name, [statement.value]);
  }
  for (const fn of unknown) if (fn?.kind === "FunctionDef") found.delete(file.qualified(fn));
  return found;
}

/** `return out, loss, 0`, or `entropy.item()`: where in tuples of how many the forwards of this file hand back a number, "2 of 3", with a comma between them. */
export function numbersHandedBack(file: PythonFile): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [name, values] of file.once(returnsByName)) {
    if (!name.endsWith(".forward")) continue;
    const places = new Set<string>();
    for (const value of values)
      if (value.kind === "Tuple")
        for (const [at, item] of value.items.entries())
          if (isWrittenNumber(item, file)) places.add(`${at} of ${value.items.length}`);
    if (places.size > 0) found.set(name, [...places].join(","));
  }
  return found;
}

/** `0`, `-scores.sum().item()`, and a name that is only ever one of these. */
function isWrittenNumber(expr: Expr, file: PythonFile, depth = 0): boolean {
  const again = (inner: Expr): boolean => isWrittenNumber(inner, file, depth + 1);
  if (expr.kind === "Num") return true;
  if (depth > 3) return false;
  if (expr.kind === "Call") return expr.func.kind === "Attribute" && expr.func.attr === "item";
  if (expr.kind === "Unary") return expr.op !== "not" && again(expr.operand);
  if (expr.kind === "Binary") return again(expr.left) && again(expr.right);
  const made = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  return (
    made.length > 0 && made.every(({ how, value }) => how === "assign" && value !== null && again(value))
  );
}

/** Methods whose result is where the tensor is. */
const SAME = /^(?:clone|detach|contiguous|float|mean|sum|div|div_|mul|mul_)$/;

/** The parameter that an expression is a copy or a share of. */
export function sharedParam(expr: Expr, file: PythonFile, depth = 0): Definition | null {
  if (depth > 5) return null;
  const again = (inner: Expr): Definition | null => sharedParam(inner, file, depth + 1);
  if (expr.kind === "Call")
    return expr.func.kind === "Attribute" && SAME.test(expr.func.attr) ? again(expr.func.value) : null;
  if (expr.kind === "Binary") return /^[/*]$/.test(expr.op) ? again(expr.left) : null;
  if (expr.kind !== "Name") return null;
  const [one, ...more] = file.scopes.reaching(expr);
  if (!one || more.length > 0) return null;
  if (one.how === "param") return one;
  // `copy /= n`: what it was before.
  if (one.how === "augment") return one.node.kind === "Name" && one.node !== expr ? again(one.node) : null;
  return one.how === "assign" && one.value ? again(one.value) : null;
}

/** Functions that hand back one of their parameters: reduced over all processes, `dist.all_reduce(copy); return copy / n`, computed from by torch, or in another shape. */
export function reducers(file: PythonFile): ReadonlyMap<FunctionDef, string> {
  const found = new Map<FunctionDef, string>();
  for (const call of file.callsNamed("all_reduce", "reduce")) {
    const fn = functionOf(call);
    if (fn?.kind !== "FunctionDef" || fn.parent?.kind === "FunctionDef" || found.has(fn)) continue;
    if (!(file.dotted(call.func) ?? "").startsWith("torch.distributed.")) continue;
    const [first, ...others] = (file.once(returnsByName).get(file.qualified(fn)) ?? []).map((value) =>
      sharedParam(value, file),
    );
    if (first && others.every((one) => one?.name === first.name)) found.set(fn, first.name);
  }
  for (const [name, [value, ...more]] of file.once(returnsByName)) {
    const fn = more.length === 0 && value?.kind === "Call" ? file.functionNamed(name) : null;
    const param = fn?.parent?.kind === "Module" && !found.has(fn) ? shapedParam(value!, file) : null;
    if (param) found.set(fn!, `${SHAPED}${param.name}`);
  }
  const known: KnownComputed = new Map();
  for (const [name, values] of file.once(returnsByName)) {
    const fn = file.functionNamed(name);
    if (fn?.parent?.kind !== "Module" || found.has(fn)) continue;
    const made = alike(values, (value) => computedOf(value, file, known));
    if (made?.isTensor === true) found.set(fn, made.param);
    else if (made === null) {
      const parts = values.flatMap((value) => partsOf(value, file));
      const each = alike(parts, (part) => computedOf(part, file, known));
      if (each?.isTensor === true) found.set(fn, `${EACH}${each.param}`);
    }
  }
  return found;
}

/** What a function hands back one by one: `return top1, top5`, or `for k in topk: parts.append(hits[:k].sum())` and `return parts`. */
function partsOf(value: Expr, file: PythonFile): readonly Expr[] {
  if (value.kind === "Tuple" || value.kind === "List") return value.items;
  return value.kind === "Name" ? appendedTo(value, file) : [];
}

/** What a list that began empty is filled with. */
export function appendedTo(list: Name, { scopes }: PythonFile): readonly Expr[] {
  const [one, ...more] = scopes.reaching(list);
  if (more.length > 0 || one?.value?.kind !== "List" || one.value.items.length > 0) return [];
  return scopes.uses(one).flatMap(({ parent }) => {
    const call = parent?.kind === "Attribute" && parent.attr === "append" ? parent.parent : null;
    return call?.kind === "Call" && call.args[0] ? [call.args[0].value] : [];
  });
}

/** What is computed from a parameter: a tensor wherever that is, if torch has made it, and else whatever the parameter is. */
interface Computed {
  readonly param: string;
  readonly isTensor: boolean;
}

/** What was asked of expressions before; while one is asked, nothing is known of it. */
type KnownComputed = Map<Expr, Computed | null>;

/** Functions of torch that make one tensor of another. */
const COMPUTES =
  /^torch\.(?:nn\.functional\.\w+|(?:mean|sum|log|log2|log10|log1p|exp|sqrt|rsqrt|abs|square|pow|norm|clamp|sigmoid|softmax|log_softmax|tanh|relu|where|stack|cat|cosine_similarity|linalg\.\w*norm))$/;

/** `-10 * torch.log10(mse(x, y))` is computed from `x`; what is read on the host on the way is not. */
function computedOf(expr: Expr, file: PythonFile, known: KnownComputed): Computed | null {
  let made = known.get(expr);
  if (made === undefined) {
    known.set(expr, null);
    known.set(expr, (made = computed(expr, file, known)));
  }
  return made;
}

function computed(expr: Expr, file: PythonFile, known: KnownComputed): Computed | null {
  const again = (inner: Expr): Computed | null => computedOf(inner, file, known);
  switch (expr.kind) {
    case "Name":
      return alike(file.scopes.reaching(expr), ({ how, name, value }) => {
        if (how === "param") return { param: name, isTensor: false };
        // `_, guess = scores.topk(5)`
        const isOne = how === "assign" || (how === "unpack" && value?.kind === "Call" && isPair(value));
        return isOne && value ? again(value) : null;
      });
    case "Binary": {
      // `weight * F.mse_loss(x, y)`: the weight may be a number.
      const sides = [again(expr.left), again(expr.right)];
      return sides.find((one) => one?.isTensor === true) ?? sides[0] ?? sides[1] ?? null;
    }
    case "Unary":
      return expr.op === "-" ? again(expr.operand) : null;
    case "Subscript":
      return again(expr.value);
    case "Call": {
      const { func, args } = expr;
      const first = args[0]?.value;
      const name = file.dotted(func);
      if (name === null) {
        const made = func.kind === "Attribute" && METHODS.has(func.attr) ? again(func.value) : null;
        return made && TELLING.test((func as Attribute).attr) ? { ...made, isTensor: true } : made;
      }
      if (COMPUTES.test(name)) {
        const made = first ? again(first) : null;
        return made && { ...made, isTensor: true };
      }
      return name.startsWith(`${file.module}.`) ? computedBy(expr, name, file, known) : null;
    }
    default:
      return null;
  }
}

/** Methods that nothing but a tensor has. */
const TELLING =
  /^(?:topk|eq|ne|expand_as|view_as|float|double|long|detach|unsqueeze|permute|softmax|log_softmax|masked_fill)$/;

/** Values and where they were found. */
const isPair = ({ func }: Call): boolean =>
  func.kind === "Attribute" && /^(?:topk|max|min|sort|median|mode)$/.test(func.attr);

/** What a function of this file computes, in terms of what it is given. */
function computedBy(call: Call, name: string, file: PythonFile, known: KnownComputed): Computed | null {
  const made = alike(file.once(returnsByName).get(name) ?? [], (value) => computedOf(value, file, known));
  const at = made ? (file.functionNamed(name)?.params.findIndex((one) => one.name === made.param) ?? -1) : -1;
  const given = made && at >= 0 ? argument(call, made.param, at) : null;
  const from = given && computedOf(given, file, known);
  return from && { ...from, isTensor: from.isTensor || made!.isTensor };
}

/** The same of all, where all are computed from one parameter: of most functions the first is not. */
function alike<T>(all: readonly T[], ask: (one: T) => Computed | null): Computed | null {
  let param: string | null = null;
  let isTensor = true;
  for (const one of all) {
    const made = ask(one);
    if (!made || (param !== null && made.param !== param)) return null;
    ({ param } = made);
    isTensor &&= made.isTensor;
  }
  return param === null ? null : { param, isTensor };
}

/** Before the name of a parameter that is handed back in another shape, with the graph that it has. */
export const SHAPED = "=";
/** Before the name of a parameter that each of the things a function hands back is computed from. */
export const EACH = "*";

const SHAPES = /^(?:view|reshape|transpose|permute|flatten|squeeze|unsqueeze|contiguous|unflatten)$/;

/** `x` of `x.reshape(n, -1).transpose(0, 1)` */
function shapedParam(expr: Expr, file: PythonFile): Definition | null {
  let at = expr;
  while (at.kind === "Call" && at.func.kind === "Attribute" && SHAPES.test(at.func.attr)) at = at.func.value;
  const [one, ...more] = at.kind === "Name" ? file.scopes.reaching(at) : [];
  return one?.how === "param" && more.length === 0 ? one : null;
}

/**
 * Functions that run a network they are given, or methods that run their own, and hand back what it computed, with its
 * graph: by function, that parameter and where in the tuple the results are. `def forward_pass(net, x): out = net(x); return out, out * x` gives "net,0,1".
 */
export function runners(file: PythonFile): ReadonlyMap<FunctionDef, string> {
  const found = new Map<FunctionDef, string>();
  for (const fn of file.all("FunctionDef")) {
    if (fn.parent?.kind === "ClassDef" ? !mayRunItself(fn, fn.parent) : !runsParam(fn, file)) continue;
    const [value, ...more] = file.once(returnsByName).get(file.qualified(fn)) ?? [];
    if (!value || more.length > 0) continue;
    if (value.kind !== "Tuple") {
      const run = paramRun(value, fn, file);
      if (run !== null) found.set(fn, run);
      continue;
    }
    const runs = value.items.map((item) => paramRun(item, fn, file));
    const one = runs.find((run) => run !== null);
    if (one) found.set(fn, [one, ...runs.flatMap((run, at) => (run === one ? [at] : []))].join());
  }
  return found;
}

/** A method of a class that may be a network, with a name of its own: `forward` is known to run it. */
function mayRunItself(fn: FunctionDef, cls: ClassDef): boolean {
  return cls.args.length > 0 && fn.params[0]?.name === "self" && !/^(?:_|forward$)/.test(fn.name);
}

/** Whether a parameter is called: of most functions none is. */
function runsParam(fn: FunctionDef, file: PythonFile): boolean {
  if (fn.parent?.kind !== "Module") return false;
  return fn.params.some(({ name }) =>
    file.callsNamed(name).some((call) => call.func.kind === "Name" && functionOf(call) === fn),
  );
}

/** The parameter whose call, with gradients recorded as far as is seen here, an expression is computed from. */
function paramRun(expr: Expr, fn: FunctionDef, file: PythonFile, depth = 0): string | null {
  if (depth > 8) return null;
  const again = (inner: Expr): string | null => paramRun(inner, fn, file, depth + 1);
  switch (expr.kind) {
    case "Name": {
      const [one, ...more] = file.scopes.reaching(expr);
      return one?.value && more.length === 0 && (one.how === "assign" || isOfRun(one, file))
        ? again(one.value)
        : null;
    }
    case "Binary":
      return again(expr.left) ?? again(expr.right);
    case "Unary":
      return expr.op === "not" ? null : again(expr.operand);
    case "Subscript":
      return again(expr.value);
    case "Attribute":
      return PLAIN_ATTRIBUTES.has(expr.attr) || expr.attr === "data" ? null : again(expr.value);
    case "Call": {
      const run = paramRunBy(expr, fn, file, again);
      // Of most nothing is run: what is recorded there need not be asked.
      const grad = run === null ? null : lexicalGrad(expr, file);
      return grad === "off" || grad === "unknown" ? null : run;
    }
    default:
      return null;
  }
}

function paramRunBy(
  { func, args }: Call,
  fn: FunctionDef,
  file: PythonFile,
  again: (inner: Expr) => string | null,
): string | null {
  const name = file.dotted(func);
  if (name !== null)
    return name.startsWith("torch.") && !GRAPHLESS.has(last(name)) && !name.endsWith("_like") && args[0]
      ? again(args[0].value)
      : null;
  if (func.kind === "Attribute") {
    if (isOwnRun(func, fn, file)) return "self";
    return OF_DISTRIBUTIONS.has(func.attr) || (METHODS.has(func.attr) && !GRAPHLESS.has(func.attr))
      ? again(func.value)
      : null;
  }
  const made = func.kind === "Name" ? file.scopes.reaching(func) : [];
  return made.length === 1 && made[0]!.how === "param" && made[0]!.node.parent === fn ? made[0]!.name : null;
}

/** `self.layer(x)`, `self.forward(x)` */
function isOwnRun(func: Attribute, fn: FunctionDef, file: PythonFile): boolean {
  const own = fn.parent?.kind === "ClassDef" ? selfAttribute(func) : null;
  if (own === null) return false;
  const made = attributesOf(fn.parent as ClassDef, file).get(own)?.writes[0]?.value;
  return own === "forward" || (made?.kind === "Call" && isCapital(last(file.dotted(made.func) ?? "")));
}

/** `mean, spread = net(x)` */
function isOfRun({ how, value }: Definition, file: PythonFile): boolean {
  return how === "unpack" && value?.kind === "Call" && file.dotted(value.func) === null;
}
