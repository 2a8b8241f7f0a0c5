import type { Bytes } from "../../base/units.ts";
import { allocationFrame, parseStack, userFrame } from "../../inspect/frames.ts";
import { ABSENT, type Lifetimes } from "../../tape/lifetimes.ts";
import type { Tape } from "../../tape/tape.ts";
import { KINDS, PHASES } from "../../tape/vocabulary.ts";
import { place } from "../inspect-text.ts";
import { type Flag, packPage, type PageColumns } from "./model.ts";
import { positionsOf, sampleRows } from "./sample.ts";
import { fold } from "./varint.ts";

/** A million events and their storages come to about two megabytes of page. */
const MOST_POSITIONS = 1_000_000;
/**
 * What a page may hold of stacks and of module names. A process with generated code can have any number, and a
 * hostile file more: those behind the most bytes are kept.
 */
const MOST_NAMES = 20_000;
const MOST_TEXT = 8_000_000;
const MOST_FRAMES = 1_000_000;
const DEEPEST_STACK = 256;
const LONGEST_TEXT = 400;

export interface Picture {
  readonly tape: Tape;
  readonly lives: Lifetimes;
  /** Requested bytes after each row. */
  readonly allocated: Float64Array;
  /** Reserved bytes after each row. */
  readonly reserved: Float64Array;
  readonly flags: readonly { readonly row: number; readonly label: string; readonly what: Flag["what"] }[];
  readonly limit: Bytes | null;
  readonly predicted: boolean;
}

export interface PageData {
  readonly bytes: Uint8Array;
  /** What the page does not hold, in words. */
  readonly reduced: readonly string[];
}

export function pageData(picture: Picture, most = MOST_POSITIONS): PageData {
  const { tape, lives, allocated, reserved, flags } = picture;
  const rows = sampleRows(
    allocated,
    most,
    flags.map((flag) => flag.row),
  );
  const positions = positionsOf(rows, tape.length);
  const reduced: string[] = [];
  if (rows.length < tape.length) {
    const run = Math.round((2 * tape.length) / most);
    reduced.push(
      `The timeline shows ${rows.length.toLocaleString("en")} of ${tape.length.toLocaleString("en")} events: of every ${run} in a row, the lowest and the highest.`,
    );
  }
  const stacks = stackTable(tape, lives);
  const modules = moduleTable(tape, lives);
  for (const [left, what] of [
    [stacks.left, "stacks"],
    [modules.left, "module names"],
  ] as const) {
    if (left > 0)
      reduced.push(`${left.toLocaleString("en")} ${what}, those behind the fewest bytes, are shown as one.`);
  }
  const storages = storageColumns(tape, lives, positions, stacks.ids, modules.ids);
  const bytes = packPage(
    {
      events: tape.length,
      positions: rows.length,
      kinds: KINDS,
      phases: PHASES,
      modules: modules.modules,
      frames: stacks.frames,
      stacks: stacks.stacks,
      lines: stacks.lines,
      sizes: storages.sizes,
      sites: storages.sites,
      flags: flags
        .filter(({ row }) => row >= 0)
        .map(({ row, label, what }) => ({ position: positions[row]!, label, what })),
      limit: picture.limit,
      predicted: picture.predicted,
    },
    {
      row: rows.length < tape.length ? differences(rows) : [],
      time: times(tape, rows),
      ...runs(tape, rows),
      ...changes(reserved, rows),
      ...storages.columns,
    },
  );
  return { bytes, reduced };
}

const shortened = (text: string): string =>
  text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;

function differences(values: Int32Array): number[] {
  return Array.from(values, (value, at) => (at === 0 ? value : value - values[at - 1]!));
}

/** Clocks of different threads can disagree by a little: time never runs backwards on the page. */
function times(tape: Tape, rows: Int32Array): number[] {
  const { time } = tape.columns;
  if (rows.length === 0 || !(time[rows.at(-1)!]! > time[rows[0]!]!)) return [];
  let now = time[rows[0]!]!;
  return Array.from(rows, (row) => {
    const passed = Math.max(0, Math.round(time[row]! - now));
    now += passed;
    return passed;
  });
}

function runs(tape: Tape, rows: Int32Array): Pick<PageColumns, "runLength" | "runPhase" | "runStep"> {
  const { phase, step } = tape.columns;
  const runLength: number[] = [];
  const runPhase: number[] = [];
  const runStep: number[] = [];
  let before = 0;
  for (let position = 0; position < rows.length;) {
    const row = rows[position]!;
    let end = position + 1;
    while (end < rows.length && phase[rows[end]!] === phase[row] && step[rows[end]!] === step[row]) end++;
    runLength.push(end - position);
    runPhase.push(phase[row]!);
    runStep.push(fold(step[row]! - before));
    before = step[row]!;
    position = end;
  }
  return { runLength, runPhase, runStep };
}

function changes(reserved: Float64Array, rows: Int32Array): Pick<PageColumns, "reservedAt" | "reservedBy"> {
  const reservedAt: number[] = [];
  const reservedBy: number[] = [];
  let value = 0;
  let last = 0;
  for (let position = 0; position < rows.length; position++) {
    const now = reserved[rows[position]!]!;
    if (now === value) continue;
    reservedAt.push(position - last);
    reservedBy.push(fold(now - value));
    value = now;
    last = position;
  }
  return { reservedAt, reservedBy };
}

