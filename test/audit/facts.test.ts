import { expect, test } from "vitest";
import { auditTexts } from "../../src/audit/session.ts";
import { DEFAULTS as PROVEN } from "../../src/audit/settings.ts";

/** What runs, and what a value is, is asked here; how often a rule was right is not. */
const DEFAULTS = { ...PROVEN, unproven: true, likely: false };

const found = (text: string, rule: string): number =>
  auditTexts([{ path: "one.py", text }], { ...DEFAULTS, select: [rule] }).findings.length;

const LOOP = (head: string, indent: string): string => `import torch.nn.functional as F


${head}
${indent}    model.train()
${indent}    total = 0.0
${indent}    for x, y in loader:
${indent}        loss = F.cross_entropy(model(x), y)
${indent}        loss.backward()
${indent}        total += loss
`;

test("`model.train()` is no call of the function `train` it stands in", () => {
  expect(found(LOOP("def train(model, loader):", ""), "PLM001")).toBe(1);
});

test("nor of the method `train`: nobody has switched gradients off", () => {
  expect(found(LOOP("class Runner:\n    def train(self, model, loader):", "    "), "PLM001")).toBe(1);
});

test("a caller's no_grad covers the function it calls", () => {
  const helper = LOOP("def train(model, loader):", "").replace("        loss.backward()\n", "");
  expect(
    found(
      `${helper}\n\ndef main(model, loader):\n    import torch\n    with torch.no_grad():\n        train(model, loader)\n`,
      "PLM001",
    ),
  ).toBe(0);
});

const STEP = `import torch.nn.functional as F


def train(model, loader, optimizer):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        print(loss.item())
`;

test("a program that stays on the host is told from its neighbours", () => {
  const neighbour = { path: "other.py", text: "def move(model):\n    return model.cuda()\n" };
  const audit = (text: string): number =>
    auditTexts([{ path: "one.py", text }, neighbour], { ...DEFAULTS, select: ["PLM025"] }).findings.length;
  expect(audit(STEP)).toBe(0);
  expect(audit(`from other import move\n${STEP}`)).toBe(1);
});

test("unit tests are not audited", () => {
  const text = `${STEP}\n\ndef test_training():\n    train(None, [], None).cuda()\n`;
  const audit = (path: string): number =>
    auditTexts([{ path, text }], { ...DEFAULTS, select: ["PLM025"] }).findings.length;
  expect(audit("tests/test_train.py")).toBe(0);
  expect(audit("train.py")).toBe(1);
});

test("a program that trains is audited among the tests, too", () => {
  const program = `${STEP}\n\ntrain(net.cuda(), loader, optimizer)\n`;
  const audit = (path: string, text = program): number =>
    auditTexts([{ path, text }], { ...DEFAULTS, select: ["PLM025"] }).findings.length;
  expect(audit("tests/train.py")).toBe(1);
  expect(audit("tests/toys.py")).toBe(0);
  expect(audit("tests/train_test.py")).toBe(0);
  expect(audit("tests/train.py", `${program}assert net.done\n`)).toBe(0);
  const options = 'import argparse\nargparse.ArgumentParser().add_argument("--steps")\n';
  expect(audit("tests/train.py", `${options}${program}assert net.done\n`)).toBe(1);
});

test("a counter that is raised in many places of a loop does not make the audit search through all their orders", () => {
  const branches = Array.from(
    { length: 40 },
    (_, at) => `        if flags[${at}]:\n            i += 1\n`,
  ).join("");
  const text = `import torch\n\n\ndef run(flags, device):\n    i = 0\n    for _ in range(9):\n${branches}        if i > 3:\n            print(i)\n`;
  expect(found(text, "PLM027")).toBe(0);
});

test("a file that imports torch in company is audited like any other", () => {
  const text = `import numpy as np, torch\n\n\ndef make():\n    return torch.zeros(4).to("cuda")\n`;
  expect(found(text, "PLM035")).toBe(1);
  expect(
    found(
      text.replace("import numpy as np, torch", "try: import torch\nexcept ImportError: torch = None"),
      "PLM035",
    ),
  ).toBe(1);
});

