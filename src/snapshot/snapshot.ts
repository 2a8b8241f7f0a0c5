import { UserError } from "../base/errors.ts";
import type { Tape } from "../tape/tape.ts";
import { BOXED, DICT, FALSE, type Heap, LIST, NONE, STRING, TRUE } from "./heap.ts";
import { historyTape } from "./history.ts";
import { MAX_SETTINGS, MAX_STACK_TEXT } from "./limits.ts";
import { Machine } from "./machine.ts";
import { ANNOTATION, type Annotation, EVENT, type Records, SEGMENT } from "./records.ts";
import { relabelStacks, segmentColumns, type SegmentColumns } from "./segments.ts";

export type Setting = string | number | boolean | null | { readonly [key: string]: Setting };

export interface DeviceSnapshot {
  readonly device: number;
  /** The history. `address` of an oom row is the free device memory at that moment. */
  readonly tape: Tape;
  /** The final state. */
  readonly segments: SegmentColumns;
  /** Events whose action this version does not know, left off the tape. */
  readonly ignored: number;
}

/** What `torch.cuda.memory._dump_snapshot` writes, in columns. */
export interface Snapshot {
  /** Devices that have events or segments, in order. */
  readonly devices: readonly DeviceSnapshot[];
  readonly allocatorSettings: { readonly [key: string]: Setting };
  /** PYTORCH_CUDA_ALLOC_CONF (or its newer name) as the process saw it. */
  readonly allocConf: string;
  /** external_annotations, in the order recorded: optimizer steps and whatever the user marked. */
  readonly annotations: readonly Annotation[];
}

/** Feed it the bytes of a snapshot in chunks of any size, then call `finish`. Runs in a browser as it is. */
export class SnapshotReader {
  readonly #machine = new Machine();

  /** True once the pickle is complete: bytes after it are not looked at. */
  get done(): boolean {
    return this.#machine.done;
  }

  push(chunk: Uint8Array): void {
    this.#machine.push(chunk);
  }

  finish(): Snapshot {
    const machine = this.#machine;
    machine.end();
    const { heap, records } = machine;
    const root = itemsOf(heap, records, machine.root);
    const traces = root?.get("device_traces");
    const segments = root?.get("segments");
    if (!root || traces === undefined || segments === undefined) {
      throw new UserError(
        "not a memory snapshot: a pickle without device_traces and segments",
        "a snapshot is written by torch.cuda.memory._dump_snapshot(path)",
      );
    }
    const allocatorSettings = settings(heap, records, root.get("allocator_settings"));
    const allocConf = confOf(allocatorSettings);
    const segmentRows = segmentsByDevice(heap, records, segments);
    const traceLists = listItems(heap, traces, "device_traces");
    const annotations = annotationsOf(heap, records, root.get("external_annotations"));
    const text = stackTexts(records);

    const devices: DeviceSnapshot[] = [];
    const highest = Math.max(traceLists.length - 1, ...segmentRows.keys());
    for (const device of deviceNumbers(traceLists.length, segmentRows, highest)) {
      const rows = segmentRows.get(device) ?? [];
      const events =
        device < traceLists.length
          ? eventRows(heap, records, traceLists[device]!, device)
          : new Int32Array(0);
      if (rows.length === 0 && events.length === 0) continue;
      const columns = segmentColumns(records, heap, rows);
      const ids = new Int32Array(records.stacks.size).fill(-1);
      const stackId = (tape: Tape, stack: number): number => {
        const known = ids[stack]!;
        return known >= 0 ? known : (ids[stack] = tape.stacks.id(text(stack)));
      };
      const { tape, ignored } = historyTape(records, events, columns, stackId, { device, allocConf });
      relabelStacks(columns, (stack) => stackId(tape, stack));
      devices.push({ device, tape, segments: columns, ignored });
    }
    return { devices, allocatorSettings, allocConf, annotations };
  }
}

function deviceNumbers(traces: number, segments: ReadonlyMap<number, unknown>, highest: number): number[] {
  const numbers = new Set<number>(segments.keys());
  for (let device = 0; device < traces; device++) numbers.add(device);
  return [...numbers].filter((device) => device <= highest).sort((a, b) => a - b);
}

