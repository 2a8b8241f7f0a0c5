import { expect, test } from "vitest";
import { auditTexts } from "../../src/audit/session.ts";
import { DEFAULTS as PROVEN } from "../../src/audit/settings.ts";

/** What belongs to a program is asked here; how often a rule was right is not. */
const DEFAULTS = { ...PROVEN, unproven: true };

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

test("a loader that a function hands out with an object is as pinned as it was made", () => {
  const audit = (kept: string, read: string): number =>
    auditTexts(
      [
        {
          path: "stock.py",
          text: [
            "from torch.utils.data import DataLoader",
            "class Stock:",
            "    def __init__(self, loader):",
            "        self.loader = loader",
            "def pinned(rows):",
            "    return Stock(DataLoader(rows, num_workers=8, pin_memory=True))",
            "def plain(rows):",
            "    return Stock(DataLoader(rows, num_workers=8))",
            ...["a", "b", "c"].map(
              (name) => `def ${name}(rows):\n    return DataLoader(rows, num_workers=8)`,
            ),
            "def chosen(kind):",
            "    return pinned",
            "def get(rows, kind):",
            "    made = {}",
            `    ${kept}`,
            "    return made",
            "",
          ].join("\n"),
        },
        {
          path: "train.py",
          text: [
            "from stock import get",
            "def train(net, rows, kind, crit, opt):",
            "    made = get(rows, kind)",
            `    batches = ${read}`,
            "    net.cuda()",
            "    for x, y in batches:",
            '        x = x.to("cuda")',
            "        crit(net(x), y.cuda(non_blocking=True)).backward()",
            "        opt.step()",
            "",
          ].join("\n"),
        },
      ],
      { ...DEFAULTS, select: ["PLM037"] },
    ).findings.length;
  expect(audit('made["train"] = pinned(rows)', 'made["train"].loader')).toBe(1);
  expect(audit('made["train"] = chosen(kind)(rows)', 'made["train"].loader')).toBe(1);
  expect(audit('made["train"] = plain(rows)', 'made["train"].loader')).toBe(0);
  expect(audit('made["test"] = pinned(rows)', 'made["train"].loader')).toBe(0);
  expect(audit('made["train"] = pinned(rows)', 'made["train"].rows')).toBe(0);
});
