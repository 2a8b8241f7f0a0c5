import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { emptyFolder } from "../support/folder.ts";
import { train } from "./training.ts";

/** As much of DeepSpeed's engine as matters here: an inner step for each group, and steps skipped on overflow. */
const ENGINE = `
class DeepSpeedEngine:
    skipped_steps = 0
    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.groups = optimizer.param_groups
    def _take_model_step(self, lr_kwargs, overflow=False):
        if overflow:
            self.skipped_steps += 1
            return
        for group in self.groups:
            self.optimizer.param_groups = [group]
            self.optimizer.step()
`;

test("under DeepSpeed a step is the engine's, however often it steps the optimizer inside", async () => {
  const folder = emptyFolder();
  mkdirSync(join(folder, "deepspeed/runtime"), { recursive: true });
  for (const [file, text] of [
    ["deepspeed/__init__.py", "from .runtime.engine import DeepSpeedEngine\n"],
    ["deepspeed/runtime/__init__.py", ""],
    ["deepspeed/runtime/engine.py", ENGINE],
  ] as const)
    writeFileSync(join(folder, file), text);
  const { code, stderr, records } = await train(`
import sys
sys.path.insert(0, ${JSON.stringify(folder)})
import torch, deepspeed
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 1))
groups = [{"params": layer.parameters()} for layer in model]
engine = deepspeed.DeepSpeedEngine(torch.optim.AdamW(groups))
for step in range(5):
    for _ in range(2):
        model(torch.randn(2, 4)).sum().backward()
    engine._take_model_step({}, overflow=step == 1)
`);
  expect(code, stderr).toBe(0);
  expect([...records[0]!.column("step")]).toEqual([1, 2, 3, 4]);
  expect([...records[0]!.column("micro")]).toEqual([2, 4, 2, 2]);
  expect(Math.min(...records[0]!.column("optimizer"))).toBeGreaterThan(0);
});
