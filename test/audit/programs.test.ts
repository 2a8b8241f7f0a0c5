import { expect, test } from "vitest";
import { auditTexts } from "../../src/audit/session.ts";
import { DEFAULTS as PROVEN } from "../../src/audit/settings.ts";

/** What belongs to a program is asked here; how often a rule was right is not. */
const DEFAULTS = { ...PROVEN, unproven: true, likely: false };

test("a module that is imported by a name put together belongs to the program", () => {
  const loss = {
    path: "losses/depth.py",
    text: [
      "import torch",
      "import torch.nn as nn",
      "class Depth(nn.Module):",
      "    def forward(self, made, wanted):",
      "        made = torch.clamp(made, min=0)",
      "        seen = torch.clamp(wanted, min=0) > 0",
      "        return torch.abs(made[seen]).mean()",
      "",
    ].join("\n"),
  };
  const audit = (name: string): number =>
    auditTexts(
      [
        {
          path: "train.py",
          text: [
            "from importlib import import_module",
            "import torch",
            "def train(net, loader, opt, kind, wholly):",
            `    loss = import_module(${name}).Depth().cuda()`,
            "    for x, y in loader:",
            "        loss(net(x.cuda()), y.cuda()).backward()",
            "        opt.step()",
            "",
          ].join("\n"),
        },
        loss,
      ],
      { ...DEFAULTS, select: ["PLM028"] },
    ).findings.length;
  for (const name of [
    '"losses." + kind.lower()',
    'f"losses.{kind}"',
    '"losses.%s" % kind',
    '"losses.{}".format(kind)',
    '".".join(["losses", kind])',
    '"losses.depth"',
    '"." + kind, package="losses"',
  ])
    expect(audit(name), name).toBe(1);
  // Of another package, or of who knows which.
  for (const name of ['"networks." + kind', "wholly", 'f"{wholly}.{kind}"'])
    expect(audit(name), name).toBe(0);
});

test("what a network of another file hands back as a number is one where it is handed on", () => {
  const audit = (entropy: string): number =>
    auditTexts(
      [
        {
          path: "layers/quantizer.py",
          text: [
            "import torch",
            "import torch.nn as nn",
            "class Quantizer(nn.Module):",
            "    def forward(self, x):",
            `        entropy = ${entropy}`,
            "        return x * 2, x.mean(), entropy",
            "",
          ].join("\n"),
        },
        {
          path: "model.py",
          text: [
            "import torch",
            "import torch.nn as nn",
            "from layers.quantizer import Quantizer",
            "class Model(nn.Module):",
            "    def __init__(self):",
            "        super().__init__()",
            "        self.quantizer = Quantizer()",
            "        self.head = nn.Linear(8, 8)",
            "    def forward(self, x):",
            "        found, penalty, entropy = self.quantizer(x)",
            "        return self.head(found), penalty, entropy",
            "    def learn(self, loader, opt):",
            "        self.cuda()",
            "        total = 0",
            "        for x in loader:",
            "            made, penalty, entropy = self(x.cuda())",
            "            opt.zero_grad()",
            "            (made.mean() + penalty).backward()",
            "            opt.step()",
            "            total += entropy",
            "        print(total)",
            "",
          ].join("\n"),
        },
      ],
      { ...DEFAULTS, select: ["PLM001"] },
    ).findings.length;
  expect(audit("-(x * x.log()).sum()")).toBe(1);
  expect(audit("-(x * x.log()).sum().item()")).toBe(0);
});