test("files in a folder whose name starts with a dot know each other too", () => {
  const folder = (name: string): number =>
    auditTexts(
      [
        {
          path: `${name}/main.py`,
          text: `from .metrics import note\n${STEP.replace("print(loss.item())", "note(loss)").replace("def", "\ndef")}\n\ntrain(net.cuda(), data, opt)\n`,
        },
        { path: `${name}/metrics.py`, text: "import torch\n\n\ndef note(loss):\n    print(loss.item())\n" },
      ],
      { ...DEFAULTS, select: ["PLM025"] },
    ).findings.length;
  expect(folder("work")).toBe(1);
  expect(folder(".work")).toBe(1);
});

const audited = (rule: string, texts: Readonly<Record<string, string>>): string[] =>
  auditTexts(
    Object.entries(texts).map(([path, text]) => ({ path, text })),
    { ...DEFAULTS, select: [rule] },
  ).findings.map(({ path, line }) => `${path}:${line}`);

test("shapes that one file of a program varies are those of all its files, and of no other program's", () => {
  const texts = {
    "data.py":
      "from torch.nn.utils.rnn import pad_sequence\n\n\ndef collate(batch):\n    return pad_sequence(batch)\n",
    "setup.py": "import torch\n\n\ndef setup():\n    torch.backends.cudnn.benchmark = True\n",
    "speech.py": "import torch\nfrom data import collate\nfrom setup import setup\n\ntorch.cuda.init()\n",
    "images.py": "import torch\n\ntorch.backends.cudnn.benchmark = True\n",
  };
  expect(audited("PLM064", texts)).toEqual(["setup.py:5"]);
});

test("a loader that a function of another file hands out is pinned there", () => {
  const loader = (pin: string): string =>
    `from torch.utils.data import DataLoader\n\n\ndef make(data):\n    return DataLoader(data, pin_memory=${pin})\n`;
  const learner = `import torch
from loading import make


class Learner:
    def __init__(self, model, optimizer, batches):
        self.model, self.optimizer, self.batches = model, optimizer, batches

    def train(self, device):
        for x in self.batches:
            y = torch.cat([x, -x]).to(device)
            self.model(y).mean().backward()
            self.optimizer.step()


def main(model, optimizer, data):
    Learner(model, optimizer, make(data)).train(torch.device("cuda"))
`;
  expect(audited("PLM072", { "loading.py": loader("True"), "learner.py": learner })).toEqual([
    "learner.py:11",
  ]);
  expect(audited("PLM072", { "loading.py": loader("False"), "learner.py": learner })).toEqual([]);
});

test("all turns but the first are every turn; the first alone is none", () => {
  const loop = (test: string): string => `import torch.nn.functional as F


for epoch in range(100):
    ${test}:
        for x, y in loader:
            loss = F.cross_entropy(model(x.cuda()), y.cuda())
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses(loss)


def losses(loss):
    print(loss.item())
`;
  expect(found(loop("if epoch > 0"), "PLM025")).toBe(1);
  expect(found(loop("if epoch == 7"), "PLM025")).toBe(0);
});

test("a step is one through `partial`, and in a method whose loop goes through micro-batches", () => {
  const text = (bound: string): string => `from functools import partial

import torch.distributed as dist


def differentiate(half, loss):
    loss.backward()


class Trainer:
    def advance(self):
        back = ${bound}
        for _ in range(self.every):
            back(self.net(next(self.batches).cuda()).mean() / self.every)
        self.opt.step()
        dist.barrier()
`;
  expect(found(text("partial(differentiate, self.half)"), "PLM071")).toBe(1);
  expect(found(text("self.unknown()"), "PLM071")).toBe(0);
});

const ENGINE = `import torch


def train(model, train_loader, optimizer):
    for x, y in train_loader:
        x = x.cuda()
        loss = model(x, y).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
`;

