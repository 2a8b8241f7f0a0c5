import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { plimsoll } from "../support/cli.ts";
import { emptyFolder } from "../support/folder.ts";

test("two deletions that would leave a block empty are made one after the other", async () => {
  const folder = emptyFolder();
  const file = join(folder, "train.py");
  writeFileSync(
    file,
    `import gc

import torch


def train(model, batches, optimizer):
    for step, batch in enumerate(batches):
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            torch.cuda.empty_cache()
            gc.collect()
`,
  );
  const { code, stdout } = await plimsoll(["audit", file, "--fix", "--unsafe-fixes", "--select", "PLM031"]);
  expect(stdout).toMatch(/2 fixes/);
  expect(code).toBe(0);
  expect(readFileSync(file, "utf8")).toContain("if step % 10 == 0:\n            pass\n");
});