test("a file of settings beside a script turns the checkpointing of its Trainer on", () => {
  const script = (parser: string): string => `
from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer, TrainingArguments

${parser}
model = AutoModelForCausalLM.from_pretrained("base", use_cache=True)
Trainer(model=model, args=arguments).train()
`;
  const parsed = script(
    "(arguments,) = HfArgumentParser((TrainingArguments,)).parse_args_into_dataclasses()",
  );
  const found = (path: string, text: string, settings: string, said = "true"): number =>
    auditTexts(
      [
        { path, text },
        { path: settings, text: `per_device_train_batch_size: 2\ngradient_checkpointing: ${said}\n` },
      ],
      { ...DEFAULTS, select: ["PLM054"] },
    ).findings.length;
  expect(found("chat/train.py", parsed, "chat/config.yaml")).toBe(1);
  expect(found("scripts/run.py", parsed, "recipes/small/full.yaml")).toBe(1);
  expect(found("train.py", script("arguments = TrainingArguments(**read())"), "small.yaml")).toBe(1);
  // Of another program, switched off, or of no use to a script that says all of its arguments.
  expect(found("chat/train.py", parsed, "voice/config.yaml")).toBe(0);
  expect(found("chat/train.py", parsed, "chat/config.yaml", "false")).toBe(0);
  expect(found("train.py", script('arguments = TrainingArguments("out")'), "small.yaml")).toBe(0);
});

test("a file of settings beside a script turns the checkpointing of what another file loads for it on", () => {
  const found = (settings: string, parser: string, trained = "fetch()"): number =>
    auditTexts(
      [
        {
          path: "library/fetching.py",
          text: `
from transformers import AutoModelForCausalLM


def fetch():
    settings = dict(use_cache=True)
    return AutoModelForCausalLM.from_pretrained("base", **settings)
`,
        },
        {
          path: "scripts/tune.py",
          text: `
from transformers import AutoModel, HfArgumentParser, Trainer, TrainingArguments
from library.fetching import fetch

${parser}
Trainer(model=${trained}, args=arguments).train()
`,
        },
        { path: settings, text: "per_device_train_batch_size: 2\ngradient_checkpointing: true\n" },
      ],
      { ...DEFAULTS, select: ["PLM054"] },
    ).findings.length;
  const parsed = "(arguments,) = HfArgumentParser((TrainingArguments,)).parse_args_into_dataclasses()";
  expect(found("recipes/small.yaml", parsed)).toBe(1);
  // Of another program, of no use to a script that says all of its arguments, or of one that trains another model.
  expect(found("voice/small.yaml", parsed)).toBe(0);
  expect(found("recipes/small.yaml", 'arguments = TrainingArguments("out")')).toBe(0);
  expect(found("recipes/small.yaml", parsed, 'AutoModel.from_pretrained("other")')).toBe(0);
  // Where it is trained, the cache is off.
  expect(
    found("recipes/small.yaml", `${parsed}\nmodel = fetch()\nmodel.config.use_cache = False`, "model"),
  ).toBe(0);
});

test("what a loop hands to a function of another file that adds its losses to it is kept from turn to turn", () => {
  const found = (adds: string, given: string, begun: string, carries: string): number =>
    auditTexts(
      [
        {
          path: "strides.py",
          text: `
import torch.nn.functional as F


def stride(net, opt, x, y, kept):
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    ${adds}
    return ${given}
`,
        },
        {
          path: "train.py",
          text: `
from strides import stride


def walk(net, opt, loader):
    ${begun}
    for x, y in loader:
        ${carries}
    return kept
`,
        },
      ],
      { ...DEFAULTS, select: ["PLM001", "PLM002"] },
    ).findings.length;
  const taken = "seen, kept = stride(net, opt, x.cuda(), y.cuda(), kept)";
  const alone = "stride(net, opt, x.cuda(), y.cuda(), kept)";
  expect(found("kept += loss", "len(x), kept", "kept = 0.0", taken)).toBe(1);
  expect(found("kept = kept + loss", "kept", "kept = 0.0", `kept = ${alone}`)).toBe(1);
  expect(found('kept["loss"] += loss', "len(x)", 'kept = {"loss": 0.0}', alone)).toBe(1);
  expect(found("kept.append(loss)", "len(x)", "kept = []", alone)).toBe(1);
  // Cut off, another than what was handed in, or begun anew every turn.
  expect(found("kept += loss.detach()", "len(x), kept", "kept = 0.0", taken)).toBe(0);
  expect(found("kept.append(loss.item())", "len(x)", "kept = []", alone)).toBe(0);
  expect(found("kept += loss", "len(x), kept", "kept = 0.0", `seen, last = ${alone}`)).toBe(0);
  expect(found("kept += loss", "kept, len(x)", "kept = 0.0", taken)).toBe(0);
  expect(found("kept = kept + loss", "len(x)", "kept = 0.0", alone)).toBe(0);
  expect(found("kept.append(loss)", "len(x)", "seen = 0", `kept = []; ${alone}`)).toBe(0);
  // A meter of one's own does with it what it likes.
  expect(found("kept.append(loss)", "len(x)", "kept = Meter()", alone)).toBe(0);
});

