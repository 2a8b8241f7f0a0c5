import { UserError } from "../base/errors.ts";
import { formatBytes } from "../base/units.ts";
import { GROWTH_NAME, PEAKS } from "./memory.ts";
import type { Gate, Quantity, Results, Speed } from "./result.ts";

export interface Limits {
  readonly sameResults: boolean;
  /** Shares: 0.02 is 2 %. */
  readonly memoryIncrease: number | null;
  readonly slowdown: number | null;
}

export function parseShare(option: string, text: string): number {
  const value = /^(\d+(\.\d+)?)\s*%$/.exec(text.trim());
  if (!value) throw new UserError(`${option} takes a percentage such as 2%, not "${text}"`);
  return Number(value[1]) / 100;
}

export function judge(
  limits: Limits,
  results: Results,
  memory: readonly Quantity[],
  speed: Speed,
): readonly Gate[] {
  const gates: Gate[] = [];
  if (limits.sameResults) {
    const passed = results.verdict !== "different" && results.verdict !== "unknown";
    gates.push({ name: "same-results", limit: "", passed, why: `${results.verdict}: ${results.why}` });
  }
  if (limits.memoryIncrease !== null) gates.push(memoryGate(limits.memoryIncrease, memory));
  if (limits.slowdown !== null) gates.push(speedGate(limits.slowdown, speed));
  return gates;
}

function memoryGate(limit: number, memory: readonly Quantity[]): Gate {
  const gate = { name: "max-memory-increase", limit: percent(limit) } as const;
  const peaks = memory.filter(({ name }) => PEAKS.includes(name));
  const over = peaks.find(({ verdict, change }) => verdict === "more" && change !== null && change > limit);
  if (over) return { ...gate, passed: false, why: `${over.name} ${signed(over.change!)}` };
  const growth = memory.find(({ name }) => name === GROWTH_NAME);
  const room = limit * (peaks[0]?.before ?? 0);
  if (growth?.verdict === "more" && growth.after! - growth.before! > room)
    return { ...gate, passed: false, why: `grows by ${formatBytes(growth.after!)} in 100 steps` };
  if (peaks.every(({ verdict }) => verdict === "unknown"))
    return { ...gate, passed: false, why: "memory was not measured on both sides" };
  const most = peaks.reduce((worst, peak) => Math.max(worst, peak.change ?? -Infinity), -Infinity);
  return { ...gate, passed: true, why: `at most ${signed(most)}` };
}

function speedGate(limit: number, speed: Speed): Gate {
  const gate = { name: "max-slowdown", limit: percent(limit) } as const;
  const { verdict, change, interval } = speed;
  if (change === null) return { ...gate, passed: false, why: `speed was not measured: ${speed.why}` };
  if (verdict === "slower" && change > limit)
    return { ...gate, passed: false, why: `a step takes ${signed(change)} time` };
  if (!interval || interval[1] > limit)
    return {
      ...gate,
      passed: true,
      why: interval
        ? `not proven slower, though the interval reaches ${signed(interval[1])}: more --repeats narrow it`
        : `not proven slower: ${speed.why}`,
    };
  return { ...gate, passed: true, why: `at most ${signed(interval[1])}` };
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(2))}%`;
}

function signed(share: number): string {
  return `${share >= 0 ? "+" : "−"}${Math.abs(share * 100).toFixed(1)} %`;
}