/** The loader stands in the program that calls the loop. */
const blocking = (arguments_: string, loop = ENGINE): string[] =>
  auditTexts(
    [
      { path: "engine.py", text: loop },
      {
        path: "main.py",
        text: `from engine import train
from torch.utils.data import DataLoader


def main(data, model, optimizer):
    train(model, DataLoader(data, num_workers=4${arguments_}), optimizer)
`,
      },
    ],
    { ...DEFAULTS, select: ["PLM037"] },
  ).findings.map(({ path, line, severity }) => `${path}:${line} ${severity}`);

test("whether batches are pinned is known of a program, not only of a file", () => {
  expect(blocking(", pin_memory=True")).toEqual(["engine.py:6 note"]);
  expect(blocking("")).toEqual([]);
  // What accelerate hands out is on the device already.
  expect(blocking(", pin_memory=True", `${ENGINE}\n\ntrain_loader = accelerator.prepare(1)\n`)).toEqual([]);
});

test("what a folder keeps for exports and inference runs in no step", () => {
  const text = `import torch\n\n\nclass Wrapped(torch.nn.Module):\n    def forward(self, x):\n        return x + torch.zeros(4, 4).to(x.device)\n`;
  const severity = (path: string): string | undefined =>
    auditTexts([{ path, text }], { ...DEFAULTS, select: ["PLM035"] }).findings[0]?.severity;
  expect(severity("nets/engine.py")).toBe("warning");
  expect(severity("export/engine.py")).toBe("note");
  expect(severity("tools/deploy/engine.py")).toBe("note");
});

test("an annotated assignment is an assignment", () => {
  const kept = (text: string) =>
    auditTexts([{ path: "one.py", text }], { ...DEFAULTS, select: ["PLM001"] }).findings.length;
  const text = (name: string) => `import torch
model = torch.nn.Linear(2, 1).cuda()
optimizer = torch.optim.SGD(model.parameters())
total${name} = 0
for x in batches:
    loss${name} = model(x).mean()
    loss.backward()
    optimizer.step()
    total += loss
`;
  expect(kept(text(""))).toBe(1);
  expect(kept(text(": torch.Tensor"))).toBe(1);
});

test("what is on the device before any rank has chosen one, in a module that a program of ranks imports", () => {
  const texts = {
    "data.py": "import torch\n\nPADDING = torch.zeros(1).cuda()\n",
    "main.py":
      "import lightning as L\nfrom data import PADDING\n\n\ndef main(model):\n    L.Trainer(strategy='ddp').fit(model)\n",
    "alone.py": "import torch\n\nPADDING = torch.zeros(1).cuda()\n",
  };
  expect(audited("PLM082", texts)).toEqual(["data.py:3"]);
});

test("hidden states asked for by the file that prepares a network, where another of the program reads them", () => {
  const load =
    "from peft import get_peft_model\n\n\ndef load(model):\n    model.config.output_hidden_states = True\n    return get_peft_model(model)\n";
  const main = (loss: string): string =>
    `import torch\nfrom load import load\nfrom loss import loss\n\n\ndef main(model):\n    return ${loss}\n`;
  const texts = (read: string): Record<string, string> => ({
    "load.py": load,
    "loss.py": `import torch\n\n\ndef loss(outputs):\n    return torch.mean(outputs.${read})\n`,
    "main.py": main("loss(load(model))"),
  });
  expect(audited("PLM047", texts("loss"))).toEqual(["load.py:5"]);
  expect(audited("PLM047", texts("hidden_states[-1]"))).toEqual([]);
});

test("hidden states asked for by the configuration, where who reads any has asked for them itself", () => {
  const texts = (asked: string): Record<string, string> => ({
    "load.py":
      "from peft import get_peft_model\n\n\ndef load(model):\n    model.config.output_hidden_states = True\n    return get_peft_model(model)\n",
    "tower.py": `import torch\nfrom torch import nn\n\n\nclass Tower(nn.Module):\n    def select(self, outputs):\n        return outputs.hidden_states[-2]\n\n    def forward(self, images):\n        outputs = self.tower(images${asked})\n        return self.select(outputs)\n`,
    "main.py":
      "import torch\nfrom load import load\nfrom tower import Tower\n\n\ndef main(model):\n    return torch.mean(Tower()(load(model)))\n",
  });
  expect(audited("PLM047", texts(", output_hidden_states=True"))).toEqual(["load.py:5"]);
  expect(audited("PLM047", texts(", output_hidden_states=False"))).toEqual([]);
  expect(audited("PLM047", texts(", output_attentions=True"))).toEqual([]);
  expect(audited("PLM047", texts(""))).toEqual([]);
});

