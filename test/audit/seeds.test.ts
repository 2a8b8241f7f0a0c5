import { describe, expect, test } from "vitest";
import { auditTexts } from "../../src/audit/session.ts";
import { DEFAULTS } from "../../src/audit/settings.ts";

/** Problems that hand-written audits of real projects describe, in our own words, with what is true of each. */
interface Problem {
  readonly what: string;
  readonly code: string;
  /** "line rule" of each finding that must be there. */
  readonly found: readonly string[];
  /** Rules that would be a wrong diagnosis here. */
  readonly not?: readonly string[];
  /** What the finding must say. */
  readonly says?: RegExp;
}

const PROBLEMS: readonly Problem[] = [
  {
    what: "a penalty summed over modules: launches, not synchronisation; the constant copied for each module",
    code: `import torch
import torch.nn as nn


class Tuner(nn.Module):
    def curve_penalty(self):
        total = 0.0
        count = 0
        straight = torch.tensor([0.0, 1.0, 0.0, 0.0])
        for module in self.modules():
            if hasattr(module, "curves"):
                for curve in module.curves.values():
                    goal = straight.to(curve.weight.device)
                    loss = torch.mean((curve.weight - goal) ** 2)
                    total += loss
                    count += 1
        return total / count
`,
    found: ["13 PLM033", "15 PLM034"],
    not: ["PLM025", "PLM001"],
    says: /kernels|constant/,
  },
  {
    what: "stacking the losses keeps the copy of the constant for every module",
    code: `import torch
import torch.nn as nn


class Tuner(nn.Module):
    def curve_penalty(self):
        losses = []
        straight = torch.tensor([0.0, 1.0, 0.0, 0.0])
        for module in self.modules():
            if hasattr(module, "curves"):
                for curve in module.curves.values():
                    losses.append(torch.mean((curve.weight - straight.to(curve.weight.device)) ** 2))
        return torch.stack(losses).mean()
`,
    found: ["12 PLM033"],
  },
  {
    what: "a parameter sent to its input's device in every forward",
    code: `import torch
import torch.nn as nn


class Tuner(nn.Module):
    def bend(self, z: torch.Tensor, name: str):
        curve = self.curves[name]
        a = curve.weight.to(z.device)
        s = curve.sigma.to(z.device)
        return torch.tanh(z / s) * a
`,
    found: ["8 PLM036", "9 PLM036"],
    not: ["PLM033", "PLM042"],
    says: /free when it is there already/,
  },
  {
    what: "a diagnostic that records gradients for nobody",
    code: `import torch


def inspect_curves(model):
    straight = torch.tensor([0.0, 1.0, 0.0, 0.0])
    for name, module in model.named_modules():
        if hasattr(module, "curves"):
            for curve in module.curves.values():
                off = (curve.weight - straight.to(curve.weight.device)).abs().mean().item()
                print(name, off)
`,
    found: ["9 PLM019"],
    not: ["PLM025"],
  },
  {
    what: "checkpointing without saying which path",
    code: `from torch.utils.checkpoint import checkpoint


def run(blocks, x):
    for block in blocks:
        x = checkpoint(block, x)
    return x
`,
    found: ["6 PLM051"],
  },
  {
    what: "checkpointing on the non-reentrant path leaks nothing",
    code: `import torch.nn as nn
from torch.utils.checkpoint import checkpoint


class Stack(nn.Module):
    def forward(self, x, mask):
        for block in self.blocks:
            x = checkpoint(block, x, mask, use_reentrant=False)
        return x
`,
    found: [],
    not: ["PLM051", "PLM053", "PLM031"],
  },
  {
    what: "the advice against that imagined leak: random state dropped, cache emptied every four layers",
    code: `import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint


class Stack(nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.blocks = blocks
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, mask):
        for i, block in enumerate(self.blocks):
            x = checkpoint(block, x, mask, use_reentrant=False, preserve_rng_state=False)
            if i % 4 == 3 and torch.cuda.is_available():
                torch.cuda.empty_cache()
        return self.dropout(x)
`,
    found: ["14 PLM053", "16 PLM031"],
    says: /another mask|throws away|stops the device/,
  },
  {
    what: "running statistics that chain the graphs of all forwards",
    code: `import torch.nn as nn


class Quantizer(nn.Module):
    def forward(self, x):
        low = x.min()
        if not self.calibrated:
            self.running_low = low.cpu().clone()
        else:
            self.running_low = self.running_low * 0.9 + low.cpu() * 0.1
        return x - self.running_low
`,
    found: ["10 PLM018"],
    says: /chains the graphs/,
  },
  {
    what: "`.item()` of the loss in every micro-step: a wait, not a leak",
    code: `import torch

device = torch.device("cuda")


def train(model, batches, optimizer, steps):
    model.to(device)
    total = 0.0
    for batch in batches:
        outputs = model(batch.to(device), labels=batch.to(device))
        loss = outputs["loss"] / steps
        total += loss.item()
        loss.backward()
        optimizer.step()
    return total
`,
    found: ["12 PLM025"],
    not: ["PLM001", "PLM002"],
    says: /wait/,
  },
  {
    what: "the advice against that imagined leak: cache and garbage every ten steps",
    code: `import gc

import torch


def train(model, batches, optimizer):
    for step, batch in enumerate(batches):
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
            gc.collect()
`,
    found: ["13 PLM031", "14 PLM031"],
    says: /gains nothing/,
  },
  {
    what: "the same in every step",
    code: `import gc

import torch


def train(model, batches, optimizer):
    for batch in batches:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        gc.collect()
        torch.cuda.empty_cache()
`,
    found: ["11 PLM031", "12 PLM031"],
  },
  {
    what: "cleaning up once, after training, is fine",
    code: `import torch


def main(trainer, folder):
    trainer.train()
    torch.cuda.empty_cache()
    trainer.model.save_pretrained(folder)
`,
    found: [],
    not: ["PLM031"],
  },
  {
    what: "a low-rank product scaled in one expression",
    code: `import torch.nn as nn


class Adapter(nn.Module):
    def forward(self, x):
        a = self.quantize_a(self.lora_a)
        b = self.quantize_b(self.lora_b)
        return (x @ a @ b) * self.scaling
`,
    found: ["8 PLM048"],
  },
  {
    what: "a dataset that processes everything when it is made",
    code: `from datasets import load_dataset
from torch.utils.data import Dataset


class Questions(Dataset):
    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.rows = load_dataset("squad", split="train")
        self.done = self.process()

    def process(self):
        done = []
        for row in self.rows:
            done.append(self.tokenizer(row["question"]))
        return done
`,
    found: ["14 PLM040"],
  },
  {
    what: "a 13B model given to FSDP as one unit",
    code: `from torch.distributed.fsdp import CPUOffload
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def wrap(model, device):
    return FSDP(model, cpu_offload=CPUOffload(offload_params=True), use_orig_params=True, device_id=device)
`,
    found: ["6 PLM059"],
  },
  {
    what: "an accumulation that divides, steps at the end and clips once",
    code: `import torch


def train(model, batches, optimizer, accumulate, count):
    optimizer.zero_grad()
    for at, batch in enumerate(batches):
        loss = model(batch).mean()
        loss = loss / accumulate
        loss.backward()
        if (at + 1) % accumulate == 0 or (at + 1) == count:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
`,
    found: [],
    not: ["PLM065", "PLM079"],
  },
];

