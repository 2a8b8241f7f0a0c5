import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { UserError } from "../../base/errors.ts";
import { MEASURES, pointsOf, ranksOf, type Measure, type Point, type Rank } from "./measures.ts";
import { patiently, PATIENCE_MS, type Sink } from "./sink.ts";

const INTERVAL_MS = 10_000;
/** Ranks × phases of the largest runs; the SDK's own limit of 2,000 series would fold 400 ranks into one. */
const MOST_SERIES = 1_000_000;

/** Sends the run to an OpenTelemetry collector every ten seconds, and once more at its end. */
export function sendOtlp(url: string, run: { readonly name: string; readonly version: string }): Sink {
  const exporter = new CountingExporter({ url: endpoint(url), timeoutMillis: PATIENCE_MS });
  const provider = new MeterProvider({
    // What OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME say outranks us.
    resource: defaultResource()
      .merge(
        resourceFromAttributes({
          "service.name": "plimsoll",
          "service.version": run.version,
          "service.instance.id": run.name,
        }),
      )
      .merge(detectResources({ detectors: [envDetector] })),
    readers: [
      new PeriodicExportingMetricReader({
        exporter,
        exportIntervalMillis: INTERVAL_MS,
        exportTimeoutMillis: PATIENCE_MS,
        cardinalityLimits: { default: MOST_SERIES },
      }),
    ],
  });
  let ranks: readonly Rank[] = [];
  const meter = provider.getMeter("plimsoll", run.version);
  for (const measure of MEASURES) {
    const options = { unit: measure.unit, description: measure.help };
    const instrument = {
      counter: () => meter.createObservableCounter(measure.otel, options),
      updown: () => meter.createObservableUpDownCounter(measure.otel, options),
      gauge: () => meter.createObservableGauge(measure.otel, options),
    }[measure.kind]();
    instrument.addCallback((result) => {
      for (const point of pointsOf(measure, ranks)) result.observe(point.value, attributes(measure, point));
    });
  }
  return {
    name: "otlp",
    take: (live) => void (ranks = ranksOf(live)),
    async close() {
      await patiently(
        provider.shutdown().catch(() => {}),
        undefined,
      );
      return exporter.problem();
    },
  };
}

class CountingExporter extends OTLPMetricExporter {
  #asked = 0;
  #taken = 0;
  #last = "it did not answer in time";

  override export(...[metrics, done]: Parameters<OTLPMetricExporter["export"]>): void {
    this.#asked++;
    super.export(metrics, (result) => {
      // 0 is ExportResultCode.SUCCESS of @opentelemetry/core.
      if (result.code === 0) this.#taken++;
      else
        this.#last =
          result.error?.message || (result.error as { code?: string } | undefined)?.code || "failed";
      done(result);
    });
  }

  problem(): string | null {
    const lost = this.#asked - this.#taken;
    return lost === 0 ? null : `${lost} of ${this.#asked} exports were not taken: ${this.#last}`;
  }
}

/** As the specification has it: a base address gets the signal's path, a full one is taken as it is. */
function endpoint(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== "http:" && url?.protocol !== "https:")
    throw new UserError(
      `--otlp takes the address of a collector, such as http://localhost:4318, not "${text}"`,
    );
  if (url.pathname === "/") url.pathname = "/v1/metrics";
  return url.href;
}

/** https://opentelemetry.io/docs/specs/semconv/hardware/gpu/ for hw.*; of a card that two ranks share, one series. */
function attributes(measure: Measure, { rank: { head }, phase }: Point): { [name: string]: string | number } {
  if (measure.hardware)
    return {
      "host.name": head.host,
      "hw.id": head.device!.uuid || String(head.device!.index),
      "hw.type": "gpu",
      "hw.model": head.device!.name,
    };
  return {
    "host.name": head.host,
    "process.pid": head.pid,
    "plimsoll.rank": head.rank,
    ...(phase ? { "plimsoll.phase": phase } : {}),
  };
}
