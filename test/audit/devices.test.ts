import { expect, test } from "vitest";
import { auditTexts } from "../../src/audit/session.ts";
import { DEFAULTS as PROVEN } from "../../src/audit/settings.ts";

/** Where a value is, and whether reading it waits, is asked here; how often a rule was right is not. */
const DEFAULTS = { ...PROVEN, unproven: true, likely: false };

test("a read right after another finds the queue empty: a round trip, no wait", () => {
  const text = `import torch.nn.functional as F


def train(model, loader, optimizer, log):
    for x, y in loader:
        loss = F.cross_entropy(model(x.cuda()), y.cuda())
        extra = model(x.cuda()).square().mean()
        log.append(loss.item())
        print(loss.item(), extra.item())
        (loss + extra).backward()
        optimizer.step()
        print(loss.item())
`;
  const settings = { ...DEFAULTS, select: ["PLM025"] };
  const { findings } = auditTexts([{ path: "one.py", text }], settings);
  expect(findings.map(({ line, severity }) => `${line} ${severity}`)).toEqual([
    "8 warning",
    "9 note",
    "9 note",
    "12 warning",
  ]);
});

test("what a logger reads right after a read is a round trip, too; so is a read behind a message now and then", () => {
  const text = `import torch.nn.functional as F


def train(model, loader, optimizer, writer, log):
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x.cuda()), y.cuda())
        extra = model(x.cuda()).square().mean()
        writer.add_scalar("loss", loss, step)
        writer.add_scalar("extra", extra, step)
        if step % 10 == 0:
            print(step, extra.item())
        log.append(extra.item())
        if step % 10 == 0:
            writer.add_image("x", model(x.cuda())[0].cpu(), step)
        log.append(loss.item())
        if x.size(0) > 1:
            extra = model(x.cuda()).mean()
        log.append(loss.item())
        (loss + extra).backward()
        optimizer.step()
`;
  const settings = { ...DEFAULTS, select: ["PLM025", "PLM069"] };
  const { findings } = auditTexts([{ path: "one.py", text }], settings);
  expect(findings.map(({ line, severity }) => `${line} ${severity}`)).toEqual([
    "8 warning",
    "9 note",
    "12 note",
    "15 note",
    "18 warning",
  ]);
});

test("what decides whether the step is taken at all cannot wait, and what is read after it need not", () => {
  const text = `import torch
import torch.nn.functional as F


def train(model, loader, optimizer):
    total = 0.0
    for x, y in loader:
        loss = F.cross_entropy(model(x.cuda()), y.cuda())
        bad = torch.isnan(loss).float()
        if bad.item() > 0:
            print("skipped")
            continue
        total += loss.item()
        loss.backward()
        optimizer.step()
    return total
`;
  const { findings } = auditTexts([{ path: "one.py", text }], { ...DEFAULTS, select: ["PLM025"] });
  expect(findings.map(({ line, severity }) => `${line} ${severity}`)).toEqual(["10 note", "13 note"]);
});

test("a program that has the host wait for every kernel waits for nothing more when it reads", () => {
  const trains = `def train(model, loader, optimizer):
    for x in loader:
        loss = model(x.cuda()).mean()
        loss.backward()
        optimizer.step()
        print(loss.item())
`;
  const starts = (value: string): string => `import os
import torch
from trains import train

if __name__ == "__main__":
    os.environ["CUDA_LAUNCH_BLOCKING"] = "${value}"
    train(None, None, None)
`;
  const severity = (value: string): string | undefined =>
    auditTexts(
      [
        { path: "trains.py", text: trains },
        { path: "main.py", text: starts(value) },
      ],
      { ...DEFAULTS, select: ["PLM025"] },
    ).findings[0]?.severity;
  expect([severity("0"), severity("1")]).toEqual(["warning", "note"]);
});