test("gradients that accumulate in a file which is handed a network in DistributedDataParallel", () => {
  const texts = (network: string): Record<string, string> => ({
    "loop.py":
      "def loop(net, batches, optimizer):\n    for i, x in enumerate(batches):\n        net(x).mean().backward()\n        if i % 4 == 3:\n            optimizer.step()\n            optimizer.zero_grad()\n",
    "main.py": `from torch.nn.parallel import DistributedDataParallel\nfrom loop import loop\n\n\ndef main(net, batches, optimizer):\n    loop(${network}, batches, optimizer)\n`,
  });
  const wrapped = "DistributedDataParallel(net, gradient_as_bucket_view=True)";
  expect(audited("PLM058", texts(wrapped))).toEqual(["loop.py:3"]);
  expect(audited("PLM058", texts("net"))).toEqual([]);
});

test("an optimizer that divides by past gradients makes the same step of undivided ones: a note", () => {
  const severity = (optimizer: string): string | undefined =>
    auditTexts(
      [
        {
          path: "train.py",
          text: `import torch
from torch import nn

model = nn.Linear(4, 4).cuda()
optimizer = torch.optim.${optimizer}(model.parameters(), lr=0.1)
for i, (x, y) in enumerate(loader):
    loss = nn.functional.mse_loss(model(x.cuda()), y.cuda())
    loss.backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
`,
        },
      ],
      { ...DEFAULTS, select: ["PLM065"] },
    ).findings.find(({ message }) => message.includes("undivided"))?.severity;
  expect(severity("SGD")).toBe("warning");
  expect(severity("AdamW")).toBe("note");
});

test("a loss that is handed to what differentiates it leaves graph nodes, not activations", () => {
  const [found] = auditTexts(
    [
      {
        path: "train.py",
        text: `import torch
from torch import nn


class Runner:
    def step(self, loss):
        self.optimizer.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)

    def epoch(self, loader):
        total = 0.0
        for x, y in loader:
            loss = nn.functional.mse_loss(self.model(x.cuda()), y.cuda())
            total += loss
            self.step(loss)
        return total
`,
      },
    ],
    { ...DEFAULTS, select: ["PLM001"] },
  ).findings;
  expect(found?.severity).toBe("warning");
});

test("a buffer that is handed in is of the one class of the tree that can be drawn from, or of those that are called buffers", () => {
  const agent = {
    path: "agent.py",
    text: `import torch


class Agent:
    def __init__(self, net):
        self.net = net.cuda()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def learn(self, memory):
        loss = self.net(memory.sample(64)).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
`,
  };
  const memory = {
    path: "memory.py",
    text: `import numpy as np
import torch


class Memory:
    def __init__(self, count, width):
        self.count = count
        self.states = torch.zeros(count, width, device="cuda")

    def sample(self, size):
        return self.states[np.random.randint(0, self.count, size=size)]
`,
  };
  const audit = (...more: { path: string; text: string }[]): number =>
    auditTexts([agent, memory, ...more], { ...DEFAULTS, select: ["PLM070"] }).findings.length;
  expect(audit()).toBe(1);
  // Either of two; another class, or a network that draws samples, leaves it open.
  expect(audit({ path: "other.py", text: memory.text })).toBe(2);
  expect(audit({ path: "other.py", text: memory.text.replace("Memory", "Table") })).toBe(0);
  expect(
    audit({
      path: "flow.py",
      text: "from torch import nn\n\n\nclass Flow(nn.Module):\n    def sample(self, size):\n        return size\n",
    }),
  ).toBe(0);
});

