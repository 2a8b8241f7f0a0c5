import type { PythonFile } from "../../python/file.ts";
import { functionOf } from "../../python/nodes.ts";
import type { Call, ClassDef, Expr, FunctionDef, Node } from "../../python/tree.ts";
import { attributesOf, methodsOf, selfAttribute } from "./classes.ts";
import { decoratedGrad, lexicalGrad } from "./gradmode.ts";
import { frequency } from "./guards.ts";
import { keptParameters, readsParameter } from "./keepers.ts";
import type { Keeps } from "./keepers.ts";
import { passedBy } from "./parameters.ts";
import type { Passed } from "./parameters.ts";
import { backwardCalls, isTrial, loopsAround, optimizerSteps } from "./training.ts";
import type { Loop } from "./training.ts";

/** What the rest of the project needs to know about a file. Plain data: it crosses threads. */
export interface FileSummary {
  readonly path: string;
  readonly module: string;
  readonly functions: readonly FunctionSummary[];
  readonly classes: readonly ClassSummary[];
  /** The file moves something to an accelerator, or hands its training to a library that does. */
  readonly accelerator: boolean;
  /** Dotted names that it imports. */
  readonly imports: readonly string[];
  /** Functions used as values: called by who knows whom. */
  readonly escapes: readonly string[];
}

export interface FunctionSummary {
  /** Qualified; a file's own statements are "<module>.<body>". */
  readonly name: string;
  readonly grad: "on" | "off" | null;
  readonly calls: readonly CallSite[];
  /** A backward or optimizer step outside of any loop here. */
  readonly loose: boolean;
  /** Loops, by number, that are the innermost ones around a backward or an optimizer step. */
  readonly stepLoops: readonly number[];
  readonly backward: boolean;
  readonly params: readonly string[];
  readonly keeps: Keeps | null;
  /** Turns one of its parameters into a Python number. */
  readonly reads: boolean;
}

export interface CallSite {
  /** A qualified name, or ".method" where the receiver is unknown. */
  readonly target: string;
  /** Loops around it, innermost first. */
  readonly loops: readonly number[];
  readonly grad: "on" | "off" | "unknown" | null;
  /** A test stands between it and what runs every turn, and not one that holds for a whole run. */
  readonly throttled: boolean;
  /** Tensors among the arguments. */
  readonly passed?: Passed;
}

export interface ClassSummary {
  readonly name: string;
  readonly bases: readonly string[];
  readonly methods: readonly string[];
}

const NO_LOOPS: readonly Loop[] = [];
const BODY = "<body>";

export function functionName(node: Node, file: PythonFile): string {
  let fn = functionOf(node);
  while (fn?.kind === "Lambda") fn = functionOf(fn);
  return fn ? file.qualified(fn) : `${file.module}.${BODY}`;
}

/** The qualified name a call goes to, as far as this file can tell. */
export function callTarget(call: Call, file: PythonFile): string | null {
  if (call.target === undefined) call.target = findTarget(call, file);
  return call.target;
}

function findTarget(call: Call, file: PythonFile): string | null {
  const { func } = call;
  const dotted = file.dotted(func);
  if (dotted !== null) return dotted.startsWith("builtins.") ? null : dotted;
  if (func.kind === "Attribute") {
    const cls = enclosingClass(call);
    const own = selfAttribute(func);
    if (own !== null && cls) {
      const made = attributesOf(cls, file).get(own)?.writes[0]?.value;
      if (made?.kind === "Call") {
        const type = file.dotted(made.func);
        if (type !== null && !methodsOf(cls).some((method) => method.name === own)) return `${type}.forward`;
      }
      return `${file.qualified(cls)}.${own}`;
    }
    const type = instanceType(func.value, file);
    return type !== null ? `${type}.${func.attr}` : `.${func.attr}`;
  }
  if (func.kind === "Name") {
    const type = instanceType(func, file);
    if (type !== null) return `${type}.forward`;
  }
  return null;
}