test("a program that searches every gradient for NaN waits for next to nothing more when it reads", () => {
  const trains = (searches: string): string => `import torch
torch.autograd.set_detect_anomaly(${searches})
for x in loader:
    loss = model(x.cuda()).mean()
    loss.backward()
    optimizer.step()
    print(loss.item())
`;
  const severity = (searches: string): string | undefined =>
    auditTexts([{ path: "train.py", text: trains(searches) }], { ...DEFAULTS, select: ["PLM025"] })
      .findings[0]?.severity;
  expect([severity("False"), severity("True")]).toEqual(["warning", "note"]);
});

test("networks that a file makes and trains and never moves are on the host, whatever its neighbours do", () => {
  const toy = (made: string, between = ""): string => `import torch
from torch import nn
from nets import Net
from other import move


def toy():
    net = ${made}
    optimizer = torch.optim.Adam(net.parameters())
${between}    for x, y in batches:
        loss = (net(x) - y).abs().mean()
        loss.backward()
        optimizer.step()
        print(loss.item())
`;
  const audit = (text: string, init = "pass"): number =>
    auditTexts(
      [
        { path: "one.py", text },
        {
          path: "nets.py",
          text: `from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        ${init}\n`,
        },
        { path: "other.py", text: "def move(model):\n    return model.cuda()\n" },
      ],
      { ...DEFAULTS, select: ["PLM025"] },
    ).findings.length;
  expect(audit(toy("nn.Linear(4, 4)"))).toBe(0);
  expect(audit(toy("Net()"))).toBe(0);
  expect(audit(toy("torch.load('net.pt')"))).toBe(0);
  expect(audit(toy("Net()"), "self.cuda()")).toBe(1);
  expect(audit(toy("nn.DataParallel(Net())"))).toBe(1);
  expect(audit(toy("nn.Linear(4, 4)", "    net.to('cuda')\n"))).toBe(1);
});

test("a criterion that is handed in may be the one that goes on on the host", () => {
  const text = `import torch


class Trainer:
    def __init__(self, net, criterion, optimizer):
        self.net = net.cuda()
        self.criterion = criterion
        self.optimizer = optimizer

    def train(self, loader):
        for x, y in loader:
            loss = self.criterion(self.net(x.cuda()), y.cuda())
            loss.backward()
            self.optimizer.step()
            print(loss.item())
`;
  const audit = (given: string): number =>
    auditTexts(
      [
        { path: "trainer.py", text },
        {
          path: "losses.py",
          text: `import torch\nfrom torch import nn\n\n\nclass DiceLoss(nn.Module):\n    def forward(self, out, y):\n        return (${given} * y).sum()\n`,
        },
        {
          path: "main.py",
          text: "import torch\nfrom trainer import Trainer\nfrom losses import DiceLoss\n\nTrainer(net, DiceLoss(), opt).train(data)\n",
        },
      ],
      { ...DEFAULTS, select: ["PLM025"] },
    ).findings.length;
  expect(audit("out")).toBe(1);
  expect(audit("out.type(torch.FloatTensor)")).toBe(0);
  expect(audit("out.cpu()")).toBe(0);
  // For numpy, beside the loss.
  expect(audit("match(out.detach().cpu()) * out")).toBe(1);
});

test("a class that is told to stay on the CPU is there", () => {
  const text = (device: string): string => `import torch


class Runner:
    def __init__(self, net, optimizer):
        torch.cuda.set_device(0)
        self.device = torch.device("${device}")
        self.net = net.to(self.device)
        self.optimizer = optimizer

    def train(self, loader):
        for x, y in loader:
            loss = (self.net(x.to(self.device)) - y.to(self.device)).abs().mean()
            loss.backward()
            self.optimizer.step()
            print(loss.item())
`;
  const severities = (device: string): string[] =>
    auditTexts([{ path: "one.py", text: text(device) }], { ...DEFAULTS, select: ["PLM025"] }).findings.map(
      ({ severity }) => severity,
    );
  expect(severities("cuda")).toEqual(["warning"]);
  expect(severities("cpu")).not.toContain("warning");
});

