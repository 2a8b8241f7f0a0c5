import type { Lifetimes } from "../tape/lifetimes.ts";
import { groupBy, keyOf, labelOf, type Dimension } from "../tape/makeup.ts";
import type { Tape } from "../tape/tape.ts";
import { KINDS, PHASES } from "../tape/vocabulary.ts";
import { allocationFrame, parseStack, userFrame } from "./frames.ts";
import type { Share, Site, SiteShare } from "./result.ts";

/** Where the row happened. */
export function siteOf(tape: Tape, row: number): Site {
  const { stack, module, kind, phase } = tape.columns;
  const known = row >= 0;
  const id = known ? stack[row]! : 0;
  const frames = parseStack(tape.stacks.text(id));
  return {
    allocation: allocationFrame(frames),
    user: userFrame(frames),
    stack: id,
    module: known ? tape.modules.text(module[row]!) : "",
    kind: KINDS[known ? kind[row]! : 0]!,
    phase: PHASES[known ? phase[row]! : 0]!,
  };
}

interface Group {
  row: number;
  bytes: number;
  count: number;
  largest: number;
}

/** Storages by stack and kind (one stack can make both a workspace and an activation), largest first. */
export function bySite(tape: Tape, lives: Lifetimes, ids: Iterable<number>): SiteShare[] {
  const groups = new Map<number, Group>();
  for (const id of ids) {
    const key = keyOf(tape, lives, "stack", id) * KINDS.length + keyOf(tape, lives, "kind", id);
    let group = groups.get(key);
    if (!group) groups.set(key, (group = { row: lives.born[id]!, bytes: 0, count: 0, largest: 0 }));
    const bytes = lives.bytes[id]!;
    group.bytes += bytes;
    group.count++;
    if (bytes > group.largest) group.largest = bytes;
  }
  return [...groups.values()]
    .sort((a, b) => b.bytes - a.bytes || a.row - b.row)
    .map(({ row, ...share }) => Object.assign(siteOf(tape, row), share));
}

export function shares(tape: Tape, lives: Lifetimes, ids: Int32Array, dimension: Dimension): Share[] {
  return groupBy(tape, lives, ids, dimension).map(({ key, bytes, count }) => ({
    label: labelOf(tape, dimension, key),
    bytes,
    count,
  }));
}
