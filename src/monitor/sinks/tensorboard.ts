import { appendFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Live } from "../observe.ts";
import type { Record } from "../record.ts";
import { fileHead, scalarEvent, type Scalar } from "./event-file.ts";
import { patiently, type Sink } from "./sink.ts";

/** Curves by column of the record. */
const MEMORY = {
  allocated: "gpu_memory/allocated_bytes",
  reserved: "gpu_memory/reserved_bytes",
  peak: "gpu_memory/allocated_peak_bytes",
} as const;
const TIME = {
  seconds: "time/step_seconds",
  backward: "time/backward_seconds",
  optimizer: "time/optimizer_seconds",
  data: "time/data_seconds",
} as const;

/**
 * Writes the run as curves into FOLDER/RUN/rank-N, where `tensorboard --logdir FOLDER` finds it. A folder of our own,
 * because TensorBoard follows only the newest file of a folder.
 *
 * Every step of the first thousand; of a longer run every second, fourth… as the record thins them out (Record.keep):
 * TensorBoard itself shows a thousand points of a curve.
 */
export function writeTensorboard(folder: string, run: string): Sink {
  const files = new Map<Record, Curve>();
  let writing: Promise<void> | null = null;
  let problem: string | null = null;
  let last: Live | null = null;
  const write = async (live: Live): Promise<void> => {
    for (const record of live.records) {
      let curve = files.get(record);
      if (!curve) files.set(record, (curve = new Curve(record)));
      const bytes = curve.next();
      if (bytes.length === 0) continue;
      const place = join(folder, run, `rank-${record.head!.rank}`);
      await mkdir(place, { recursive: true });
      await appendFile(join(place, curve.name), bytes);
    }
  };
  const take = (live: Live): void => {
    last = live;
    // A slow disk: what has not been taken stays in the record.
    if (writing || problem) return;
    writing = write(live)
      .catch((error: Error) => void (problem = error.message))
      .finally(() => (writing = null));
  };
  return {
    name: "tensorboard",
    take,
    async close() {
      const finish = async (): Promise<string | null> => {
        await writing;
        if (last) take(last);
        await writing;
        return problem;
      };
      return patiently(finish(), "the disk is too slow, the end of the curves is missing");
    },
  };
}

class Curve {
  readonly name: string;
  readonly #record: Record;
  #step = 0;
  #events = 0;
  #begun = false;

  constructor(record: Record) {
    const { t, host, pid } = record.head!;
    this.name = `events.out.tfevents.${Math.floor(t)}.${host}.${pid}.plimsoll`;
    this.#record = record;
  }

  /** What came since the last time, as bytes of the file. */
  next(): Uint8Array {
    const events = [...this.#rows(), ...this.#losses()].map(scalarEvent);
    if (events.length === 0) return new Uint8Array(0);
    if (!this.#begun) events.unshift(fileHead(this.#record.head!.t));
    this.#begun = true;
    return Buffer.concat(events);
  }

  #rows(): Scalar[] {
    const record = this.#record;
    const [steps, times] = [record.column("step"), record.column("time")];
    const from = steps.findLastIndex((step) => step <= this.#step) + 1;
    const scalars: Scalar[] = [];
    const columns = Object.entries({ ...(record.head!.device ? MEMORY : {}), ...TIME });
    for (const [column, tag] of columns) {
      const values = record.column(column);
      for (let row = from; row < steps.length; row++) {
        const [step, time, value] = [steps[row]!, times[row]!, values[row]!];
        // Counters are not read at every step of a fast run: such rows hold 0.
        if (value > 0 || column in TIME) scalars.push({ tag, step, time, value });
      }
    }
    const { resident, children } = record.hostNow;
    const newest = steps.at(-1) ?? 0;
    if (newest > this.#step && resident > 0) {
      const at = { step: newest, time: times.at(-1)! };
      scalars.push({ tag: "host_memory/resident_bytes", ...at, value: resident });
      scalars.push({ tag: "host_memory/workers_bytes", ...at, value: children });
    }
    this.#step = Math.max(this.#step, newest);
    return scalars;
  }

  #losses(): Scalar[] {
    const fresh = this.#record.events.slice(this.#events);
    this.#events = this.#record.events.length;
    return fresh.flatMap((event) => {
      const value = event.k === "log" ? (event["values"] as { loss?: number } | undefined)?.loss : undefined;
      if (typeof value !== "number") return [];
      return [{ tag: "training/loss", step: event.step ?? 0, time: event.t, value }];
    });
  }
}
