import { expect, test } from "vitest";
import { auditTexts } from "../../src/audit/session.ts";
import { DEFAULTS as PROVEN } from "../../src/audit/settings.ts";

/** What runs, and what a value is, is asked here; how often a rule was right is not. */
const DEFAULTS = { ...PROVEN, unproven: true, likely: false };

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
  ["args.per == 1", parsed('"-per", type=int, default=0')],
  ["args.rank == 0 and args.tracker is not None", parsed('"--tracker"')],
  [
    "args.prefix is not None",
    "import torch\nclass NetConfig:\n    def __init__(self, prefix=None):\n        self.prefix = prefix\n",
  ],
  [
    "config.train.tell",
    "import torch\nfrom yacs.config import CfgNode as CN\nconfig = CN()\nconfig.train = CN()\nconfig.train.tell = False\n",
  ],
  ["args.tell", "import torch\nclass Options:\n    tell: bool = field(default=False)\n"],
  ["not args.quiet == 1 and args.tell", "import torch\nclass TrainArguments:\n    tell: bool = False\n"],
])("what needs %s, off by default, is a note that says so", (asked, options) => {
  expect(found(asked, options)).toMatchObject([
    { severity: "note", message: expect.stringMatching(/\(only with `\w+(?:\.\w+)+`, off by default\)$/) },
  ]);
});

