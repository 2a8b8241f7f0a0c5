import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fixText } from "../../src/audit/fix.ts";
import type { ReportedFinding } from "../../src/audit/report.ts";
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
  expect(readFileSync(file, "utf8")).toMatch(/ {8}optimizer\.step\(\)\n$/);
});

test("a sum that is kept on the device is a number again wherever it is read", async () => {
  const folder = emptyFolder();
  const file = join(folder, "train.py");
  writeFileSync(
    file,
    `import numpy as np
import torch.nn.functional as F


def train(model, loader, optimizer):
    total, logged = 0.0, 0.0
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
        total += loss.item()
        if step % 50 == 0:
            print(f"{(total - logged) / 50:.3f}")
            logged = total
    total /= len(loader)
    return total, np.isnan(total)
`,
  );
  const mend = ["audit", file, "--fix", "--unsafe-fixes", "--select", "PLM025"];
  expect((await plimsoll(mend)).stdout).toMatch(/1 fix/);
  const mended = readFileSync(file, "utf8");
  expect(mended).toContain(`        total += loss.detach()
        if step % 50 == 0:
            print(f"{(float(total) - logged) / 50:.3f}")
            logged = float(total)
    total /= len(loader)
    return float(total), np.isnan(float(total))
`);
  await plimsoll(mend);
  expect(readFileSync(file, "utf8")).toBe(mended);
});

test("what a forward stores is detached, and what it goes on computing with is not", async () => {
  const folder = emptyFolder();
  const file = join(folder, "net.py");
  writeFileSync(
    file,
    `import torch.nn as nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Linear(width, width)
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        self.feat = self.body(x)  # shown later
        h = self.head(self.feat)
        self.out = h
        print(self.out.mean().item())
        if x is None: self.other = self.head(h); return self.body(self.other)
        if x.ndim == 2:
            self.branched = self.body(x)
        return h + self.head(self.branched) + self.out
`,
  );
  await plimsoll(["audit", file, "--fix", "--unsafe-fixes", "--select", "PLM004"]);
  expect(readFileSync(file, "utf8")).toContain(`        feat = self.body(x)
        self.feat = feat.detach()  # shown later
        h = self.head(feat)
        self.out = h.detach()
        print(self.out.mean().item())
        if x is None: other = self.head(h); self.other = other.detach(); return self.body(other)
        if x.ndim == 2:
            self.branched = self.body(x)
        return h + self.head(self.branched) + h
`);
});

const EVALUATIONS: readonly (readonly [what: string, grade: "safe" | "unsafe" | null, text: string])[] = [
  ["numbers alone", "safe", "for x in loader: hits += (net(x).argmax(1) == 1).sum().item()\n    return hits"],
  [
    "a loss that is summed up",
    "safe",
    "for x in loader: hits += crit(net(x), x).item()\n    return hits / 3",
  ],
  ["a method of this file", "safe", "for x in loader: hits += score(net, net(x))\n    return hits"],
  ["outputs", "unsafe", "return [net(x.cuda()) for x in loader]"],
  ["outputs that it keeps for others", "unsafe", "for x in loader: SEEN.append(net(x))"],
  [
    "outputs in a list",
    "unsafe",
    "outs = []\n    for x in loader: outs.append(net(x))\n    return torch.cat(outs)",
  ],
  ["unknown code with the network", "unsafe", "for x in loader: print(net(probe(net, x)).argmax(1))"],
  ["what holds the network", "unsafe", "p = Probe(net)\n    for x in loader: print(net(p(x)).argmax(1))"],
  ["an attack that holds it", null, "for x in loader: print(net(atk(x)).argmax(1))"],
  ["another thing of that name", null, "for x in loader: print(net(x).argmax(1))\n\n\ntorch = 3"],
];

test.each(EVALUATIONS)("recording is switched off around %s: %s", async (_, grade, body) => {
  const folder = emptyFolder();
  writeFileSync(
    join(folder, "evaluate.py"),
    `import torch
from elsewhere import Probe, atk, crit, probe

SEEN = []


def score(net, out):
    return out.argmax(1).sum().item()


def evaluate(net: torch.nn.Module, loader, hits=0):
    net.eval()
    ${body}
`,
  );
  const { stdout } = await plimsoll(["audit", folder, "--select", "PLM019", "--format", "json"]);
  const { findings } = JSON.parse(stdout) as { findings: { fix: { grade: string } | null }[] };
  expect(findings.map(({ fix }) => fix?.grade ?? null)).toEqual([grade]);
});

