/**
 * npm run --silent bench:probe [-- small large leak oom]
 *
 * On a CUDA machine: the ratio of step times with and without the probe (blocks alternating in one run), on a model of
 * GPT-2's size and on one of 7 B, and what it says of a planted leak and of an out-of-memory.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { probeEnvironment } from "../src/monitor/probe.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const venv = here("../.venv/bin/python");
const python = process.env["PLIMSOLL_PYTHON"] ?? (existsSync(venv) ? venv : "python3");
const probe = spawnSync(python, [
  "-c",
  "import torch; raise SystemExit(0 if torch.cuda.is_available() else 3)",
]);
if (probe.status !== 0) {
  process.stderr.write(
    `${python} sees no CUDA device: this bench needs one (PLIMSOLL_PYTHON names another Python)\n`,
  );
  process.exit(2);
}
const run = mkdtempSync(join(tmpdir(), "plimsoll-probe-"));
const { status } = spawnSync(python, [here("probe_cuda.py"), ...process.argv.slice(2)], {
  env: probeEnvironment(process.env, run) as NodeJS.ProcessEnv,
  stdio: "inherit",
});
rmSync(run, { recursive: true, force: true });
process.exitCode = status ?? 1;
