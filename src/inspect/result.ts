import type { Bytes } from "../base/units.ts";
import type { Lifetimes } from "../tape/lifetimes.ts";
import type { Tape } from "../tape/tape.ts";
import type { KindName, PhaseName } from "../tape/vocabulary.ts";

/** A line of Python. */
export interface Frame {
  readonly file: string;
  readonly line: number;
  readonly function: string;
}

/** A part of a total. */
export interface Share {
  readonly label: string;
  readonly bytes: Bytes;
  readonly count: number;
}

/** Where in the program storages were allocated. */
export interface Site {
  /** The line that allocated: the innermost frame that is not plumbing. Null when no frames were recorded. */
  readonly allocation: Frame | null;
  /** The innermost line of the user's own code (outside installed packages). */
  readonly user: Frame | null;
  /** Id in the tape's stacks, for the whole stack. */
  readonly stack: number;
  readonly module: string;
  readonly kind: KindName;
  readonly phase: PhaseName;
}

export interface SiteShare extends Site {
  readonly bytes: Bytes;
  readonly count: number;
  /** Bytes of the largest single storage. */
  readonly largest: Bytes;
}

export interface PeakReport {
  /** Row of the tape; -1 on an empty tape. */
  readonly row: number;
  /** Requested bytes alive. */
  readonly allocated: Bytes;
  /** Reserved from the device at that row. */
  readonly reserved: Bytes;
  readonly step: number;
  readonly phase: PhaseName;
  readonly byKind: readonly Share[];
  readonly byPhase: readonly Share[];
  readonly byModule: readonly Share[];
  /** Labels are sizes of a single storage. */
  readonly bySize: readonly Share[];
  readonly bySite: readonly SiteShare[];
}

export interface PhasePeakReport {
  readonly phase: PhaseName;
  readonly bytes: Bytes;
  readonly row: number;
}

export interface StepReport {
  readonly step: number;
  /** Highest allocated value within the step. */
  readonly peak: Bytes;
  /** Allocated when the step ended. */
  readonly atEnd: Bytes;
  /** `atEnd` less the step before's. */
  readonly growth: Bytes;
}

/** Storages from one line of the user's code that pile up, step after step. */
export interface Leak {
  /** The line that called the model, or made the storages outside one. */
  readonly user: Frame | null;
  /** What each step adds, on average over the steps in which it grew. */
  readonly perStep: Bytes;
  /** Held at the end of the last step. */
  readonly held: Bytes;
  readonly count: number;
  /** Held at the end of each step, step 1 first. */
  readonly heldByStep: readonly Bytes[];
  /** The allocations behind it, largest first. */
  readonly sites: readonly SiteShare[];
}

export interface GrowthReport {
  /**
   * leak: something grows in every step and is never let go; steady: nothing grows after the first step;
   * unknown: fewer than three steps were recorded, too few to tell growth from warm-up.
   */
  readonly verdict: "leak" | "steady" | "unknown";
  readonly steps: readonly StepReport[];
  readonly leaks: readonly Leak[];
  /** Allocated in the first step and kept, as expected: optimizer state and one-off buffers. */
  readonly warmUp: readonly Share[];
  /** Made by the last step and still in scope when the recording ended. */
  readonly lastStep: readonly Share[];
}

/** How the reserved bytes were cut up at one moment. */
export interface Fragmentation {
  readonly reserved: Bytes;
  /** In blocks that hold live or pending storages, rounding and unsplit remainders included. */
  readonly active: Bytes;
  readonly free: Bytes;
  readonly freeBlocks: number;
  readonly largestFree: Bytes;
  /** Free bytes in segments that also hold something live: empty_cache() cannot give these back. */
  readonly trapped: Bytes;
}

export interface OomReport {
  readonly row: number;
  readonly step: number;
  readonly phase: PhaseName;
  readonly site: Site;
  /** What was asked for, after rounding. */
  readonly asked: Bytes;
  /** Free on the device as the driver reported it; null when the recording does not say. */
  readonly deviceFree: Bytes | null;
  readonly allocated: Bytes;
  readonly layout: Fragmentation;
  /**
   * full: even in one piece, the free bytes would not have been enough; fragmented: enough was free, in pieces too
   * small.
   */
  readonly cause: "full" | "fragmented";
  /** True when the device itself had room: a limit on the process (memory fraction) refused. */
  readonly capped: boolean;
  /** Bytes missing: how much less had to be held, or asked, for the request to succeed. */
  readonly short: Bytes;
  readonly byKind: readonly Share[];
  readonly bySite: readonly SiteShare[];
}

/** What `plimsoll inspect` found: plain data, the `--json` output as it is. */
export interface InspectResult {
  readonly schema: "plimsoll.inspect/1";
  readonly file: string;
  readonly source: string;
  readonly device: number;
  readonly events: number;
  readonly steps: number;
  /** The recording's beginning is missing (ring buffer): what was allocated before has no stack. */
  readonly truncated: boolean;
  /** Whether Python stacks were recorded. */
  readonly frames: boolean;
  readonly allocConf: string;
  readonly peak: PeakReport;
  readonly reservedPeak: { readonly row: number; readonly bytes: Bytes };
  readonly phasePeaks: readonly PhasePeakReport[];
  readonly growth: GrowthReport;
  /** At the end of the recording. Null for a tape without addresses or segments. */
  readonly fragmentation: Fragmentation | null;
  /** Where reserved was highest. */
  readonly fragmentationAtPeak: Fragmentation | null;
  /** Failed allocations, the last five at most, in order. */
  readonly ooms: readonly OomReport[];
}

/** The result with what the pictures need. */
export interface Inspection {
  readonly result: InspectResult;
  readonly tape: Tape;
  readonly lives: Lifetimes;
  /** Allocated and reserved bytes after each row. */
  readonly allocated: Float64Array;
  readonly reserved: Float64Array;
}
