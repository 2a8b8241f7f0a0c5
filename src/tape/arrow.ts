import {
  Dictionary,
  Field,
  Float64,
  Int32,
  RecordBatch,
  Schema,
  Struct,
  Table,
  Uint16,
  Uint8,
  Utf8,
  makeData,
  tableFromIPC,
  tableToIPC,
  vectorFromArray,
} from "apache-arrow";
import type { Data, DataType, Vector } from "apache-arrow";
import { UserError } from "../base/errors.ts";
import { checkArrowBounds } from "./arrow-bounds.ts";
import { Tape } from "./tape.ts";
import type { Columns } from "./tape.ts";
import { ACTIONS, KINDS, PHASES } from "./vocabulary.ts";

/** Raised when a reader of the version before could misread the file. */
const VERSION = 1;
const VERSION_KEY = "plimsoll.tape.version";
const INFO_KEY = "plimsoll.tape.info";
const STREAMS_KEY = "plimsoll.tape.streams";
/** Opens and closes every Arrow IPC file; a file that was cut short lacks the second. */
const MAGIC = "ARROW1";

/** The tape as an Arrow IPC file. Pure: see file.ts for the disk. */
export function encodeTape(tape: Tape): Uint8Array {
  const c = tape.columns;
  const rows = tape.length;
  const words = (index: Uint8 | Int32, column: Uint8Array | Int32Array, texts: readonly string[]): Data =>
    makeData({
      type: new Dictionary(new Utf8(), index),
      length: rows,
      nullCount: 0,
      data: column.subarray(0, rows),
      dictionary: vectorFromArray(texts, new Utf8()),
    } as Parameters<typeof makeData>[0]);
  const numbers = (type: DataType, column: Columns[keyof Columns]): Data =>
    makeData({ type, length: rows, nullCount: 0, data: column.subarray(0, rows) } as Parameters<
      typeof makeData
    >[0]);

  const columns: Record<keyof Columns, Data> = {
    action: words(new Uint8(), c.action, ACTIONS),
    storage: numbers(new Int32(), c.storage),
    bytes: numbers(new Float64(), c.bytes),
    stream: numbers(new Uint16(), c.stream),
    phase: words(new Uint8(), c.phase, PHASES),
    kind: words(new Uint8(), c.kind, KINDS),
    module: words(new Int32(), c.module, tape.modules.texts),
    step: numbers(new Int32(), c.step),
    stack: words(new Int32(), c.stack, tape.stacks.texts),
    address: numbers(new Float64(), c.address),
    time: numbers(new Float64(), c.time),
  };
  const metadata = new Map([
    [VERSION_KEY, String(VERSION)],
    [INFO_KEY, JSON.stringify(tape.info)],
    [STREAMS_KEY, JSON.stringify(tape.streams)],
  ]);
  const fields = Object.entries(columns).map(([name, data]) => new Field(name, data.type, false));
  const schema = new Schema(fields, metadata);
  const data = makeData({
    type: new Struct(fields),
    length: rows,
    nullCount: 0,
    children: Object.values(columns),
  });
  return tableToIPC(new Table(schema, [new RecordBatch(schema, data)]), "file");
}

/** `name` is what the file is called in the message when it is not a tape. */
export function decodeTape(file: Uint8Array, name: string): Tape {
  if (file.length < 2 * MAGIC.length || ascii(file.subarray(0, MAGIC.length)) !== MAGIC) {
    throw new UserError(
      `${name}: not an Arrow file`,
      "a tape is what `plimsoll inspect FILE --tape OUT.arrow` writes",
    );
  }
  if (ascii(file.subarray(file.length - MAGIC.length)) !== MAGIC) {
    throw new UserError(
      `${name}: the file is cut short: its Arrow footer is missing`,
      "copy or write it again",
    );
  }
  try {
    checkArrowBounds(file);
    const table = tableFromIPC(file);
    checkVersion(table.schema.metadata.get(VERSION_KEY), name);
    // Every row takes more than one byte: a larger number is a lie, and must not become an allocation.
    if (!(table.numRows <= file.length)) throw damaged(name, "action");
    return toTape(table, name, file.length);
  } catch (cause) {
    // The library meets damage in many ways, some only when a value is looked at.
    if (cause instanceof UserError) throw cause;
    throw new UserError(
      `${name}: the Arrow file is damaged (${cause instanceof Error ? cause.message : cause})`,
    );
  }
}

function checkVersion(text: string | undefined, name: string): void {
  if (text === undefined)
    throw new UserError(`${name}: an Arrow file, but not a tape: no ${VERSION_KEY} in its schema`);
  const version = Number(text);
  if (!Number.isInteger(version) || version < 1)
    throw new UserError(`${name}: ${VERSION_KEY} is ${JSON.stringify(text)}`);
  if (version > VERSION) {
    throw new UserError(
      `${name}: tape version ${version} is newer than this plimsoll reads (${VERSION})`,
      "update plimsoll",
    );
  }
}

