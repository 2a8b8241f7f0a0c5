import { expect, test } from "vitest";
import { auditTexts } from "../../src/audit/session.ts";
import { DEFAULTS } from "../../src/audit/settings.ts";

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
