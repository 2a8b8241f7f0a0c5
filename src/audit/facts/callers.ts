import type { Fn, FunctionFacts } from "./project.ts";
import { siteOf, targetOf } from "./summary.ts";
import type { CallSite } from "./summary.ts";
import { last } from "./torch-names.ts";

/** A forward that only methods of its class are seen calling, as `generate` does: training calls it through an instance. */
function isCalledFromOutside({ summary, callers }: Fn): boolean {
  if (!summary.name.endsWith(".forward")) return false;
  const cls = summary.name.slice(0, -"forward".length);
  return callers.length > 0 && callers.every(({ from }) => from.summary.name.startsWith(cls));
}

interface Caller {
  readonly from: Fn;
  readonly grad: CallSite["grad"];
}

/** A function, or all methods of a name: sites whose receiver is unknown count for each of them, and are judged once. */
interface Called {
  readonly callers: Caller[];
  readonly functions: Fn[];
}

/** Whether the callers of a function have switched gradients off; asked of each function. */
export function callersGradOff(
  functions: ReadonlyMap<string, Fn>,
  escapes: ReadonlySet<string>,
  isMethod: (name: string) => boolean,
): (fn: Fn) => FunctionFacts["callersGradOff"] {
  const methods = new Map<string, Called>();
  const methodOf = new Map<Fn, Called>();
  for (const [name, fn] of functions) {
    if (!isMethod(name)) continue;
    const short = last(name);
    let called = methods.get(short);
    if (!called) methods.set(short, (called = { callers: [], functions: [] }));
    called.functions.push(fn);
    methodOf.set(fn, called);
  }
  /** For each function, the methods it calls on receivers that are unknown. */
  const unresolved = new Map<Fn, { readonly called: Called; readonly grad: CallSite["grad"] }[]>();
  for (const from of functions.values())
    for (const call of from.summary.calls) {
      const target = targetOf(call);
      const { grad } = siteOf(call);
      const called = target.startsWith(".") ? methods.get(target.slice(1)) : undefined;
      if (!called) continue;
      called.callers.push({ from, grad });
      const list = unresolved.get(from);
      if (list) list.push({ called, grad });
      else unresolved.set(from, [{ called, grad }]);
    }
  const isCalled = (fn: Fn): boolean => fn.callers.length > 0 || (methodOf.get(fn)?.callers.length ?? 0) > 0;

  // Greatest fixed point: a function is taken to be under no_grad until one caller is found that is not.
  const off = new Set<Fn>();
  for (const [name, fn] of functions)
    if (!escapes.has(name) && isCalled(fn) && !isCalledFromOutside(fn)) off.add(fn);
  const isOff = (from: Fn, grad: CallSite["grad"]): boolean =>
    grad === "off" ||
    (grad === undefined &&
      (from.summary.grad === "off" || (from.summary.grad === undefined && off.has(from))));
  const removed: Fn[] = [];
  const remove = (fn: Fn): void => {
    if (off.delete(fn)) removed.push(fn);
  };
  const judged = new Set<Called>();
  const judge = (called: Called): void => {
    if (judged.has(called)) return;
    judged.add(called);
    called.functions.forEach(remove);
  };
  for (const called of methods.values())
    if (called.callers.some(({ from, grad }) => !isOff(from, grad))) judge(called);
  for (const fn of functions.values())
    if (off.has(fn) && fn.callers.some(({ from, site }) => !isOff(from, site.grad))) remove(fn);
  for (let fn = removed.pop(); fn !== undefined; fn = removed.pop()) {
    if (fn.summary.grad !== undefined) continue;
    for (const { to, site } of fn.calls) if (site.grad === undefined) remove(to);
    for (const { called, grad } of unresolved.get(fn) ?? []) if (grad === undefined) judge(called);
  }

  // Functions that only call each other are under no_grad for nobody's reason: one caller must really have switched it.
  const grounded = new Set<Fn>();
  const queue: Fn[] = [];
  const ground = (fn: Fn): void => {
    if (!off.has(fn) || grounded.has(fn)) return;
    grounded.add(fn);
    queue.push(fn);
  };
  const switches = (from: Fn, grad: CallSite["grad"]): boolean =>
    grad === "off" || (grad === undefined && from.summary.grad === "off");
  for (const called of methods.values())
    if (called.callers.some(({ from, grad }) => switches(from, grad))) called.functions.forEach(ground);
  for (const fn of off) if (fn.callers.some(({ from, site }) => switches(from, site.grad))) ground(fn);
  for (let fn = queue.pop(); fn !== undefined; fn = queue.pop()) {
    for (const { to, site } of fn.calls) if (site.grad === undefined) ground(to);
    for (const { called, grad } of unresolved.get(fn) ?? [])
      if (grad === undefined) called.functions.forEach(ground);
  }

  const mayBeOff = (from: Fn, grad: CallSite["grad"]): boolean => grad === "unknown" || isOff(from, grad);
  const some = new Set<Called>();
  for (const called of methods.values())
    if (called.callers.some(({ from, grad }) => mayBeOff(from, grad))) some.add(called);
  return (fn) => {
    if (off.has(fn)) return grounded.has(fn) ? "always" : "unknown";
    const method = methodOf.get(fn);
    if ((method && some.has(method)) || fn.callers.some(({ from, site }) => mayBeOff(from, site.grad)))
      return "sometimes";
    return escapes.has(fn.summary.name) || !isCalled(fn) ? "unknown" : "never";
  };
}
