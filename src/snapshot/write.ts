import type { Tape } from "../tape/tape.ts";
import { Action, ACTIONS, KINDS, PHASES } from "../tape/vocabulary.ts";
import { Op } from "./opcodes.ts";
import { BATCH, Pickler } from "./pickler.ts";
import { BLOCK_STATES } from "./records.ts";
import type { SegmentColumns } from "./segments.ts";
import type { Setting, Snapshot } from "./snapshot.ts";

/** A tape with addresses, recorded, simulated or from `placeApart`. */
export interface PlacedTape {
  readonly device: number;
  readonly tape: Tape;
  /** The state after the last row. */
  readonly segments: SegmentColumns;
}

/** Hands the bytes of a snapshot that PyTorch's viewers open to `sink`, in chunks. */
export function writeSnapshot(
  devices: readonly PlacedTape[],
  about: Pick<Snapshot, "allocatorSettings" | "annotations">,
  sink: (chunk: Uint8Array) => void,
): void {
  const out = new Pickler(sink);
  const stacks = devices.map(({ tape }) => new Stacks(out, tape));
  out.open(Op.EMPTY_DICT);
  out.op(Op.MARK);

  out.text("segments");
  out.open(Op.EMPTY_LIST);
  devices.forEach(({ device, segments }, at) => {
    batched(out, segments.length, (row) => writeSegment(out, device, segments, row, stacks[at]!));
  });

  out.text("device_traces");
  out.open(Op.EMPTY_LIST);
  const byNumber = new Map(devices.map((placed, at) => [placed.device, at]));
  batched(out, Math.max(0, ...devices.map(({ device }) => device + 1)), (device) => {
    out.open(Op.EMPTY_LIST);
    const at = byNumber.get(device);
    if (at !== undefined) writeTrace(out, devices[at]!, stacks[at]!);
  });

  out.text("allocator_settings");
  writeSetting(out, about.allocatorSettings);

  out.text("external_annotations");
  out.open(Op.EMPTY_LIST);
  batched(out, about.annotations.length, (row) => {
    const { stage, name, device, time } = about.annotations[row]!;
    out.open(Op.EMPTY_DICT);
    out.op(Op.MARK);
    out.text("stage");
    out.text(stage);
    out.text("name");
    out.text(name);
    out.item("device", device);
    out.item("time_us", time);
    out.op(Op.SETITEMS);
  });

  out.op(Op.SETITEMS);
  out.finish();
}

/** Appends `count` values to the list on top of the stack, behind one mark for each thousand as CPython does. */
function batched(out: Pickler, count: number, write: (row: number) => void): void {
  for (let from = 0; from < count; from += BATCH) {
    out.op(Op.MARK);
    for (let row = from; row < Math.min(count, from + BATCH); row++) write(row);
    out.op(Op.APPENDS);
  }
}

/** Stands where a predicted row belongs to no module. */
const NO_MODULE = "(no module)";

/** Frames and stacks of one tape, each written where it first occurs. */
class Stacks {
  readonly #out: Pickler;
  readonly #tape: Tape;
  readonly #lists = new Map<string | number, number>();
  readonly #frames = new Map<string, number>();

  constructor(out: Pickler, tape: Tape) {
    this.#out = out;
    this.#tape = tape;
  }

  byId(stack: number): void {
    this.#write(stack, () => (stack === 0 ? [] : this.#tape.stacks.text(stack).split("\n")));
  }

  /** The row's stack; where a predicted row has none, its module, phase and kind stand in (read back by inspect). */
  ofRow(row: number): void {
    const { stack, module, phase, kind, step, storage } = this.#tape.columns;
    const predicted = this.#tape.info.source === "plan" && storage[row]! >= 0;
    if (stack[row] !== 0 || (module[row] === 0 && !predicted)) return this.byId(stack[row]!);
    const name = `${PHASES[phase[row]!]} ${KINDS[kind[row]!]}`;
    const frame = `${this.#tape.modules.text(module[row]!) || NO_MODULE}:${step[row]!}:${name}`;
    return this.#write(frame, () => [frame]);
  }

  #write(key: string | number, frames: () => string[]): void {
    const known = this.#lists.get(key);
    if (known !== undefined) return this.#out.get(known);
    this.#lists.set(key, this.#out.open(Op.EMPTY_LIST));
    const texts = frames();
    return batched(this.#out, texts.length, (row) => this.#frame(texts[row]!));
  }