test("a network that a program judges without recording, and hands to another file to train, is run with recording", () => {
  const found = (handed: string, does: string): number =>
    auditTexts(
      [
        {
          path: "nets.py",
          text: `
import torch
from torch import nn


class Drifting(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)
        self.register_buffer("mean", torch.zeros(8))

    def forward(self, x):
        x = self.layer(x)
        self.mean = 0.9 * self.mean + 0.1 * x.mean(0)
        return x


class Other(nn.Module):
    def forward(self, x):
        return x * 2
`,
        },
        {
          path: "fitting.py",
          text: `
def fit(net, opt, x, y):
    loss = (net(x) - y).square().mean()
    ${does}
    opt.step()
    return loss.item()
`,
        },
        {
          path: "main.py",
          text: `
import torch
from fitting import fit
from nets import Drifting, Other


def main(opt, train_loader, test_loader):
    drifting = Drifting().cuda()
    other = Other().cuda()
    for x, y in train_loader:
        fit(${handed}, opt, x.cuda(), y.cuda())
    with torch.no_grad():
        for x, y in test_loader:
            print((drifting(x.cuda()) - other(x.cuda())).abs().mean())
`,
        },
      ],
      { ...DEFAULTS, select: ["PLM018"] },
    ).findings.length;
  expect(found("drifting", "loss.backward()")).toBe(1);
  // Another one is trained, or nothing is.
  expect(found("other", "loss.backward()")).toBe(0);
  expect(found("drifting", "print(loss)")).toBe(0);
});

test("a step of another file indexes by the host what it is handed from the device", () => {
  const audit = (given: string): number =>
    auditTexts(
      [
        {
          path: "train.py",
          text: [
            "import torch",
            "from torch import optim",
            "from steps import step",
            "def train(net, batches):",
            "    device = 'cuda' if torch.cuda.is_available() else 'cpu'",
            "    opt = optim.SGD(net.parameters(), lr=0.1)",
            "    for x, y in batches:",
            `        step(net, opt, ${given})`,
            "",
          ].join("\n"),
        },
        {
          path: "steps.py",
          text: [
            "import numpy as np",
            "def step(net, opt, x):",
            "    order = np.random.permutation(len(x))",
            "    net(x[order]).mean().backward()",
            "    opt.step()",
            "",
          ].join("\n"),
        },
      ],
      { ...DEFAULTS, select: ["PLM070"] },
    ).findings.length;
  expect(audit("x.to(device)")).toBe(1);
  // Of the host.
  expect(audit("x.to('cpu')")).toBe(0);
});

