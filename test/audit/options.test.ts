import { expect, test } from "vitest";
import { auditTexts } from "../../src/audit/session.ts";
import { DEFAULTS } from "../../src/audit/settings.ts";

const SETTINGS = { ...DEFAULTS, select: ["PLM025"] };

const TRAIN = `
import torch

device = torch.device("cuda")


def train(model, loader, optimizer, args):
    for x in loader:
        loss = model(x.to(device)).mean()
        loss.backward()
        optimizer.step()
        if TEST:
            print(loss.item())
`;

const found = (test: string, options: string): readonly { severity: string; message: string }[] =>
  auditTexts(
    [
      { path: "train.py", text: TRAIN.replace("TEST", test) },
      { path: "options.py", text: options },
    ],
    SETTINGS,
  ).findings;

const parsed = (argument: string): string =>
  `import argparse\nimport torch\nparser = argparse.ArgumentParser()\nparser.add_argument(${argument})\n`;

test.each([
  ["args.tell_all", parsed('"--tell-all", action="store_true"')],
  ["args.log_every > 0", parsed('"--log-every", type=int, default=0')],
  ["args.rank == 0 and args.tracker is not None", parsed('"--tracker"')],
  [
    "args.prefix is not None",
    "import torch\nclass NetConfig:\n    def __init__(self, prefix=None):\n        self.prefix = prefix\n",
  ],
  ["args.tell", "import torch\nclass Options:\n    tell: bool = field(default=False)\n"],
  ["not args.quiet == 1 and args.tell", "import torch\nclass TrainArguments:\n    tell: bool = False\n"],
])("what needs %s, off by default, is a note that says so", (asked, options) => {
  expect(found(asked, options)).toMatchObject([
    { severity: "note", message: expect.stringMatching(/\(only with `args\.\w+`, off by default\)$/) },
  ]);
});

test.each([
  ["args.log_every > 0", parsed('"--log-every", type=int, default=10')],
  ["args.tell", parsed('"--tell", default=True')],
  ["not args.quiet", parsed('"--quiet", action="store_true"')],
  ["args.unheard_of", parsed('"--tell"')],
  ["args.tell", `${parsed('"--tell"')}parser.set_defaults(tell=True)\n`],
])("what runs with %s by default, or may well, stays what it is", (asked, options) => {
  expect(found(asked, options)).toMatchObject([{ severity: "warning" }]);
});

test("a branch for another value than the parameter's default is worth a note, and names it", () => {
  const text = TRAIN.replace("args):", 'args, distance="l_inf"):').replace("TEST", 'distance == "l_2"');
  const findings = auditTexts([{ path: "train.py", text }], SETTINGS).findings;
  expect(findings).toMatchObject([
    { severity: "note", message: expect.stringContaining('only with `distance == "l_2"`') },
  ]);
  const same = text.replace('"l_inf"', '"l_2"');
  expect(auditTexts([{ path: "train.py", text: same }], SETTINGS).findings).toMatchObject([
    { severity: "warning" },
  ]);
});

test("what an object takes from its options is off with them", () => {
  const net = `
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, configs):
        super().__init__()
        self.prefix = configs.prefix

    def forward(self, x):
        x = x.cuda()
        if self.prefix is not None:
            x = x + torch.zeros(4).to(x.device)
        return x
`;
  const severities = (options: string): string[] =>
    auditTexts(
      [
        { path: "net.py", text: net },
        { path: "options.py", text: options },
      ],
      { ...DEFAULTS, select: ["PLM035"] },
    ).findings.map(({ severity }) => severity);
  expect(severities('parser.add_argument("--prefix")\n')).toEqual(["note"]);
  expect(severities('parser.add_argument("--prefix", default="a")\n')).toEqual(["warning"]);
});
