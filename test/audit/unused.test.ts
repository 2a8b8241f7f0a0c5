import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { audit } from "../../src/audit/audit.ts";
import { auditTexts } from "../../src/audit/session.ts";
import { DEFAULTS as PROVEN } from "../../src/audit/settings.ts";
import { emptyFolder } from "../support/folder.ts";

/** What runs, and what a value is, is asked here; how often a rule was right is not. */
const DEFAULTS = { ...PROVEN, unproven: true, likely: false };

const NET = `
import torch
from torch import nn


class Encoder(nn.Module):
    def forward(self, x):
        return x + torch.zeros(4, 4).to(x.device)
`;

const TRAIN = `
import torch
from data import loader
from net import USED

device = torch.device("cuda")
model = USED().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in loader:
    loss = model(x.to(device)).mean()
    loss.backward()
    optimizer.step()
`;

const found = (files: Readonly<Record<string, string>>, rule = "PLM035"): readonly { severity: string }[] =>
  auditTexts(
    Object.entries(files).map(([path, text]) => ({ path, text })),
    { ...DEFAULTS, select: [rule] },
  ).findings;

const UNUSED = [
  { severity: "note", message: expect.stringMatching(/\(nothing here uses `Encoder`\)$/) as unknown },
];
const USED = [{ severity: "warning" }];

test("in a network that no line of a training makes, a finding is a note and says so", () => {
  expect(found({ "net.py": NET, "train.py": TRAIN.replaceAll("USED", "Decoder") })).toMatchObject(UNUSED);
  expect(found({ "net.py": NET, "train.py": TRAIN.replaceAll("USED", "Encoder") })).toMatchObject(USED);
});

test.each([
  ["a file that only hands it on", { "__init__.py": "from .net import Encoder\n" }],
  ["a configuration", { "conf/model.yaml": "model:\n  _target_: project.net.Encoder\n" }],
  ["a table of names", { "build.py": 'NETS = ["Encoder"]\nimport torch\n' }],
])("%s uses it", (_, more) => {
  const files = { "net.py": NET, "train.py": TRAIN.replaceAll("USED", "Decoder"), ...more };
  expect(found(files)).toMatchObject(USED);
});

test("what a package only hands on is unused in a program that nobody installs", () => {
  const program = `${TRAIN.replaceAll("USED", "Net").replace("from net", "from nets")}\nif __name__ == "__main__":\n    print(loss)\n`;
  const files = { "nets/net.py": NET, "train.py": program };
  const handing = {
    "nets/__init__.py": 'from .net import (\n    Encoder,\n    Net,\n)\n__all__ = ["Encoder"]\n',
  };
  const knowing = { "nets/__init__.py": `import torch\n${handing["nets/__init__.py"]}` };
  expect(found({ ...files, ...handing })).toMatchObject(UNUSED);
  expect(found({ ...files, ...knowing })).toMatchObject(UNUSED);
  expect(found({ ...files, ...handing, "setup.py": "from setuptools import setup\n" })).toMatchObject(USED);
  expect(
    found({ ...files, ...handing, "eval.py": "import nets\nimport torch\nnet = nets.Encoder()\n" }),
  ).toMatchObject(USED);
  expect(
    found({ ...files, ...handing, "eval.py": "import nets\nimport torch\nnet = getattr(nets, name)()\n" }),
  ).toMatchObject(USED);
});

