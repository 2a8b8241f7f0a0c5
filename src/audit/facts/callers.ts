import type { Role } from "./classes.ts";
import { Some } from "./graph.ts";
import type { CallGraph, Fn } from "./graph.ts";
import type { Names } from "./names.ts";
import type { FunctionFacts } from "./project.ts";
import { siteOf, targetOf } from "./summary.ts";
import type { CallSite } from "./summary.ts";
import { isStepMethod } from "./training.ts";

/** A forward that only methods of its class are seen calling, as `generate` does: training calls it through an instance. */
function isCalledFromOutside({ summary, callers }: Fn): boolean {
  if (!summary.name.endsWith(".forward")) return false;
  const cls = summary.name.slice(0, -"forward".length);
  return callers.length > 0 && callers.every(({ from }) => from.summary.name.startsWith(cls));
}

/**
 * `compute_loss` of a Trainer: the framework calls it to train, and that a `prediction_step` of the same class calls it
 * without recording says nothing of that.
 */
function isRunByFramework({ summary: { name } }: Fn, roles: ReadonlyMap<string, Role>): boolean {
  const cut = name.lastIndexOf(".");
  const role = roles.get(name.slice(0, Math.max(cut, 0)));
  return role !== undefined && isStepMethod({ name: name.slice(cut + 1) }, role);
}

/** A call of a method whose receiver is unknown. */
interface Caller {
  readonly from: Fn;
  readonly called: Called;
  readonly grad: CallSite["grad"];
}

/** A function, or all methods of a name: sites whose receiver is unknown count for each of them, and are judged once. */
interface Called {
  readonly callers: Caller[];
  readonly functions: Fn[];
}

/** The functions that make instances of classes of other files, and go on to train. */
function makersInTraining(
  all: readonly Fn[],
  reachesBackward: Some,
  names: Names,
): ReadonlyMap<string, readonly Fn[]> {
  const found = new Map<string, Fn[]>();
  for (const fn of all) {
    if (!reachesBackward.has(fn)) continue;
    for (const call of fn.summary.calls) {
      const target = targetOf(call);
      if (typeof target !== "string" || !/(?:^|\.)[A-Z]\w*$/.test(target)) continue;
      const cls = names.base(target);
      const known = found.get(cls);
      if (known) known.push(fn);
      else found.set(cls, [fn]);
    }
  }
  return found;
}

/** Classes of which an instance is handed to a function of another file that goes on to train. */
function lentToTraining(all: readonly Fn[], reachesBackward: Some, names: Names): ReadonlySet<string> {
  const found = new Set<string>();
  for (const fn of all)
    if (reachesBackward.has(fn))
      for (const { site } of fn.callers)
        for (const name of site.lent?.split(",") ?? []) found.add(names.base(name));
  return found;
}

