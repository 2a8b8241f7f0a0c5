/**
 * npm run --silent bench:long-run [-- STEPS]
 *
 * Records a run of a million steps as the probe writes it, then times `plimsoll inspect` on its folder, from the start of
 * the process to its end, three times: as text, and with --html. Needs a build and bash.
 */
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const STEPS = Number(process.argv[2] ?? 1_000_000);
const CLI = fileURLToPath(new URL("../dist/plimsoll.js", import.meta.url));
const COLUMNS =
  "step time seconds backward optimizer data save evaluation micro allocated reserved peak inactive retries ooms heap";

const folder = mkdtempSync(join(tmpdir(), "plimsoll-long-"));
try {
  const record = join(folder, "rank-0-node-1.jsonl");
  writeFileSync(
    join(folder, "run.json"),
    JSON.stringify({
      version: 1,
      name: "long",
      command: ["python", "train.py"],
      cwd: "/",
      host: "node",
      plimsoll: "0",
      started: new Date(0).toISOString(),
    }),
  );
  const device = { index: 0, name: "Card", total: 80e9, uuid: "u" };
  const head = { k: "head", rank: 0, host: "node", t: 0, columns: COLUMNS.split(" "), device };
  writeFileSync(record, `${JSON.stringify(head)}\n`);
  let lines: string[] = [];
  for (let step = 1; step <= STEPS; step++) {
    const rest = 20_000_000_000 + ((step * 7919) % 1000) * 4096;
    lines.push(
      `[${step},${1794717240 + step * 0.05},0.0${51234 + (step % 977)},0.030101,0.004218,0.000912,0.0,0.0,1,${rest},31000000000,30123456789,104857600,0,0,0]`,
    );
    if (lines.length === 50_000 || step === STEPS) {
      appendFileSync(record, `${lines.join("\n")}\n`);
      lines = [];
    }
  }
  /** Elapsed, and the processor's own: on a busy machine only the latter says something. */
  const time = (args: readonly string[]): { elapsed: number; processor: number } => {
    const timed = `TIMEFORMAT='%R %U %S'; time "$0" "$@" > /dev/null`;
    const { stderr } = spawnSync("bash", ["-c", timed, process.execPath, CLI, "inspect", folder, ...args], {
      encoding: "utf8",
    });
    const [elapsed, user, system] = stderr.trim().split(" ").map(Number) as [number, number, number];
    return { elapsed, processor: user + system };
  };
  for (const args of [[], ["--html", join(folder, "page.html")]]) {
    const runs = [1, 2, 3].map(() => time(args));
    const list = (pick: (run: (typeof runs)[0]) => number): string =>
      runs.map((one) => pick(one).toFixed(2)).join(", ");
    process.stdout.write(
      `inspect${args.length > 0 ? " --html" : ""}: ${STEPS.toLocaleString("en")} steps, ${(statSync(record).size / 1e6).toFixed(0)} MB: ${list((one) => one.elapsed)} s elapsed, ${list((one) => one.processor)} s of processor (load average ${loadavg()[0]!.toFixed(1)})\n`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