/** Under `if x is None`: runs when nobody passed x, or once. */
function fillsIn(node: Node, stop: Node): boolean {
  for (let child = node, at = node.parent; at && at !== stop; child = at, at = at.parent)
    if (
      at.kind === "If" &&
      at.body.includes(child as never) &&
      at.test.kind === "Compare" &&
      at.test.ops[0] === "is" &&
      at.test.rights[0]?.kind === "Const"
    )
      return true;
  return false;
}

/** The class an expression is an instance of, when every reaching definition is the same constructor call. */
function instanceType(expr: Expr, file: PythonFile): string | null {
  if (expr.kind === "Call") return className(file.dotted(expr.func));
  if (expr.kind === "Name") {
    const types = new Set(
      file.scopes
        .reaching(expr)
        .map((definition) =>
          definition.how === "assign" && definition.value?.kind === "Call"
            ? className(file.dotted(definition.value.func))
            : null,
        ),
    );
    return types.size === 1 ? [...types][0]! : null;
  }
  const attribute = selfAttribute(expr);
  const cls = attribute === null ? null : enclosingClass(expr);
  const value = cls && attributesOf(cls, file).get(attribute!)?.writes[0]?.value;
  return value?.kind === "Call" ? className(file.dotted(value.func)) : null;
}

/** Classes are told from functions by their capital, as nearly all Python code writes them. */
function className(dotted: string | null): string | null {
  return dotted !== null && /(?:^|\.)_*[A-Z]\w*$/.test(dotted) && !dotted.startsWith("builtins.")
    ? dotted
    : null;
}

function enclosingClass(node: Node): ClassDef | null {
  for (let at: FunctionDef | Node | null = node; at; at = at.parent) if (at.kind === "ClassDef") return at;
  return null;
}

function isSame(a: CallSite, b: CallSite): boolean {
  return (
    a.grad === b.grad &&
    a.throttled === b.throttled &&
    a.loops.length === b.loops.length &&
    a.loops.every((loop, at) => loop === b.loops[at]) &&
    (a.passed === b.passed || JSON.stringify(a.passed) === JSON.stringify(b.passed))
  );
}