test("what a network tells beside its loss may be a number, unless it is used as a tensor", () => {
  const severities = (use: string): string[] =>
    auditTexts(
      [
        {
          path: "one.py",
          text: `def train(model, loader, optimizer, writer):
    model = model.cuda()
    for step, x in enumerate(loader):
        loss, value = model(x.cuda(non_blocking=True))
        loss.backward()
        optimizer.step()
        writer.add_scalar("value", value, step)
        ${use}
`,
        },
      ],
      { ...DEFAULTS, select: ["PLM069"] },
    ).findings.map(({ severity }) => severity);
  expect(severities("print('torch')")).toEqual(["note"]);
  expect(severities("seen = value.detach()")).toEqual(["warning"]);
});

test("after a wait of another kind a read is a round trip, too", () => {
  const severities = (before: string): string[] =>
    auditTexts(
      [
        {
          path: "one.py",
          text: `import torch
from metrics import counted


def train(model, loader, optimizer, criterion, device, meter):
    for x, y in loader:
        loss = criterion(model(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
        ${before}
        seen = x.nelement() + sum(meter.val)
        print(seen, loss.item())
`,
        },
      ],
      { ...DEFAULTS, select: ["PLM025"] },
    ).findings.map(({ severity }) => severity);
  expect(severities("pass")).toEqual(["warning"]);
  expect(severities("torch.cuda.synchronize()")).toEqual(["note"]);
  expect(severities("if device == 'cuda': torch.cuda.synchronize()")).toEqual(["note"]);
  expect(severities("right = counted(x, y).cpu()")).toEqual(["note"]);
  expect(severities("for part in counted(x, y): meter.add(part.item())")).toEqual(["note"]);
  expect(severities("for part in counted(x, y): meter.add(part)")).toEqual(["warning"]);
  expect(severities("right = counted(x, y)")).toEqual(["warning"]);
});

test("a program that trains without a word of a device hands none to what would send there", () => {
  const main = (device: string): string => `import torch
from losses import Compare
from nets import make

if __name__ == "__main__":
    net = make("small").double()
    optimizer = torch.optim.Adam(net.parameters())
    compare = Compare(net, ${device})
    for x, y in batches:
        loss = compare.of(net(x), y)
        loss.backward()
        optimizer.step()
        print(loss.item())
`;
  const losses = `import torch


class Compare:
    def __init__(self, net, device):
        self.net = net
        self.device = device

    def of(self, x, y):
        return (x - y + torch.eye(3).to(self.device)).abs().mean() + x.cpu().sum()
`;
  const count = (device: string): number =>
    auditTexts(
      [
        { path: "main.py", text: main(device) },
        { path: "losses.py", text: losses },
        { path: "nets.py", text: "from torch import nn\n\n\ndef make(size):\n    return nn.Linear(3, 3)\n" },
      ],
      { ...DEFAULTS, select: ["PLM025"] },
    ).findings.length;
  expect(count('"cpu"')).toBe(0);
  expect(count("config.device")).toBe(2);
});

test("a read in a file that speaks of no device may well wait for none", () => {
  const step = (moved: string): string => `def train(model, loader, optimizer):
    model.train()
    for x, y in loader:
        loss = (model(x) - y).abs().mean()${moved}
        loss.backward()
        optimizer.step()
        print(loss.item())
`;
  const main = `import torch
from steps import train

device = torch.device("cuda")
net = torch.nn.Linear(3, 3).to(device)
train(net, [(x.to(device), y.to(device)) for x, y in data], torch.optim.Adam(net.parameters()))
`;
  const severities = (moved: string): readonly string[] =>
    auditTexts(
      [
        { path: "steps.py", text: step(moved) },
        { path: "main.py", text: main },
      ],
      { ...DEFAULTS, select: ["PLM025"] },
    ).findings.map(({ severity }) => severity);
  expect(severities("  # on the device")).toEqual(["note"]);
  expect(severities(".to(x.device)")).toEqual(["warning"]);
});

