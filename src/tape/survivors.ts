import type { Bytes } from "../base/units.ts";
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
