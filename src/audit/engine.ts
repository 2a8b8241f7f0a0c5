import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** V8's: 11 in Node 20, 12 in 22, 13 in 24. A flag that a version does not have is complained about on stderr. */
const VERSION = Number.parseInt(process.versions.v8, 10);
/**
 * V8 11 compiles what has run this much into optimized code. Its own 132 kB has the rules compiled, and often thrown away
 * and compiled again, before they have seen all kinds of nodes: a third of the processor time of a large audit.
 */
const COMPILE_AFTER = 600_000;
/**
 * V8 copies functions of 920 bytes of bytecode in all into one caller. The rules are called from everywhere: compiling all
 * those copies, in each thread, takes longer than they save. Not the limit for one function, `max-inlined-bytecode-size`:
 * changed while another thread of V8 compiles, it breaks an assertion there, and the process ends.
 */
const INLINE_UP_TO = 200;
/** Percent that a heap may grow before it is swept. By itself V8 lets it grow fourfold: 600 MB of dead trees. */
const HEAP_GROWTH = 15;

/** V8's own: for what runs once, in long loops. */
const COMPILE_SOON = 132_000;

/** Work of one kind that is not done again: compiled as soon as it shows to be long. */
export function inOneGo<T>(work: () => T): T {
  if (VERSION !== 11) return work();
  setFlagsFromString(`--interrupt-budget=${COMPILE_SOON}`);
  try {
    return work();
  } finally {
    setFlagsFromString(`--interrupt-budget=${COMPILE_AFTER}`);
  }
}

/** For two threads that go through tens of megabytes of source, one file after the other. */
export function tuneForLargeTrees(): void {
  if (VERSION === 11) setFlagsFromString(`--interrupt-budget=${COMPILE_AFTER}`);
  if (VERSION < 11 || VERSION > 13) return;
  setFlagsFromString(`--max-inlined-bytecode-size-cumulative=${INLINE_UP_TO}`);
  // Nearly every function here runs often enough to be worth V8's plain compiler at once.
  setFlagsFromString("--always-sparkplug");
  // Peeling the first turn off each loop makes what is compiled larger, and nothing here faster.
  setFlagsFromString("--no-turbo-loop-peeling");
  // V8 would put what outlived a few collections, parts of trees, among the old from the start: those then keep the rest of
  // their trees alive, dead or not, whenever the young are collected.
  setFlagsFromString("--no-allocation-site-pretenuring");
  // Both cores are busy already: threads that help to collect only wait for each other.
  setFlagsFromString("--no-parallel-scavenge");
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH}`);
}

/**
 * Collects what was made lately and is dead already; what is older stays. V8 does so by itself whenever the space for the
 * young is full. Choosing the moment saves copying what will be dead a moment later: a tenth of a large audit.
 */
export function youngCollector(): (() => void) | null {
  // V8 gives new contexts this function, and only with the flag; without it, it collects when it wants to.
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("globalThis.gc");
  return typeof collect === "function" ? () => collect(true) : null;
}

/** Characters: shorter texts never take long, and to watch one takes a millisecond. */
const WATCHED = 100_000;
/** Milliseconds. The largest files that people train with take a tenth of it on a slow machine. */
const PATIENCE = 30_000;

/** A text asks for more than it gets: said of it as of a file that cannot be read. */
export class LeftOut extends Error {}

/**
 * Work on one text, which is ended when it takes too long: what somebody generated may have thousands of what nobody writes
 * more than a few of, and an editor must not hang for it.
 */
export function inTime<T>(characters: number, work: () => T, patience = PATIENCE): T {
  try {
    if (characters < WATCHED) return work();
    // The only way to end what does not look at a clock itself, regular expressions among it.
    return runInNewContext("work()", { work }, { timeout: patience }) as T;
  } catch (error) {
    const why = whyLeftOut(error, patience);
    throw why === null ? error : new LeftOut(`left out: ${why}`);
  }
}

function whyLeftOut(error: unknown, patience: number): string | null {
  // Made in the other context, it is no instance of this one's `Error`.
  if (Object(error).code === "ERR_SCRIPT_EXECUTION_TIMEOUT")
    return `takes longer than ${patience / 1000} seconds`;
  // V8's, when functions have called each other too often: once for each part of a very long expression.
  return error instanceof RangeError && error.message.includes("call stack") ? "nested too deeply" : null;
}