test("a helper of the step is judged by what the step gives it, whatever a dataset does with it", () => {
  const helper = {
    path: "waves.py",
    text: `import torch
from torch.utils.data import Dataset


def spectrum(wave):
    if torch.max(wave) > 1.0:
        print("too loud")
    return torch.fft.rfft(wave).abs()


class Waves(Dataset):
    def __getitem__(self, at):
        return spectrum(self.waves[at])
`,
  };
  const train = (call: string): { path: string; text: string } => ({
    path: "train.py",
    text: `from waves import spectrum


def train(model, loader, optimizer):
    model = model.cuda()
    for step, (x, y) in enumerate(loader):
        out = model(x.cuda(non_blocking=True))
        loss = (${call} - y.cuda(non_blocking=True)).abs().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 100 == 0:
            print(spectrum(x).shape)
`,
  });
  const audit = (call: string): number =>
    auditTexts([helper, train(call)], { ...DEFAULTS, select: ["PLM027"] }).findings.length;
  expect(audit("spectrum(out)")).toBe(1);
  // On the host, and only now and then.
  expect(audit("out")).toBe(0);
});

test("what a function of another file computed with the network it was given has its graph, if that was recorded", () => {
  const text = `from helpers import run


def train(model, loader, optimizer, crit):
    seen = []
    for x, y in loader:
        probs, label = run(model, x, y)
        crit(model(x), y).backward()
        optimizer.step()
        seen.append(KEPT)
`;
  const kept = (body: string, name = "probs"): number =>
    auditTexts(
      [
        { path: "one.py", text: text.replace("KEPT", name) },
        { path: "helpers.py", text: `import torch\n\n\ndef run(model, x, y):\n${body}` },
      ],
      { ...DEFAULTS, select: ["PLM002"] },
    ).findings.length;
  expect(kept("    return torch.sigmoid(model(x)), y\n")).toBe(1);
  expect(kept("    return torch.sigmoid(model(x)), y\n", "label")).toBe(0);
  expect(kept("    return model(x).detach(), y\n")).toBe(0);
  expect(kept("    return model(x).argmax(-1), y\n")).toBe(0);
  expect(kept("    with torch.no_grad():\n        out = model(x)\n    return out, y\n")).toBe(0);
  expect(kept("    return model(x).mean().item(), y\n")).toBe(0);
});

test("reentrant checkpoints by hand in a network whose embeddings another file of the program freezes", () => {
  const net = (path: string): string =>
    `import torch\nfrom torch import nn\nfrom torch.utils.checkpoint import checkpoint\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.embed = nn.Embedding(9, 8)\n        self.blocks = nn.ModuleList(nn.Linear(8, 8) for _ in range(4))\n\n    def forward(self, x):\n        x = self.embed(x)\n        for block in self.blocks:\n            x = checkpoint(block, x, use_reentrant=${path})\n        return x\n`;
  const script = (freezes: string): string =>
    `import torch\nfrom net import Net\n\n\ndef main():\n    model = Net()\n    for name, p in model.named_parameters():\n        p.requires_grad = ${freezes}\n    return model\n`;
  const likely = (files: Readonly<Record<string, string>>): string[] =>
    auditTexts(
      Object.entries(files).map(([path, text]) => ({ path, text })),
      { ...DEFAULTS, likely: true, select: ["PLM052"] },
    ).findings.map(({ path, line }) => `${path}:${line}`);
  const lora = script('"lora_" in name');
  expect(likely({ "net.py": net("True"), "train.py": lora })).toEqual(["net.py:15"]);
  expect(likely({ "net.py": net("False"), "train.py": lora })).toEqual([]);
  // All of it trains, or nobody of the program freezes anything.
  expect(likely({ "net.py": net("True"), "train.py": script("True") })).toEqual([]);
  expect(likely({ "net.py": net("True"), "other.py": lora.replace("from net import Net\n", "") })).toEqual(
    [],
  );
  // Somebody makes the inputs require gradients.
  const fed = lora.replace("    return model", "    model.enable_input_require_grads()\n    return model");
  expect(likely({ "net.py": net("True"), "train.py": fed })).toEqual([]);
});