/** Each distinct stack becomes text once, however many devices ask. */
function stackTexts(records: Records): (stack: number) => string {
  const frames: string[] = [];
  const texts: string[] = [];
  let total = 0;
  const frame = (id: number): string => {
    const [name, file, line] = records.frames.items(id);
    return (frames[id] ??=
      `${records.strings.text(file!)}:${line!}:${records.strings.text(name!)}`.replaceAll("\n", " "));
  };
  return (stack) => {
    let text = texts[stack];
    if (text === undefined) {
      text = Array.from(records.stacks.items(stack), frame).join("\n");
      total += text.length;
      if (total > MAX_STACK_TEXT)
        throw new UserError(`the distinct stacks take more than ${MAX_STACK_TEXT} characters`);
      texts[stack] = text;
    }
    return text;
  };
}

function listItems(heap: Heap, ref: number, what: string): Int32Array {
  if ((ref & 7) !== LIST) throw new UserError(`the snapshot's ${what} is not a list`);
  return heap.isSealed(ref >> 3) ? new Int32Array(0) : heap.items(ref >> 3);
}

function eventRows(heap: Heap, records: Records, trace: number, device: number): Int32Array {
  const rows = Int32Array.from(listItems(heap, trace, `trace of device ${device}`));
  for (let at = 0; at < rows.length; at++) {
    const body = records.record(rows[at]!);
    if ((body & 7) !== EVENT)
      throw new UserError(`device ${device}: event ${at} is not an event (it has no action)`);
    rows[at] = body >> 3;
  }
  return rows;
}

function annotationsOf(heap: Heap, records: Records, ref: number | undefined): Annotation[] {
  if (ref === undefined) return [];
  return Array.from(listItems(heap, ref, "external_annotations"), (item) => {
    const body = records.record(item);
    const found = (body & 7) === ANNOTATION ? records.annotations[body >> 3] : undefined;
    if (!found) throw new UserError("the external_annotations hold something that is not an annotation");
    return found;
  });
}

function segmentsByDevice(heap: Heap, records: Records, ref: number): Map<number, number[]> {
  const found = new Map<number, number[]>();
  for (const item of listItems(heap, ref, "segments")) {
    const body = records.record(item);
    if ((body & 7) !== SEGMENT)
      throw new UserError("the snapshot's segments hold something that is not a segment");
    const device = records.segments.get(body >> 3, 0);
    const rows = found.get(device);
    if (rows) rows.push(body >> 3);
    else if (found.size === 1024) throw new UserError("segments of more than 1024 devices");
    else found.set(device, [body >> 3]);
  }
  return found;
}

/** A generic dict's items by their text; undefined for anything else. */
function itemsOf(heap: Heap, records: Records, ref: number): Map<string, number> | undefined {
  if ((ref & 7) !== DICT || heap.bodies[ref >> 3]! > 0) return undefined;
  const items = new Map<string, number>();
  let count = 0;
  heap.eachItem(ref >> 3, (key, value) => {
    if (++count > MAX_SETTINGS)
      throw new UserError(`a dict of more than ${MAX_SETTINGS} items where settings were expected`);
    const name = (key & 7) === STRING ? records.strings.text(key >> 3) : undefined;
    if (name !== undefined && !items.has(name)) items.set(name, value);
  });
  return items;
}

function settings(
  heap: Heap,
  records: Records,
  ref: number | undefined,
): { readonly [key: string]: Setting } {
  let count = 0;
  const convert = (value: number, depth: number): Setting => {
    if (++count > MAX_SETTINGS)
      throw new UserError(`allocator_settings holds more than ${MAX_SETTINGS} values`);
    if ((value & 7) === BOXED) return heap.number(value);
    if ((value & 7) === STRING) return records.strings.text(value >> 3);
    if (value === TRUE || value === FALSE) return value === TRUE;
    const items = depth < 4 ? itemsOf(heap, records, value) : undefined;
    if (!items) return null;
    return Object.fromEntries([...items].reverse().map(([key, item]) => [key, convert(item, depth + 1)]));
  };
  const found = convert(ref ?? NONE, 0);
  return typeof found === "object" && found !== null ? found : {};
}

/** torch 2.10 renamed the variable; the older name stays in use. */
function confOf(values: { readonly [key: string]: Setting }): string {
  for (const name of ["PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"]) {
    const value = values[name];
    if (typeof value === "string" && value !== "") return value;
  }
  return "";
}
