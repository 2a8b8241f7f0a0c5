import { expect, test } from "vitest";
import { auditTexts } from "../../src/audit/session.ts";
import { DEFAULTS as PROVEN } from "../../src/audit/settings.ts";

/** What belongs to a program is asked here; how often a rule was right is not. */
const DEFAULTS = { ...PROVEN, unproven: true, likely: false };

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

test("a loader is as pinned as the files that hand it in have made it", () => {
  const engine = {
    path: "engine.py",
    text: [
      "def one_epoch(net, opt, batches):",
      "    for x in batches:",
      "        net(x.to('cuda')).backward()",
      "        opt.step()",
      "",
    ].join("\n"),
  };
  const audit = (...given: readonly string[]): number =>
    auditTexts(
      [
        {
          path: "train.py",
          text: [
            "from torch.utils.data import DataLoader",
            "from engine import one_epoch",
            "def train(net, opt, rows):",
            "    one_loader = DataLoader(rows, batch_size=8, pin_memory=True)",
            "    plain_loader = DataLoader(rows, batch_size=8)",
            "    third_loader = DataLoader(rows, batch_size=4)",
            ...given.map((one) => `    one_epoch(net, opt, ${one})`),
            "",
          ].join("\n"),
        },
        engine,
      ],
      { ...DEFAULTS, select: ["PLM037"] },
    ).findings.length;
  expect(audit("one_loader")).toBe(1);
  expect(audit("batches=one_loader")).toBe(1);
  // Not of all that come in.
  expect(audit("one_loader", "plain_loader")).toBe(0);
  expect(audit("third_loader")).toBe(0);
});

test("workers read what a function of another file makes a loader of, if that has some", () => {
  const audit = (made: string, given: string): number =>
    auditTexts(
      [
        {
          path: "texts.py",
          text: [
            "import json",
            "from torch.utils.data import Dataset",
            "from loaders import loader_of",
            "class Texts(Dataset):",
            "    def __init__(self, path):",
            "        self.rows = [json.loads(line) for line in open(path)]",
            "    def __len__(self):",
            "        return len(self.rows)",
            "    def __getitem__(self, at):",
            "        return self.rows[at]",
            "def begin(path, size):",
            "    texts = Texts(path)",
            `    return loader_of(${given})`,
            "",
          ].join("\n"),
        },
        {
          path: "loaders.py",
          text: [
            "from torch.utils.data import DataLoader",
            "def loader_of(rows, drawn):",
            "    plain = DataLoader(drawn, batch_size=8)",
            `    return DataLoader(${made}), plain`,
            "",
          ].join("\n"),
        },
      ],
      { ...DEFAULTS, select: ["PLM041"] },
    ).findings.length;
  expect(audit("rows, num_workers=4", "texts, None")).toBe(1);
  expect(audit("rows, num_workers=4", "drawn=None, rows=texts")).toBe(1);
  // Given for something else, and without workers.
  expect(audit("rows, num_workers=4", "None, texts")).toBe(0);
  expect(audit("rows", "texts, None")).toBe(0);
});

test("what is handed to a loader of another file stays on the host where its helpers do", () => {
  const audit = (helper: string, given: string): number =>
    auditTexts(
      [
        {
          path: "train.py",
          text: [
            "import torch",
            "from loaders import batches_of",
            "def centred_in_collate(row):",
            `    return ${helper}`,
            "def collate(rows):",
            "    return torch.stack([centred_in_collate(row) for row in rows])",
            "def train(net, opt, rows):",
            `    for batch in batches_of(rows, ${given}):`,
            "        net(batch.cuda()).backward()",
            "        opt.step()",
            "",
          ].join("\n"),
        },
        {
          path: "loaders.py",
          text: [
            "from torch.utils.data import DataLoader",
            "def batches_of(rows, joined):",
            "    return DataLoader(rows, batch_size=8, collate_fn=joined)",
            "",
          ].join("\n"),
        },
      ],
      { ...DEFAULTS, select: ["PLM038"] },
    ).findings.length;
  expect(audit("row - row.mean()", "collate")).toBe(1);
  // It sends the examples itself, or is what is handed over, and no tensor.
  expect(audit("row.cuda()", "collate")).toBe(0);
  expect(audit("row - row.mean()", "centred_in_collate")).toBe(0);
});
