import { UserError } from "../base/errors.ts";
import { Action } from "../tape/vocabulary.ts";
import { DICT, FALSE, type Heap, LIST, NONE, NUMBER, STRING, TRUE } from "./heap.ts";
import { MAX_ANNOTATIONS, MAX_FRAMES } from "./limits.ts";
import { ByteStrings } from "./strings.ts";
import { Tuples } from "./tuples.ts";

/** The keys the reader understands. Their ids in `strings` are their places here, so they fit a 32-bit mask. */
const KEYS = [
  "action",
  "addr",
  "device_free",
  "size",
  "stream",
  "time_us",
  "frames",
  "name",
  "filename",
  "line",
  "address",
  "requested_size",
  "state",
  "total_size",
  "allocated_size",
  "active_size",
  "segment_type",
  "segment_pool_id",
  "is_expandable",
  "blocks",
  "device",
  "stage",
] as const;
type Key = (typeof KEYS)[number];
const K = Object.fromEntries(KEYS.map((key, at) => [key, at])) as { readonly [N in Key]: number };

const RECORDED_ACTIONS = [
  "alloc",
  "free_requested",
  "free_completed",
  "segment_alloc",
  "segment_free",
  "segment_map",
  "segment_unmap",
  "snapshot",
  "oom",
] as const;
export const UNKNOWN_ACTION = 255;

export const BLOCK_STATES = ["active_allocated", "active_pending_free", "inactive"] as const;
/** What torch called `active_pending_free` up to 2.0. */
const OLD_PENDING = "active_awaiting_free";

/** Kinds of record, the low three bits of a dict's body. */
export const EVENT = 1;
const FRAME = 2;
export const BLOCK = 3;
export const SEGMENT = 4;
export const ANNOTATION = 5;

export interface Annotation {
  /** "START" or "END". */
  readonly stage: string;
  /** "Optimizer.step#AdamW.step", "Optimizer.zero_grad#…", or what the user recorded. */
  readonly name: string;
  readonly device: number;
  /** Microseconds since the epoch. */
  readonly time: number;
}

/**
 * The dicts a snapshot is made of, recognised by a telling key as soon as their items are on the machine's stack,
 * and written to columns.
 */
export class Records {
  readonly strings = new ByteStrings([...KEYS, ...RECORDED_ACTIONS, ...BLOCK_STATES, OLD_PENDING]);
  readonly frames = new Tuples();
  readonly stacks = new Tuples();
  readonly streams: number[] = [0];

  events = 0;
  action = new Uint8Array(1024);
  stream = new Uint16Array(1024);
  stack = new Int32Array(1024);
  address = new Float64Array(1024);
  bytes = new Float64Array(1024);
  time = new Float64Array(1024);

  /** Rows of (address or NaN, size, requested, state, stack), flat. */
  readonly blocks = new Rows(5);
  /** Rows of (device, address, total, allocated, active, requested, stream, large, pool, pool, expandable, stack, blocks). */
  readonly segments = new Rows(13);
  readonly annotations: Annotation[] = [];

  readonly #heap: Heap;
  readonly #refs = new Int32Array(KEYS.length);
  readonly #numbers = new Float64Array(KEYS.length);
  #mask = 0;
  readonly #scratch = new Int32Array(MAX_FRAMES);
  readonly #actions = new Uint8Array(KEYS.length + RECORDED_ACTIONS.length).fill(UNKNOWN_ACTION);
  readonly #firstState = KEYS.length + RECORDED_ACTIONS.length;