test("nothing is for others but what is installed, here or above", async () => {
  const root = emptyFolder();
  const audited = join(root, "src");
  const files = {
    ".git/HEAD": "",
    "src/nets/net.py": NET,
    "src/nets/__init__.py": "from .net import Encoder, Net\n",
    "src/train.py": `${TRAIN.replaceAll("USED", "Net").replace("from net", "from nets")}\nif __name__ == "__main__":\n    print(loss)\n`,
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const settings = { ...DEFAULTS, select: ["PLM035"] };
  expect((await audit([audited], audited, settings)).findings).toMatchObject(UNUSED);
  writeFileSync(join(root, "pyproject.toml"), "[tool.black]\nline-length = 100\n");
  expect((await audit([audited], audited, settings)).findings).toMatchObject(UNUSED);
  writeFileSync(join(root, "pyproject.toml"), '[project]\nname = "nets"\n');
  expect((await audit([audited], audited, settings)).findings).toMatchObject(USED);
});

test("what registers itself is used, unless nobody imports its file", () => {
  const net = NET.replace("class Encoder", "@register\nclass Encoder");
  const train = TRAIN.replaceAll("USED", "Decoder");
  expect(found({ "net.py": net, "train.py": train })).toMatchObject(USED);
  const program = `${train.replace("from net", "from nets")}\nif __name__ == "__main__":\n    print(loss)\n`;
  const handed = { "nets/net.py": net, "nets/__init__.py": "from . import net\n", "train.py": program };
  expect(found(handed)).toMatchObject(USED);
  expect(found({ "net.py": net, "train.py": train.replace("from net", "from nets") })).toMatchObject(UNUSED);
});

test("where nothing trains, networks are for others to use", () => {
  expect(found({ "net.py": NET })).toMatchObject(USED);
});

const CHECKPOINTED = `
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Encoder(nn.Module):
    def __init__(self, use_checkpoint=False):
        super().__init__()
        self.use_checkpoint = use_checkpoint
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        if self.use_checkpoint:
            return checkpoint(self.layer, x)
        return self.layer(x)
`;

test("checkpointing that nobody turns on is worth a note", () => {
  const on = TRAIN.replace("USED()", "Encoder(use_checkpoint=True)").replaceAll("USED", "Encoder");
  const files = { "net.py": CHECKPOINTED, "train.py": TRAIN.replaceAll("USED", "Encoder") };
  expect(found(files, "PLM051")).toMatchObject([
    {
      severity: "note",
      message: expect.stringMatching(/\(only with `self.use_checkpoint`, off by default\)$/),
    },
  ]);
  expect(found({ ...files, "train.py": on }, "PLM051")).toMatchObject([{ severity: "warning" }]);
});

test("what is called like a class, but is another one, does not use it", () => {
  const train = TRAIN.replaceAll("USED", "Encoder").replace("import Encoder", "import Encoder2 as Encoder");
  expect(found({ "net.py": NET, "train.py": train })).toMatchObject(UNUSED);
});

test("of two definitions of a name, one right after the other, the first is worth a note", () => {
  const helper = "def noise(x):\n    return x + torch.zeros(4).to(x.device)\n\n\n";
  const text = `${helper}${helper}${TRAIN.replaceAll("USED", "Net").replace("model(x.to", "model(noise(x).to")}`;
  const said = found({ "train.py": `import torch\n${text.replace("import torch\n", "")}` });
  expect(said.map(({ severity }) => severity)).toEqual(["note", "warning"]);
});

const HELPERS = `
import torch


def noisy(x):
    return added(x)


def added(x):
    for _ in range(3):
        x.backward()
        x = x + torch.zeros(4).to(x.device)
    return x
`;
const WITHOUT_CALLER = [
  { severity: "note", message: expect.stringMatching(/\(nothing here uses `added`\)$/) as unknown },
];

test("in a function that only another one calls, which nobody calls, a finding is a note", () => {
  const train = TRAIN.replaceAll("USED", "Net");
  expect(found({ "helpers.py": HELPERS, "train.py": train })).toMatchObject(WITHOUT_CALLER);
  const small = NET.replace("class Encoder", "class encoder");
  expect(found({ "net.py": small, "train.py": train })).toMatchObject([{ severity: "note" }]);
});

test.each([
  ["an import", { "more.py": "from helpers import noisy\n" }],
  ["a file that knows nothing of torch, and calls what it wants", { "more.py": "import helpers\n" }],
  [
    "a file that takes it from the module",
    { "more.py": "import torch\nimport helpers\nf = helpers.noisy\n" },
  ],
  ["whoever starts it from a shell", { "helpers.py": `import fire\n${HELPERS}` }],
  ["a registry", { "helpers.py": HELPERS.replace("def noisy", "@register\ndef noisy") }],
])("%s uses a function", (_, more) => {
  const train = TRAIN.replaceAll("USED", "Net");
  expect(found({ "helpers.py": HELPERS, "train.py": train, ...more })).toMatchObject(USED);
});

test("a program that nobody imports calls its own functions, whatever others call theirs", () => {
  const train = TRAIN.replaceAll("USED", "Net");
  const other = `${train}\nfrom more import added\nadded(loss)\n`;
  const program = `${HELPERS.replace("return added(x)", "return x")}\n\nif __name__ == "__main__":\n    noisy(1)\n`;
  expect(found({ "program.py": program, "train.py": other })).toMatchObject(WITHOUT_CALLER);
  const calls = program.replace("noisy(1)", "added(1)");
  expect(found({ "program.py": calls, "train.py": other })).toMatchObject(USED);
  expect(found({ "program.py": program, "train.py": `${other}import program\n` })).toMatchObject(USED);
});

test("a function that trains, and that nobody takes from its file, is unused, whatever others call theirs", () => {
  const trains = HELPERS.replace("return added(x)", "return x");
  const train = `${TRAIN.replaceAll("USED", "Net")}\nfrom more import added\nfrom helpers import noisy\nadded(noisy(x))\n`;
  expect(found({ "helpers.py": trains, "train.py": train })).toMatchObject(WITHOUT_CALLER);
  const taken = train.replace("import noisy", "import added, noisy");
  expect(found({ "helpers.py": trains, "train.py": taken })).toMatchObject(USED);
  const whole = `${train}import helpers\n`;
  expect(found({ "helpers.py": trains, "train.py": whole })).toMatchObject(USED);
});

test("in a method that nobody calls, of a class that is used, a finding is a note", () => {
  const cls = HELPERS.replaceAll(/^(?=def| )/gm, "    ").replace(
    "    def noisy",
    "class Averages:\n    def noisy",
  );
  const method = cls.replaceAll("(x):", "(self, x):").replace("added(x)\n", "self.added(x)\n");
  const using = `${TRAIN.replaceAll("USED", "Net")}\nfrom helpers import Averages\naverages = Averages()\n`;
  expect(found({ "helpers.py": method, "train.py": using })).toMatchObject(WITHOUT_CALLER);
  const calls = `${using}for x in loader:\n    averages.noisy(x)\n`;
  expect(found({ "helpers.py": method, "train.py": calls })).toMatchObject(USED);
  // A base of the tree's own calls nothing by a name that the tree does not say; one of another library may.
  const base = "class Base:\n    def run(self):\n        pass\n\n\n";
  const derived = method.replace("class Averages:", `${base}class Averages(Base):`);
  expect(found({ "helpers.py": derived, "train.py": using })).toMatchObject(WITHOUT_CALLER);
  const foreign = method.replace("class Averages:", "from lib import Base\n\n\nclass Averages(Base):");
  expect(found({ "helpers.py": foreign, "train.py": using })).toMatchObject(USED);
});

test("a class that only an unused function makes is unused, and one that is tried by starting its file", () => {
  const train = TRAIN.replaceAll("USED", "Net").replace("import Net", "import Other as Net");
  const made = `${NET}\n\ndef build():\n    return Encoder()\n`;
  expect(found({ "net.py": made, "train.py": train })).toMatchObject(UNUSED);
  expect(found({ "net.py": made, "train.py": train, "x.py": "from net import build\n" })).toMatchObject(USED);
  const tried = `${NET}\n\nif __name__ == "__main__":\n    print(Encoder()(torch.ones(4, 4)))\n`;
  expect(found({ "net.py": tried, "train.py": train })).toMatchObject(UNUSED);
  expect(found({ "train_net.py": tried, "train.py": train.replace("net", "train_net") })).toMatchObject(USED);
});

test.each([
  ["a table of all that is in its module", "import net\nimport torch\nNET = net.__dict__[name]\n"],
  ["a name that is looked up there", "import net\nimport torch\nNET = getattr(net, name)\n"],
])("%s uses a class", (_, text) => {
  const train = TRAIN.replaceAll("USED", "Net").replace("import Net", "import Other as Net");
  expect(found({ "net.py": NET, "train.py": train, "build.py": text })).toMatchObject(USED);
});

test("what a file that others import does when it is started itself is worth a note", () => {
  const train = TRAIN.replaceAll("USED", "Net");
  const body = train
    .replace(/^(?=.)/gm, "    ")
    .replace("    loss.backward", "    x = torch.zeros(4).to(device)\n        loss.backward");
  const text = `import torch\n\nif __name__ == "__main__":\n${body}`;
  expect(found({ "ssim.py": text, "other.py": "from ssim import loss\n" })).toMatchObject([
    { severity: "note", message: expect.stringMatching(/\(only when this file itself is started\)$/) },
  ]);
  expect(found({ "ssim.py": text })).toMatchObject(USED);
  // With options of its own it is a program, whoever takes something from it.
  const options = 'parser = argparse.ArgumentParser()\nparser.add_argument("--rate", default=0.1)\n';
  const asked = text.replace("import torch\n", `import argparse\nimport torch\n\n${options}`);
  expect(found({ "ssim.py": asked, "other.py": "from ssim import loss\n" })).toMatchObject(USED);
  const tried = `import torch\n\ndef run_test():\n${body}\n\nif __name__ == "__main__":\n    run_test()\n`;
  expect(found({ "ssim.py": tried, "other.py": "from ssim import loss\n" })).toMatchObject([
    { severity: "note", message: expect.stringMatching(/\(only when this file itself is started\)$/) },
  ]);
});

test("the functions of the only file that trains are there to be called", () => {
  expect(found({ "helpers.py": HELPERS })).toMatchObject(USED);
});

const IMPORTS = `
import torch
from helpers import mean, MISSING

device = torch.device("cuda")
model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in loader:
    loss = model(x.to(device) + torch.zeros(4, 4).to(device)).mean()
    loss.backward()
    optimizer.step()
`;
const SHARED =
  "import torch\n\nTABLE = [1]\n\n\ndef mean(x):\n    return x.mean()\n\n\nclass Meter:\n    pass\n";
const imports = (missing: string, helpers: string, path = "helpers.py"): readonly { severity: string }[] =>
  found({ [path]: helpers, "train.py": IMPORTS.replace("MISSING", missing) });

test("in a program that imports what the tree's own file does not define, a finding is a note", () => {
  expect(imports("tell", SHARED)).toMatchObject([
    { severity: "note", message: expect.stringContaining("imports `tell`, which is not there") as unknown },
  ]);
  const beside = { "a/helpers.py": SHARED, "a/train.py": IMPORTS.replace("MISSING", "tell") };
  expect(found(beside)).toMatchObject([{ severity: "note" }]);
});

test.each([
  ["a function", "mean as m", SHARED],
  ["a class", "Meter", SHARED],
  ["a table", "TABLE", SHARED],
  ["what it imports itself", "tell", `import math as tell\n${SHARED}`],
  ["what it may take from another", "tell", `${SHARED}from lib import *\n`],
  ["what it may make while it runs", "tell", `${SHARED}globals()["tell"] = mean\n`],
  ["what is asked for by name", "tell", `${SHARED}\ndef __getattr__(name):\n    return mean\n`],
  ["what is made in a branch", "tell", `${SHARED}try:\n    tell = mean\nexcept OSError:\n    pass\n`],
  ["what a function sets", "tell", `${SHARED}\ndef set():\n    global tell\n    tell = mean\n`],
  ["of a library of the same name", "tell", "import torch\n"],
  ["of a file with errors", "tell", `${SHARED}def (:\n`],
])("%s may well be there", (_, missing, helpers) => {
  expect(imports(missing, helpers)).toMatchObject(USED);
});

test("an import that is tried, and one from a package, stop nothing", () => {
  expect(imports("tell", SHARED, "helpers/__init__.py")).toMatchObject(USED);
  const tried = IMPORTS.replace(
    "from helpers import mean, MISSING",
    "try:\n    from helpers import mean, tell\nexcept ImportError:\n    pass",
  );
  expect(found({ "helpers.py": SHARED, "train.py": tried })).toMatchObject(USED);
});

test("in a function that reads a name which nothing defines, a finding is a note", () => {
  const program = (name: string, more = ""): string => `import torch

device = torch.device("cuda")

def train(model, loader, optimizer):
    for x in loader:
        loss = model(x.to(device) + torch.zeros(4, 4).to(device)).mean()
        loss.backward()
        print(${name})
        optimizer.step()
${more}${"\n".repeat(50)}`;
  const note = { severity: "note", message: expect.stringContaining("ends at `STEPS`") as unknown };
  expect(found({ "train.py": program("STEPS") })).toMatchObject([note]);
  for (const known of ["len", "__file__", "x", "STEPS if x else 1"])
    expect(found({ "train.py": program(known) })).toMatchObject(USED);
  for (const more of [
    "STEPS = 1\n",
    "def f():\n    global STEPS\n    STEPS = 1\n",
    "from lib import *\n",
    "print(OTHER)\n",
  ])
    expect(found({ "train.py": program("STEPS", more) })).toMatchObject(USED);
  // A file that reads it at its top ends there; one that may not come to it, or tries, need not.
  expect(found({ "train.py": program("x", "STEPS.append(1)\n") })).toMatchObject([note]);
  for (const more of ["try:\n    STEPS\nexcept NameError:\n    pass\n", "if device:\n    STEPS\n"])
    expect(found({ "train.py": program("x", more) })).toMatchObject(USED);
  // What is short may be a sketch.
  expect(found({ "train.py": program("STEPS").trimEnd() })).toMatchObject(USED);
});

test("in a folder whose name says that it is kept, a finding is a note", () => {
  const program = IMPORTS.replace("from helpers import mean, MISSING", "from nets import Net");
  const severity = (path: string): unknown => found({ [path]: program });
  for (const path of [
    "legacy/train.py",
    "src/third_party/net/train.py",
    "tools/old/train.py",
    "notebooks_bak/train.py",
  ])
    expect(severity(path)).toMatchObject([
      { severity: "note", message: expect.stringContaining("in a folder that is called") as unknown },
    ]);
  for (const path of ["train_old.py", "golden/train.py", "folder/train.py"])
    expect(severity(path)).toMatchObject(USED);
});

test("what a tree's torch cannot be told is only noted", async () => {
  const root = emptyFolder();
  writeFileSync(
    join(root, "net.py"),
    `from torch import nn
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def forward(self, x):
        return checkpoint(self.block, x)
`,
  );
  const severities = async (name: string, text: string): Promise<string> => {
    writeFileSync(join(root, name), text);
    const { findings } = await audit([root], root, { ...DEFAULTS, select: ["PLM051"] });
    return findings.map(({ severity }) => severity).join();
  };
  expect(await severities("requirements.txt", "numpy\ntorch>=1.7\ntorchvision==0.8\n")).toBe("warning");
  expect(await severities("requirements.txt", "torch==2.1.0\n")).toBe("warning");
  expect(await severities("requirements.txt", "torch==1.13\n")).toBe("warning");
  expect(await severities("requirements.txt", "numpy\ntorch==1.7.1\n")).toBe("note");
  writeFileSync(join(root, "requirements.txt"), "");
  expect(await severities("environment.yml", "dependencies:\n  - pytorch=1.4\n")).toBe("note");
});

test("no fix adds what the version does not know that a tree asks for", async () => {
  const root = emptyFolder();
  writeFileSync(
    join(root, "train.py"),
    `import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("base").cuda()
model.gradient_checkpointing_enable()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for batch in batches:
    optimizer.zero_grad()
    model(**batch).loss.backward()
    optimizer.step()
`,
  );
  const fixed = async (name: string, text: string): Promise<string> => {
    writeFileSync(join(root, name), text);
    const { findings } = await audit([root], root, { ...DEFAULTS, select: ["PLM051", "PLM057"] });
    return findings
      .map(({ rule, fix }) => (fix ? rule : "none"))
      .sort()
      .join();
  };
  const both = "PLM051,PLM057";
  expect(await fixed("requirements.txt", "numpy\ntorch>=1.7\ntransformers>=4.27\n")).toBe(both);
  expect(await fixed("requirements.txt", "torch==2.1.0\ntransformers==4.35.2\n")).toBe(both);
  expect(await fixed("requirements.txt", "torch<2.10\ntransformers~=4.27\n")).toBe(both);
  expect(await fixed("requirements.txt", "torch<2\n")).toBe("PLM051,none");
  expect(await fixed("requirements.txt", "torch==1.13.1\ntransformers==4.27.1\n")).toBe("none,none");
  expect(await fixed("requirements.txt", "transformers[torch]>=4.20, <4.35\n")).toBe("PLM057,none");
  writeFileSync(join(root, "requirements.txt"), "");
  // Of one project among several.
  mkdirSync(join(root, "bert"));
  expect(await fixed("bert/pyproject.toml", 'dependencies = ["torch==1.12", "transformers==4.28.1"]\n')).toBe(
    "none,none",
  );
  rmSync(join(root, "bert"), { recursive: true });
  expect(
    await fixed("setup.py", `setup(\n    install_requires=[\n        "transformers~=4.30.2",\n    ],\n)\n`),
  ).toBe("PLM057,none");
});

const STEPS = `
import torch


def train(model, loader, optimizer):
    for x in loader:
        loss = model(x.cuda()).mean()
        loss.backward()
        optimizer.step()


def overfit(model, x, optimizer):
    for _ in range(100):
        loss = model(x.cuda()).mean()
        loss.backward()
        optimizer.step()
        print(loss.item())
`;
const OVERFITS = "from steps import overfit\n";

test("what only unit tests call is no part of the training", () => {
  const files = {
    "steps.py": STEPS,
    "main.py": `${TRAIN.replaceAll("USED", "Encoder")}from steps import train\ntrain(model, loader, optimizer)\n`,
    "net.py": NET,
  };
  const check = `${OVERFITS}import pytest\n\n\ndef test_it(model):\n    assert overfit(model, 1, None) is None\n`;
  expect(found({ ...files, "tests/test_steps.py": check }, "PLM025")).toMatchObject([{ severity: "note" }]);
  expect(
    found({ ...files, "try.py": `${OVERFITS}import torch\noverfit(1, 2, 3)\n` }, "PLM025"),
  ).toMatchObject([{ severity: "warning" }]);
});

test("a function of a program is no unit test for its name", () => {
  const program = (call: string): string => `
import torch
from net import Encoder


def test_output(teacher, model, loader, optimizer):
    for x in loader:
        loss = model(x.cuda()).mean()
        loss.backward()
        optimizer.step()
        print(loss.item())


if __name__ == "__main__":
    model = Encoder().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in range(10):
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
    ${call}
`;
  const files = { "net.py": NET, "other.py": program("pass") };
  const severities = (call: string): readonly string[] =>
    found({ ...files, "train.py": program(call) }, "PLM025").map(({ severity }) => severity);
  expect(severities("# test_output(model, model, [], optimizer)")).toEqual(["note", "note"]);
  expect(severities("test_output(model, model, [], optimizer)")).toEqual(["note", "warning"]);
});

test("a class that trains and that nothing makes is for nobody, where something else trains", () => {
  const agent = `
import torch


class Agent:
    def __init__(self, net, optimizer):
        self.net = net.cuda()
        self.optimizer = optimizer

    def train(self, batches):
        for x in batches:
            loss = self.net(x.cuda()).mean()
            loss.backward()
            self.optimizer.step()
            print(loss.item())
`;
  const files = {
    "agent.py": agent,
    "net.py": NET,
    "main.py": `${TRAIN.replaceAll("USED", "Encoder")}model.train()\nif __name__ == "__main__":\n    print(device)\n`,
  };
  expect(found(files, "PLM025")).toMatchObject([
    { severity: "note", message: expect.stringMatching(/\(nothing here uses `Agent`\)$/) as unknown },
  ]);
  expect(
    found(
      { ...files, "play.py": "from agent import Agent\nimport torch\nAgent(1, 2).train([])\n" },
      "PLM025",
    ),
  ).toMatchObject(USED);
});

test("what is called a trial or a benchmark is not the training", () => {
  const text = TRAIN.replaceAll("USED", "Encoder").replace("    optimizer.step()", "    print(loss.item())");
  const severity = (path: string): unknown => found({ [path]: text, "net.py": NET }, "PLM025")[0]?.severity;
  expect(["train.py", "contest.py", "bench.py", "scripts/test_amp.py", "lr_finder.py"].map(severity)).toEqual(
    ["warning", "warning", "note", "note", "note"],
  );
});