  #frame(text: string): void {
    const out = this.#out;
    const known = this.#frames.get(text);
    if (known !== undefined) return out.get(known);
    const [, file, line, name] = /^(.*?):([0-9]{1,9}):(.*)$/s.exec(text) ?? ["", text, "0", ""];
    this.#frames.set(text, out.open(Op.EMPTY_DICT));
    out.op(Op.MARK);
    out.text("name");
    out.text(name!);
    out.text("filename");
    out.text(file!);
    out.item("line", Number(line));
    return out.op(Op.SETITEMS);
  }
}

function writeTrace(out: Pickler, { tape }: PlacedTape, stacks: Stacks): void {
  const { action } = tape.columns;
  // A free is two events of the file, and the file knows no empty_cache; rows[i] says where event i comes from.
  const rows: number[] = [];
  const names: string[] = [];
  for (let row = 0; row < tape.length; row++) {
    const code = action[row]!;
    if (code === Action.empty_cache) continue;
    if (code === Action.free) {
      rows.push(row, row);
      names.push("free_requested", "free_completed");
    } else {
      rows.push(row);
      names.push(ACTIONS[code]!);
    }
  }
  const { bytes, stream, time, address } = tape.columns;
  batched(out, rows.length, (event) => {
    const row = rows[event]!;
    const name = names[event]!;
    out.open(Op.EMPTY_DICT);
    out.op(Op.MARK);
    out.text("action");
    out.text(name);
    out.item(name === "oom" ? "device_free" : "addr", address[row]!);
    out.item("size", bytes[row]!);
    out.item("stream", tape.streams[stream[row]!]!);
    out.item("time_us", time[row]!);
    out.text("frames");
    stacks.ofRow(row);
    out.op(Op.SETITEMS);
  });
}

function writeSegment(
  out: Pickler,
  device: number,
  segments: SegmentColumns,
  row: number,
  stacks: Stacks,
): void {
  out.open(Op.EMPTY_DICT);
  out.op(Op.MARK);
  out.item("device", device);
  out.item("address", segments.address[row]!);
  out.item("total_size", segments.bytes[row]!);
  out.item("allocated_size", segments.allocated[row]!);
  out.item("active_size", segments.active[row]!);
  out.item("requested_size", segments.requested[row]!);
  out.item("stream", segments.stream[row]!);
  out.text("segment_type");
  out.text(segments.large[row] ? "large" : "small");
  out.text("segment_pool_id");
  out.integer(segments.poolOwner[row]!);
  out.integer(segments.poolId[row]!);
  out.op(Op.TUPLE2);
  out.memoize();
  out.text("is_expandable");
  out.op(segments.expandable[row] ? Op.NEWTRUE : Op.NEWFALSE);
  out.text("frames");
  stacks.byId(segments.stack[row]!);
  out.text("blocks");
  out.open(Op.EMPTY_LIST);
  const first = segments.firstBlock[row]!;
  const { blocks } = segments;
  batched(out, segments.firstBlock[row + 1]! - first, (at) => {
    const block = first + at;
    out.open(Op.EMPTY_DICT);
    out.op(Op.MARK);
    out.item("address", blocks.address[block]!);
    out.item("size", blocks.bytes[block]!);
    out.item("requested_size", blocks.requested[block]!);
    out.text("state");
    out.text(BLOCK_STATES[blocks.state[block]!]!);
    out.text("frames");
    stacks.byId(blocks.stack[block]!);
    out.op(Op.SETITEMS);
  });
  out.op(Op.SETITEMS);
}

function writeSetting(out: Pickler, value: Setting): void {
  if (value === null) return out.op(Op.NONE);
  if (typeof value === "boolean") return out.op(value ? Op.NEWTRUE : Op.NEWFALSE);
  if (typeof value === "string") return out.text(value);
  if (typeof value === "number") return Number.isSafeInteger(value) ? out.integer(value) : out.float(value);
  out.open(Op.EMPTY_DICT);
  out.op(Op.MARK);
  for (const [key, item] of Object.entries(value)) {
    out.text(key);
    writeSetting(out, item);
  }
  return out.op(Op.SETITEMS);
}