/** Whether the callers of a function have switched gradients off; asked of each function. */
export function callersGradOff(
  { all }: CallGraph,
  escapes: ReadonlySet<string>,
  reachesBackward: Some,
  names: Names,
  roles: ReadonlyMap<string, Role>,
): (fn: Fn) => FunctionFacts["callersGradOff"] {
  /** As calls name them: ".step". */
  const methods = new Map<string, Called>();
  /** By position. */
  const methodOf = new Array<Called | null>(all.length).fill(null);
  for (const fn of all) {
    if (!fn.summary.method) continue;
    const { name } = fn.summary;
    const target = name.slice(name.lastIndexOf("."));
    let called = methods.get(target);
    if (!called) methods.set(target, (called = { callers: [], functions: [] }));
    called.functions.push(fn);
    methodOf[fn.at] = called;
  }
  /** For each function, the methods it calls on receivers that are unknown. */
  const unresolved = new Array<Caller[] | null>(all.length).fill(null);
  for (const from of all)
    for (const call of from.summary.calls) {
      const target = targetOf(call);
      const called = typeof target === "string" && target.startsWith(".") ? methods.get(target) : undefined;
      if (!called) continue;
      const caller = { from, called, grad: siteOf(call).grad };
      called.callers.push(caller);
      (unresolved[from.at] ??= []).push(caller);
    }
  const isCalled = (fn: Fn): boolean => fn.callers.length > 0 || (methodOf[fn.at]?.callers.length ?? 0) > 0;
  const makers = makersInTraining(all, reachesBackward, names);
  const lent = lentToTraining(all, reachesBackward, names);
  /**
   * Networks are run by containers, wrappers and functions that they were handed to, which nobody sees: that somebody asks
   * one for its `forward` without recording, or runs this one so to try it out, says nothing of the training.
   */
  const isRunUnseen = ({ summary: { name }, callers }: Fn): boolean =>
    name.endsWith(".forward") &&
    (callers.length === 0 ||
      lent.has(name.slice(0, -".forward".length)) ||
      makers
        .get(name.slice(0, -".forward".length))
        ?.some((maker) => !callers.some(({ from }) => from === maker)) === true);

  // Greatest fixed point: a function is taken to be under no_grad until one caller is found that is not.
  const off = new Some(all.length);
  for (const fn of all)
    if (
      isCalled(fn) &&
      !escapes.has(fn.summary.name) &&
      !isCalledFromOutside(fn) &&
      !isRunUnseen(fn) &&
      !isRunByFramework(fn, roles)
    )
      off.add(fn);
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
  for (const fn of all)
    if (off.has(fn) && fn.callers.some(({ from, site }) => !isOff(from, site.grad))) remove(fn);
  for (let fn = removed.pop(); fn !== undefined; fn = removed.pop()) {
    if (fn.summary.grad !== undefined) continue;
    for (const { to, site } of fn.calls) if (site.grad === undefined) remove(to);
    for (const { called, grad } of unresolved[fn.at] ?? []) if (grad === undefined) judge(called);
  }

  // Functions that only call each other are under no_grad for nobody's reason: one caller must really have switched it.
  const grounded = new Some(all.length);
  const queue: Fn[] = [];
  const ground = (fn: Fn): void => {
    if (off.has(fn) && grounded.add(fn)) queue.push(fn);
  };
  const switches = (from: Fn, grad: CallSite["grad"]): boolean =>
    grad === "off" || (grad === undefined && from.summary.grad === "off");
  const groundedMethods = new Set<Called>();
  const groundAll = (called: Called): void => {
    if (groundedMethods.has(called)) return;
    groundedMethods.add(called);
    called.functions.forEach(ground);
  };
  for (const called of methods.values())
    if (called.callers.some(({ from, grad }) => switches(from, grad))) groundAll(called);
  for (const fn of all)
    if (off.has(fn) && fn.callers.some(({ from, site }) => switches(from, site.grad))) ground(fn);
  for (let fn = queue.pop(); fn !== undefined; fn = queue.pop()) {
    for (const { to, site } of fn.calls) if (site.grad === undefined) ground(to);
    for (const { called, grad } of unresolved[fn.at] ?? []) if (grad === undefined) groundAll(called);
  }

  // What such functions call may be called with recording on, whatever a second caller has switched off.
  const doubtful = new Some(all.length);
  queue.push(...all.filter((fn) => off.has(fn) && !grounded.has(fn)));
  for (let fn = queue.pop(); fn !== undefined; fn = queue.pop())
    if (fn.summary.grad === undefined)
      for (const { to, site } of fn.calls)
        if (site.grad === undefined && grounded.has(to) && doubtful.add(to)) queue.push(to);

  const mayBeOff = (from: Fn, grad: CallSite["grad"]): boolean => grad === "unknown" || isOff(from, grad);
  const some = new Set<Called>();
  for (const called of methods.values())
    if (called.callers.some(({ from, grad }) => mayBeOff(from, grad))) some.add(called);
  // What differentiates runs with recording on, whoever calls that: so does what it calls beside.
  const inTraining = ({ callers }: Fn): boolean =>
    callers.length > 0 &&
    callers.every(
      ({ from, site }) =>
        site.grad === undefined && from.summary.grad === undefined && reachesBackward.has(from),
    );
  return (fn) => {
    if (off.has(fn)) {
      if (doubtful.has(fn)) return "sometimes";
      if (grounded.has(fn)) return "always";
      return inTraining(fn) && !methodOf[fn.at]?.callers.length ? "never" : "unknown";
    }
    const method = methodOf[fn.at];
    if ((method && some.has(method)) || fn.callers.some(({ from, site }) => mayBeOff(from, site.grad)))
      return "sometimes";
    return escapes.has(fn.summary.name) || !isCalled(fn) ? "unknown" : "never";
  };
}