test("of a loss or a number the loss is detached; what may be a number is left alone", async () => {
  const folder = emptyFolder();
  const file = join(folder, "train.py");
  writeFileSync(
    file,
    `import torch


def train(model: torch.nn.Module, loader, opt, flag):
    total, scaled, kept = 0, 0, []
    for x in loader:
        loss = model(x.cuda()).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss if flag else 0
        scaled += 0.5 * (loss if flag else 0)
        kept.append(loss if flag else 0.0)
    return total, scaled, kept
`,
  );
  await plimsoll(["audit", file, "--fix", "--unsafe-fixes", "--select", "PLM001,PLM002"]);
  expect(readFileSync(file, "utf8")).toContain(`        total += loss.detach() if flag else 0
        scaled += 0.5 * (loss if flag else 0)
        kept.append(loss.detach() if flag else 0.0)
`);
});

test("a file that does not parse is left as it was", async () => {
  const folder = emptyFolder();
  const file = join(folder, "train.py");
  const text = `import torch


def train(model: torch.nn.Module, loader, opt):
    total = 0
    for x in loader:
        loss = model(x.cuda()).sum()
        loss.backward()
        opt.step()
        opt.zero_grad()
        total += loss
    return total


def g(:
`;
  writeFileSync(file, text);
  const { stdout } = await plimsoll(["audit", file, "--fix", "--unsafe-fixes"]);
  expect(stdout).toContain("PLM001");
  expect(stdout).not.toContain("(--fix");
  expect(readFileSync(file, "utf8")).toBe(text);
});

test("what is made on the device is the same there, and comments stay beside what they are about", async () => {
  const folder = emptyFolder();
  const file = join(folder, "train.py");
  const head = `import torch


def train(model: torch.nn.Module, loader, opt, args):
    device = torch.device("cuda")
    first = 0
    for x in loader:
        loss = model(x.to(device)).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
`;
  writeFileSync(
    file,
    `${head}        a = torch.zeros(
            3,  # rows
        ).to(device)
        b = torch.zeros(
            3  # rows
        ).to(device)
        c = torch.zeros((
            3  # rows
        )).to(device)
        d = torch.zeros(3).cuda(first)
        e = torch.zeros(3).cuda(args.gpu)
        f = torch.zeros(3, pin_memory=True).to(device)
        g = torch.zeros(3, requires_grad=True).to(device)
        h = torch.zeros(3, dtype=torch.long).to(device, dtype=torch.float)
`,
  );
  await plimsoll(["audit", file, "--fix", "--unsafe-fixes", "--select", "PLM035"]);
  expect(readFileSync(file, "utf8")).toBe(`${head}        a = torch.zeros(
            3,  # rows
            device=device,
        )
        b = torch.zeros(
            3,  # rows
            device=device
        )
        c = torch.zeros((
            3  # rows
        ), device=device)
        d = torch.zeros(3, device=first)
        e = torch.zeros(3).cuda(args.gpu)
        f = torch.zeros(3, pin_memory=True).to(device)
        g = torch.zeros(3, requires_grad=True).to(device)
        h = torch.zeros(3, dtype=torch.long).to(device, dtype=torch.float)
`);
});

test("gradients are cleared straight before the forward, and each comment stays with what it is about", async () => {
  const folder = emptyFolder();
  const file = join(folder, "train.py");
  writeFileSync(
    file,
    `import torch


def train(model: torch.nn.Module, loader, opt, crit, meter):
    for i, (x, y) in enumerate(loader):
        if i > 0: print([p.grad.norm() for p in model.parameters()])
        meter.update(i)

        # Forward
        loss = crit(model(x.cuda()), y)

        # Backward and optimize
        opt.zero_grad()
        loss.backward()
        opt.step()


def fit(model: torch.nn.Module, loader, opt, crit):
    for x, y in loader:
        out = model(x.cuda())
        # Gradients add up
        opt.zero_grad()  # so they go

        loss = crit(out, y)
        loss.backward()
        opt.step()


def watched(model: torch.nn.Module, loader, opt, crit):
    for x, y in loader:
        loss = crit(model(x.cuda()), y)
        print([p.grad for p in model.parameters()])
        opt.zero_grad()
        loss.backward()
        opt.step()
`,
  );
  await plimsoll(["audit", file, "--fix", "--unsafe-fixes", "--select", "PLM022"]);
  expect(readFileSync(file, "utf8")).toBe(`import torch


def train(model: torch.nn.Module, loader, opt, crit, meter):
    for i, (x, y) in enumerate(loader):
        if i > 0: print([p.grad.norm() for p in model.parameters()])
        meter.update(i)

        opt.zero_grad()
        # Forward
        loss = crit(model(x.cuda()), y)

        # Backward and optimize
        loss.backward()
        opt.step()


def fit(model: torch.nn.Module, loader, opt, crit):
    for x, y in loader:
        # Gradients add up
        opt.zero_grad()  # so they go
        out = model(x.cuda())

        loss = crit(out, y)
        loss.backward()
        opt.step()


def watched(model: torch.nn.Module, loader, opt, crit):
    for x, y in loader:
        loss = crit(model(x.cuda()), y)
        print([p.grad for p in model.parameters()])
        opt.zero_grad()
        loss.backward()
        opt.step()
`);
});

