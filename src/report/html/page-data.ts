import { gzipSync } from "node:zlib";
import type { Bytes } from "../../base/units.ts";
import { ABSENT, type Lifetimes } from "../../tape/lifetimes.ts";
import type { Tape } from "../../tape/tape.ts";
import { KINDS, PHASES } from "../../tape/vocabulary.ts";
import { type Flag, packPage, type PageColumns } from "./model.ts";
import { moduleTable, type ModuleTable, stackTable, type StackTable } from "./names.ts";
import { positionsOf, sampleRows } from "./sample.ts";
import { fold } from "./varint.ts";

/** A million events of a training loop come to about two megabytes: a loop repeats itself. */
const MOST_POSITIONS = 1_000_000;
/** Events without rhythm do not compress; they are thinned out, down to a fifth of that, towards this size. */
const MOST_BYTES = 4_000_000;
const FEWEST_POSITIONS = 200_000;

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
  /** Compressed (gzip). */
  readonly bytes: Uint8Array;
  /** What the page does not hold, in words. */
  readonly reduced: readonly string[];
}

export function pageData(picture: Picture, most = MOST_POSITIONS): PageData {
  const names = {
    stacks: stackTable(picture.tape, picture.lives),
    modules: moduleTable(picture.tape, picture.lives),
  };
  for (let positions = most; ;) {
    const { packed, reduced } = pack(picture, names, positions);
    const bytes = gzipSync(packed);
    if (bytes.length <= MOST_BYTES || positions <= FEWEST_POSITIONS) return { bytes, reduced };
    const shown = Math.min(positions, picture.tape.length);
    positions = Math.max(FEWEST_POSITIONS, Math.floor((shown * MOST_BYTES * 0.9) / bytes.length));
  }
}

interface Names {
  readonly stacks: StackTable;
  readonly modules: ModuleTable;
}

function pack(
  picture: Picture,
  { stacks, modules }: Names,
  most: number,
): { readonly packed: Uint8Array; readonly reduced: readonly string[] } {
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
  for (const [left, what] of [
    [stacks.left, "stacks"],
    [modules.left, "module names"],
  ] as const) {
    if (left > 0)
      reduced.push(`${left.toLocaleString("en")} ${what}, those behind the fewest bytes, are shown as one.`);
  }
  const storages = storageColumns(tape, lives, positions, stacks.ids, modules.ids);
  const packed = packPage(
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
  return { packed, reduced };
}

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
  const { order, bornAt, diedAt } = storagesByBirth(tape, lives, positions);
  const end = positions[tape.length]!;
  const kinds = KINDS.length;
  const phases = PHASES.length;
  const names = tape.modules.size + 2;
  const sizeIds = new Map<number, number>();
  const siteIds = new Map<number, number>();
  const sites: number[] = [];
  const born = new Int32Array(order.length);
  const life = new Int32Array(order.length);
  const size = new Int32Array(order.length);
  const site = new Int32Array(order.length);
  let before = 0;
  for (let at = 0; at < order.length; at++) {
    const id = order[at]!;
    born[at] = bornAt[id]! - before;
    before = bornAt[id]!;
    life[at] = diedAt[id] === end ? 0 : diedAt[id]! - bornAt[id]!;
    const bytes = lives.bytes[id]!;
    let sizeId = sizeIds.get(bytes);
    if (sizeId === undefined) sizeIds.set(bytes, (sizeId = sizeIds.size));
    size[at] = sizeId;
    const row = lives.born[id]!;
    const known = row >= 0;
    const stackId = known ? stackIds[stack[row]!]! : 0;
    const kindCode = known ? kind[row]! : 0;
    const moduleId = known ? moduleIds[module[row]!]! : 0;
    const phaseCode = known ? phase[row]! : 0;
    const key = ((stackId * names + moduleId) * kinds + kindCode) * phases + phaseCode;
    let siteId = siteIds.get(key);
    if (siteId === undefined) {
      siteIds.set(key, (siteId = siteIds.size));
      sites.push(stackId, kindCode, moduleId, phaseCode);
    }
    site[at] = siteId;
  }
  return { sizes: [...sizeIds.keys()], sites, columns: { born, life, size, site } };
}

interface Births {
  /** Storages alive at a position or more, in order of birth. */
  readonly order: Int32Array;
  /** Positions, by storage. */
  readonly bornAt: Int32Array;
  readonly diedAt: Int32Array;
}

function storagesByBirth(tape: Tape, lives: Lifetimes, positions: Int32Array): Births {
  const count = lives.born.length;
  const bornAt = new Int32Array(count);
  const diedAt = new Int32Array(count);
  const starts = new Int32Array(positions[tape.length]! + 1);
  for (let id = 0; id < count; id++) {
    const row = lives.born[id]!;
    if (row === ABSENT) continue;
    bornAt[id] = positions[Math.max(row, 0)]!;
    diedAt[id] = positions[lives.died[id]!]!;
    if (bornAt[id]! < diedAt[id]!) starts[bornAt[id]! + 1]!++;
  }
  for (let position = 1; position < starts.length; position++) starts[position]! += starts[position - 1]!;
  const order = new Int32Array(starts.at(-1)!);
  for (let id = 0; id < count; id++) if (bornAt[id]! < diedAt[id]!) order[starts[bornAt[id]!]!++] = id;
  return { order, bornAt, diedAt };
}
