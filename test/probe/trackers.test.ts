import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { emptyFolder } from "../support/folder.ts";
import { train } from "./training.ts";

/** What the scripts below see of Weights & Biases and MLflow: as much as the probe asks of the real ones. */
const WANDB = `
class Run:
    rows = []
    def define_metric(self, name, step_metric): self.defined = (name, step_metric)
    def log(self, row, commit):
        assert commit is False
        self.rows.append(row)
run = Run()
`;
const MLFLOW = `
import sys, threading, types
sys.modules["mlflow.entities"] = types.SimpleNamespace(Metric=lambda *fields: fields)
trainer = threading.current_thread()
class MlflowClient:
    def log_batch(self, run_id, metrics): raise ConnectionError("no route to " + run_id + "\\nmore")
def active_run():
    assert threading.current_thread() is trainer
    return types.SimpleNamespace(info=types.SimpleNamespace(run_id="run-7"))
`;

async function trainWith(modules: { [name: string]: string }, trackers: string, source: string) {
  const folder = emptyFolder();
  for (const [name, text] of Object.entries(modules)) writeFileSync(join(folder, `${name}.py`), text);
  const head = `
import sys, time
sys.path.insert(0, ${JSON.stringify(folder)})
import torch
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def steps(n, pause):
    for _ in range(n):
        model(torch.randn(2, 4)).sum().backward()
        optimizer.step()
        time.sleep(pause)
`;
  const trained = await train(head + source, { PLIMSOLL_TRACKERS: trackers });
  const said = trained.records[0]!.events.filter((event) => event.k === "tracker");
  return { ...trained, said: said.map(({ name, sent, problem }) => ({ name, sent, problem })) };
}

test("rows join the script's own run, uncommitted; one that raises is noted, and asked again", async () => {
  const { code, stdout, stderr, said } = await trainWith(
    { wandb: WANDB, mlflow: MLFLOW },
    "wandb,mlflow",
    `
import wandb, mlflow
steps(30, 0.05)
rows = wandb.run.rows
assert wandb.run.defined == ("plimsoll/*", "plimsoll/step")
assert [row["plimsoll/step"] for row in rows] == sorted({row["plimsoll/step"] for row in rows})
assert rows[-1]["plimsoll/step_seconds"] > 0 and rows[-1]["plimsoll/process_memory_resident_bytes"] > 1e7
print("done")
`,
  );
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "done\n", stderr: "" });
  expect(said[0]).toMatchObject({ name: "wandb", problem: null });
  expect(said[0]!.sent).toBeGreaterThanOrEqual(2);
  expect(said[1]).toMatchObject({ name: "mlflow", sent: 0 });
  expect(said[1]!.problem).toMatch(/^(\d) of \1 rows were not taken: ConnectionError: no route to run-7$/);
});

test("a tracker that hangs is left behind; one that the script does not use is never imported", async () => {
  const { code, stdout, stderr, said, records } = await trainWith(
    {
      wandb: WANDB.replace("self.rows.append(row)", "import time; time.sleep(600)"),
      mlflow: "raise SystemExit(9)",
    },
    "wandb,mlflow",
    "import wandb\nsteps(30, 0.01)\nprint('done')\n",
  );
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "done\n", stderr: "" });
  expect(records[0]!.steps).toBe(30);
  expect(said).toEqual([
    {
      name: "wandb",
      sent: 0,
      problem: "it did not return from logging; rows are missing behind the first 0",
    },
    { name: "mlflow", sent: 0, problem: "the script does not use it" },
  ]);
});
