import { expect, test } from "vitest";
import { Layout } from "../../src/audit/layout.ts";
import { auditTexts } from "../../src/audit/session.ts";
import { DEFAULTS } from "../../src/audit/settings.ts";

const NET = `import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)

    def forward(self, x):
        x = self.body(x)
        if torch.isnan(x).any():
            raise ValueError
        return x
`;

const TRAIN = `import torch
from network import Net


def train(loader):
    net = Net().cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        loss = (net(x.cuda()) - y.cuda()).square().mean()
        loss.backward()
        optimizer.step()
`;

const HOST = TRAIN.replaceAll(".cuda()", "");

/** Where the step waits for a branch. */
function waits(files: Readonly<Record<string, string>>): readonly string[] {
  const texts = Object.entries(files).map(([path, text]) => ({ path, text }));
  return auditTexts(texts, { ...DEFAULTS, likely: false, select: ["PLM027"] }).findings.map(
    ({ path }) => path,
  );
}

test("of two programs in one tree each imports what stands beside it", () => {
  const files = { "digit/network.py": NET, "object/network.py": NET };
  expect(waits({ ...files, "digit/train.py": TRAIN, "object/train.py": HOST })).toEqual(["digit/network.py"]);
  expect(waits({ ...files, "digit/train.py": HOST, "object/train.py": TRAIN })).toEqual([
    "object/network.py",
  ]);
});

test("a name is looked for in the folder of a module, then further out; packages import by their full names", () => {
  const layout = new Layout([
    "a/train.py",
    "a/utils.py",
    "a/models/net.py",
    "b/utils.py",
    "b/models/__init__.py",
    "b/models/utils.py",
    "b/models/net.py",
  ]);
  const seen = (name: string, module: string): string | null => layout.nearest(name, module, false);
  expect(seen("utils", "a.train")).toBe("a.utils");
  expect(seen("utils", "a.models.net")).toBe("a.utils");
  expect(seen("models", "a.train")).toBe("a.models");
  expect(seen("utils", "b.models.net")).toBe("b.utils");
  expect(layout.nearest("utils", "b.models", true)).toBe("b.utils");
  // Only one has it, or nobody near: the name alone says it.
  expect(seen("train", "a.utils")).toBeNull();
  expect(seen("utils", "c.train")).toBeNull();
});

test("what the root has, and what is installed, is meant by its name", () => {
  const layout = new Layout(["utils.py", "a/utils.py", "a/torch.py", "b/torch.py", "a/net.py"]);
  expect(layout.nearest("utils", "a.net", false)).toBeNull();
  expect(layout.nearest("torch", "a.net", false)).toBeNull();
});
