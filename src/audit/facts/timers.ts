import type { PythonFile } from "../../python/file.ts";
import { functionOf, walk } from "../../python/nodes.ts";
import type { ClassDef, Expr, FunctionDef } from "../../python/tree.ts";
import { attributesOf, methodsOf, selfAttribute } from "./classes.ts";

const CLOCKS =
  /^(?:time\.(?:time|perf_counter|monotonic|process_time)(?:_ns)?|timeit\.default_timer|datetime\.datetime\.(?:now|utcnow))$/;
const CLOCK_WORDS =
  "time time_ns perf_counter perf_counter_ns monotonic monotonic_ns process_time process_time_ns default_timer now utcnow".split(
    " ",
  );

/** Anything that makes the host wait makes the clock right; so does `tensor2float(loss)`, wherever that stands. */
export const WAITS =
  /synchronize|(?:2|to_?)(?:float|numpy|np|cpu|list|item|scalar)\(|\b(?!no_)\w*sync\w*\(|\.item\(|\.cpu\(|\.tolist\(|\.numpy\(|elapsed_time|(?<![.\w])float\(|print\(.*loss|\.to\(["']cpu/;

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
  return file.callsNamed(...CLOCK_WORDS).length > 0;
}

export function readsClock(expr: Expr, file: PythonFile): boolean {
  return expr.kind === "Call" && CLOCKS.test(file.dotted(expr.func) ?? "");
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
    const fn = one.op === "-" && readsClock(one.left, file) ? functionOf(one) : null;
    const begun = selfAttribute(one.right);
    return begun !== null && methods.includes(fn as FunctionDef) ? [{ fn: fn as FunctionDef, begun }] : [];
  });
  return stops.flatMap(({ fn, begun }) => {
    const writes = attributesOf(cls, file).get(begun)?.writes ?? [];
    return writes.flatMap(({ in: start, value }) =>
      start !== fn && methods.includes(start) && value && readsClock(value, file)
        ? [`${file.qualified(start)}>${file.qualified(fn)}`]
        : [],
    );
  });
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
