import type { Bytes } from "../base/units.ts";
import { ABSENT, type Lifetimes } from "./lifetimes.ts";
import type { Tape } from "./tape.ts";
import { Action, PHASES, type PhaseName } from "./vocabulary.ts";

/** Allocated bytes after each row. A tape's "allocated" is what was requested: rounding belongs to allocator/. */
export function allocatedCurve(tape: Tape, lives: Lifetimes): Float64Array {
  const curve = new Float64Array(tape.length);
  let before = 0;
  for (let id = 0; id < lives.born.length; id++) {
    const born = lives.born[id]!;
    if (born === ABSENT) continue;
    const bytes = lives.bytes[id]!;
    if (born < 0) before += bytes;
    else curve[born]! += bytes;
    if (lives.died[id]! < curve.length) curve[lives.died[id]!]! -= bytes;
  }
  for (let row = 0, value = before; row < curve.length; row++) curve[row] = value += curve[row]!;
  return curve;
}

/**
 * Reserved bytes after each row, from the recorded segment events; all zero on a tape that has none.
 * `atEnd`, when known, fixes the level of a tape whose beginning is missing.
 */
export function reservedCurve(tape: Tape, atEnd?: Bytes): Float64Array {
  const { action, bytes } = tape.columns;
  const curve = new Float64Array(tape.length);
  let value = 0;
  for (let row = 0; row < curve.length; row++) {
    const what = action[row]!;
    if (what === Action.segment_alloc || what === Action.segment_map) value += bytes[row]!;
    else if (what === Action.segment_free || what === Action.segment_unmap) value -= bytes[row]!;
    curve[row] = value;
  }
  const missing = atEnd === undefined ? 0 : atEnd - value;
  if (missing !== 0) for (let row = 0; row < curve.length; row++) curve[row]! += missing;
  return curve;
}

/** The row where a quantity was highest (the first of equals); row -1 on an empty tape. */
export interface Peak {
  readonly row: number;
  readonly bytes: Bytes;
}

export function peakOf(curve: Float64Array): Peak {
  let row = curve.length > 0 ? 0 : -1;
  for (let at = 1; at < curve.length; at++) if (curve[at]! > curve[row]!) row = at;
  return { row, bytes: row < 0 ? 0 : curve[row]! };
}

/** The peak within the rows of each phase, for the phases that occur, in the vocabulary's order. */
export function phasePeaks(tape: Tape, curve: Float64Array): (Peak & { readonly phase: PhaseName })[] {
  const { phase } = tape.columns;
  const best = new Int32Array(PHASES.length).fill(-1);
  for (let row = 0; row < curve.length; row++) {
    const code = phase[row]!;
    if (best[code]! < 0 || curve[row]! > curve[best[code]!]!) best[code] = row;
  }
  return PHASES.flatMap((name, code) => {
    const row = best[code]!;
    return row < 0 ? [] : [{ phase: name, row, bytes: curve[row]! }];
  });
}
