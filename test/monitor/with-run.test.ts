import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { emptyFolder } from "../support/folder.ts";
import { plimsoll } from "../support/cli.ts";

const SCRIPT = `import torch
model, optimizer = torch.nn.Linear(4, 4).cuda(), None
optimizer = torch.optim.AdamW(model.parameters())
for batch in loader:
    loss = model(batch).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(loss.item())
    done = bool(loss > 3)
`;
const GB = 1e9;

function recorded(script: string): string {
  const folder = join(emptyFolder(), "run");
  mkdirSync(folder);
  const run = { version: 1, name: "run", command: [], cwd: "/", host: "h", plimsoll: "0", started: "" };
  writeFileSync(join(folder, "run.json"), JSON.stringify(run));
  const line = (number: number, per: number): object => ({
    file: script,
    line: number,
    text: "",
    operator: "_local_scalar_dense",
    from: "cuda:0",
    to: "",
    per_step: per,
    bytes_per_step: 0,
  });
  const columns = ["step", "seconds", "allocated", "reserved", "peak", "retries"];
  const lines = [
    {
      k: "head",
      rank: 0,
      host: "h",
      t: 0,
      columns,
      device: { index: 0, name: "H200", total: 150e9, uuid: "u" },
    },
    {
      k: "holdings",
      t: 1,
      step: 4,
      kinds: { weight: 0.5 * GB, gradient: 0.5 * GB, "optimizer state": 1 * GB },
    },
    { k: "deep", t: 1, first: 3, last: 4, waits: [line(9, 1.5), line(10, 2)], copies: [] },
    [1, 0.1, 2 * GB, 5 * GB, 4 * GB, 0],
  ];
  writeFileSync(join(folder, "rank-0-h-1.jsonl"), lines.map((one) => `${JSON.stringify(one)}\n`).join(""));
  return folder;
}

test("audit --with-run puts what a run measured behind the finding at that line", async () => {
  const script = join(emptyFolder(), "train.py");
  writeFileSync(script, SCRIPT);
  const { stdout, stderr } = await plimsoll(["audit", script, "--with-run", recorded(script), "--json"]);
  const { findings } = JSON.parse(stdout) as { findings: { line: number; message: string }[] };
  const item = findings.find((finding) => finding.line === 9);
  expect(item?.message).toContain("(measured: 1.5 waits for the device a step)");
  const told = `${stderr} ${findings.map((finding) => finding.message).join(" ")}`;
  expect(told).toContain("2 waits for the device a step");
});

test("plan --compare RUN lays the peaks and the counted components beside the plan's", async () => {
  const { stdout } = await plimsoll([
    "plan",
    "gpt2",
    "--batch",
    "4",
    "--seq",
    "512",
    "--compare",
    recorded("x.py"),
  ]);
  const row = (name: string): string => stdout.split("\n").find((line) => line.startsWith(`  ${name}`)) ?? "";
  const compared = stdout.slice(stdout.indexOf("Compared"));
  expect(compared).toMatch(/optimizer state +1\.00 GB/);
  expect(compared).toMatch(/reserved +5\.00 GB/);
  expect(compared).not.toContain("saved activations");
  expect(row("weights")).not.toBe("");
});
