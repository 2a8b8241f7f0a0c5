/**
 * npm run --silent bench:collector [-- SECONDS [RANKS [STEPS_A_SECOND]]]
 *
 * Simulated ranks (default 64, 20 steps a second each, 300 seconds) write records and send them with the probe's own
 * sender to one collector, which is followed as `plimsoll run` follows it. Prints what arrived and the collector's memory.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { collect } from "../src/monitor/collector.ts";
import { Observer } from "../src/monitor/observe.ts";

const [seconds = 300, ranks = 64, rate = 20] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), "plimsoll-collector-"));
const sent = mkdtempSync(join(tmpdir(), "plimsoll-ranks-"));
const collector = await collect(folder, "127.0.0.1:0", "bench");
const observer = new Observer(folder, []);
const child = spawn(
  process.env["PLIMSOLL_PYTHON"] ?? "python3",
  [
    fileURLToPath(new URL("collector_ranks.py", import.meta.url)),
    sent,
    String(seconds),
    String(ranks),
    String(rate),
  ],
  {
    env: {
      ...process.env,
      PLIMSOLL_COLLECTOR: `http://127.0.0.1:${collector.port}`,
      PLIMSOLL_TOKEN: "bench",
    },
    stdio: ["ignore", "inherit", "inherit"],
  },
);
const memory: number[] = [];
const looks: number[] = [];
while (child.exitCode === null) {
  const began = performance.now();
  observer.look();
  looks.push(performance.now() - began);
  globalThis.gc?.();
  memory.push(process.memoryUsage().rss);
  await sleep(Math.max(1000, 20 * looks.at(-1)!));
}
await collector.close();
const { summary } = observer.close();
const expected = seconds * rate;
const steps = summary.ranks.map((rank) => rank.steps);
const lost = steps.reduce((sum, count) => sum + (expected - count), 0) + (ranks - steps.length) * expected;
const mb = (bytes: number): number => Math.round(bytes / 1e6);
process.stdout.write(
  `${JSON.stringify({
    ranks: steps.length,
    steps: steps.reduce((sum, count) => sum + count, 0),
    expected: ranks * expected,
    lost,
    // A fifth of the way in, when every buffer has been used once, against the end.
    memory_mb_early: mb(memory[Math.floor(memory.length / 5)] ?? 0),
    memory_mb_end: mb(memory.at(-1) ?? 0),
    look_ms_median: Math.round(looks.toSorted((a, b) => a - b)[looks.length >> 1] ?? 0),
  })}\n`,
);
rmSync(folder, { recursive: true, force: true });
rmSync(sent, { recursive: true, force: true });
process.exitCode = lost === 0 ? 0 : 1;
