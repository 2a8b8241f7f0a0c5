import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { Observer } from "../../src/monitor/observe.ts";
import { openSinks } from "../../src/monitor/sinks/open.ts";
import { plimsoll } from "../support/cli.ts";
import { emptyFolder } from "../support/folder.ts";
import { python } from "../support/python.ts";

vi.setConfig({ testTimeout: 120_000 });

const COLUMNS = ["step", "time", "seconds", "backward", "optimizer", "data", "save", "evaluation", "micro"];
const COUNTERS = ["allocated", "reserved", "peak", "inactive", "retries", "ooms", "heap"];

/** What a rank on a card of 80 GB writes: `steps` steps of half a second, one loss, one look at the host. */
function record(rank: number, steps: number): string {
  const device = { index: rank, name: "NVIDIA H200", total: 80e9, uuid: `0000-${rank}` };
  const head = { k: "head", v: 1, rank, local_rank: rank, world: 2, host: "node", pid: 100 + rank, t: 1000 };
  const rows = Array.from({ length: steps }, (_, index) =>
    JSON.stringify(
      [index + 1, 1001 + index / 2, 0.5, 0.25, 0.0625, 0.125, 0, 0, 1].concat(
        // Not read at every second step.
        index % 2 ? [0, 0, 0, 0, 0, 0, 0] : [10e9 + index, 20e9, 30e9, 0, 3, 0, 0],
      ),
    ),
  );
  return [
    JSON.stringify({ ...head, columns: [...COLUMNS, ...COUNTERS], device }),
    ...rows,
    JSON.stringify({ k: "host", t: 1002, resident: 5e9, children: 1e9, count: 2 }),
    JSON.stringify({ k: "log", t: 1003, step: 3, epoch: 0.5, values: { loss: 1.25 } }),
    "",
  ].join("\n");
}

function runFolder(steps: number): string {
  const folder = emptyFolder();
  for (const rank of [0, 1])
    writeFileSync(join(folder, `rank-${rank}-node-${100 + rank}.jsonl`), record(rank, steps));
  return folder;
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Each through the reader its authors publish. */
const READ = `
import json, sys
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from prometheus_client.parser import text_string_to_metric_families
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
folder = sys.argv[1]
seen = {"prometheus": {}, "otlp": {}, "tensorboard": {}}
for family in text_string_to_metric_families(open(folder + "/scrape").read()):
    for sample in family.samples:
        if sample.labels.get("rank") != "0":
            seen["prometheus"][sample.name + ":" + family.type + str(sorted(sample.labels))] = sample.value
request = ExportMetricsServiceRequest()
request.ParseFromString(open(folder + "/otlp", "rb").read())
resource, = request.resource_metrics
seen["resource"] = {a.key: a.value.string_value for a in resource.resource.attributes}
for metric in resource.scope_metrics[0].metrics:
    data = getattr(metric, metric.WhichOneof("data"))
    point = [p for p in data.data_points if not any(a.key == "plimsoll.rank" and a.value.int_value == 0 for a in p.attributes)][-1]
    value = getattr(point, point.WhichOneof("value"))
    keys = [a.key for a in point.attributes]
    seen["otlp"][metric.name] = [metric.unit, metric.WhichOneof("data"), getattr(data, "is_monotonic", None), keys, value]
events = EventAccumulator(folder + "/board/run-1/rank-1")
events.Reload()
for tag in events.Tags()["scalars"]:
    seen["tensorboard"][tag] = [[e.step, e.value] for e in events.Scalars(tag)]
json.dump(seen, sys.stdout)
`;

test("Prometheus, OpenTelemetry and TensorBoard read what the run recorded, in base units", async () => {
  const folder = emptyFolder();
  const collector = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request
      .on("data", (chunk: Buffer) => chunks.push(chunk))
      .on("end", () => {
        writeFileSync(join(folder, "otlp"), Buffer.concat(chunks));
        response.writeHead(request.url === "/v1/metrics" ? 200 : 404).end();
      });
  });
  const sinks = await openSinks(
    { prometheus: "0", otlp: await listen(collector), tensorboard: join(folder, "board") },
    { name: "run-1", version: "9" },
  );
  sinks.take(new Observer(runFolder(5), []).look());
  const url = /http:\S+/.exec(sinks.notes[0]!)![0];
  const scrape = await fetch(url);
  expect(scrape.headers.get("content-type")).toContain("text/plain; version=0.0.4");
  writeFileSync(join(folder, "scrape"), await scrape.text());
  expect((await fetch(url.replace("metrics", ""))).status).toBe(404);
  expect(await sinks.close()).toEqual([]);
  await expect(fetch(url)).rejects.toThrow();

  const seen = JSON.parse(await python(READ, [folder]));
  const labels = "['host', 'rank']";
  expect(seen.prometheus).toMatchObject({
    "plimsoll_run_info:gauge['run', 'version']": 1,
    [`plimsoll_steps_total:counter${labels}`]: 5,
    [`plimsoll_step_seconds_total:counter${labels}`]: 2,
    "plimsoll_phase_seconds_total:counter['host', 'phase', 'rank']": 0,
    [`plimsoll_gpu_memory_allocated_bytes:gauge${labels}`]: 10e9 + 4,
    [`plimsoll_gpu_memory_allocated_peak_bytes:gauge${labels}`]: 30e9,
    [`plimsoll_gpu_memory_limit_bytes:gauge${labels}`]: 80e9,
    [`plimsoll_gpu_allocator_retries_total:counter${labels}`]: 3,
    [`plimsoll_workers_memory_resident_bytes:gauge${labels}`]: 1e9,
    [`plimsoll_training_loss:gauge${labels}`]: 1.25,
  });
  expect(seen.resource).toMatchObject({ "service.name": "plimsoll", "service.instance.id": "run-1" });
  const ours = ["host.name", "process.pid", "plimsoll.rank"];
  const card = ["host.name", "hw.id", "hw.type", "hw.model"];
  expect(seen.otlp).toMatchObject({
    "plimsoll.steps": ["{step}", "sum", true, ours, 5],
    "plimsoll.step.time": ["s", "sum", true, ours, 2],
    "plimsoll.phase.time": ["s", "sum", true, [...ours, "plimsoll.phase"], 0],
    "plimsoll.gpu.memory.reserved": ["By", "sum", false, ours, 20e9],
    "hw.gpu.memory.limit": ["By", "sum", false, card, 80e9],
    "process.memory.usage": ["By", "sum", false, ours, 5e9],
    "plimsoll.training.epoch": ["1", "gauge", null, ours, 0.5],
  });
  expect(seen.otlp).not.toHaveProperty("hw.gpu.memory.usage");
  const { tensorboard } = seen;
  expect(tensorboard["time/step_seconds"]).toEqual([1, 2, 3, 4, 5].map((step) => [step, 0.5]));
  expect(tensorboard["gpu_memory/reserved_bytes"]).toEqual([1, 3, 5].map((step) => [step, 20e9]));
  expect(tensorboard["host_memory/resident_bytes"]).toEqual([[5, 5e9]]);
  expect(tensorboard["training/loss"]).toEqual([[3, 1.25]]);
});

