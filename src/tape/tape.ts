import { Interner } from "../base/interner.ts";
import type { Bytes } from "../base/units.ts";

/** The columns, each the same length. One row is one event. */
export interface Columns {
  /** Code of ACTIONS. */
  readonly action: Uint8Array;
  /** Which storage: the alloc's and its free's rows carry the same id; -1 where the event concerns none. */
  readonly storage: Int32Array;
  /** Requested bytes for alloc and free, the segment's for segment events. Integers up to 2^53. */
  readonly bytes: Float64Array;
  /** Index into `streams`. */
  readonly stream: Uint16Array;
  /** Code of PHASES. */
  readonly phase: Uint8Array;
  /** Code of KINDS. */
  readonly kind: Uint8Array;
  /** Id in `modules`: "model.layers.3.mlp". */
  readonly module: Int32Array;
  /** Optimizer step the event belongs to; 0 before the first one begins (load), then 1, 2, … */
  readonly step: Int32Array;
  /** Id in `stacks`. */
  readonly stack: Int32Array;
  /** Device address; 0 when the tape is a prediction. */
  readonly address: Float64Array;
  /** Microseconds since the epoch; 0 when the tape is a prediction. */
  readonly time: Float64Array;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function columns(capacity: number): Mutable<Columns> {
  return {
    action: new Uint8Array(capacity),
    storage: new Int32Array(capacity),
    bytes: new Float64Array(capacity),
    stream: new Uint16Array(capacity),
    phase: new Uint8Array(capacity),
    kind: new Uint8Array(capacity),
    module: new Int32Array(capacity),
    step: new Int32Array(capacity),
    stack: new Int32Array(capacity),
    address: new Float64Array(capacity),
    time: new Float64Array(capacity),
  };
}

function grown(old: Columns, capacity: number): Mutable<Columns> {
  const next = columns(capacity);
  for (const name of Object.keys(old) as (keyof Columns)[]) next[name].set(old[name]);
  return next;
}

/** What a tape is a record of. */
export interface TapeInfo {
  /** Where it came from: "plan", "snapshot", "probe", … */
  readonly source: string;
  /** PYTORCH_CUDA_ALLOC_CONF in force, when known. */
  readonly allocConf: string;
  readonly device: number;
  /** Allocated before the first row, when a ring buffer lost the beginning (see snapshot/). */
  readonly truncated: boolean;
}

/**
 * The event log. Append-only; column-wise, because a recorded run has millions of events and an object for
 * each would cost more memory than the run it describes.
 *
 * A **stack** is one string, innermost frame first, frames joined by newlines, each `file:line:function`.
 */
export class Tape {
  #columns: Mutable<Columns>;
  #length = 0;
  readonly modules = new Interner();
  readonly stacks = new Interner();
  /** Raw stream handles by index; 0 is the default stream. */
  readonly streams: number[] = [0];
  readonly info: TapeInfo;

  constructor(info: Partial<TapeInfo> = {}, capacity = 1024) {
    this.info = { source: "", allocConf: "", device: 0, truncated: false, ...info };
    this.#columns = columns(capacity);
  }

  get length(): number {
    return this.#length;
  }

  /** The live arrays; only the first `length` rows are meaningful, and an append may replace them. */
  get columns(): Columns {
    return this.#columns;
  }

  streamIndex(handle: number): number {
    const at = this.streams.indexOf(handle);
    return at >= 0 ? at : this.streams.push(handle) - 1;
  }

  /** Forgets the rows from `length` on. For the planner, which writes some rows twice before it hands the tape out. */
  rewind(length: number): void {
    this.#length = Math.min(this.#length, length);
  }

  /**
   * Appends rows `from` to `to` again: the same events on storages numbered `shift` higher, in another step.
   * Addresses and times are not repeated.
   */
  repeat(from: number, to: number, shift: number, step: number): void {
    const at = this.#length;
    const count = to - from;
    let c = this.#columns;
    if (at + count > c.action.length) c = this.#columns = grown(c, Math.max(c.action.length * 2, at + count));
    for (const name of ["action", "bytes", "stream", "phase", "kind", "module", "stack"] as const) {
      c[name].copyWithin(at, from, to);
    }
    for (let row = 0; row < count; row++) c.storage[at + row] = c.storage[from + row]! + shift;
    c.step.fill(step, at, at + count);
    this.#length = at + count;
  }

  append(
    action: number,
    storage: number,
    bytes: Bytes,
    stream = 0,
    phase = 0,
    kind = 0,
    module = 0,
    step = 0,
    stack = 0,
    address = 0,
    time = 0,
  ): number {
    const row = this.#length;
    let c = this.#columns;
    if (row === c.action.length) c = this.#columns = grown(c, row * 2);
    c.action[row] = action;
    c.storage[row] = storage;
    c.bytes[row] = bytes;
    c.stream[row] = stream;
    c.phase[row] = phase;
    c.kind[row] = kind;
    c.module[row] = module;
    c.step[row] = step;
    c.stack[row] = stack;
    c.address[row] = address;
    c.time[row] = time;
    this.#length = row + 1;
    return row;
  }
}
