import { expect, test } from "vitest";
import { train } from "./training.ts";

const SOURCE = `
import os, time, warnings, logging
logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
warnings.simplefilter("ignore")
import torch
import pytorch_lightning as L
from pytorch_lightning.loggers import CSVLogger
class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 2)
    def training_step(self, batch, index):
        time.sleep(0.02)
        loss = self.layer(batch).pow(2).mean()
        self.log("train_loss", loss)
        return loss
    def validation_step(self, batch, index):
        time.sleep(0.02)
        self.log("val_loss", self.layer(batch).pow(2).mean())
    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())
data = torch.utils.data.DataLoader(torch.randn(24, 8), batch_size=4)
trainer = L.Trainer(
    max_epochs=2, accelerator="cpu", logger=CSVLogger(os.path.dirname(__file__)), log_every_n_steps=1,
    accumulate_grad_batches=2, enable_progress_bar=False, enable_model_summary=False, enable_checkpointing=False,
)
trainer.fit(Model(), data, data)
`;

test("Lightning: epochs, losses, evaluation, and a step's closure is not the optimizer's time", async () => {
  const { code, stderr, records } = await train(SOURCE);
  expect(code, stderr).toBe(0);
  const record = records[0]!;
  expect([...record.column("step")]).toEqual([1, 2, 3, 4, 5, 6]);
  expect([...record.column("micro")]).toEqual([2, 2, 2, 2, 2, 2]);
  const told = record.events.filter((event) => ["epoch_begin", "evaluate", "train_end"].includes(event.k));
  expect(told.map(({ k, step, epoch }) => [k, step, epoch])).toEqual([
    ["epoch_begin", 0, 0],
    ["evaluate", 3, 0],
    ["epoch_begin", 3, 1],
    ["evaluate", 6, 1],
    ["train_end", 6, 1],
  ]);
  const losses = record.events.filter((event) => event.k === "log" && "loss" in (event["values"] as object));
  expect(losses.map(({ step, epoch }) => [step, epoch])).toEqual(
    [1, 2, 3, 4, 5, 6].map((n) => [n, n > 3 ? 1 : 0]),
  );
  expect([...record.column("evaluation")].map((seconds) => seconds > 0.1)).toEqual(
    [1, 2, 3, 4, 5, 6].map((step) => step === 4),
  );
  // Each step waits 40 ms in two forward passes, one of them inside the closure that optimizer.step is given.
  const steady = [...record.column("optimizer")].slice(1);
  expect(Math.min(...steady)).toBeLessThan(0.02);
});

test("a record that a Trainer's event opened before the first step goes on, on a GPU too", async () => {
  // At the 64th step the probe weighs what its readings of a GPU's counters have cost.
  const { code, stderr, records } = await train(`
import torch
import plimsoll_probe.session as probe
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
probe._session._cuda.read = lambda: (10, 20, 30, 0, 0, 0)
probe._session.event("epoch_begin", epoch=0)
for _ in range(130):
    model(torch.randn(2, 4)).sum().backward()
    optimizer.step()
`);
  expect(code, stderr).toBe(0);
  expect(records[0]!.steps).toBe(130);
  expect(records[0]!.events.filter((event) => event.k === "note")).toEqual([]);
});
