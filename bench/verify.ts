/**
 * npm run --silent bench:verify [-- COUNT [SCRIPT]]
 *
 * Compares a training with itself, COUNT times (20), and counts what `plimsoll verify` should never say: that its
 * results, its memory or its speed are different. On a machine that others use as well it is the harder test.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync, copyFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { verify } from "../src/verify/verify.ts";

const [count = "20", script] = process.argv.slice(2);
const venv = fileURLToPath(new URL("../.venv/bin/python", import.meta.url));
const python = process.env["PLIMSOLL_PYTHON"] ?? (existsSync(venv) ? venv : "python3");

const TRAINING = `
import torch
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Dropout(0.1), torch.nn.Linear(512, 64))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(40):
    x = torch.randn(64 + 16 * (step % 3), 256)
    loss = torch.nn.functional.mse_loss(model(x), x[:, :64])
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
`;

const folder = mkdtempSync(join(tmpdir(), "plimsoll-bench-"));
mkdirSync(join(folder, "code"));
if (script) copyFileSync(script, join(folder, "code/train.py"));
else writeFileSync(join(folder, "code/train.py"), TRAINING);
const side = { source: join(folder, "code"), command: [python, "train.py"] };
let alarms = 0;
try {
  for (let at = 1; at <= Number(count); at++) {
    const { results, memory, speed } = await verify({
      before: side,
      after: side,
      repeats: 4,
      seed: at,
      deterministic: true,
      share: [],
      metrics: [],
      metricCommand: null,
      limits: { sameResults: false, memoryIncrease: null, slowdown: null },
      cwd: folder,
      env: process.env,
      cancel: new AbortController().signal,
      progress: () => {},
    });
    const changed = memory.filter(({ verdict }) => verdict === "less" || verdict === "more");
    const alarm = [
      ...(results.verdict === "different" ? ["results"] : []),
      ...changed.map(({ name }) => name),
      ...(speed.verdict === "faster" || speed.verdict === "slower" ? ["speed"] : []),
    ];
    if (alarm.length > 0) alarms++;
    const [low, high] = (speed.interval ?? [0, 0]).map((share) => `${(share * 100).toFixed(1)} %`);
    process.stdout.write(
      `${String(at).padStart(3)}  results ${results.verdict}; speed ${speed.verdict}, ${low} to ${high}; memory ${changed.length === 0 ? "no difference" : "different"}${alarm.length > 0 ? `  ← false alarm: ${alarm.join(", ")}` : ""}\n`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(`false alarms ${alarms} of ${count}\n`);
process.exitCode = alarms > 0 ? 1 : 0;