test("checkpoints of a quantized model that another file puts adapters into, where no file feeds them", () => {
  const texts = (prepare: string, load = "load_in_4bit=True"): Record<string, string> => ({
    "prepare.py": `import torch\n\n\ndef prepare(model: torch.nn.Module):\n${prepare}    return model\n`,
    "adapter.py":
      "from peft import LoraConfig, get_peft_model\n\n\ndef attach(model):\n    return get_peft_model(model, LoraConfig(r=8))\n",
    "load.py": `from transformers import AutoModel\nfrom adapter import attach\nfrom prepare import prepare\n\n\ndef load(name):\n    return attach(prepare(AutoModel.from_pretrained(name, ${load})))\n`,
  });
  const likely = (files: Readonly<Record<string, string>>): string[] =>
    auditTexts(
      Object.entries(files).map(([path, text]) => ({ path, text })),
      { ...DEFAULTS, likely: true, select: ["PLM052"] },
    ).findings.map(({ path, line }) => `${path}:${line}`);
  const enable = "    model.gradient_checkpointing_enable()\n";
  expect(likely(texts(enable))).toEqual(["prepare.py:5"]);
  // Of what is not quantized peft sees to it.
  expect(likely(texts(enable, "load_in_4bit=False"))).toEqual([]);
  expect(likely(texts(`    model.enable_input_require_grads()\n${enable}`))).toEqual([]);
  expect(likely(texts(enable.replace("()", "({'use_reentrant': False})")))).toEqual([]);
  // Whichever file does so.
  const fed = {
    ...texts(enable),
    "feed.py":
      "import torch\n\n\ndef feed(model: torch.nn.Module):\n    model.enable_input_require_grads()\n",
  };
  expect(likely(fed)).toEqual([]);
});

test("a model that another file's Trainer trains is asked about where it is loaded, unless that file uses it otherwise", () => {
  const load = (more = ""): { path: string; text: string } => ({
    path: "load.py",
    text: `from peft import LoraConfig, get_peft_model
from transformers import AutoModel


def build(name):
    model = AutoModel.from_pretrained(name, output_hidden_states=True)${more}
    return model


def attach(model):
    return get_peft_model(model, LoraConfig(r=8))
`,
  });
  const train = (use: string, made = "attach(build(name))"): { path: string; text: string } => ({
    path: "tune.py",
    text: `from load import attach, build
from transformers import Trainer, TrainingArguments


def tune(name, data):
    model = ${made}
    args = TrainingArguments(
        "out", gradient_checkpointing=True, gradient_checkpointing_kwargs={"use_reentrant": True}
    )
    trainer = Trainer(model=model, args=args)
    ${use}
`,
  });
  const rules = (...files: { path: string; text: string }[]): string[] =>
    auditTexts(files, { ...DEFAULTS, select: ["PLM047", "PLM052"] }).findings.map(({ rule }) => rule);
  expect(rules(load(), train("trainer.train()"))).toEqual(["PLM047", "PLM052"]);
  expect(rules(load(), train("trainer.evaluate()"))).toEqual([]);
  expect(rules(load(), train("trainer.train(), model(data).hidden_states"))).toEqual(["PLM052"]);
  expect(rules(load("\n    model.enable_input_require_grads()"), train("trainer.train()"))).toEqual([
    "PLM047",
  ]);
  // Neither this file's nor that one's.
  expect(rules(load(), train("trainer.train()", "name"))).toEqual([]);
});

test("what cannot run, or runs on the host under a name, is no warning", () => {
  const train = (device: string, more = ""): string => `import torch


def train(net, loader):
    device = ${device}
    net = net.to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = (net(x.to(device)) - y.to(device)).pow(2).mean()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total
${more}`;
  const neighbour = {
    path: "other.py",
    text: "import torch\nimport one\n\n\ndef move(x):\n    return x.cuda()\n",
  };
  const severity = (text: string): string | undefined =>
    auditTexts([{ path: "one.py", text }, neighbour], { ...DEFAULTS, select: ["PLM025"] }).findings[0]
      ?.severity;
  expect(severity(train('"cuda"'))).toBe("warning");
  expect(severity(train('torch.device("cuda:" + number)'))).toBe("warning");
  expect(severity(train('"cpu"'))).not.toBe("warning");
  expect(severity(train('"cuda"', "<<<<<<< HEAD\n"))).toBe("note");
});
