import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, walk } from "../../python/nodes.ts";
import type { ClassDef, Expr, FunctionDef, Node } from "../../python/tree.ts";
import { attributesOf, methodsOf, selfAttribute } from "./classes.ts";

const CLOCKS =
  /^(?:time\.(?:time|perf_counter|monotonic|process_time)(?:_ns)?|timeit\.default_timer|datetime\.datetime\.(?:now|utcnow))$/;
const CLOCK_WORDS =
  "time time_ns perf_counter perf_counter_ns monotonic monotonic_ns process_time process_time_ns default_timer now utcnow".split(
    " ",
  );

/** Anything that makes the host wait makes the clock right; so does `tensor2float(loss)`, wherever that stands. */
export const WAITS =
  /synchronize|(?:2|to_?)(?:float|numpy|np|cpu|list|item|scalar)\(|\b(?!no_)\w*sync\w*\(|\.item\(|\.cpu\(|\.tolist\(|\.numpy\(|elapsed_time|(?<![.\w])float\(|(?<![.\w])int\(.*\.(?:sum|max|min|argmax|mean)\(|print\(.*loss|\.to\(["']cpu/;

/** By qualified name, what can be put around work to time it. */
export interface Timers {
  /** Entered by `with`. */
  readonly blocks: ReadonlySet<string>;
  readonly decorators: ReadonlySet<string>;
  /** Two methods of one class, called before and after the work: `Timer.tic>Timer.toc`. */
  readonly pairs: ReadonlySet<string>;
}

const NONE: Timers = { blocks: new Set(), decorators: new Set(), pairs: new Set() };

export function hasClock(file: PythonFile): boolean {
  return file.callsNamed(...CLOCK_WORDS).length > 0 || file.mentions(".perf_counter");
}

/** Also of a clock that the class keeps under a name of its own: `self.clock = time.perf_counter`. */
export function readsClock(expr: Expr, file: PythonFile): boolean {
  if (expr.kind !== "Call") return false;
  if (CLOCKS.test(file.dotted(expr.func) ?? "")) return true;
  const own = selfAttribute(expr.func);
  const cls = own === null ? null : classOf(expr);
  const writes = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  return (
    writes.length === 1 &&
    writes[0]!.value?.kind === "Attribute" &&
    CLOCKS.test(file.dotted(writes[0]!.value) ?? "")
  );
}

/** Timers of this file that do not wait for the device. */
export function timersOf(file: PythonFile): Timers {
  if (!hasClock(file)) return NONE;
  const blocks = new Set<string>();
  const decorators = new Set<string>();
  const pairs = new Set<string>();
  for (const fn of file.all("FunctionDef")) {
    const outer = functionOf(fn);
    const entered = fn.decorators.some((one) => file.dotted(one) === "contextlib.contextmanager");
    if (!entered && outer === null) continue;
    const text = file.codeOf(fn);
    if (WAITS.test(text) || clocksIn(fn, file) < 2) continue;
    if (entered) blocks.add(file.qualified(fn));
    const timed = outer?.kind === "FunctionDef" ? outer.params[0]?.name : undefined;
    if (timed !== undefined && new RegExp(`\\b${timed}\\(\\*`).test(text))
      decorators.add(file.qualified(outer as FunctionDef));
  }
  for (const cls of file.all("ClassDef")) {
    const doors = methodsOf(cls).filter(({ name }) => name === "__enter__" || name === "__exit__");
    if (doors.length === 2 && doors.every((fn) => clocksIn(fn, file) > 0 && !WAITS.test(file.codeOf(fn))))
      blocks.add(file.qualified(cls));
    for (const pair of pairsOf(cls, file)) pairs.add(pair);
  }
  // `def measure(self, what): return Timer(self.times[what])`
  for (const { value } of blocks.size > 0 ? file.all("Return") : []) {
    const fn = value?.kind === "Call" && blocks.has(file.dotted(value.func) ?? "") ? functionOf(value) : null;
    if (fn?.kind === "FunctionDef") blocks.add(file.qualified(fn));
  }
  return { blocks, decorators, pairs };
}

/** `self.begun = time.time()` in one method, and `time.time() - self.begun` in another one. */
function pairsOf(cls: ClassDef, file: PythonFile): readonly string[] {
  const methods = methodsOf(cls).filter(
    (fn) => !fn.name.startsWith("__") && clocksIn(fn, file) === 1 && !WAITS.test(file.codeOf(fn)),
  );
  if (methods.length < 2) return [];
  const stops = file.all("Binary").flatMap((one) => {
    const fn = one.op === "-" && givesReading(one.left, file) ? functionOf(one) : null;
    const begun = keptReading(one.right);
    return begun !== null && methods.includes(fn as FunctionDef) ? [{ fn: fn as FunctionDef, begun }] : [];
  });
  return stops.flatMap(({ fn, begun }) =>
    methods.flatMap((start) =>
      start !== fn && keepsReading(start, begun, file)
        ? [fn, ...callersOf(fn, cls, file)].map((stop) => `${file.qualified(start)}>${file.qualified(stop)}`)
        : [],
    ),
  );
}

/** `def hold(self): self.total += self.toc()`: methods that stop the clock by another one, and wait for nothing either. */
function callersOf(stop: FunctionDef, cls: ClassDef, file: PythonFile): readonly FunctionDef[] {
  return methodsOf(cls).filter(
    (fn) =>
      fn !== stop &&
      !fn.name.startsWith("__") &&
      !WAITS.test(file.codeOf(fn)) &&
      file
        .callsNamed(stop.name)
        .some((call) => functionOf(call) === fn && selfAttribute(call.func) === stop.name),
  );
}

/** A reading, or the name that one was given. */
function givesReading(expr: Expr, file: PythonFile): boolean {
  const named = expr.kind === "Name" ? file.scopes.onlyValue(expr) : expr;
  return named !== null && readsClock(named, file);
}

/** The attribute that keeps the reading that is taken off: `self.begun`, `self.begun[name]`, `self.begun.pop(name)`. */
function keptReading(expr: Expr): string | null {
  if (expr.kind === "Subscript") return selfAttribute(expr.value);
  if (expr.kind !== "Call" || expr.func.kind !== "Attribute") return selfAttribute(expr);
  return /^(?:pop|get)$/.test(expr.func.attr) ? selfAttribute(expr.func.value) : null;
}

/** `self.begun = time.time()`, `self.begun[name] = time.time()` or `self.begun.append(time.time())` in a method. */
function keepsReading(method: FunctionDef, begun: string, file: PythonFile): boolean {
  const isIn = (node: Node): boolean => contains(method, node);
  return (
    file
      .all("Assign")
      .some(
        (one) =>
          isIn(one) &&
          givesReading(one.value, file) &&
          one.targets.some(
            (target) => selfAttribute(target.kind === "Subscript" ? target.value : target) === begun,
          ),
      ) ||
    file
      .callsNamed("append")
      .some(
        (call) =>
          isIn(call) &&
          call.func.kind === "Attribute" &&
          selfAttribute(call.func.value) === begun &&
          call.args[0] !== undefined &&
          givesReading(call.args[0].value, file),
      )
  );
}

/** What a file tells the others of its timers. */
export function sharedTimers(file: PythonFile): readonly string[] | undefined {
  const { blocks, decorators, pairs } = file.once(timersOf);
  const all = [...blocks, ...decorators, ...pairs];
  return all.length > 0 ? all : undefined;
}

function clocksIn(fn: FunctionDef, file: PythonFile): number {
  let found = 0;
  for (const statement of fn.body)
    walk(statement, (node) => {
      if (node.kind === "Call" && readsClock(node, file)) found++;
    });
  return found;
}