test("a second wait, or a second emptying of the cache, with nothing in between, is a note", () => {
  const text = `import gc

import torch


def train(model, loader, optimizer, writer):
    for x in loader:
        loss = model(x.cuda()).mean()
        loss.backward()
        optimizer.step()
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        total = loss.item()
        del loss
        gc.collect()
        torch.cuda.empty_cache()
        torch.cuda.synchronize()
        x = x.cuda()
        torch.cuda.empty_cache()
`;
  const { findings } = auditTexts([{ path: "one.py", text }], { ...DEFAULTS, select: ["PLM030", "PLM031"] });
  expect(findings.map(({ rule, line, severity }) => `${rule} ${line} ${severity}`)).toEqual([
    "PLM030 11 warning",
    "PLM031 12 warning",
    "PLM031 15 warning",
    "PLM031 16 note",
    "PLM030 17 note",
    "PLM031 19 warning",
  ]);
});

test("a copy that the network's packing waits for overlaps with nothing", () => {
  const severities = (lengths: string): string[] =>
    auditTexts(
      [
        {
          path: "nets.py",
          text: `from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence


class Tagger(nn.Module):
    def forward(self, x, lengths):
        return self.rnn(pack_padded_sequence(x, ${lengths}, batch_first=True))
`,
        },
        {
          path: "train.py",
          text: `from nets import Tagger
from torch.utils.data import DataLoader


def train(rows, net, optimizer, criterion):
    for x, lengths, y in DataLoader(rows, num_workers=4, pin_memory=True):
        loss = criterion(net(x.cuda(), lengths), y)
        loss.backward()
        optimizer.step()
`,
        },
      ],
      { ...DEFAULTS, select: ["PLM037"] },
    ).findings.map(({ severity }) => severity);
  expect(severities("lengths.cpu()")).toEqual(["note"]);
  expect(severities("lengths")).toEqual(["warning"]);
});

test("nor does one that a helper of who knows what is handed before the network", () => {
  const severities = (between: string): string[] =>
    auditTexts(
      [
        {
          path: "train.py",
          text: `from helpers import normalize
from torch.utils.data import DataLoader


def train(rows, net, optimizer, criterion, mean, std):
    for x, y in DataLoader(rows, num_workers=4, pin_memory=True):
        x = x.cuda()
        ${between}
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
`,
        },
      ],
      { ...DEFAULTS, select: ["PLM037"] },
    ).findings.map(({ severity }) => severity);
  expect(severities("x = normalize(x / 255, mean, std)")).toEqual(["note"]);
  expect(severities("z = net(x)")).toEqual(["warning"]);
});

test("what is read again to decide is one more round trip", () => {
  const text = `import torch.nn.functional as F


def train(model, loader, optimizer, best):
    for x, y in loader:
        loss = F.cross_entropy(model(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
        print(loss.item())
        if loss.item() < best:
            best = 0
        right = (loss.view(-1, 1) == loss[0:2]).float()
        print(right.sum().item())
        again = model(x.cuda())
        print(again.sum().item())
`;
  const { findings } = auditTexts([{ path: "one.py", text }], { ...DEFAULTS, select: ["PLM025"] });
  expect(findings.map(({ line, severity }) => `${line} ${severity}`)).toEqual([
    "9 warning",
    "10 note",
    "13 note",
    "15 warning",
  ]);
});

test("reads after what has waited, or after a pass over all data, are one more round trip", () => {
  const severities = (between: string): string[] =>
    auditTexts(
      [
        {
          path: "one.py",
          text: `import torch
import torch.nn.functional as F


def train(model, x, y, test_loader, optimizer):
    for epoch in range(100):
        out = model(x.cuda())
        loss = F.cross_entropy(out, y.cuda())
        loss.backward()
        optimizer.step()
${between}
        print(loss.mean().item())
`,
        },
      ],
      { ...DEFAULTS, select: ["PLM025"] },
    ).findings.map(({ severity }) => severity);
  expect(severities("        ended.record()")).toEqual(["warning"]);
  expect(severities("        torch.cuda.synchronize()\n        assert y.shape[0] == 2")).toEqual(["note"]);
  expect(severities("        rows = torch.nonzero(out > 0)")).toEqual(["note"]);
  expect(severities("        print(out.sum().item())\n        spent += self.split_time()")).toEqual([
    "warning",
    "note",
  ]);
  expect(severities("        for a, b in test_loader:\n            model(a.cuda())")).toEqual(["note"]);
  const saves = "torch.save(model.state_dict(), 'last.pt')";
  expect(severities(`        ${saves}`)).toEqual(["note"]);
  expect(severities(`        if epoch % 10 == 0:\n            ${saves}`)).toEqual(["warning"]);
  expect(severities("        for block in model.blocks:\n            block(out)")).toEqual(["warning"]);
});