test("a call that tells its function not to train makes no training of the loop around it", () => {
  const audit = (signature: string, given: string): number =>
    auditTexts(
      [
        {
          path: "agent.py",
          text: [
            "import torch",
            "class Agent:",
            `    def update(self, x, ${signature}):`,
            "        loss = self.net(x.cuda()).mean()",
            "        if training and loss is not None:",
            "            self.opt.zero_grad()",
            "            loss.backward()",
            "            self.opt.step()",
            "        return loss",
            "",
          ].join("\n"),
        },
        {
          path: "train.py",
          text: [
            "import torch",
            "from agent import Agent",
            "def train(loader):",
            "    agent = Agent()",
            "    for x in loader:",
            "        agent.update(x, True)",
            "def look(loader):",
            "    agent = Agent()",
            "    for x in loader:",
            `        loss = agent.update(x${given})`,
            "        print(loss.item())",
            "",
          ].join("\n"),
        },
      ],
      { ...DEFAULTS, select: ["PLM025"] },
    ).findings.length;
  expect(audit("training=True", "")).toBe(1);
  expect(audit("training=False", ", training=True")).toBe(1);
  expect(audit("training=True", ", training=is_last")).toBe(1);
  expect(audit("training=True", ", **options")).toBe(1);
  for (const given of [", training=False", ", False"]) expect(audit("training=True", given), given).toBe(0);
  expect(audit("training=False", "")).toBe(0);
});

test("a loop that speaks of no library takes the steps of a model that is imported by its name", () => {
  const model = {
    path: "models/cycle_gan_model.py",
    text: [
      "import torch",
      "from .base_model import BaseModel",
      "class CycleGANModel(BaseModel):",
      "    def __init__(self, opt):",
      "        self.net = torch.nn.Linear(4, 4).cuda()",
      "        self.crit = torch.nn.L1Loss()",
      "        self.optimizer = torch.optim.SGD(self.net.parameters(), 0.1)",
      "        self.seen = 0.0",
      "    def set_input(self, data):",
      "        self.real = data['A'].cuda()",
      "    def forward(self):",
      "        self.fake = self.net(self.real)",
      "    def optimize_parameters(self):",
      "        self.forward()",
      "        self.loss_G = self.crit(self.fake, self.real)",
      "        self.seen += self.loss_G",
      "        self.optimizer.zero_grad()",
      "        self.loss_G.backward()",
      "        self.optimizer.step()",
      "",
    ].join("\n"),
  };
  const other = {
    path: "models/pix_model.py",
    text: model.text.replace("CycleGANModel", "PixModel"),
  };
  const base = {
    path: "models/base_model.py",
    text: [
      "import torch",
      "class BaseModel:",
      "    def test(self):",
      "        self.forward()",
      "    def forward(self): pass",
      "    def optimize_parameters(self): pass",
      "    def get_current_losses(self):",
      "        found = {}",
      "        for name in self.loss_names:",
      "            found[name] = float(getattr(self, 'loss_' + name))",
      "        return found",
      "",
    ].join("\n"),
  };
  const maker = {
    path: "models/__init__.py",
    text: [
      "import importlib",
      "def create_model(opt):",
      "    lib = importlib.import_module('models.' + opt.model + '_model')",
      "    wanted = opt.model.replace('_', '') + 'model'",
      "    for name, cls in lib.__dict__.items():",
      "        if name.lower() == wanted: return cls(opt)",
      "",
    ].join("\n"),
  };
  const options = {
    path: "options.py",
    text: [
      "import argparse",
      "p = argparse.ArgumentParser()",
      "p.add_argument('--model', default='cycle_gan')",
      "",
    ].join("\n"),
  };
  const audit = (print: string): readonly string[] =>
    auditTexts(
      [
        {
          path: "train.py",
          text: [
            "from options import opt",
            "from models import create_model",
            "model = create_model(opt)",
            "for epoch in range(9):",
            "    for i, data in enumerate(dataset):",
            "        model.set_input(data)",
            "        model.optimize_parameters()",
            ...print.split("\n").map((line) => `        ${line}`),
            "",
          ].join("\n"),
        },
        maker,
        options,
        base,
        model,
        other,
      ],
      { ...DEFAULTS, likely: true, select: ["PLM001", "PLM019", "PLM029"] },
    ).findings.map(
      ({ rule, path, message }) =>
        `${rule} ${path}${/nothing here uses|only with|default/.test(message) ? " elsewhere" : ""}`,
    );
  const always = ["PLM001 models/cycle_gan_model.py", "PLM019 models/base_model.py"];
  const found = audit("print(model.get_current_losses())");
  expect(found).toEqual(expect.arrayContaining([...always, "PLM029 models/base_model.py"]));
  expect(found.filter((one) => one.startsWith("PLM001 models/pix_model.py"))).toEqual([
    "PLM001 models/pix_model.py elsewhere",
  ]);
  // Only now and then.
  const seldom = audit("if i % 100 == 0:\n    print(model.get_current_losses())");
  expect(seldom).toEqual(expect.arrayContaining(always));
  expect(seldom).not.toContain("PLM029 models/base_model.py");
});