const ACCELERATORS =
  /\.cuda\(|\.to\(|["']cuda|device_map|accelerat|Trainer\(|deepspeed|fabric|lightning|local_rank/i;

export function summarize(file: PythonFile): FileSummary {
  const byFunction = new Map<
    string,
    {
      calls: CallSite[];
      /** The same, by target. */
      seen: Map<string, CallSite[]>;
      loops: Loop[];
      stepLoops: Set<number>;
      loose: boolean;
      backward: boolean;
      grad: "on" | "off" | null;
      params: readonly string[];
      keeps: Keeps | null;
      reads: boolean;
    }
  >();
  const entry = (name: string) => {
    let found = byFunction.get(name);
    if (!found) {
      found = {
        calls: [],
        seen: new Map(),
        loops: [],
        stepLoops: new Set(),
        loose: false,
        backward: false,
        grad: null,
        params: [],
        keeps: null,
        reads: false,
      };
      byFunction.set(name, found);
    }
    return found;
  };
  const byNode = new Map<Node | null, ReturnType<typeof entry>>();
  const around = (node: Node): ReturnType<typeof entry> => {
    const fn = functionOf(node);
    let found = byNode.get(fn);
    if (!found) byNode.set(fn, (found = entry(functionName(node, file))));
    return found;
  };
  const number = (loops: Loop[], loop: Loop): number => {
    const at = loops.indexOf(loop);
    return at >= 0 ? at : loops.push(loop) - 1;
  };
  for (const fn of file.all("FunctionDef")) {
    const one = entry(file.qualified(fn));
    one.grad = decoratedGrad(fn, file);
    one.params = fn.params.map((param) => param.name);
    one.keeps = keptParameters(fn);
    one.reads = readsParameter(fn);
  }
  const passed = passedBy(file);
  const calls = file.all("Call");
  const isCalled = (expr: Expr): boolean => expr.parent?.kind === "Call" && expr.parent.func === expr;
  for (const call of calls) {
    const target = callTarget(call, file);
    if (target === null || target.startsWith("torch.") || target.startsWith("numpy.")) continue;
    const fn = around(call);
    const unresolved = target.startsWith(".");
    const loops = unresolved ? NO_LOOPS : loopsAround(call);
    const body = functionOf(call) ?? file.tree.module;
    const stop = loops[0] ?? body;
    const tensors = unresolved ? null : passed(call);
    // Of a method of we know not what, only the gradient mode is ever asked; sites that say the same are one.
    const site: CallSite = {
      target,
      loops: loops.map((loop) => number(fn.loops, loop)),
      grad: lexicalGrad(call, file),
      throttled:
        !unresolved &&
        (frequency(call, stop) !== "every" ||
          fillsIn(call, stop) ||
          (stop !== body && frequency(call, body) === "throttled")),
      ...(tensors ? { passed: tensors } : {}),
    };
    const seen = fn.seen.get(target);
    if (seen?.some((other) => isSame(other, site))) continue;
    if (seen) seen.push(site);
    else fn.seen.set(target, [site]);
    fn.calls.push(site);
  }
  const makers = new Set<string>();
  for (const call of file.calls.matching(/optim|^(?:Adam\w*|SGD|RMSprop|Adagrad|LBFGS)$/i))
    if (
      call.parent?.kind === "Assign" &&
      call.parent.targets.some((target) => target.kind !== "Attribute") &&
      !/(?:^|\.)(?:step|zero_grad|prepare\w*|optimizers?)$/.test(file.textOf(call.func).slice(-40))
    )
      makers.add(functionName(call, file));
  const mark = (call: Call, backward: boolean): void => {
    const fn = entry(functionName(call, file));
    if (backward) fn.backward = true;
    const inner = loopsAround(call)[0];
    // What makes its own optimizer is a training of its own, however often it is called.
    if (!inner) fn.loose ||= !makers.has(functionName(call, file));
    else if (!isTrial(inner, file)) fn.stepLoops.add(number(fn.loops, inner));
  };
  for (const { call } of backwardCalls(file)) mark(call, true);
  for (const call of optimizerSteps(file)) mark(call, false);

  const escapes: string[] = [];
  const defined = new Set(file.all("FunctionDef").map((fn) => fn.name));
  for (const name of file.all("Name"))
    if (!isCalled(name) && defined.has(name.id) && !file.scopes.binds(name)) {
      const dotted = file.dotted(name);
      if (dotted !== null) escapes.push(dotted);
    }
  for (const attribute of file.all("Attribute"))
    if (!isCalled(attribute) && defined.has(attribute.attr) && selfAttribute(attribute) !== null) {
      const cls = enclosingClass(attribute);
      if (cls) escapes.push(`${file.qualified(cls)}.${attribute.attr}`);
    }
  return {
    path: file.path,
    module: file.module,
    functions: [...byFunction].map(([name, fn]) => ({
      name,
      grad: fn.grad,
      calls: fn.calls,
      loose: fn.loose,
      stepLoops: [...fn.stepLoops],
      backward: fn.backward,
      params: fn.params,
      keeps: fn.keeps,
      reads: fn.reads,
    })),
    classes: file.all("ClassDef").map((cls) => ({
      name: file.qualified(cls),
      bases: cls.args
        .filter((arg) => arg.name === null)
        .map((arg) => file.dotted(arg.value) ?? "")
        .filter((base) => base !== ""),
      methods: methodsOf(cls).map((method) => method.name),
    })),
    accelerator: file.callsNamed("to").length > 0 || ACCELERATORS.test(file.text),
    imports: file
      .all("Alias")
      .map((alias) => (alias.parent?.kind === "Import" ? alias.name : file.importedName(alias))),
    escapes,
  };
}