test("a branch on what has just been read is one more round trip", () => {
  const severity = (before: string): string | undefined =>
    auditTexts(
      [
        {
          path: "one.py",
          text: `import torch


def train(model, loader, optimizer):
    for x in loader:
        loss = model(x.cuda()).mean()
        loss.backward()
        optimizer.step()
        ${before}
        if not torch.isfinite(loss):
            print("not finite")
`,
        },
      ],
      { ...DEFAULTS, select: ["PLM027"] },
    ).findings[0]?.severity;
  expect(severity("seen += 1")).toBe("warning");
  expect(severity("total += loss.item()")).toBe("note");
});

test("what another program goes on with has to be read", () => {
  const severity = (sends: string): string | undefined =>
    auditTexts(
      [
        {
          path: "one.py",
          text: `import torch


def train(model, loader, optimizer):
    for x, y in loader:
        out = model(x.cuda())
${sends}
        out.mean().backward()
        optimizer.step()
`,
        },
      ],
      { ...DEFAULTS, select: ["PLM025"] },
    ).findings[0]?.severity;
  expect(severity("        sock.sendall(pickle.dumps(out.cpu()))")).toBe("note");
  expect(severity("        told = {'out': out.cpu()}\n        sock.send(pickle.dumps(told))")).toBe("note");
  expect(severity("        log.write(json.dumps({'out': out.tolist()}))")).toBe("warning");
});

test("a function that trains by a closure of its own hands out what it trained, not the closure", () => {
  const fit = `from torch import nn, optim


def fit(x, y, device):
    head = nn.Linear(8, 2).to(device)
    optimizer = optim.LBFGS(head.parameters())
    for _ in range(500):

        def closure():
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(head(x), y)
            loss.backward()
            return loss

        optimizer.step(closure)
    return head
`;
  const main = `from fits import fit

for weight in (0.1, 1.0):
    head = fit(x.cuda(), y.cuda(), "cuda")
    print(head(x.cuda()).argmax(1).eq(y.cuda()).sum().item())
`;
  const { findings } = auditTexts(
    [
      { path: "fits.py", text: fit },
      { path: "main.py", text: main },
    ],
    { ...DEFAULTS, select: ["PLM025"] },
  );
  expect(findings).toEqual([]);
});

test("a loss that goes on with its outputs on the host gives a loss of the host", () => {
  const severities = (first: string): string[] =>
    auditTexts(
      [
        {
          path: "losses.py",
          text: `import torch
from torch import nn


class BoxLoss(nn.Module):
    def forward(self, outputs, targets):
        self.parts = torch.zeros(2)
        for output in outputs:
            ${first}
            self.parts[0] += self.mse(output, targets)
        return self.parts.sum()
`,
        },
        {
          path: "train.py",
          text: `from losses import BoxLoss


def train(model, loader, optimizer):
    criterion = BoxLoss()
    for x, y in loader:
        loss = criterion(model(x.cuda()), y)
        loss.backward()
        optimizer.step()
        print(loss.item())
`,
        },
      ],
      { ...DEFAULTS, select: ["PLM025"] },
    )
      .findings.filter(({ path }) => path === "train.py")
      .map(({ severity }) => severity);
  expect(severities("output = output.cpu()")).toEqual([]);
  expect(severities("shown = output.cpu()")).toEqual(["warning"]);
});