test("a statement goes from among those that share its line, and leaves comments and branches", async () => {
  const folder = emptyFolder();
  const file = join(folder, "train.py");
  const text = `import torch


def train(model: torch.nn.Module, loader, opt, flag):
    for x in loader:
        loss = model(x.cuda()).sum()
        opt.zero_grad(); loss.backward(); torch.cuda.empty_cache()
        torch.cuda.empty_cache(); opt.step()
        torch.cuda.empty_cache()  # make room
        if flag:
            # make room
            torch.cuda.empty_cache()
        if flag:
            torch.cuda.empty_cache()
        if flag: print(x)
        else: torch.cuda.empty_cache()
`;
  writeFileSync(file, text);
  await plimsoll(["audit", file, "--fix", "--unsafe-fixes", "--select", "PLM031"]);
  expect(readFileSync(file, "utf8")).toBe(`import torch


def train(model: torch.nn.Module, loader, opt, flag):
    for x in loader:
        loss = model(x.cuda()).sum()
        opt.zero_grad(); loss.backward()
        opt.step()
        # make room
        if flag:
            # make room
            pass
        if flag: print(x)
        else: pass
`);
});

test("a fix that is bad keeps none of the others of its file from being made", () => {
  const text = "a\nb\nc\nd\n";
  const edit = (start: number, text: string) => ({ start, end: start + 1, text });
  // `b` must not be mended, whatever else is; `c` uncovers nothing; another rule finds what came of `b`.
  const audit = (candidate: string) => ({
    broken: 0,
    findings: [..."abcd"].flatMap((letter) => {
      const at = candidate.indexOf(letter);
      const finding = (rule: string, fix: object | null) =>
        ({ rule, likely: false, fix }) as unknown as ReportedFinding;
      if (at >= 0) return [finding("PLM001", { grade: "safe", edits: [edit(at, letter.toUpperCase())] })];
      return letter === "b" ? [finding("PLM002", null)] : [];
    }),
  });
  expect(fixText(text, new Set(["safe"] as const), audit)).toMatchObject({
    text: "A\nb\nC\nD\n",
    applied: 3,
    left: "fixes would cause new PLM002 findings; left out",
  });
});

test("what shares the line of a teacher's run goes on recording", async () => {
  const folder = emptyFolder();
  const file = join(folder, "distill.py");
  const text = `import torch
import torch.nn.functional as F


def distill(teacher: torch.nn.Module, student: torch.nn.Module, loader):
    teacher.eval()
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
    for x in loader:
        wanted = teacher(x.cuda()); made = student(x.cuda())
        loss = F.mse_loss(made, wanted.detach())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
`;
  writeFileSync(file, text);
  const { stdout } = await plimsoll(["audit", file, "--fix", "--unsafe-fixes", "--select", "PLM020"]);
  expect(stdout).toContain("PLM020");
  expect(readFileSync(file, "utf8")).toBe(text);
});

test("what is cut off already is not cut off twice", async () => {
  const folder = emptyFolder();
  const file = join(folder, "train.py");
  writeFileSync(
    file,
    `import torch.nn.functional as F


def train(model, loader, optimizer):
    total = 0.0
    for x, y in loader:
        loss = F.cross_entropy(model(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach().item()
    return total
`,
  );
  await plimsoll(["audit", file, "--fix", "--unsafe-fixes", "--select", "PLM025"]);
  expect(readFileSync(file, "utf8")).toContain("        total += loss.detach()\n");
});

test("what is detached keeps the parentheses of its parts", async () => {
  const folder = emptyFolder();
  const file = join(folder, "train.py");
  writeFileSync(
    file,
    `import torch.nn.functional as F


def train(model, loader, optimizer):
    total, losses = 0.0, []
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss / (step + 1)
        losses.append((loss * 2) + (loss / (step + 1)))
    return total, losses
`,
  );
  await plimsoll(["audit", file, "--fix", "--select", "PLM001,PLM002"]);
  const mended = readFileSync(file, "utf8");
  expect(mended).toContain("        total += (loss / (step + 1)).detach()\n");
  expect(mended).toContain("        losses.append(((loss * 2) + (loss / (step + 1))).detach())\n");
});