function toTape(table: Table, name: string, size: number): Tape {
  const rows = table.numRows;
  const number = (column: keyof Columns, lowest: number, highest: number): Float64Array => {
    const values = new Float64Array(rows);
    let at = 0;
    for (const chunk of vector(table, column, name).data) {
      const { values: part, length, nullCount } = chunk as Data<Float64>;
      if (nullCount > 0 || part === undefined || part.length < length) throw damaged(name, column);
      for (let row = 0; row < length; row++) {
        const value = Number(part[row]!);
        if (!(value >= lowest && value <= highest && Number.isInteger(value))) throw damaged(name, column);
        values[at++] = value;
      }
    }
    if (at !== rows) throw damaged(name, column);
    return values;
  };
  /** Ids of the words in `idOf`'s numbering, whatever order the file's own dictionary has. */
  const words = (column: keyof Columns, idOf: (text: string) => number): Int32Array => {
    const ids = new Int32Array(rows);
    let read: Vector<Utf8> | null = null;
    let known = new Int32Array(0);
    let at = 0;
    for (const chunk of vector(table, column, name).data) {
      const { dictionary, values, length, nullCount } = chunk as Data<Dictionary<Utf8, Int32>>;
      if (nullCount > 0 || !dictionary || !values || values.length < length) throw damaged(name, column);
      if (dictionary !== read) {
        read = dictionary;
        known = dictionaryIds(dictionary, idOf, size);
      }
      for (let row = 0; row < length; row++) {
        const id = known[values[row]!] ?? -1;
        if (id < 0) throw damaged(name, column);
        ids[at++] = id;
      }
    }
    if (at !== rows) throw damaged(name, column);
    return ids;
  };
  const metadata = (key: string): unknown => {
    try {
      return JSON.parse(table.schema.metadata.get(key) ?? "null");
    } catch {
      throw new UserError(`${name}: ${key} in the schema is not JSON`);
    }
  };

  const tape = new Tape(tapeInfo(metadata(INFO_KEY)), Math.max(rows, 1));
  const streams = metadata(STREAMS_KEY);
  if (Array.isArray(streams)) for (const handle of streams) tape.streamIndex(Number(handle));

  const most = Number.MAX_SAFE_INTEGER;
  const action = words("action", (text) => ACTIONS.indexOf(text as never));
  const storage = number("storage", -1, 2 ** 31 - 1);
  const bytes = number("bytes", 0, most);
  const stream = number("stream", 0, tape.streams.length - 1);
  const phase = words("phase", (text) => PHASES.indexOf(text as never));
  const kind = words("kind", (text) => KINDS.indexOf(text as never));
  const module = words("module", (text) => tape.modules.id(text));
  const step = number("step", 0, 2 ** 31 - 1);
  const stack = words("stack", (text) => tape.stacks.id(text));
  const address = number("address", 0, most);
  const time = number("time", 0, most);
  for (let row = 0; row < rows; row++) {
    tape.append(
      action[row]!,
      storage[row]!,
      bytes[row]!,
      stream[row]!,
      phase[row]!,
      kind[row]!,
      module[row]!,
      step[row]!,
      stack[row]!,
      address[row]!,
      time[row]!,
    );
  }
  return tape;
}

function dictionaryIds(
  dictionary: Vector<Utf8>,
  idOf: (text: string) => number,
  size: number,
): Int32Array<ArrayBuffer> {
  let characters = 0;
  return Int32Array.from({ length: dictionary.length }, (_, id) => {
    const text = dictionary.get(id);
    // Entries that overlap could unfold into far more text than the file has bytes.
    if (typeof text !== "string" || (characters += text.length) > size) return -1;
    return idOf(text);
  });
}

function tapeInfo(read: unknown): Partial<Tape["info"]> {
  const info = (typeof read === "object" && read !== null ? read : {}) as Record<string, unknown>;
  return {
    source: String(info["source"] ?? ""),
    allocConf: String(info["allocConf"] ?? ""),
    device: Number(info["device"] ?? 0),
    truncated: info["truncated"] === true,
  };
}

function vector(table: Table, column: string, name: string): Vector {
  const found = table.getChild(column);
  if (!found) throw new UserError(`${name}: the tape has no column ${JSON.stringify(column)}`);
  return found;
}

function damaged(name: string, column: string): UserError {
  return new UserError(`${name}: the tape's column ${JSON.stringify(column)} holds a value it cannot hold`);
}

function ascii(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}
