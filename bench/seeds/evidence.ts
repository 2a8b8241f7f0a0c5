/** The committed GPU runs, held against the plans and the bars. */
import { existsSync, readFileSync } from "node:fs";
import { formatBytes } from "../../src/base/units.ts";
import type { Verification } from "../../src/verify/result.ts";
import type { Bar } from "./workloads.ts";

/** Of the predicted peak, allocated. */
const CLOSE = 0.03;
/** A step's leftovers that are no growth: a cached scalar, a cuBLAS handle. In 100 steps. */
const STEADY = 10e6;
/** Two runs of the same code differ by a few per cent on the same card. */
const NO_SLOWER = 1.05;
/** What the CUDA context takes of a card. */
const CONTEXT = 0.5e9;

export interface Recorded {
  readonly peak: number;
  readonly reserved: number;
  readonly seconds: number;
  readonly growthPer100Steps: number;
  readonly losses: readonly number[];
  /** Of the regulariser's own run. */
  readonly times?: number;
  readonly cap?: number;
}

export interface Predicted {
  readonly peak: { readonly allocated: number; readonly reserved: number };
}

export function recorded(folder: string, run: string): Recorded | null {
  const file = `${folder}/${run}.json`;
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Recorded) : null;
}

/** What `plimsoll run` said on the GPU. */
interface Watched {
  readonly leaks: readonly { readonly file: string; readonly text: string }[];
  readonly alerts: readonly { readonly rule: string }[];
}

function read<T>(folder: string, name: string): T {
  const file = `${folder}/${name}.json`;
  if (!existsSync(file)) throw new Error(`${name}: no evidence`);
  return JSON.parse(readFileSync(file, "utf8")) as T;
}

const verified = (folder: string, name: string): Verification => read(folder, name);

/** Why the prediction is not good enough; null when it is. */
export function farFrom(run: string, plan: Predicted, folder: string): string | null {
  const measured = recorded(folder, run);
  if (!measured) return `${run}: no evidence`;
  const off = plan.peak.allocated / measured.peak - 1;
  return Math.abs(off) <= CLOSE
    ? null
    : `${run}: predicted ${formatBytes(plan.peak.allocated)}, measured ${formatBytes(measured.peak)}`;
}

/** Why a bar is not reached; null when it is. */
export function under(bar: Bar, folder: string): string | null {
  const get = (run: string): Recorded => read(folder, run);
  const say = (holds: boolean, why: string): string | null => (holds ? null : `${bar.what}: ${why}`);
  switch (bar.what) {
    case "grows": {
      const { growthPer100Steps: growth } = get(bar.run);
      return say(growth >= bar.atLeast, `${bar.run} grows by ${formatBytes(growth)} in 100 steps`);
    }
    case "steady": {
      const { growthPer100Steps: growth } = get(bar.run);
      return say(Math.abs(growth) <= STEADY, `${bar.run} grows by ${formatBytes(growth)} in 100 steps`);
    }
    case "fits": {
      const { reserved, cap } = get(bar.run);
      const room = bar.card - CONTEXT;
      return say(reserved <= room && (cap ?? Infinity) <= room, `${bar.run} took ${formatBytes(reserved)}`);
    }
    case "same and leaner": {
      const { results, memory } = verified(folder, bar.verified);
      const peak = memory.find(({ name }) => name === "peak allocated");
      const same = results.verdict === "bit-identical" || results.verdict.startsWith("same");
      return say(same && peak?.verdict === "less", `results ${results.verdict}, peak ${peak?.verdict}`);
    }
    case "no slower in pairs": {
      const { interval } = verified(folder, bar.verified).speed;
      return say(interval !== null && interval[1] < NO_SLOWER - 1, `within ${JSON.stringify(interval)}`);
    }
    case "no slower in blocks": {
      const { before, after } = read<{ before: number; after: number }>(folder, bar.run);
      return say(after <= before * NO_SLOWER, `${before.toFixed(3)} s → ${after.toFixed(3)} s a step`);
    }
    case "no slower": {
      const [before, after] = [get(bar.before).seconds, get(bar.after).seconds];
      return say(after <= before * NO_SLOWER, `${before.toFixed(2)} s → ${after.toFixed(2)} s a step`);
    }
    case "watched": {
      const { leaks, alerts } = read<Watched>(folder, bar.run);
      const named = leaks.some(
        ({ file, text }) => file.endsWith(bar.leak.file) && text.includes(bar.leak.at),
      );
      return say(named && alerts.some(({ rule }) => rule === bar.alert), JSON.stringify(alerts));
    }
    case "times faster": {
      const { times } = get(bar.run);
      return say((times ?? 0) >= bar.atLeast, `${times?.toFixed(1)} times`);
    }
  }
}