test.each([
  ["", 1],
  ["import sys\nsys.path.append('..')\n", 0],
])(
  "a module of a ranked program opens the first device where it is imported, not a script beside it (%s)",
  (above, found) => {
    const { findings } = auditTexts(
      [
        {
          path: "train.py",
          text: "import torch\nimport torch.distributed as dist\nimport ops.tables\ndef main(rank):\n    torch.cuda.set_device(rank)\n    dist.init_process_group('nccl')\n    ops.tables.run()\n",
        },
        {
          path: "ops/tables.py",
          text: `${above}import torch\nTABLE = torch.ones(1000).cuda()\ndef run():\n    pass\n`,
        },
      ],
      { ...DEFAULTS, select: ["PLM082"] },
    );
    expect(findings).toHaveLength(found);
  },
);

test("what only an option brings of varying shapes is no reason to switch the search of cuDNN off", () => {
  const data = {
    path: "batches.py",
    text: [
      "from torch.nn.utils.rnn import pad_sequence",
      "",
      "",
      "def collate(rows):",
      "    return pad_sequence(rows)",
      "",
    ].join("\n"),
  };
  const fixes = (use: readonly string[]): boolean[] =>
    auditTexts(
      [
        {
          path: "train.py",
          text: [
            "import argparse",
            "import torch",
            "from batches import collate",
            "",
            "torch.backends.cudnn.benchmark = True",
            "parser = argparse.ArgumentParser()",
            'parser.add_argument("--whole", action="store_true")',
            "args = parser.parse_args()",
            ...use,
            "",
          ].join("\n"),
        },
        data,
      ],
      { ...DEFAULTS, select: ["PLM064"] },
    ).findings.map(({ fix }) => Boolean(fix));
  expect(fixes(["print(collate(rows))"])).toEqual([true]);
  expect(fixes(["if args.whole:", "    print(collate(rows))"])).toEqual([false]);
});

test("a trainer of another file is one under any name", () => {
  const found = (base: string): readonly string[] =>
    auditTexts(
      [
        {
          path: "src/trainer.py",
          text: `import transformers\n\n\nclass ${base}ThatSaves(${base}):\n    def save(self):\n        pass\n\n\nclass Plain:\n    pass\n`.replace(
            `(${base})`,
            `(transformers.${base})`,
          ),
        },
        {
          path: "train.py",
          text: [
            "import numpy as np",
            "from transformers import AutoModelForCausalLM, HfArgumentParser, TrainingArguments",
            `from src.trainer import ${base}ThatSaves as OwnTrainer`,
            "",
            "",
            "def hits(prediction):",
            "    logits, labels = prediction",
            '    return {"hits": float((np.argmax(logits, -1) == labels).mean())}',
            "",
            "",
            "(args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()",
            'model = AutoModelForCausalLM.from_pretrained("base")',
            "trainer = OwnTrainer(model=model, args=args, compute_metrics=hits, train_dataset=a, eval_dataset=b)",
            "trainer.train()",
            "",
          ].join("\n"),
        },
      ],
      { ...DEFAULTS, select: ["PLM055"] },
    ).findings.map(({ path, line }) => `${path}:${line}`);
  expect(found("Trainer")).toEqual(["train.py:13"]);
  // No trainer of the library's.
  expect(found("PreTrainedModel")).toEqual([]);
});
