import { Action } from "../tape/vocabulary.ts";
import type { Records } from "./records.ts";
import type { SegmentColumns } from "./segments.ts";

/** Device memory that the allocator held before the first event. */
export interface EarlierSegment {
  readonly address: number;
  readonly bytes: number;
  readonly stream: number;
  readonly expandable: boolean;
}

interface Change {
  readonly address: number;
  readonly bytes: number;
  readonly stream: number;
  /** +1: there at the end, or given back on the way; -1: taken on the way. */
  readonly sign: number;
}

/**
 * Runs the segment events backwards from the final state: what is there at the end and was never taken, or was given
 * back and never taken, was there at the beginning.
 */
export function earlierSegments(
  records: Records,
  events: Int32Array,
  final: SegmentColumns,
): EarlierSegment[] {
  const fixed: Change[] = [];
  const ranges: Change[] = [];
  for (let at = 0; at < final.length; at++) {
    const change = {
      address: final.address[at]!,
      bytes: final.bytes[at]!,
      stream: final.stream[at]!,
      sign: 1,
    };
    (final.expandable[at] ? ranges : fixed).push(change);
  }
  for (const event of events) {
    const code = records.action[event]!;
    if (code < Action.segment_alloc || code > Action.segment_unmap) continue;
    const taken = code === Action.segment_alloc || code === Action.segment_map;
    const isRange = code === Action.segment_map || code === Action.segment_unmap;
    (isRange ? ranges : fixed).push({
      address: records.address[event]!,
      bytes: records.bytes[event]!,
      stream: records.streams[records.stream[event]!]!,
      sign: taken ? -1 : 1,
    });
  }
  return [...wholeSegments(fixed), ...mappedRanges(ranges)];
}

/** cudaMalloc'd segments come and go whole, each under its own address. */
function wholeSegments(changes: readonly Change[]): EarlierSegment[] {
  const sums = new Map<string, { change: Change; sum: number }>();
  for (const change of changes) {
    const key = `${change.address} ${change.bytes}`;
    const found = sums.get(key);
    if (found) found.sum += change.sign;
    else sums.set(key, { change, sum: change.sign });
  }
  return [...sums.values()]
    .filter(({ sum }) => sum > 0)
    .map(({ change: { address, bytes, stream } }) => ({ address, bytes, stream, expandable: false }))
    .sort((a, b) => a.address - b.address);
}

/** Expandable segments grow and shrink by ranges that split and join, so their borders are swept. */
function mappedRanges(changes: readonly Change[]): EarlierSegment[] {
  const borders = changes.flatMap(({ address, bytes, stream, sign }) => [
    { at: address, sign, stream },
    { at: address + bytes, sign: -sign, stream },
  ]);
  borders.sort((a, b) => a.at - b.at);
  const found: EarlierSegment[] = [];
  let covered = 0;
  let begin = 0;
  let stream = 0;
  for (let i = 0; i < borders.length;) {
    const at = borders[i]!.at;
    const before = covered;
    const first = borders[i]!;
    for (; i < borders.length && borders[i]!.at === at; i++) covered += borders[i]!.sign;
    if (before > 0 && covered <= 0)
      found.push({ address: begin, bytes: at - begin, stream, expandable: true });
    if (before <= 0 && covered > 0) {
      begin = at;
      stream = first.stream;
    }
  }
  return found;
}
