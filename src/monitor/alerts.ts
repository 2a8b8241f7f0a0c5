import { UserError } from "../base/errors.ts";
import { formatBytes, parseBytes } from "../base/units.ts";
import type { RankSummary, RunSummary } from "./summary.ts";

type Quantity = "allocated" | "reserved" | "growth" | "fragmentation" | "retries" | "host";

/** "reserved>90%": fires once for each rank, when the quantity first exceeds the limit. */
export interface AlertRule {
  readonly text: string;
  readonly quantity: Quantity;
  readonly limit: number;
  readonly unit: "bytes" | "share" | "count";
}

export interface Alert {
  readonly rule: string;
  readonly rank: number;
  readonly step: number;
  readonly message: string;
  readonly advice: string;
}

const ADVICE: Readonly<{ [Q in Quantity]: string }> = {
  allocated:
    "see what it is made of with plimsoll inspect; checkpointing, a smaller micro-batch or a chunked loss lower it",
  reserved:
    "the next larger batch may not fit: lower the micro-batch, or set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
  growth: "something is kept from step to step: a leak report with its line follows when one is found",
  fragmentation: "set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or pad batches to few lengths",
  retries: "the allocator gave its cache back to find room, which stalls the GPU: memory is all but full",
  host: "fewer dataloader workers or a smaller prefetch_factor; look for caches in the dataset",
};

/** What is always worth a word, unless the user brings rules of their own. */
export const DEFAULT_RULES = ["reserved>95%", "retries>0"] as const;

export function parseRule(text: string): AlertRule {
  const match = /^\s*(allocated|reserved|growth|fragmentation|retries|host)\s*>\s*(.+?)\s*$/.exec(text);
  const quantity = match?.[1] as Quantity | undefined;
  const value = match?.[2] ?? "";
  const number = Number(value.replace("%", ""));
  if (quantity === "retries" && /^\d+$/.test(value)) return { text, quantity, limit: number, unit: "count" };
  if (
    quantity &&
    quantity !== "retries" &&
    quantity !== "growth" &&
    /^[\d.]+%$/.test(value) &&
    quantity !== "host"
  )
    return { text, quantity, limit: number / 100, unit: "share" };
  const bytes = quantity && quantity !== "retries" && quantity !== "fragmentation" ? parseBytes(value) : null;
  if (quantity && bytes !== null) return { text, quantity, limit: bytes, unit: "bytes" };
  throw new UserError(
    `--alert does not understand "${text}"`,
    'hint: "reserved>90%", "allocated>20GB", "growth>100MB" (in 100 steps), "fragmentation>30%", "retries>0", "host>50GB"',
  );
}

/** Remembers what has fired. */
export class Alerts {
  readonly #rules: readonly AlertRule[];
  readonly #fired = new Set<string>();

  constructor(rules: readonly AlertRule[]) {
    this.#rules = rules;
  }

  /** The alerts that are new with this state of the run. */
  check(summary: RunSummary): Alert[] {
    const alerts: Alert[] = [];
    for (const rank of summary.ranks) {
      for (const rule of this.#rules) {
        const value = measure(rule, rank);
        if (value === null || value <= rule.limit) continue;
        this.#fire(alerts, `${rule.text} ${rank.rank}`, {
          rule: rule.text,
          rank: rank.rank,
          step: rank.steps,
          message: `${rule.quantity} is ${show(rule, value)}, over ${show(rule, rule.limit)}`,
          advice: ADVICE[rule.quantity],
        });
      }
    }
    for (const leak of summary.leaks) {
      const where = leak.file ? `${leak.file}:${leak.line}` : leak.held;
      this.#fire(alerts, `leak ${where} ${leak.rank}`, {
        rule: "leak",
        rank: leak.rank,
        step: leak.step,
        message: `memory leaks at ${where}, ${formatBytes(leak.per_step)} a step: ${leak.held}`,
        advice: leak.text ? `this line keeps it: ${leak.text}` : "detach what is kept, or let go of it",
      });
    }
    return alerts;
  }

  #fire(alerts: Alert[], key: string, alert: Alert): void {
    if (this.#fired.has(key)) return;
    this.#fired.add(key);
    alerts.push(alert);
  }
}

function measure(rule: AlertRule, rank: RankSummary): number | null {
  const { quantity, unit } = rule;
  if (quantity === "allocated" || quantity === "reserved") {
    const bytes = quantity === "allocated" ? rank.peakAllocated : rank.peakReserved;
    if (unit === "bytes") return bytes;
    return rank.total > 0 ? bytes / rank.total : null;
  }
  if (quantity === "growth") return rank.growthPer100Steps;
  // A nearly empty card is always "fragmented": torch reserves in pieces of 20 MiB.
  if (quantity === "fragmentation") return rank.peakReserved > 1e9 ? rank.fragmentation : null;
  if (quantity === "retries") return rank.retries;
  return rank.hostPeak + rank.workersPeak;
}

function show(rule: AlertRule, value: number): string {
  if (rule.unit === "share") return `${Math.round(value * 100)} %`;
  if (rule.unit === "count") return String(value);
  return formatBytes(value) + (rule.quantity === "growth" ? " in 100 steps" : "");
}
