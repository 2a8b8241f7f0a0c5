import { unpackPage, type PageHead } from "../model.ts";
import { unfold } from "../varint.ts";
import { Extremes } from "./extremes.ts";

/** Everything the page draws from, unpacked: one entry a position (see model.ts), one a storage. */
export interface Recording {
  readonly head: PageHead;
  /** Row of the tape at each position; null when they are the same. */
  readonly row: Float64Array | null;
  /** Microseconds since the first position; null without times. */
  readonly time: Float64Array | null;
  readonly phase: Uint8Array;
  readonly step: Int32Array;
  /** Requested bytes alive. */
  readonly allocated: Float64Array;
  /** The same by kind; null for kinds that never occur. */
  readonly byKind: readonly (Float64Array | null)[];
  /** Null when nothing is known of segments. */
  readonly reserved: Float64Array | null;
  readonly highest: Extremes;
  readonly lowest: Extremes;
  readonly highestReserved: Extremes | null;
  readonly born: Int32Array;
  readonly died: Int32Array;
  readonly bytes: Float64Array;
  readonly site: Int32Array;
}

/** What storages of one site have in common. */
export interface Site {
  readonly stack: number;
  readonly kind: number;
  readonly module: number;
  readonly phase: number;
}

export function siteOf(head: PageHead, id: number): Site {
  const [stack, kind, module, phase] = head.sites.slice(id * 4, id * 4 + 4) as [
    number,
    number,
    number,
    number,
  ];
  return { stack, kind, module, phase };
}

export async function readRecording(base64: string): Promise<Recording> {
  const zipped = Uint8Array.from(atob(base64.trim()), (character) => character.charCodeAt(0));
  const stream = new Blob([zipped]).stream().pipeThrough(new DecompressionStream("gzip"));
  return unpacked(new Uint8Array(await new Response(stream).arrayBuffer()));
}

function unpacked(packed: Uint8Array): Recording {
  const { head, columns } = unpackPage(packed);
  const length = head.positions;
  const row = columns.row.length > 0 ? summed(columns.row) : null;
  const time = columns.time.length > 0 ? summed(columns.time) : null;

  const phase = new Uint8Array(length);
  const step = new Int32Array(length);
  for (let run = 0, from = 0, number = 0; run < columns.runLength.length; run++) {
    const to = from + columns.runLength[run]!;
    number += unfold(columns.runStep[run]!);
    phase.fill(columns.runPhase[run]!, from, to);
    step.fill(number, from, to);
    from = to;
  }

  const count = columns.born.length;
  const born = new Int32Array(count);
  const died = new Int32Array(count);
  const bytes = new Float64Array(count);
  const site = Int32Array.from(columns.site);
  const byKind: (Float64Array | null)[] = head.kinds.map(() => null);
  for (let id = 0, at = 0; id < count; id++) {
    at += columns.born[id]!;
    const life = columns.life[id]!;
    born[id] = at;
    died[id] = life === 0 ? length : at + life;
    bytes[id] = head.sizes[columns.size[id]!]!;
    const curve = (byKind[head.sites[site[id]! * 4 + 1]!] ??= new Float64Array(length));
    curve[at]! += bytes[id]!;
    if (life > 0) curve[at + life]! -= bytes[id]!;
  }
  const allocated = new Float64Array(length);
  for (const curve of byKind) {
    if (!curve) continue;
    for (let at = 0, value = 0; at < length; at++) {
      curve[at] = value += curve[at]!;
      allocated[at]! += value;
    }
  }

  const reserved = columns.reservedAt.length > 0 ? new Float64Array(length) : null;
  if (reserved) {
    for (let change = 0, at = 0, value = 0; change < columns.reservedAt.length; change++) {
      at += columns.reservedAt[change]!;
      value += unfold(columns.reservedBy[change]!);
      reserved.fill(
        value,
        at,
        change + 1 < columns.reservedAt.length ? at + columns.reservedAt[change + 1]! : length,
      );
    }
  }
  return {
    head,
    row,
    time,
    phase,
    step,
    allocated,
    byKind,
    reserved,
    highest: new Extremes(allocated, 1),
    lowest: new Extremes(allocated, -1),
    highestReserved: reserved && new Extremes(reserved, 1),
    born,
    died,
    bytes,
    site,
  };
}

function summed(differences: Float64Array): Float64Array {
  const values = new Float64Array(differences.length);
  for (let at = 0, value = 0; at < values.length; at++) values[at] = value += differences[at]!;
  return values;
}

/** Bytes and number of live storages by site just after a position. */
export function liveBySite(
  recording: Recording,
  position: number,
): Map<number, { bytes: number; count: number }> {
  const { born, died, bytes, site } = recording;
  const live = new Map<number, { bytes: number; count: number }>();
  // In order of birth: nothing after the first later one is alive.
  for (let id = 0; id < born.length && born[id]! <= position; id++) {
    if (died[id]! <= position) continue;
    const known = live.get(site[id]!);
    if (known) {
      known.bytes += bytes[id]!;
      known.count++;
    } else live.set(site[id]!, { bytes: bytes[id]!, count: 1 });
  }
  return live;
}

/** First storage born at or after a position. */
export function firstBorn({ born }: Recording, position: number): number {
  return lowerBound(born, position);
}

/** First index whose value is not below `value`, in a sorted array. */
export function lowerBound(sorted: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