  constructor(heap: Heap) {
    this.#heap = heap;
    RECORDED_ACTIONS.forEach((name, at) => (this.#actions[KEYS.length + at] = Action[name]));
  }

  /** Puts items that came at once into a dict: a record when it is one of ours and new. */
  fill(dict: number, refs: Int32Array, numbers: Float64Array, from: number, to: number): void {
    const heap = this.#heap;
    const body = heap.bodies[dict] === 0 && to > from ? this.#classify(refs, numbers, from, to) : 0;
    if (body === 0) heap.putAll(dict, refs, numbers, from, to);
    else heap.bodies[dict] = body;
  }

  /**
   * Reads the key, value, key, value … between `from` and `to` as a record. Returns the dict's body,
   * or 0 when this is no dict of ours.
   */
  #classify(refs: Int32Array, numbers: Float64Array, from: number, to: number): number {
    let mask = 0;
    for (let at = from; at < to; at += 2) {
      const key = refs[at]!;
      if ((key & 7) !== STRING || key >> 3 >= KEYS.length) continue;
      mask |= 1 << (key >> 3);
      this.#refs[key >> 3] = refs[at + 1]!;
      this.#numbers[key >> 3] = numbers[at + 1]!;
    }
    this.#mask = mask;
    if (mask & (1 << K.action)) return (this.#event() << 3) | EVENT;
    if (mask & (1 << K.filename)) return (this.#frame() << 3) | FRAME;
    if (mask & (1 << K.state)) return (this.#block() << 3) | BLOCK;
    if (mask & (1 << K.total_size)) return (this.#segment() << 3) | SEGMENT;
    if (mask & (1 << K.stage)) return (this.#annotation() << 3) | ANNOTATION;
    return 0;
  }

  #event(): number {
    const ref = this.#text(K.action, "event");
    const action = ref < this.#actions.length ? this.#actions[ref]! : UNKNOWN_ACTION;
    const address = this.#has(K.addr)
      ? this.#size(K.addr, "event")
      : action === Action.oom && this.#has(K.device_free)
        ? this.#size(K.device_free, "event")
        : action === UNKNOWN_ACTION || action === Action.oom || action === Action.snapshot
          ? 0
          : this.#missing(K.addr, "event");
    const bytes = action === UNKNOWN_ACTION ? 0 : this.#size(K.size, "event");
    const row = this.events;
    if (row === this.action.length) this.#growEvents();
    this.action[row] = action;
    this.address[row] = address;
    this.bytes[row] = bytes;
    this.stream[row] = this.#streamIndex("event");
    this.time[row] = this.#has(K.time_us) ? this.#size(K.time_us, "event") : 0;
    this.stack[row] = this.#stack("event");
    return this.events++;
  }

  #growEvents(): void {
    const capacity = this.events * 2;
    const grow = <T extends { set(old: T): void }>(old: T, next: T): T => (next.set(old), next);
    this.action = grow(this.action, new Uint8Array(capacity));
    this.stream = grow(this.stream, new Uint16Array(capacity));
    this.stack = grow(this.stack, new Int32Array(capacity));
    this.address = grow(this.address, new Float64Array(capacity));
    this.bytes = grow(this.bytes, new Float64Array(capacity));
    this.time = grow(this.time, new Float64Array(capacity));
  }

  #frame(): number {
    const line = this.#has(K.line) ? this.#integer(K.line, "frame") : 0;
    if (line !== (line | 0)) throw new UserError(`the frame's line is ${line}`);
    this.#scratch[0] = this.#has(K.name) ? this.#text(K.name, "frame") : this.#missing(K.name, "frame");
    this.#scratch[1] = this.#text(K.filename, "frame");
    this.#scratch[2] = line;
    return this.frames.id(this.#scratch, 3);
  }

  #block(): number {
    const name = this.#text(K.state, "block");
    let state = name - this.#firstState;
    if (state === BLOCK_STATES.length) state = 1;
    if (state < 0 || state > BLOCK_STATES.length) {
      throw new UserError(`the block's state is ${JSON.stringify(this.strings.text(name).slice(0, 40))}`);
    }
    const size = this.#size(K.size, "block");
    return this.blocks.add(
      this.#has(K.address) ? this.#size(K.address, "block") : Number.NaN,
      size,
      this.#has(K.requested_size) ? this.#size(K.requested_size, "block") : size,
      state,
      this.#stack("block"),
    );
  }

  #segment(): number {
    const blocks = this.#has(K.blocks) ? this.#refs[K.blocks]! : NONE;
    if ((blocks & 7) !== LIST) throw new UserError("the segment's blocks are not a list");
    const type = this.#has(K.segment_type)
      ? this.strings.text(this.#text(K.segment_type, "segment"))
      : "large";
    const [poolOwner, poolId] = this.#pool();
    return this.segments.add(
      this.#has(K.device) ? this.#size(K.device, "segment") : 0,
      this.#size(K.address, "segment"),
      this.#size(K.total_size, "segment"),
      this.#has(K.allocated_size) ? this.#size(K.allocated_size, "segment") : 0,
      this.#has(K.active_size) ? this.#size(K.active_size, "segment") : 0,
      this.#has(K.requested_size) ? this.#size(K.requested_size, "segment") : 0,
      this.#streamIndex("segment"),
      type === "large" ? 1 : 0,
      poolOwner,
      poolId,
      this.#has(K.is_expandable) && this.#refs[K.is_expandable] === TRUE ? 1 : 0,
      this.#stack("segment"),
      blocks >> 3,
    );
  }

  /** segment_pool_id is a pair of integers: (0, 0) is the default pool. */
  #pool(): [number, number] {
    if (!this.#has(K.segment_pool_id)) return [0, 0];
    const ref = this.#refs[K.segment_pool_id]!;
    if ((ref & 7) === LIST && !this.#heap.isSealed(ref >> 3)) {
      const pair = [...this.#heap.items(ref >> 3).subarray(0, 3)].map((item) => this.#heap.number(item));
      if (pair.length === 2 && pair.every((n) => Number.isSafeInteger(n))) return [pair[0]!, pair[1]!];
    }
    throw new UserError("the segment's segment_pool_id is not a pair of integers");
  }

  #annotation(): number {
    if (this.annotations.length === MAX_ANNOTATIONS)
      throw new UserError(`more than ${MAX_ANNOTATIONS} annotations`);
    this.annotations.push({
      stage: this.strings.text(this.#text(K.stage, "annotation")),
      name: this.#has(K.name) ? this.strings.text(this.#text(K.name, "annotation")) : "",
      device: this.#has(K.device) ? this.#size(K.device, "annotation") : 0,
      time: this.#has(K.time_us) ? this.#size(K.time_us, "annotation") : 0,
    });
    return this.annotations.length - 1;
  }

  #streamIndex(of: string): number {
    if (!this.#has(K.stream)) return 0;
    const handle = this.#integer(K.stream, of);
    const at = this.streams.indexOf(handle);
    if (at >= 0) return at;
    // Each lookup walks the list; PyTorch has at most 32 streams a priority and device.
    if (this.streams.length === 4096) throw new UserError("more than 4096 streams");
    return this.streams.push(handle) - 1;
  }

  /** The stack a `frames` list stands for; the list is sealed, so that each is looked at once. */
  #stack(of: string): number {
    if (!this.#has(K.frames)) return 0;
    const ref = this.#refs[K.frames]!;
    if (ref === NONE) return 0;
    if ((ref & 7) !== LIST) throw new UserError(`the ${of}'s frames are not a list`);
    const list = ref >> 3;
    const heap = this.#heap;
    if (heap.isSealed(list)) return heap.sealOf(list);
    const items = heap.items(list);
    if (items.length > MAX_FRAMES) throw new UserError(`the ${of} has ${items.length} frames`);
    for (let i = 0; i < items.length; i++) {
      const body = (items[i]! & 7) === DICT ? heap.bodies[items[i]! >> 3]! : 0;
      const frame = body > 0 && (body & 7) === FRAME ? body >> 3 : this.#lateFrame(items[i]!, of);
      this.#scratch[i] = frame;
    }
    const stack = this.stacks.id(this.#scratch, items.length);
    heap.seal(list, stack);
    return stack;
  }

  /** A frame whose items came one by one: its dict is generic until somebody asks. */
  #lateFrame(ref: number, of: string): number {
    const heap = this.#heap;
    const parts = new Map<number, number>();
    if ((ref & 7) === DICT) {
      heap.eachItem(ref >> 3, (key, value) => {
        const id = key >> 3;
        if ((key & 7) !== STRING || (id !== K.name && id !== K.filename && id !== K.line) || parts.has(id))
          return;
        const good = id === K.line ? heap.isNumber(value) : (value & 7) === STRING;
        if (good) parts.set(id, id === K.line ? heap.number(value) : value >> 3);
      });
    }
    const line = parts.get(K.line) ?? 0;
    const [name, file] = [parts.get(K.name), parts.get(K.filename)];
    if (name === undefined || file === undefined || line !== (line | 0)) {
      throw new UserError(`the ${of}'s frames hold something that is not a frame`);
    }
    return this.frames.id(Int32Array.of(name, file, line), 3);
  }

  /** The body of a dict, classifying one that was filled item by item. 0 when it is no record. */
  record(ref: number): number {
    if ((ref & 7) !== DICT) return 0;
    const dict = ref >> 3;
    const body = this.#heap.bodies[dict]!;
    if (body >= 0) return body;
    const pairs: number[] = [];
    this.#heap.eachItem(dict, (key, value) => {
      // Newest first: an older value of the same key is not to overwrite it.
      if (pairs.length < 2 * 64) pairs.unshift(key, value);
    });
    const refs = Int32Array.from(pairs, (item) => (this.#heap.isNumber(item) ? NUMBER : item));
    const numbers = Float64Array.from(pairs, (item) => this.#heap.number(item));
    const found = this.#classify(refs, numbers, 0, refs.length);
    if (found !== 0) this.#heap.bodies[dict] = found;
    return found;
  }

  #has(key: number): boolean {
    return (this.#mask & (1 << key)) !== 0;
  }

  #integer(key: number, of: string): number {
    if (!this.#has(key)) return this.#missing(key, of);
    const value = this.#numbers[key]!;
    const ref = this.#refs[key]!;
    if (ref !== NUMBER) {
      const what = ref === NONE ? "None" : ref === TRUE || ref === FALSE ? "a bool" : "not a number";
      throw new UserError(`the ${of}'s ${KEYS[key]} is ${what}`);
    }
    if (!Number.isSafeInteger(value))
      throw new UserError(`the ${of}'s ${KEYS[key]} is ${value}, not an integer below 2^53`);
    return value;
  }

  #size(key: number, of: string): number {
    const value = this.#integer(key, of);
    if (value < 0) throw new UserError(`the ${of}'s ${KEYS[key]} is negative (${value})`);
    return value;
  }

  #text(key: number, of: string): number {
    const ref = this.#refs[key]!;
    if ((ref & 7) !== STRING) throw new UserError(`the ${of}'s ${KEYS[key]} is not a string`);
    return ref >> 3;
  }

  #missing(key: number, of: string): never {
    throw new UserError(`the ${of} has no ${KEYS[key]}`);
  }
}

/** Rows of numbers in one growing array. */
class Rows {
  readonly width: number;
  #data: Float64Array;
  count = 0;

  constructor(width: number) {
    this.width = width;
    this.#data = new Float64Array(width * 64);
  }

  add(...values: number[]): number {
    const at = this.count * this.width;
    if (at === this.#data.length) {
      const grown = new Float64Array(at * 2);
      grown.set(this.#data);
      this.#data = grown;
    }
    this.#data.set(values, at);
    return this.count++;
  }

  get(row: number, column: number): number {
    return this.#data[row * this.width + column]!;
  }
}
