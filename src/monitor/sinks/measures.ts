import type { Live } from "../observe.ts";
import type { Head, Record } from "../record.ts";

/** One process of the run, as it stands. Of a restarted rank only the last process. */
export interface Rank {
  readonly head: Head;
  readonly record: Record;
  readonly leaks: number;
  readonly ooms: number;
  /** The driver's figures of the rank's card. */
  readonly card: { readonly used: number; readonly free: number } | null;
  readonly loss: number | null;
  readonly epoch: number | null;
}

/**
 * What the sinks publish. Base units (bytes, seconds), names after the conventions of each side: Prometheus puts the
 * unit, and `total` for counters, into the name; OpenTelemetry has them as fields.
 */
export interface Measure {
  readonly prometheus: string;
  readonly otel: string;
  readonly help: string;
  /** OpenTelemetry's unit, in UCUM. */
  readonly unit: string;
  readonly kind: "gauge" | "counter" | "updown";
  /** About the card, so labelled by it in OpenTelemetry's hardware conventions. */
  readonly hardware?: boolean;
  /** The value; null where this rank cannot tell; several, by phase. */
  readonly of: (rank: Rank) => number | null | { readonly [phase: string]: number };
}

const PHASES = ["backward", "optimizer", "data", "save", "evaluation"] as const;

const onGpu =
  (value: (rank: Rank) => number): Measure["of"] =>
  (rank) =>
    rank.head.device ? value(rank) : null;

/** Totals leave the first step out (Record.total), so they only begin to rise with the second. */
const seconds = ({ record }: Rank, column: string): number => (record.steps > 1 ? record.total(column) : 0);

export const MEASURES: readonly Measure[] = [
  {
    prometheus: "plimsoll_steps_total",
    otel: "plimsoll.steps",
    help: "Optimizer steps taken.",
    unit: "{step}",
    kind: "counter",
    of: ({ record }) => record.steps,
  },
  {
    prometheus: "plimsoll_step_seconds_total",
    otel: "plimsoll.step.time",
    help: "Time spent in steps, without the first.",
    unit: "s",
    kind: "counter",
    of: (rank) => seconds(rank, "seconds"),
  },
  {
    prometheus: "plimsoll_phase_seconds_total",
    otel: "plimsoll.phase.time",
    help: "Time of steps by phase, without the first step; on a GPU, time until the work was launched.",
    unit: "s",
    kind: "counter",
    of: (rank) => Object.fromEntries(PHASES.map((phase) => [phase, seconds(rank, phase)])),
  },
  {
    prometheus: "plimsoll_gpu_memory_allocated_bytes",
    otel: "plimsoll.gpu.memory.allocated",
    help: "Bytes in tensors behind the last optimizer step, by PyTorch's allocator.",
    unit: "By",
    kind: "updown",
    of: onGpu(({ record }) => lastRead(record, "allocated")),
  },
  {
    prometheus: "plimsoll_gpu_memory_allocated_peak_bytes",
    otel: "plimsoll.gpu.memory.allocated_peak",
    help: "Highest allocated bytes so far.",
    unit: "By",
    kind: "gauge",
    of: onGpu(({ record }) => record.atLargest("peak", "peak")),
  },
  {
    prometheus: "plimsoll_gpu_memory_reserved_bytes",
    otel: "plimsoll.gpu.memory.reserved",
    help: "Bytes PyTorch's allocator holds on the card, cache included.",
    unit: "By",
    kind: "updown",
    of: onGpu(({ record }) => lastRead(record, "reserved")),
  },
  {
    prometheus: "plimsoll_gpu_memory_limit_bytes",
    otel: "hw.gpu.memory.limit",
    help: "Memory of the rank's card.",
    unit: "By",
    kind: "updown",
    hardware: true,
    of: ({ head }) => head.device?.total ?? null,
  },
  {
    prometheus: "plimsoll_gpu_memory_used_bytes",
    otel: "hw.gpu.memory.usage",
    help: "Bytes in use on the rank's card by all processes, by the driver.",
    unit: "By",
    kind: "updown",
    hardware: true,
    of: ({ card }) => card?.used ?? null,
  },
  {
    prometheus: "plimsoll_gpu_allocator_retries_total",
    otel: "plimsoll.gpu.allocator.retries",
    help: "Times the allocator gave its cache back to find room.",
    unit: "{retry}",
    kind: "counter",
    of: onGpu(({ record }) => record.atLargest("retries", "retries")),
  },
  {
    prometheus: "plimsoll_out_of_memory_total",
    otel: "plimsoll.out_of_memory",
    help: "Times an allocation failed for good.",
    unit: "{error}",
    kind: "counter",
    of: ({ ooms }) => ooms,
  },
  {
    prometheus: "plimsoll_process_memory_resident_bytes",
    otel: "process.memory.usage",
    help: "Resident memory of the training process.",
    unit: "By",
    kind: "updown",
    of: ({ record }) => record.hostNow.resident,
  },
  {
    prometheus: "plimsoll_workers_memory_resident_bytes",
    otel: "plimsoll.workers.memory.usage",
    help: "Resident memory of the processes below it, dataloader workers among them.",
    unit: "By",
    kind: "updown",
    of: ({ record }) => record.hostNow.children,
  },
  {
    prometheus: "plimsoll_leaks",
    otel: "plimsoll.leaks",
    help: "Leaks found so far.",
    unit: "{leak}",
    kind: "gauge",
    of: ({ leaks }) => leaks,
  },
  {
    prometheus: "plimsoll_training_loss",
    otel: "plimsoll.training.loss",
    help: "Loss as the framework last logged it.",
    unit: "1",
    kind: "gauge",
    of: ({ loss }) => loss,
  },
  {
    prometheus: "plimsoll_training_epoch",
    otel: "plimsoll.training.epoch",
    help: "Epoch as the framework last told it.",
    unit: "1",
    kind: "gauge",
    of: ({ epoch }) => epoch,
  },
];

export interface Point {
  readonly rank: Rank;
  readonly phase?: string;
  readonly value: number;
}

export function pointsOf(measure: Measure, ranks: readonly Rank[]): Point[] {
  return ranks.flatMap((rank): Point[] => {
    const value = measure.of(rank);
    if (value === null) return [];
    if (typeof value === "number") return [{ rank, value }];
    return Object.entries(value).map(([phase, value]) => ({ rank, phase, value }));
  });
}

/** Restarted ranks come after their former selves, which they replace. */
export function ranksOf({ records, cards }: Live): Rank[] {
  const ranks = new Map<string, Rank>();
  for (const record of records) {
    const head = record.head!;
    ranks.set(`${head.rank} ${head.host}`, {
      head,
      record,
      leaks: record.leaks().length,
      ooms: record.events.filter((event) => event.k === "oom").length,
      card: cards.get(head.device?.uuid.replace(/^GPU-/, "") ?? "") ?? null,
      loss: logged(record, (event) => (event["values"] as { loss?: unknown } | undefined)?.loss),
      epoch: logged(record, (event) => event["epoch"]),
    });
  }
  return [...ranks.values()];
}

/** Counters are not read at every step of a fast run (docs/probe.md): such rows hold 0. */
function lastRead(record: Record, column: string): number {
  return record.last(column) || (record.column(column).findLast((value) => value > 0) ?? 0);
}

function logged(record: Record, pick: (event: Record["events"][number]) => unknown): number | null {
  const last = record.events.findLast((event) => event.k === "log" && typeof pick(event) === "number");
  return last ? (pick(last) as number) : null;
}