test("a curve is written once, as it grows, and thinned out in a long run", async () => {
  const board = emptyFolder();
  const folder = runFolder(2000);
  const sinks = await openSinks({ tensorboard: board }, { name: "run-1", version: "9" });
  const observer = new Observer(folder, []);
  sinks.take(observer.look());
  const more = record(1, 3000).split("\n").slice(2001, 3001).join("\n");
  writeFileSync(join(folder, "rank-1-node-101.jsonl"), `${more}\n`, { flag: "a" });
  sinks.take(observer.look());
  expect(await sinks.close()).toEqual([]);
  const steps: number[] = JSON.parse(
    await python(
      `
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1] + "/run-1/rank-1", size_guidance={"scalars": 0})
events.Reload()
print(json.dumps([event.step for event in events.Scalars("time/step_seconds")]))
`,
      [board],
    ),
  );
  expect(steps).toEqual([...new Set(steps)].toSorted((a, b) => a - b));
  expect(steps.length).toBeGreaterThanOrEqual(750);
  expect(steps.at(-1)).toBeGreaterThan(2990);
});

test("a hanging collector and a folder that cannot be written cost a line at the end, not the run", async () => {
  const cwd = emptyFolder();
  writeFileSync(join(cwd, "record"), record(0, 3));
  writeFileSync(join(cwd, "file"), "");
  const hanging = await listen(createServer(() => {}));
  const training = ["sh", "-c", 'cp record "$PLIMSOLL_RUN_DIR/rank-0-node-100.jsonl"; exit 3'];
  const options = ["--otlp", hanging, "--tensorboard", "file/board", "--prometheus", "0"];
  const ran = await plimsoll(["run", ...options, "--", ...training], { cwd });
  expect(ran.code, ran.stderr).toBe(3);
  expect(ran.stderr).toMatch(/^plimsoll: metrics for Prometheus at http:\/\/127\.0\.0\.1:\d+\/metrics$/m);
  expect(ran.stderr).toMatch(/^plimsoll: otlp: 1 of 1 exports were not taken: /m);
  expect(ran.stderr).toMatch(/^plimsoll: tensorboard: ENOTDIR/m);
  expect(ran.stderr).toContain("3 steps");
});

test("mistakes are one line, exit 2, and leave no run behind", async () => {
  const cwd = emptyFolder();
  mkdirSync(join(cwd, "runs"));
  const taken = await listen(createServer());
  const cases: [string[], RegExp][] = [
    [["--prometheus", "here"], /--prometheus takes PORT or HOST:PORT, not "here"/],
    [["--prometheus", new URL(taken).port], /--prometheus cannot listen on 127.0.0.1:\d+: .*EADDRINUSE/],
    [["--otlp", "localhost:4318"], /--otlp takes the address of a collector/],
  ];
  for (const [words, expected] of cases) {
    const { code, stderr } = await plimsoll(["run", "--dir", "runs", ...words, "--", "true"], { cwd });
    expect(stderr).toMatch(expected);
    expect(code, words.join(" ")).toBe(2);
  }
  expect((await plimsoll(["runs", "--dir", "runs"], { cwd })).stdout).not.toContain("true");
});
