import { UserError } from "../base/errors.ts";
import { DEFAULT_SETTINGS, parseSettings, type AllocatorSettings } from "../allocator/settings.ts";
import { allocatedCurve, peakOf, phasePeaks, reservedCurve } from "../tape/curve.ts";
import { type Lifetimes, lifetimes, liveAt } from "../tape/lifetimes.ts";
import type { Tape } from "../tape/tape.ts";
import { PHASES } from "../tape/vocabulary.ts";
import { attribute } from "./attribute.ts";
import { growthOf } from "./growth.ts";
import { layoutAt } from "./layout.ts";
import { oomsOf } from "./oom.ts";
import type { Fragmentation, Inspection, PeakReport } from "./result.ts";
import { bySite, shares } from "./sites.ts";
import type { Mark } from "./steps.ts";

/** What a snapshot knows beyond its tape. */
export interface Recording {
  readonly marks: readonly Mark[];
  /** The exact layout when the snapshot was taken. */
  readonly final: Fragmentation;
}

/** `recording` for a tape fresh from a snapshot; without it the tape's own step, phase and kind are taken as they are. */
export function inspect(tape: Tape, file: string, recording?: Recording): Inspection {
  const lives = recording ? attribute(tape, recording.marks) : lifetimes(tape);
  const allocated = allocatedCurve(tape, lives);
  const reserved = reservedCurve(tape, recording?.final.reserved);
  const settings = settingsOf(tape);
  const peak = peakReport(tape, lives, allocated, reserved);
  const growth = growthOf(tape, lives, allocated, peak.allocated);
  const reservedPeak = peakOf(reserved);
  return {
    tape,
    lives,
    allocated,
    reserved,
    result: {
      schema: "plimsoll.inspect/1",
      file,
      source: tape.info.source,
      device: tape.info.device,
      events: tape.length,
      steps: growth.steps.length,
      truncated: tape.info.truncated,
      frames: tape.stacks.size > 1,
      allocConf: tape.info.allocConf,
      peak,
      reservedPeak,
      phasePeaks: phasePeaks(tape, allocated),
      growth,
      fragmentation: recording?.final ?? layoutAt(tape, tape.length - 1, settings),
      fragmentationAtPeak: layoutAt(tape, reservedPeak.row, settings),
      ooms: oomsOf(tape, lives, allocated, reserved, settings),
    },
  };
}

function peakReport(
  tape: Tape,
  lives: Lifetimes,
  allocated: Float64Array,
  reserved: Float64Array,
): PeakReport {
  const { row, bytes } = peakOf(allocated);
  const live = liveAt(lives, row);
  return {
    row,
    allocated: bytes,
    reserved: row < 0 ? 0 : reserved[row]!,
    step: row < 0 ? 0 : tape.columns.step[row]!,
    phase: PHASES[row < 0 ? 0 : tape.columns.phase[row]!]!,
    byKind: shares(tape, lives, live, "kind"),
    byPhase: shares(tape, lives, live, "phase"),
    byModule: shares(tape, lives, live, "module"),
    bySize: shares(tape, lives, live, "size"),
    bySite: bySite(tape, lives, live),
  };
}

/** A recorded setting that this version does not know must not keep the rest of the file from being read. */
function settingsOf(tape: Tape): AllocatorSettings {
  try {
    return parseSettings(tape.info.allocConf);
  } catch (error) {
    if (error instanceof UserError) return DEFAULT_SETTINGS;
    throw error;
  }
}
