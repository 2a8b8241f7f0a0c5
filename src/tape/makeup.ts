import type { Bytes } from "../base/units.ts";
import { formatBytes } from "../base/units.ts";
import type { Lifetimes } from "./lifetimes.ts";
import type { Tape } from "./tape.ts";
import { KINDS, PHASES } from "./vocabulary.ts";

/** What a set of storages can be grouped by. */
export type Dimension = "kind" | "module" | "phase" | "stack" | "step" | "size";

export interface Group {
  /** The value of the dimension: a vocabulary code, an interner id, a step number or a size in bytes. */
  readonly key: number;
  readonly bytes: Bytes;
  readonly count: number;
}

/** A storage has the kind, module, phase, stack and step of the row that allocated it; 0 when that row is lost. */
export function keyOf(tape: Tape, lives: Lifetimes, dimension: Dimension, id: number): number {
  if (dimension === "size") return lives.bytes[id]!;
  const row = lives.born[id]!;
  return row < 0 ? 0 : tape.columns[dimension][row]!;
}

/** Largest group first; equals in order of key. */
export function groupBy(tape: Tape, lives: Lifetimes, ids: Int32Array, dimension: Dimension): Group[] {
  const groups = new Map<number, { key: number; bytes: Bytes; count: number }>();
  for (let at = 0; at < ids.length; at++) {
    const id = ids[at]!;
    const key = keyOf(tape, lives, dimension, id);
    let group = groups.get(key);
    if (!group) groups.set(key, (group = { key, bytes: 0, count: 0 }));
    group.bytes += lives.bytes[id]!;
    group.count++;
  }
  return [...groups.values()].sort((a, b) => b.bytes - a.bytes || a.key - b.key);
}

export function labelOf(tape: Tape, dimension: Dimension, key: number): string {
  switch (dimension) {
    case "kind":
      return KINDS[key] ?? "unknown";
    case "phase":
      return PHASES[key] ?? "unknown";
    case "module":
      return tape.modules.text(key);
    case "stack":
      return tape.stacks.text(key);
    case "step":
      return `step ${key}`;
    case "size":
      return formatBytes(key);
  }
}
