import { expect, test } from "vitest";
import { auditTexts } from "../../src/audit/session.ts";
import { DEFAULTS } from "../../src/audit/settings.ts";

/**
 * The lines of what is only likely, and runs as the code is shipped: where nothing runs it, it is worth no note; where an
 * option has to be asked for, the note ends in that.
 */
const likelyIn = (files: Readonly<Record<string, string>>, rule: string): readonly number[] =>
  auditTexts(
    Object.entries(files).map(([path, text]) => ({ path, text })),
    { ...DEFAULTS, select: [rule] },
  )
    .findings.filter(({ likely, message }) => likely && !message.endsWith(") (likely)"))
    .map(({ line }) => line);

const TRAIN = `
import argparse
import torch
from losses import IdLoss, OtherLoss
from optimizers import Lars

parser = argparse.ArgumentParser()
parser.add_argument("--id_lambda", default=0, type=float)
parser.add_argument("--ema", action="store_true")
parser.add_argument("--quick", default=True)
args = parser.parse_args()
device = torch.device("cuda")


def train(model, loader):
    optimizer = torch.optim.Adam(model.parameters())
    if OPTION:
        id_loss = IdLoss().to(device)
    else:
        id_loss = OtherLoss().to(device)
    for x in loader:
        loss = id_loss(model(x.to(device)), x.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    train(torch.nn.Linear(8, 8), torch.utils.data.DataLoader([]))
`;

const LOSSES = `
import torch
from torch import nn

DEVICE = torch.device("cuda")

class IdLoss(nn.Module):
    def forward(self, out, x):
        scores = self.compare(out, x)
        if scores.max() > 1.0:
            scores = scores.clamp(max=1.0)
        return scores.sum()


class OtherLoss(nn.Module):
    def forward(self, out, x):
        scores = self.compare(out, x)
        if scores.max() > 1.0:
            scores = scores.clamp(max=1.0)
        return scores.sum()
`;

const LARS = `
import torch


class Lars(torch.optim.Optimizer):
    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                norm = torch.norm(p)
                ratio = torch.where(norm > 0.0, group["eta"] * norm, torch.ones_like(norm))
                p.add_(p.grad.mul(ratio), alpha=-group["lr"])
`;

/** The lines that are more than a note: what an option keeps from being made is one. */
const branches = (option: string): readonly number[] =>
  auditTexts(
    [
      { path: "train.py", text: TRAIN.replace("OPTION", option) },
      { path: "losses.py", text: LOSSES },
      { path: "optimizers.py", text: LARS },
    ],
    { ...DEFAULTS, unproven: true, likely: false, select: ["PLM027"] },
  )
    .findings.filter(({ severity }) => severity === "warning")
    .map(({ line }) => line);

test.each(["args.ema", "args.id_lambda > 0", "args.id_lambda > 0 and args.unheard", "args.id_lambda >= 0.5"])(
  "a class that is made only where %s, off by default",
  (option) => {
    expect(branches(option)).toEqual([18]);
  },
);

test.each([
  "args.quick",
  "args.id_lambda >= 0",
  "args.unheard",
  "args.id_lambda < 1",
  "torch.cuda.is_available()",
])("a class that is made where %s, which may well be so", (option) => {
  expect(branches(option)).toContain(10);
});

test("the other arm of an option that is on by default", () => {
  expect(branches("args.quick")).toEqual([10]);
});

test("an optimizer that nobody makes, and one that somebody does", () => {
  const asked = (train: string): readonly number[] =>
    likelyIn({ "train.py": train, "losses.py": LOSSES, "optimizers.py": LARS }, "PLM034");
  const plain = TRAIN.replace("OPTION", "args.ema");
  expect(asked(plain.replace("import Lars", "import nothing"))).toEqual([]);
  expect(asked(plain.replace("torch.optim.Adam(", "Lars("))).not.toEqual([]);
  // Behind an option that is off, it is no more made.
  const chosen = plain.replace(
    "    if args.ema:",
    "    if args.ema:\n        optimizer = Lars(model.parameters())\n    if args.ema:",
  );
  expect(asked(chosen)).toEqual([]);
  const { findings } = auditTexts(
    Object.entries({ "train.py": chosen, "losses.py": LOSSES, "optimizers.py": LARS }).map(
      ([path, text]) => ({ path, text }),
    ),
    { ...DEFAULTS, select: ["PLM034"] },
  );
  expect(findings.map(({ message }) => message)).toContainEqual(
    expect.stringMatching(/ \(only with another `args\.ema` than by default\) \(likely\)$/),
  );
});

const CONFIG = `
import torch


class Agent:
    @staticmethod
    def get_default_config():
        config = ConfigDict()
        config.tuned = ON
        return config

    def __init__(self, config, policy):
        self.config, self.policy = config, policy.cuda()

    def train(self, batch):
        log_pi = self.policy(batch["obs"])
        if self.config.tuned:
            alpha = self.log_alpha().exp()
        else:
            alpha = log_pi.new_tensor(self.config.alpha)
        loss = (alpha * log_pi).mean()
        loss.backward()
        self.optimizer.step()
`;

test("a setting that the default configuration is given by its name", () => {
  const asked = (on: string): readonly number[] =>
    likelyIn({ "agent.py": CONFIG.replace("ON", on), "main.py": "import torch\nimport agent\n" }, "PLM033");
  expect(asked("True")).toEqual([]);
  expect(asked("False")).toEqual([20]);
});

const ALGORITHMS = `
import torch


class Erm(torch.nn.Module):
    def update(self, x, y):
        loss = (self.network(x) - y).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return {"loss": loss.item()}


class Mixed(Erm):
    def update(self, x, y):
        loss = (self.network(x) - y).abs().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return {"loss": loss.item()}


def get_algorithm(name):
    return globals()[name]
`;

test("a class that is looked up by a name which another has by default", () => {
  const files = (name: string): { path: string; text: string }[] => [
    { path: "algorithms.py", text: ALGORITHMS },
    {
      path: "train.py",
      text: `
import argparse
import torch
from algorithms import get_algorithm

parser = argparse.ArgumentParser()
parser.add_argument("--algorithm", type=str, default="${name}")
args = parser.parse_args()
algorithm = get_algorithm(args.algorithm)().to("cuda")
for x, y in loader:
    algorithm.update(x.to("cuda"), y.to("cuda"))
`,
    },
  ];
  const left = (name: string): readonly number[] =>
    auditTexts(files(name), { ...DEFAULTS, unproven: true, select: ["PLM025"] })
      .findings.filter(({ message }) => message.includes("only with another"))
      .map(({ line }) => line);
  expect(left("Erm")).toEqual([20]);
  // What another one derives from runs with it, as far as anybody sees.
  expect(left("Mixed")).toEqual([]);
  expect(left("Unheard")).toEqual([]);
});