test.each([
  ["args.log_every > 0", parsed('"--log-every", type=int, default=10')],
  ["args.tell", parsed('"--tell", default=True')],
  ["not args.quiet", parsed('"--quiet", action="store_true"')],
  ["args.unheard_of", parsed('"--tell"')],
  ["args.tell", parsed('"--tell", action="store_false", default=None')],
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

const MOVED = `
import argparse
import torch
parser = argparse.ArgumentParser()
OPTION
args = parser.parse_args()
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
MOVE
for x in loader:
    loss = model(x.to(device)).mean()
    loss.backward()
    optimizer.step()
    print(loss.item())
`;

const moved = (option: string, move: string): readonly { severity: string; message: string }[] =>
  auditTexts([{ path: "train.py", text: MOVED.replace("OPTION", option).replace("MOVE", move) }], SETTINGS)
    .findings;

test.each([
  ['parser.add_argument("--device", default="cpu", help="or cuda")', "device = torch.device(args.device)"],
  [
    'parser.add_argument("--cuda", action="store_true")',
    'device = torch.device("cuda" if args.cuda and torch.cuda.is_available() else "cpu")',
  ],
  [
    'parser.add_argument("--use-gpu", type=bool, default=False)',
    'device = "cpu"\nif args.use_gpu:\n    device = "cuda"\n    model.cuda()',
  ],
])("after %s a program stays on the CPU unless somebody asks: a note", (option, move) => {
  expect(moved(option, move)).toMatchObject([
    { severity: "note", message: expect.stringMatching(/\(on the CPU without `args\.\w+`\)$/) },
  ]);
});

test.each([
  ['parser.add_argument("--device", default="cuda")', "device = torch.device(args.device)"],
  [
    'parser.add_argument("--no-cuda", action="store_true")',
    'device = torch.device("cuda" if not args.no_cuda else "cpu")',
  ],
  ['parser.add_argument("--cuda", action="store_true")', 'device = "cuda"\nmodel.to(device)'],
])("after %s it does not", (option, move) => {
  expect(moved(option, move)).toMatchObject([{ severity: "warning" }]);
});

test("what grows without bound does so on the CPU too", () => {
  const text = MOVED.replace("OPTION", 'parser.add_argument("--cuda", action="store_true")')
    .replace("MOVE", 'device = torch.device("cuda" if args.cuda else "cpu")\nkept = []')
    .replace("    loss.backward()\n    optimizer.step()\n    print(loss.item())", "    kept.append(loss)");
  const { findings } = auditTexts([{ path: "train.py", text }], { ...DEFAULTS, select: ["PLM002"] });
  expect(findings).toMatchObject([{ message: expect.stringMatching(/until it runs out$/) }]);
});

test("what another choice than the default leads to is a note, what training is called is not", () => {
  const choice = parsed('"--task", default="regression"');
  const other = [
    { severity: "note", message: expect.stringContaining("(only with another `args.task` than by default)") },
  ];
  expect(found('args.task == "ranking"', choice)).toMatchObject(other);
  expect(found('not args.task == "regression"', choice)).toMatchObject(other);
  expect(found('args.task == "ranking" or args.task == "tagging"', choice)).toMatchObject(other);
  expect(found('args.task == "ranking" or args.task == "regression"', choice)).toMatchObject([
    { severity: "warning" },
  ]);
  expect(found('args.task == "regression"', choice)).toMatchObject([{ severity: "warning" }]);
  expect(found('args.task == "pretrain"', choice)).toMatchObject([{ severity: "warning" }]);
});

test("a module that only another choice of an option imports is not what runs", () => {
  const net = `import torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return x + torch.zeros(4, 4).to(x.device)\n`;
  const severities = (choice: string): readonly string[] =>
    auditTexts(
      [
        {
          path: "train.py",
          text: `${TRAIN.replace("TEST", "False")}\nfrom importlib import import_module\nnet = import_module(f"nets.{args.net}").Model()\n`,
        },
        { path: "options.py", text: parsed(`"--net", default="${choice}"`) },
        { path: "nets/small.py", text: net },
        { path: "nets/large.py", text: net },
      ],
      { ...DEFAULTS, select: ["PLM035"] },
    ).findings.map(({ path, severity }) => `${path} ${severity}`);
  expect(severities("small")).toEqual(["nets/small.py warning", "nets/large.py note"]);
  expect(severities("large")).toEqual(["nets/small.py note", "nets/large.py warning"]);
  expect(severities("other")).toEqual(["nets/small.py warning", "nets/large.py warning"]);
});

test("a program beside the one that an option names is a program all the same", () => {
  const { findings } = auditTexts(
    [
      {
        path: "team/build.py",
        text: 'import importlib\nnet = importlib.import_module(f"team.{args.net}").Model()\n',
      },
      { path: "team/options.py", text: parsed('"--net", default="small"') },
      { path: "team/small.py", text: "import torch\n\n\nclass Model(torch.nn.Module):\n    pass\n" },
      {
        path: "team/train.py",
        text: `${TRAIN.replace("if TEST", "if True")}\n\nif __name__ == "__main__":\n    train(None, [], None, None)\n`,
      },
    ],
    SETTINGS,
  );
  expect(findings).toMatchObject([{ path: "team/train.py", severity: "warning" }]);
});

test("what needs more devices than an option asks for by default is a note", () => {
  const wrap = (test: string): readonly { severity: string }[] =>
    auditTexts(
      [
        { path: "train.py", text: `${TRAIN.replace("TEST", "False")}\n    ${test}\n` },
        { path: "options.py", text: parsed('"--gpus", default="0"') },
      ],
      { ...DEFAULTS, select: ["PLM060"] },
    ).findings;
  const model = "model = torch.nn.DataParallel(model";
  expect(wrap(`if len(args.gpus.split(",")) > 1: ${model})`)).toMatchObject([{ severity: "note" }]);
  expect(wrap(`${model}, args.gpus)`)).toMatchObject([{ severity: "note" }]);
  expect(wrap(`${model})`)).toMatchObject([{ severity: "warning" }]);
  // Of a network that is only run there is nothing to gather.
  expect(wrap(model.replace("(model", "(teacher_model)"))).toMatchObject([{ severity: "note" }]);
});

test("what a constructor is given has the default of the option of that name", () => {
  const text = (name: string): string => `
import torch


class Agent:
    def __init__(self, net, ${name}):
        self.net = net.to("cuda")
        self.optimizer = torch.optim.Adam(net.parameters())
        self.${name} = ${name}

    def learn(self, x):
        loss = self.net(x).mean()
        loss.backward()
        self.optimizer.step()
        if self.${name}:
            print(loss.item())
`;
  const asked = (name: string): string =>
    auditTexts(
      [
        { path: "agent.py", text: text(name) },
        { path: "run.py", text: parsed(`"-${name}", type=int, default=0`) },
      ],
      SETTINGS,
    ).findings[0]!.message;
  expect(asked("munchausen")).toMatch(/only with `self.munchausen`, off by default/);
  expect(asked("train")).not.toMatch(/off by default/);
});

test("an option that is on by default keeps what needs it off from running", () => {
  const on = parsed('"--quiet", default=True');
  expect(found("not args.quiet", on)).toMatchObject([
    { severity: "note", message: expect.stringContaining("(only without `args.quiet`, on by default)") },
  ]);
  const off = parsed('"--tell", action="store_false"');
  expect(found("not args.tell", off)).toMatchObject([{ severity: "note" }]);
  expect(found("args.tell", off)).toMatchObject([{ severity: "warning" }]);
});

test("a list made of an option that is empty by default is empty", () => {
  const asked = (option: string, more = ""): readonly { severity: string; message: string }[] =>
    auditTexts(
      [
        {
          path: "train.py",
          text: `${TRAIN.replace("TEST", "more")}\nnames = [] if not args.names else args.names.split(",")\n${more}more = len(names) > 0\n`,
        },
        { path: "options.py", text: parsed(option) },
      ],
      SETTINGS,
    ).findings;
  expect(asked('"--names", default=""')).toMatchObject([
    { severity: "note", message: expect.stringContaining("only with `args.names`, off by default") },
  ]);
  expect(asked('"--names", default="a,b"')).toMatchObject([{ severity: "warning" }]);
  expect(asked('"--names", default=""', "names.append(1)\n")).toMatchObject([{ severity: "warning" }]);
  expect(asked('"--names", default=""', "names = []\nfill(names)\n")).toMatchObject([
    { severity: "warning" },
  ]);
});

const STEP = TRAIN.replace("args):", "writer=None, record=None):");

/** What the callers say, in the same file and in another. */
const handed = (
  test: string,
  own: string,
  other = "",
  more: readonly { path: string; text: string }[] = [],
): readonly { severity: string; message: string }[] =>
  auditTexts(
    [
      { path: "project/engine.py", text: `${STEP.replace("TEST", test)}\n\n${own}\n` },
      {
        path: "project/run.py",
        text: `import torch\nfrom project.engine import train\n\nif __name__ == "__main__":\n    ${other || "pass"}\n`,
      },
      ...more,
    ],
    SETTINGS,
  ).findings;

test.each([
  ["writer", "", "train(model, loader, optimizer)"],
  ["writer is not None", "", "train(model, loader, optimizer, record=True)"],
  ["record", "", "train(model, loader, optimizer, writer)"],
  ["record", "train(model, loader, optimizer)", "train(model, loader, optimizer, None, False)"],
  ["writer is not None", "def main(writer=None):\n    train(model, loader, optimizer, writer)\n\nmain()", ""],
])("what needs %s, which no caller gives, is a note", (asked, own, other) => {
  const name = asked.split(" ")[0];
  expect(handed(asked, own, other)).toMatchObject([
    { severity: "note", message: expect.stringContaining(`(no caller here gives \`${name}\`)`) },
  ]);
});

test.each([
  ["writer", "", "train(model, loader, optimizer, SummaryWriter())"],
  ["writer", "train(model, loader, optimizer)", "train(model, loader, optimizer, writer=log)"],
  ["writer is None", "", "train(model, loader, optimizer)"],
  ["record", "", "train(*everything)"],
  ["record", "", "spawn(train, (model, loader, optimizer, None, True))"],
  ["record", "spawn(train, (model, loader, optimizer, None, True))", "train(model, loader, optimizer)"],
  ["record", "", ""],
])("what needs %s stays where a caller gives it, or may: %s %s", (asked, own, other) => {
  expect(handed(asked, own, other)).toMatchObject([{ severity: "warning" }]);
});

test.each([
  ["a file that takes all", "from project.engine import *\nimport torch\n"],
  ["a file that is not read", "from project.engine import train\n\ntrain(1, 2, 3, 4)\n"],
  [
    "a library of the tree",
    "import torch\nfrom project.engine import train\n\ndef go(log):\n    train(1, 2, 3, log)\n",
  ],
  [
    "who hands on the module",
    'import torch\nfrom project import engine\nif __name__ == "__main__":\n    spawn(engine.train)\n',
  ],
])("%s may give it", (_, text) => {
  expect(
    handed("writer", "", "train(model, loader, optimizer)", [{ path: "project/more.py", text }]),
  ).toMatchObject([{ severity: "warning" }]);
});

const KEEPER = `import torch


class Keeper:
    def __init__(self, net, optimizer, keeps=False):
        self.net = net.cuda()
        self.optimizer = optimizer
        self.keeps = keeps

    def run(self, loader, lists=False):
        found = []
        for x in loader:
            loss = self.net(x.cuda()).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if ASKED:
                found.append(loss)
        return found
`;

test.each([
  ["self.keeps", "Keeper(net, opt).run(loader)", "keeps"],
  ["lists", "keeper = Keeper(net, opt)\nkeeper.run(loader)", "lists"],
  ["self.keeps", "Keeper(net, opt, keeps=True).run(loader)", null],
  ["self.keeps", "make(Keeper, net, opt)\nKeeper(net, opt).run(loader)", null],
  ["lists", "Keeper(net, opt).run(loader)\ngiven.run(loader, True)", null],
  ["self.keeps", "class More(Keeper):\n    pass\n\nKeeper(net, opt).run(loader)", null],
])("what an object of another file needs %s for, made as %s", (asked, made, off) => {
  const { findings } = auditTexts(
    [
      { path: "project/keeper.py", text: KEEPER.replace("ASKED", asked) },
      {
        path: "project/script.py",
        text: `import torch\nfrom project.keeper import Keeper\n\nopt = torch.optim.Adam(net.parameters())\n${made}\n`,
      },
    ],
    { ...DEFAULTS, select: ["PLM002"] },
  );
  expect(findings).toHaveLength(1);
  expect(findings[0]!.message.includes(`(no caller here gives \`${off}\`)`)).toBe(off !== null);
});

test("an option handed down under another name is off with it", () => {
  const options = parsed('"--check", action="store_true"');
  const call = "train(model, loader, optimizer, record=args.check)";
  const off = [
    { severity: "note", message: expect.stringContaining("(only with `args.check`, off by default)") },
  ];
  expect(handed("record", `${options}${call}`)).toMatchObject(off);
  expect(handed("record", `${options}check = args.check\n${call.replace("args.", "")}`)).toMatchObject(off);
  const other = [{ path: "project/options.py", text: options }];
  expect(handed("record", "", call, other)).toMatchObject(off);
  const on = [{ path: "project/options.py", text: parsed('"--check", default=True') }];
  expect(handed("record", "", call, on)).toMatchObject([{ severity: "warning" }]);
});

test("a parameter that all callers give a name that is False is off with it", () => {
  const text = TRAIN.replace("args):", "amp, writer):").replace(
    "TEST",
    "not amp:\n            pass\n        else",
  );
  const given = (set: string, more = ""): unknown =>
    auditTexts(
      [
        { path: "project/engine.py", text },
        {
          path: "project/run.py",
          text: `import torch\nfrom project.engine import train\n\nif __name__ == "__main__":\n    ${set}\n    train(net, loader, optimizer, amp, log)\n    ${more}\n`,
        },
      ],
      SETTINGS,
    ).findings;
  expect(given("amp = False")).toMatchObject([
    { severity: "note", message: expect.stringContaining("(only with `amp`, off by default)") },
  ]);
  for (const set of ["amp = True", "amp = ask()"])
    expect(given(set)).toMatchObject([{ severity: "warning" }]);
  expect(given("amp = False", "train(net, loader, optimizer, True, log)")).toMatchObject([
    { severity: "warning" },
  ]);
});

test.each([
  [
    'parser.add_argument("--no-cuda", action="store_true", default=True)',
    'args.cuda = not args.no_cuda and torch.cuda.is_available()\ndevice = torch.device("cuda" if args.cuda else "cpu")',
    "on the CPU with `args.no_cuda`, as by default",
  ],
  [
    'parser.add_argument("--no-cuda", action="store_true", default=True)',
    'device = torch.device("cuda" if args.no_cuda == False else "cpu")\nmodel.to(device)',
    "on the CPU with `args.no_cuda`, as by default",
  ],
  ["", 'device = "cuda"\ndevice = torch.device("cpu")\nmodel.to(device)', "on the CPU, as `device` is set"],
  [
    "",
    'conf = {"training": {"device": "cpu"}}\nmodel.to(conf["training"]["device"])',
    'on the CPU, as `conf["training"]["device"]` is set',
  ],
  [
    "",
    "import intel_extension_for_pytorch as ipex\nmodel.to(accelerator.device)",
    "on the CPU, for which Intel's extension is imported",
  ],
])("%s %s: on the CPU as shipped", (option, move, why) => {
  expect(moved(option, move)).toMatchObject([
    { severity: "note", message: expect.stringContaining(`(${why})`) },
  ]);
});

test("a device that is the CPU in one place and another in the next is none of that", () => {
  const chosen = 'host = torch.device("cpu")\ntable.to(host)\ndevice = get_device()\nmodel.to(device)';
  expect(moved("", chosen)).toMatchObject([{ severity: "warning" }]);
  const move = 'host = torch.device("cpu")\ntable.to(host)\ndevice = torch.device("cuda")\nmodel.to(device)';
  expect(moved("", move)).toMatchObject([{ severity: "warning" }]);
});

const NET = `
import torch


class CLASS(torch.nn.Module):
    def forward(self, x):
        return x + torch.zeros(4, 4).to(x.device)
`;
const MAKES = {
  arms: 'if args.net == "small":\n    model = Small()\nelif args.net == "large":\n    model = Large()',
  otherwise: 'if args.net == "small":\n    model = Small()\nelse:\n    model = Large()',
  table: 'model = {"small": Small, "large": Large}[args.net]()',
  named: 'NETS = {"small": Small, "large": Large}\nmodel = NETS[args.net]()',
};

/** In a file of its own each, and all in the file that chooses. */
const chosen = (make: string, options: string, more = ""): readonly (readonly string[])[] => {
  const nets = [NET.replace("CLASS", "Small"), NET.replace("CLASS", "Large")];
  const train = `${TRAIN.replace("TEST", "False")}\n${make}\n${more}\ntrain(model, loader, optimizer, args)\n`;
  const said = (texts: readonly { path: string; text: string }[]): readonly string[] =>
    auditTexts(texts, { ...DEFAULTS, select: ["PLM035"] }).findings.map(({ severity }) => severity);
  return [
    said([
      { path: "small.py", text: nets[0]! },
      { path: "large.py", text: nets[1]! },
      { path: "train.py", text: `from small import Small\nfrom large import Large\n${train}` },
      { path: "options.py", text: options },
    ]),
    said([
      {
        path: "nets.py",
        text: `${nets.join("\n")}\n\ndef build(args):\n    ${make.replaceAll("\n", "\n    ")}\n    return model\n${more}`,
      },
      {
        path: "train.py",
        text: `from nets import build\n${TRAIN.replace("TEST", "False")}\nmodel = build(args)\n`,
      },
      { path: "options.py", text: options },
    ]),
  ];
};

test.each(Object.entries(MAKES))(
  "a class that another choice of an option makes is not what runs (%s)",
  (_, make) => {
    const small = parsed('"--net", default="small"');
    const notLarge = ["warning", "note"];
    expect(chosen(make, small)).toEqual([notLarge, notLarge]);
    expect(chosen(make, small, "other = Large()")).toEqual([
      ["warning", "warning"],
      ["warning", "warning"],
    ]);
    expect(chosen(make, parsed('"--net", required=True'))).toEqual([
      ["warning", "warning"],
      ["warning", "warning"],
    ]);
  },
);

test("a method that a class calls only with a setting that its makers leave off", () => {
  const made = (by: string, more = ""): readonly (string | undefined)[] =>
    auditTexts(
      [
        {
          path: "nets.py",
          text: `import torch


class Layer(torch.nn.Module):
    def __init__(self, size, normalize_before=False):
        super().__init__()
        self.normalize_before = normalize_before
        self.attention = torch.nn.MultiheadAttention(size, 1)

    def first(self, x):
        return self.attention(x, x, x)[0]

    def second(self, x):
        return self.attention(x, x, x)[0]

    def forward(self, x):
        if self.normalize_before:
            return self.first(x)
        return self.second(x)


class Net(torch.nn.Module):
    def __init__(self, normalize_before):
        super().__init__()
        self.layer = Layer(4, normalize_before)

    def forward(self, x):
        return self.layer(x)


def build(args):
    return Net(${by})
${more}`,
        },
        {
          path: "train.py",
          text: `from nets import build\n${TRAIN.replace("TEST", "False")}\ntrain(build(args), loader, optimizer, args)\n`,
        },
        { path: "options.py", text: parsed('"--norm-first", action="store_true"') },
      ],
      { ...DEFAULTS, select: ["PLM067"] },
    ).findings.map(({ message }) => /\((only with .*)\)$/.exec(message)?.[1]);
  expect(made("args.norm_first")).toEqual(["only with `args.norm_first`, off by default", undefined]);
  expect(made("False")).toEqual(["only with `normalize_before`, off by default", undefined]);
  expect(made("True")).toEqual([undefined, undefined]);
  expect(made("args.norm_first", "other = Net(ask())\n")).toEqual([undefined, undefined]);
});

test("a class that one of two programs makes by default runs", () => {
  const options = parsed('"--net", default="small"');
  const train = `from small import Small\nfrom large import Large\n${TRAIN.replace("TEST", "False")}\n${MAKES.arms}\n`;
  const said = (second: string): readonly string[] =>
    auditTexts(
      [
        { path: "large.py", text: NET.replace("CLASS", "Large") },
        { path: "train.py", text: train },
        { path: "options.py", text: options },
        { path: "more.py", text: second },
      ],
      { ...DEFAULTS, select: ["PLM035"] },
    ).findings.map(({ severity }) => severity);
  expect(said(parsed('"--net", default="large"'))).toEqual(["warning"]);
  expect(said(parsed('"--net", default="medium"'))).toEqual(["note"]);
  expect(said("import torch\nimport large\nnet = getattr(large, name)()\n")).toEqual(["warning"]);
});

test("what is a tensor only with an option is a number without it", () => {
  const text = (test: string): string => `import torch

def train(net, loader, optimizer, args):
    net.cuda()
    largest = 0
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(net(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        if ${test}:
            largest = loss.detach()
        optimizer.step()
        print(f"{largest}")
`;
  const asked = (test: string): readonly { severity: string; message: string }[] =>
    auditTexts(
      [
        { path: "train.py", text: text(test) },
        {
          path: "run.py",
          text: `from train import train\n${parsed('"--clip", action="store_true"')}\ntrain(None, None, None, args)\n`,
        },
      ],
      { ...SETTINGS, select: ["PLM026"] },
    ).findings;
  expect(asked("args.clip")).toMatchObject([
    { severity: "note", message: expect.stringContaining("only with `args.clip`, off by default") },
  ]);
  expect(asked("not args.clip")).toMatchObject([{ severity: "warning" }]);
});
