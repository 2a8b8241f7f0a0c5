import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseSettings } from "../allocator/settings.ts";
import { simulate } from "../allocator/simulate.ts";
import { UserError } from "../base/errors.ts";
import { type Component, COMPONENTS, makeUp } from "../plan/budget.ts";
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
  /** Of a run: the components that were counted; the others are not known. */
  readonly known?: readonly Component[];
}

/** Reads another plan's JSON, a tape, a recorded snapshot, or a folder of `plimsoll run`. */
export async function compareWith(file: string, { plan }: Planned): Promise<Compared> {
  if (existsSync(join(file, "run.json"))) return measuredRun(file);
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

/** The fullest rank: its peaks, and the weights, gradients and optimizer state that its probe counted. */
async function measuredRun(folder: string): Promise<Compared> {
  const { Tail, ROWS } = await import("../monitor/tail.ts");
  const { summarize } = await import("../monitor/summary.ts");
  const { fullestRank } = await import("../monitor/advice.ts");
  const summary = summarize(new Tail(folder, ROWS).read());
  const fullest = fullestRank(summary);
  if (!fullest || fullest.peakReserved === 0)
    throw new UserError(`${folder}: no memory of a GPU was recorded`, "give a run that took steps on a GPU");
  const { held } = fullest;
  const parts = Object.fromEntries(COMPONENTS.map((name) => [name, 0])) as Record<Component, number>;
  const known: Component[] = [];
  for (const [kind, component] of HELD) {
    if (held?.[kind] === undefined) continue;
    parts[component] += held[kind];
    if (!known.includes(component)) known.push(component);
  }
  return {
    title: folder,
    file: folder,
    budget: parts,
    allocated: fullest.peakAllocated,
    reserved: fullest.peakReserved,
    diff: null,
    told: true,
    known,
  };
}

/** What the probe counts, in the budget's words. */
const HELD: readonly (readonly [string, Component])[] = [
  ["weight", "weights"],
  ["buffer", "weights"],
  ["gradient", "gradients"],
  ["optimizer state", "optimizer state"],
];

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