interface StackTable {
  readonly frames: readonly string[];
  readonly stacks: readonly (readonly number[])[];
  readonly lines: readonly string[];
  /** The page's id of each of the tape's stacks. */
  readonly ids: Int32Array;
  /** How many did not get one of their own. */
  readonly left: number;
}

const NOT_KEPT = "(left out of this page)";

function stackTable(tape: Tape, lives: Lifetimes): StackTable {
  const frameIds = new Map<string, number>();
  let text = 0;
  let frames = 0;
  const frameId = (frame: string): number => {
    const known = frameIds.get(frame);
    if (known !== undefined) return known;
    frameIds.set(frame, frameIds.size);
    text += frame.length;
    return frameIds.size - 1;
  };
  const stacks: number[][] = [[], [frameId(NOT_KEPT)]];
  const lines = ["", NOT_KEPT];
  const ids = new Int32Array(tape.stacks.size).fill(1);
  ids[0] = 0;
  const used = byWeight(tape, lives, "stack");
  for (const id of used) {
    if (stacks.length > MOST_NAMES || text > MOST_TEXT || frames > MOST_FRAMES) break;
    const stack = tape.stacks.text(id);
    const own = outermostFirst(stack).map(frameId);
    frames += own.length;
    ids[id] = stacks.length;
    stacks.push(own);
    const parsed = parseStack(stack);
    const line = place({ allocation: allocationFrame(parsed), user: userFrame(parsed), phase: "unknown" });
    lines.push(shortened(line));
  }
  return { frames: [...frameIds.keys()], stacks, lines, ids, left: used.length - (stacks.length - 2) };
}

/** A runaway recursion keeps both its ends. */
function outermostFirst(stack: string): string[] {
  const frames = stack.split("\n").reverse();
  const half = DEEPEST_STACK / 2;
  const kept =
    frames.length <= DEEPEST_STACK
      ? frames
      : [...frames.slice(0, half), `… ${frames.length - DEEPEST_STACK} frames …`, ...frames.slice(-half)];
  return kept.map(shortened);
}

interface ModuleTable {
  readonly modules: readonly string[];
  readonly ids: Int32Array;
  readonly left: number;
}

function moduleTable(tape: Tape, lives: Lifetimes): ModuleTable {
  const modules = ["", NOT_KEPT];
  const ids = new Int32Array(tape.modules.size).fill(1);
  ids[0] = 0;
  let text = 0;
  const used = byWeight(tape, lives, "module");
  for (const id of used) {
    if (modules.length > MOST_NAMES || text > MOST_TEXT) break;
    const name = shortened(tape.modules.text(id));
    text += name.length;
    ids[id] = modules.length;
    modules.push(name);
  }
  return { modules, ids, left: used.length - (modules.length - 2) };
}

/** Ids that storages carry, by the bytes they made, most first. Zero, which is "none", is not among them. */
function byWeight(tape: Tape, lives: Lifetimes, column: "stack" | "module"): number[] {
  const ids = tape.columns[column];
  const weight = new Float64Array(column === "stack" ? tape.stacks.size : tape.modules.size);
  for (let storage = 0; storage < lives.born.length; storage++) {
    const row = lives.born[storage]!;
    // One more, so that what made only empty storages counts as used.
    if (row >= 0) weight[ids[row]!]! += lives.bytes[storage]! + 1;
  }
  return [...weight.keys()].filter((id) => id > 0 && weight[id]! > 0).sort((a, b) => weight[b]! - weight[a]!);
}

function storageColumns(
  tape: Tape,
  lives: Lifetimes,
  positions: Int32Array,
  stackIds: Int32Array,
  moduleIds: Int32Array,
): {
  readonly sizes: readonly Bytes[];
  readonly sites: readonly number[];
  readonly columns: Pick<PageColumns, "born" | "life" | "size" | "site">;
} {
  const { stack, kind, module, phase } = tape.columns;
  const shown: { id: number; born: number; died: number }[] = [];
  const end = positions[tape.length]!;
  for (let id = 0; id < lives.born.length; id++) {
    const row = lives.born[id]!;
    if (row === ABSENT) continue;
    const born = positions[Math.max(row, 0)]!;
    const died = positions[lives.died[id]!]!;
    if (born < died) shown.push({ id, born, died });
  }
  shown.sort((a, b) => a.born - b.born || a.id - b.id);
  const sizeIds = new Map<number, number>();
  const siteIds = new Map<number, number>();
  const sites: number[] = [];
  const born: number[] = [];
  const life: number[] = [];
  const size: number[] = [];
  const site: number[] = [];
  let before = 0;
  for (const one of shown) {
    born.push(one.born - before);
    before = one.born;
    life.push(one.died === end ? 0 : one.died - one.born);
    const bytes = lives.bytes[one.id]!;
    if (!sizeIds.has(bytes)) sizeIds.set(bytes, sizeIds.size);
    size.push(sizeIds.get(bytes)!);
    const row = lives.born[one.id]!;
    const parts =
      row < 0 ? [0, 0, 0, 0] : [stackIds[stack[row]!]!, kind[row]!, moduleIds[module[row]!]!, phase[row]!];
    const key =
      ((parts[0]! * tape.modules.size + parts[2]!) * KINDS.length + parts[1]!) * PHASES.length + parts[3]!;
    let id = siteIds.get(key);
    if (id === undefined) {
      siteIds.set(key, (id = siteIds.size));
      sites.push(...parts);
    }
    site.push(id);
  }
  return { sizes: [...sizeIds.keys()], sites, columns: { born, life, size, site } };
}
