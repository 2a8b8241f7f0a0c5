import type { Live } from "../observe.ts";
import type { Record } from "../record.ts";
import type { Sink } from "./sink.ts";

export interface SinkSettings {
  readonly prometheus?: string | undefined;
  readonly otlp?: string | undefined;
  readonly tensorboard?: string | undefined;
}

export interface Sinks {
  /** What a user needs to know at the start. */
  readonly notes: readonly string[];
  take(live: Live): void;
  /** Resolves with what went wrong, one line for each sink, those in the training process included. */
  close(): Promise<string[]>;
}

/** Opens the sinks that were asked for; their libraries are loaded only then. */
export async function openSinks(
  settings: SinkSettings,
  run: { readonly name: string; readonly version: string },
): Promise<Sinks> {
  const sinks: Sink[] = [];
  const notes: string[] = [];
  if (settings.tensorboard) {
    const { writeTensorboard } = await import("./tensorboard.ts");
    sinks.push(writeTensorboard(settings.tensorboard, run.name));
  }
  if (settings.otlp) {
    const { sendOtlp } = await import("./otlp.ts");
    sinks.push(sendOtlp(settings.otlp, run));
  }
  if (settings.prometheus) {
    const { servePrometheus } = await import("./prometheus.ts");
    const sink = await servePrometheus(settings.prometheus, run);
    notes.push(`metrics for Prometheus at ${sink.url}`);
    sinks.push(sink);
  }
  let records: readonly Record[] = [];
  return {
    notes,
    take(live) {
      records = live.records;
      for (const sink of sinks) sink.take(live);
    },
    async close() {
      const problems = await Promise.all(
        sinks.map(async (sink) => {
          const problem = await sink.close();
          return problem ? [`${sink.name}: ${problem}`] : [];
        }),
      );
      return [...problems.flat(), ...records.flatMap(trackerProblems)];
    },
  };
}

/** What the probe says about the trackers it logged to (probe/plimsoll_probe/trackers.py). */
function trackerProblems({ head, events }: Record): string[] {
  return events
    .filter((event) => event.k === "tracker" && event["problem"])
    .map((event) => `${String(event["name"])}: rank ${head!.rank}: ${String(event["problem"])}`);
}