describe("what hand-written audits found", () => {
  test.each(PROBLEMS)("$what", ({ code, found, not, says }) => {
    const { findings } = auditTexts([{ path: "problem.py", text: code }], DEFAULTS);
    expect(findings.map((finding) => `${finding.line} ${finding.rule}`)).toEqual(
      expect.arrayContaining([...found]),
    );
    for (const rule of not ?? []) expect(findings.map((finding) => finding.rule)).not.toContain(rule);
    if (says)
      for (const one of findings.filter((finding) => found.includes(`${finding.line} ${finding.rule}`)))
        expect(one.message).toMatch(says);
  });

  test("a config that switches the cache on beside checkpointing", () => {
    const { findings } = auditTexts(
      [{ path: "train.yaml", text: "base_model: phi\ngradient_checkpointing: true\nuse_cache: true\n" }],
      DEFAULTS,
    );
    expect(findings.map((finding) => `${finding.line} ${finding.rule}`)).toEqual(["3 PLM054"]);
  });

  test("a config that is right has no findings", () => {
    const { findings } = auditTexts(
      [
        {
          path: "train.yaml",
          text: "base_model: phi\ngradient_checkpointing: true\nuse_cache: false\ntorch_dtype: bfloat16\n",
        },
      ],
      DEFAULTS,
    );
    expect(findings).toEqual([]);
  });
});
