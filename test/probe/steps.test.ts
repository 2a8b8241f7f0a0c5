import { expect, test } from "vitest";
import { lineOf, train } from "./training.ts";

test("steps, micro-batches and where a step's time goes", async () => {
  const source = `
import io, time
import torch
from torch.utils.data import DataLoader
class Slow(torch.utils.data.Dataset):
    def __len__(self): return 24
    def __getitem__(self, index):
        time.sleep(0.004)
        return torch.randn(4)
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.AdamW(model.parameters())
other = torch.optim.SGD(torch.nn.Linear(2, 2).parameters(), lr=0.1)
for index, batch in enumerate(DataLoader(Slow(), batch_size=2)):
    model(batch).sum().backward()
    if index % 3 == 2:
        optimizer.step()
        other.step()
        if index == 5:
            model.eval()
            time.sleep(0.05)
            model.train()
            torch.save(model.state_dict(), io.BytesIO())
        value = model(batch).sum().item()
`;
  const { code, records } = await train(source, { PLIMSOLL_DEEP: "3:4" });
  expect(code).toBe(0);
  const record = records[0]!;
  expect([...record.column("step")]).toEqual([1, 2, 3, 4]);
  expect([...record.column("micro")]).toEqual([3, 3, 3, 3]);
  expect(Math.min(...record.column("data"))).toBeGreaterThan(0.02);
  const evaluation = [...record.column("evaluation")];
  expect(evaluation.map((seconds) => seconds >= 0.05)).toEqual([false, false, true, false]);
  expect(record.column("save")[2]).toBeGreaterThan(0);
  const deep = record.events.find((event) => event.k === "deep")!;
  expect(deep).toMatchObject({ first: 3, last: 4 });
  const waits = deep["waits"] as { line: number; operator: string; per_step: number }[];
  // Behind the second step the window opens, behind the fourth it closes: the item() of steps 2 and 3 is inside.
  expect(waits).toContainEqual(
    expect.objectContaining({
      line: lineOf(source, ".item()"),
      operator: "_local_scalar_dense",
      per_step: 1,
    }),
  );
});

test("what Hugging Face's Trainer tells: epochs, losses, saves", async () => {
  const { code, stderr, records } = await train(`
import tempfile
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments
model = GPT2LMHeadModel(GPT2Config(n_layer=1, n_head=2, n_embd=16, vocab_size=32, n_positions=16))
data = [{"input_ids": torch.arange(8) % 32, "labels": torch.arange(8) % 32} for _ in range(8)]
with tempfile.TemporaryDirectory() as folder:
    Trainer(
        model=model,
        args=TrainingArguments(folder, num_train_epochs=2, per_device_train_batch_size=2, gradient_accumulation_steps=2,
                               logging_steps=1, report_to=[], disable_tqdm=True, save_strategy="epoch", use_cpu=True),
        train_dataset=data,
    ).train()
`);
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  const record = records[0]!;
  expect([...record.column("micro")]).toEqual([2, 2, 2, 2]);
  const logs = record.events.filter((event) => event.k === "log" && "loss" in (event["values"] as object));
  expect(logs.map((log) => log.step)).toEqual([1, 2, 3, 4]);
  expect(logs.map((log) => log["epoch"])).toEqual([0.5, 1, 1.5, 2]);
  expect(record.events.filter((event) => event.k === "save")).toHaveLength(2);
  expect(record.events.filter((event) => event.k === "epoch_begin")).toHaveLength(2);
});
