import type { Bytes } from "../base/units.ts";
import { type Dimension, keyOf } from "./makeup.ts";
import { ABSENT, type Lifetimes } from "./lifetimes.ts";
import type { Tape } from "./tape.ts";

/** Of what one step allocated, how much outlived it. Step 0 is everything before the first step. */
export interface StepSurvivors {
  readonly step: number;
  /** Allocated during the step. */
  readonly allocated: Bytes;
  /** … and alive when the step ended, */
  readonly atStepEnd: Bytes;
  /** … when the step after it ended (equal to `atStepEnd` for the last step), */
  readonly afterNext: Bytes;
  /** … when the tape ended. */
  readonly atEnd: Bytes;
}

/** Last row of each step, by step number; a step without rows ends where the one before it did. */
export function stepEnds(tape: Tape): Int32Array {
  const { step } = tape.columns;
  let last = 0;
  for (let row = 0; row < tape.length; row++) if (step[row]! > last) last = step[row]!;
  const ends = new Int32Array(last + 1).fill(-1);
  for (let row = 0; row < tape.length; row++) ends[step[row]!] = row;
  for (let at = 1; at <= last; at++) if (ends[at]! < ends[at - 1]!) ends[at] = ends[at - 1]!;
  return ends;
}

export function stepSurvivors(tape: Tape, lives: Lifetimes): StepSurvivors[] {
  const ends = stepEnds(tape);
  const table = Array.from(ends, (_, step) => ({ step, allocated: 0, atStepEnd: 0, afterNext: 0, atEnd: 0 }));
  for (let id = 0; id < lives.born.length; id++) {
    if (lives.born[id] === ABSENT) continue;
    const at = lives.born[id]! < 0 ? 0 : tape.columns.step[lives.born[id]!]!;
    const died = lives.died[id]!;
    const bytes = lives.bytes[id]!;
    const line = table[at]!;
    line.allocated += bytes;
    if (died > ends[at]!) line.atStepEnd += bytes;
    if (died > (ends[at + 1] ?? ends[at]!)) line.afterNext += bytes;
    if (died >= tape.length) line.atEnd += bytes;
  }
  return table;
}

/** One group's bytes and number of storages alive at the end of the tape, by the step that allocated them. */
export interface Residue {
  readonly key: number;
  readonly bytes: Float64Array;
  readonly count: Int32Array;
}

export function residueBy(tape: Tape, lives: Lifetimes, dimension: Dimension): Residue[] {
  const steps = stepEnds(tape).length;
  const groups = new Map<number, Residue>();
  for (let id = 0; id < lives.born.length; id++) {
    if (lives.born[id] === ABSENT || lives.died[id]! < tape.length) continue;
    const key = keyOf(tape, lives, dimension, id);
    let group = groups.get(key);
    if (!group)
      groups.set(key, (group = { key, bytes: new Float64Array(steps), count: new Int32Array(steps) }));
    const step = keyOf(tape, lives, "step", id);
    group.bytes[step]! += lives.bytes[id]!;
    group.count[step]!++;
  }
  return [...groups.values()];
}
