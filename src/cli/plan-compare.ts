import { readFile } from "node:fs/promises";
import { parseSettings } from "../allocator/settings.ts";
import { simulate } from "../allocator/simulate.ts";
import { UserError } from "../base/errors.ts";
import { COMPONENTS, makeUp } from "../plan/budget.ts";
import type { Planned } from "../plan/result.ts";
import type { Column } from "../report/plan-markdown.ts";
import { diffTapes, type TapeDiff } from "../tape/diff.ts";
import { readRecording } from "./recording.ts";

export interface Compared extends Column {
  readonly file: string;
  /** Storage by storage, when the other side is a tape or a recorded run. */
  readonly diff: TapeDiff | null;
  /** False for a recording without Python stacks: its components cannot be told apart. */
  readonly told: boolean;
}

/** Reads another plan's JSON, a tape, or a recorded snapshot. */
export async function compareWith(file: string, { plan }: Planned): Promise<Compared> {
  if (file.endsWith(".json")) return { ...(await savedPlan(file)), file, diff: null, told: true };
  const { result, tape, lives } = await readRecording(file, undefined);
  const parts = makeUp(tape, result.peak.row, lives);
  const requested = Object.values(parts).reduce((a, b) => a + b, 0);
  // A tape counts bytes as requested, plans whole blocks. A predicted tape has no segments of its own either.
  const { stats } = simulate(tape, { settings: parseSettings(result.allocConf) });
  const reserved = result.reservedPeak.bytes > 0 ? result.reservedPeak.bytes : stats.reserved.peak;
  return {
    title: file,
    file,
    budget: { ...parts, fragmentation: Math.max(0, reserved - requested), "outside PyTorch": 0 },
    allocated: stats.allocated.peak,
    reserved,
    diff: diffTapes(tape, plan.tape),
    told: result.frames || tape.info.source === plan.tape.info.source,
  };
}

async function savedPlan(file: string): Promise<Column> {
  let value: { schema?: unknown; budget?: Record<string, unknown>; peak?: Record<string, unknown> };
  try {
    value = JSON.parse(await readFile(file, "utf8")) as typeof value;
  } catch (cause) {
    throw new UserError(`${file}: ${(cause as Error).message}`, "give what plimsoll plan --json printed");
  }
  const numbers = [
    ...COMPONENTS.map((name) => value?.budget?.[name]),
    value?.peak?.["allocated"],
    value?.peak?.["reserved"],
  ];
  if (value?.schema !== "plimsoll.plan/1" || numbers.some((one) => typeof one !== "number")) {
    throw new UserError(`${file}: not a plan`, "give what plimsoll plan --json printed");
  }
  return {
    title: file,
    budget: value.budget as Column["budget"],
    allocated: value.peak!["allocated"] as number,
    reserved: value.peak!["reserved"] as number,
  };
}
