/**
 * Checks that the counts and offsets in an Arrow file's metadata lie within the file, before the Arrow library reads
 * it: the library trusts them, so that one wrong byte can send it round a loop two thousand million times.
 *
 * The metadata are FlatBuffers. Field numbers are those of format/File.fbs, Message.fbs and Schema.fbs (Arrow 1.5).
 */
const MAGIC_BYTES = 6;
const MOST_DEPTH = 64;
const MOST_VISITS = 100_000;
const CONTINUATION = 0xff_ff_ff_ff;

/** Message.fbs: union MessageHeader. */
const DICTIONARY_BATCH = 2;
const RECORD_BATCH = 3;

/** Throws a RangeError where something points outside. */
export function checkArrowBounds(file: Uint8Array): void {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const trailer = file.length - MAGIC_BYTES - 4;
  const size = view.getInt32(trailer, true);
  if (size <= 0 || size > trailer) throw new RangeError(`footer of ${size} bytes`);
  const footer = new Buffered(file.subarray(trailer - size, trailer));
  const root = footer.root();
  schema(footer, footer.child(root, 1));
  // The numbers of the footer's lists of blocks are also those of the messages they list.
  for (const kind of [DICTIONARY_BATCH, RECORD_BATCH]) {
    for (const at of footer.vector(root, kind, 24)) message(file, kind, footer.long(at), footer.int(at + 8));
  }
}

function message(file: Uint8Array, expected: number, offset: number, length: number): void {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const marked = view.getUint32(offset, true) === CONTINUATION;
  const start = offset + (marked ? 8 : 4);
  const size = view.getInt32(start - 4, true);
  if (size <= 0 || start + size > file.length) throw new RangeError(`message of ${size} bytes`);
  if (length < start - offset + size) throw new RangeError(`message of ${size} bytes in ${length}`);
  const bytes = new Buffered(file.subarray(start, start + size));
  const root = bytes.root();
  const kind = bytes.field(root, 1);
  const header = bytes.child(root, 2);
  const body = bytes.field(root, 3);
  if (body !== 0 && bytes.long(body) > file.length) throw new RangeError("message body");
  keyValues(bytes, root, 4);
  if (kind === 0 || header === 0 || bytes.byte(kind) !== expected)
    throw new RangeError("message of another kind");
  batch(bytes, expected === DICTIONARY_BATCH ? bytes.child(header, 1) : header, file.length);
}

function schema(bytes: Buffered, table: number): void {
  if (table === 0) throw new RangeError("no schema");
  for (const at of bytes.vector(table, 1, 4)) field(bytes, bytes.follow(at), 0);
  keyValues(bytes, table, 2);
  bytes.vector(table, 3, 8);
}

function field(bytes: Buffered, table: number, depth: number): void {
  if (depth > MOST_DEPTH) throw new RangeError("fields nested too deeply");
  bytes.string(table, 0);
  const type = bytes.child(table, 3);
  if (type !== 0) bytes.table(type);
  const dictionary = bytes.child(table, 4);
  if (dictionary !== 0) bytes.child(dictionary, 1);
  for (const at of bytes.vector(table, 5, 4)) field(bytes, bytes.follow(at), depth + 1);
  keyValues(bytes, table, 6);
}

function keyValues(bytes: Buffered, table: number, number: number): void {
  for (const at of bytes.vector(table, number, 4)) {
    const pair = bytes.follow(at);
    bytes.string(pair, 0);
    bytes.string(pair, 1);
  }
}

function batch(bytes: Buffered, table: number, most: number): void {
  if (table === 0) throw new RangeError("no record batch");
  const rows = bytes.field(table, 0);
  if (rows !== 0 && !(bytes.long(rows) <= most)) throw new RangeError("row count");
  for (const at of bytes.vector(table, 1, 16))
    if (!(bytes.long(at) <= most)) throw new RangeError("value count");
  for (const at of bytes.vector(table, 2, 16)) {
    if (!(bytes.long(at) + bytes.long(at + 8) <= most)) throw new RangeError("buffer");
  }
  bytes.vector(table, 4, 8);
}

/** One FlatBuffer; every read is checked by DataView. Position 0 stands for "absent": the root offset lies there. */
class Buffered {
  readonly #view: DataView;
  #visits = 0;

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  root(): number {
    return this.table(this.follow(0));
  }

  byte(at: number): number {
    return this.#view.getUint8(at);
  }

  int(at: number): number {
    return this.#view.getInt32(at, true);
  }

  /** Negative numbers are as wrong as large ones. */
  long(at: number): number {
    const value = Number(this.#view.getBigInt64(at, true));
    return value < 0 ? Infinity : value;
  }

  follow(at: number): number {
    return at + this.#view.getUint32(at, true);
  }

  table(at: number): number {
    const vtable = at - this.int(at);
    this.byte(vtable + this.#view.getUint16(vtable, true) - 1);
    return at;
  }

  /** Position of field `number` of a table; 0 when the table lacks it. */
  field(table: number, number: number): number {
    const vtable = table - this.int(table);
    const at = 4 + 2 * number;
    const offset = at < this.#view.getUint16(vtable, true) ? this.#view.getUint16(vtable + at, true) : 0;
    if (offset === 0) return 0;
    this.byte(table + offset);
    return table + offset;
  }

  child(table: number, number: number): number {
    const at = this.field(table, number);
    return at === 0 ? 0 : this.table(this.follow(at));
  }

  /** Positions of the elements, each `width` bytes, of a vector field. */
  vector(table: number, number: number, width: number): number[] {
    const { start, count } = this.#extent(table, number, width);
    return Array.from({ length: count }, (_, index) => start + index * width);
  }

  string(table: number, number: number): void {
    this.#extent(table, number, 1);
  }

  #extent(table: number, number: number, width: number): { start: number; count: number } {
    // Tables may share children: without a limit a few bytes could describe more of them than there are atoms.
    if (++this.#visits > MOST_VISITS) throw new RangeError("too many fields");
    const at = this.field(table, number);
    if (at === 0) return { start: 0, count: 0 };
    const start = this.follow(at) + 4;
    const count = this.#view.getUint32(start - 4, true);
    if (start + count * width > this.#view.byteLength) throw new RangeError(`vector of ${count}`);
    return { start, count };
  }
}
