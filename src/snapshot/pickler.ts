import { Op } from "./opcodes.ts";

/** CPython closes a frame once it holds this much (_FRAME_SIZE_TARGET in Lib/pickle.py). */
const FRAME_TARGET = 1 << 16;
/** How many items CPython puts behind one mark (_BATCHSIZE). */
export const BATCH = 1000;

/** Writes pickle protocol 4 as CPython lays it out: frames of 64 KiB, everything shared by reference to a memo. */
export class Pickler {
  readonly #sink: (chunk: Uint8Array) => void;
  readonly #buffer = new Uint8Array(FRAME_TARGET * 2 + 16);
  readonly #view = new DataView(this.#buffer.buffer);
  #used = 0;
  readonly #encoder = new TextEncoder();
  readonly #strings = new Map<string, number>();
  /** Objects memoised so far; the next one gets this number. */
  memoized = 0;

  constructor(sink: (chunk: Uint8Array) => void) {
    this.#sink = sink;
    sink(Uint8Array.of(Op.PROTO, 4));
  }

  op(code: number): void {
    if (this.#used >= FRAME_TARGET) this.#flush();
    this.#buffer[this.#used++] = code;
  }

  /** Opens an empty list or dict and returns its number in the memo. */
  open(code: typeof Op.EMPTY_DICT | typeof Op.EMPTY_LIST): number {
    this.op(code);
    return this.memoize();
  }

  memoize(): number {
    this.op(Op.MEMOIZE);
    return this.memoized++;
  }

  get(index: number): void {
    if (index < 256) {
      this.op(Op.BINGET);
      this.#buffer[this.#used++] = index;
    } else {
      this.op(Op.LONG_BINGET);
      this.#view.setUint32(this.#used, index, true);
      this.#used += 4;
    }
  }

  /** A string that occurs often: written once, then referred to. */
  text(text: string): void {
    const index = this.#strings.get(text);
    if (index !== undefined) this.get(index);
    else this.#strings.set(text, this.freshText(text));
  }

  /** A string that Python has as an object of its own each time. */
  freshText(text: string): number {
    const bytes = this.#encoder.encode(text);
    if (bytes.length >= FRAME_TARGET) {
      // Outside of any frame, as CPython writes what would not fit one.
      this.#flush();
      const head = new Uint8Array(5);
      head[0] = Op.BINUNICODE;
      new DataView(head.buffer).setUint32(1, bytes.length, true);
      this.#sink(head);
      this.#sink(bytes);
      return this.memoize();
    }
    if (bytes.length < 256) {
      this.op(Op.SHORT_BINUNICODE);
      this.#buffer[this.#used++] = bytes.length;
    } else {
      this.op(Op.BINUNICODE);
      this.#view.setUint32(this.#used, bytes.length, true);
      this.#used += 4;
    }
    this.#buffer.set(bytes, this.#used);
    this.#used += bytes.length;
    return this.memoize();
  }

  integer(value: number): void {
    if (value >= 0 && value < 256) {
      this.op(Op.BININT1);
      this.#buffer[this.#used++] = value;
    } else if (value >= 0 && value < 65536) {
      this.op(Op.BININT2);
      this.#view.setUint16(this.#used, value, true);
      this.#used += 2;
    } else if (value === (value | 0)) {
      this.op(Op.BININT);
      this.#view.setInt32(this.#used, value, true);
      this.#used += 4;
    } else this.#long(value);
  }

  /** LONG1: the fewest bytes of two's complement. */
  #long(value: number): void {
    let bytes = 5;
    while (value < -(2 ** (8 * bytes - 1)) || value >= 2 ** (8 * bytes - 1)) bytes++;
    this.op(Op.LONG1);
    this.#buffer[this.#used++] = bytes;
    this.#view.setBigInt64(this.#used, BigInt(value), true);
    this.#used += bytes;
  }

  float(value: number): void {
    this.op(Op.BINFLOAT);
    this.#view.setFloat64(this.#used, value, false);
    this.#used += 8;
  }

  /** A dict key and its integer. */
  item(key: string, value: number): void {
    this.text(key);
    this.integer(value);
  }

  finish(): void {
    this.op(Op.STOP);
    this.#flush();
  }

  #flush(): void {
    if (this.#used === 0) return;
    const out = new Uint8Array(9 + this.#used);
    out[0] = Op.FRAME;
    new DataView(out.buffer).setBigUint64(1, BigInt(this.#used), true);
    out.set(this.#buffer.subarray(0, this.#used), 9);
    this.#used = 0;
    this.#sink(out);
  }
}
