import type { Tape } from "./tape.ts";
import { Action } from "./vocabulary.ts";

/**
 * When each storage was alive, indexed by storage id.
 *
 * "Alive" means counted as allocated: a storage ends at its `free` or `free_requested`, because the allocator's
 * counters drop there, though another stream may keep the block from being reused until `free_completed`.
 */
export interface Lifetimes {
  /** Row of the alloc; -1 when the storage was already alive before the first row; ABSENT for an unused id. */
  readonly born: Int32Array;
  /** Row at which it stopped being allocated; the tape's length when it is alive at the end. */
  readonly died: Int32Array;
  /** Requested bytes. */
  readonly bytes: Float64Array;
}

export const ABSENT = -2;

export function lifetimes(tape: Tape): Lifetimes {
  const { action, storage, bytes } = tape.columns;
  const rows = tape.length;
  let ids = 0;
  for (let row = 0; row < rows; row++) if (storage[row]! >= ids) ids = storage[row]! + 1;

  const born = new Int32Array(ids).fill(ABSENT);
  const died = new Int32Array(ids).fill(rows);
  const size = new Float64Array(ids);
  for (let row = 0; row < rows; row++) {
    const id = storage[row]!;
    if (id < 0) continue;
    const what = action[row]!;
    if (what === Action.alloc) {
      if (born[id] !== ABSENT) continue;
      born[id] = row;
      size[id] = bytes[row]!;
    } else if (what === Action.free || what === Action.free_requested) {
      if (died[id] !== rows) continue;
      if (born[id] === ABSENT) {
        born[id] = -1;
        size[id] = bytes[row]!;
      }
      died[id] = row;
    }
  }
  return { born, died, bytes: size };
}

/** Ids of the storages alive just after `row`, in order of id. */
export function liveAt(lives: Lifetimes, row: number): Int32Array {
  const { born, died } = lives;
  let count = 0;
  for (let id = 0; id < born.length; id++)
    if (born[id]! !== ABSENT && born[id]! <= row && died[id]! > row) count++;
  const live = new Int32Array(count);
  let at = 0;
  for (let id = 0; id < born.length; id++)
    if (born[id]! !== ABSENT && born[id]! <= row && died[id]! > row) live[at++] = id;
  return live;
}
