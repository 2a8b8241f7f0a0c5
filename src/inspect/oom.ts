import type { AllocatorSettings } from "../allocator/settings.ts";
import { type Lifetimes, liveAt } from "../tape/lifetimes.ts";
import type { Tape } from "../tape/tape.ts";
import { Action, PHASES } from "../tape/vocabulary.ts";
import { layoutAt } from "./layout.ts";
import type { OomReport } from "./result.ts";
import { bySite, shares, siteOf } from "./sites.ts";

/** A program that feels its way (halving the batch until it fits) fails many times: the last failures tell enough. */
const EXPLAINED = 5;

/**
 * The last allocations that failed. By then the allocator has already given back whatever it could (its retry), so the
 * free bytes that remain are holes between live blocks.
 */
export function oomsOf(
  tape: Tape,
  lives: Lifetimes,
  allocated: Float64Array,
  reserved: Float64Array,
  settings: AllocatorSettings,
): OomReport[] {
  const { action, bytes, address, step, phase } = tape.columns;
  const failed: number[] = [];
  for (let row = 0; row < tape.length; row++) if (action[row] === Action.oom) failed.push(row);
  const reports: OomReport[] = [];
  for (const row of failed.slice(-EXPLAINED)) {
    const asked = bytes[row]!;
    const layout = layoutAt(tape, row, settings) ?? {
      reserved: reserved[row]!,
      active: allocated[row]!,
      free: Math.max(0, reserved[row]! - allocated[row]!),
      freeBlocks: 0,
      largestFree: 0,
      trapped: 0,
    };
    // A recorded oom row carries the device's free bytes in its address.
    const deviceFree = tape.info.source === "snapshot" ? address[row]! : null;
    const capped = deviceFree !== null && deviceFree >= asked;
    const outside = capped ? 0 : (deviceFree ?? 0);
    const cause = layout.free + outside >= asked ? "fragmented" : "full";
    const within = cause === "full" ? layout.free + outside : Math.max(layout.largestFree, outside);
    const live = liveAt(lives, row);
    reports.push({
      row,
      step: step[row]!,
      phase: PHASES[phase[row]!]!,
      site: siteOf(tape, row),
      asked,
      deviceFree,
      allocated: allocated[row]!,
      layout,
      cause,
      capped,
      short: asked - within,
      byKind: shares(tape, lives, live, "kind"),
      bySite: bySite(tape, lives, live),
    });
  }
  return reports;
}
