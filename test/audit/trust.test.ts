import { describe, expect, test } from "vitest";
import { READINGS } from "../../src/audit/readings.ts";
import { auditTexts } from "../../src/audit/session.ts";
import { DEFAULTS } from "../../src/audit/settings.ts";
import { isTrusted } from "../../src/audit/trust.ts";
import type { Reading } from "../../src/audit/trust.ts";
import { readLabels, readings } from "../support/audit-labels.ts";

test("what is known of the rules is what the labels say (if not: npm run bench:trust)", () => {
  const blind = readLabels().filter((label) => label.heldOut && label.severity !== "note");
  expect(READINGS).toEqual(readings(blind));
});

test("a few bad repositories are not enough to doubt a rule, nor is a good record", () => {
  expect(isTrusted(undefined, null)).toBe(true);
  const read = (repositories: number, right: number, wrong = 1 - right): Reading => ({
    repositories,
    right,
    wrong,
  });
  expect(isTrusted({ ...read(2, 0), where: {} }, null)).toBe(true);
  expect(isTrusted({ ...read(3, 0.5), where: {} }, "hot")).toBe(false);
  expect(isTrusted({ ...read(3, 0.5), where: {} }, "loop")).toBe(true);
  expect(isTrusted({ ...read(3, 0.5), where: { loop: read(3, 0.5) } }, "loop")).toBe(false);
  expect(isTrusted({ ...read(3, 0.5), where: { loop: read(3, 0.5, 0.3) } }, "loop")).toBe(true);
  expect(isTrusted({ ...read(30, 0.9), where: {} }, "cold")).toBe(true);
  const unequal = { "hot-test": read(9, 0.98), hot: read(3, 0.2) };
  const reading = { ...read(30, 0.6), where: unequal };
  expect((["hot-test", "hot", "cold"] as const).map((where) => isTrusted(reading, where))).toEqual([
    true,
    false,
    false,
  ]);
});

describe("a rule that was often wrong", () => {
  const severities = (last: string, settings = DEFAULTS): string[] => {
    const text = `import torch

def train(model, loader, optimizer, verbose):
    total = 0
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(model(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
${last}
    return total
`;
    const { findings } = auditTexts([{ path: "train.py", text }], { ...settings, select: ["PLM001"] });
    return findings.map(({ severity }) => severity);
  };
  test("keeps its word in the training loop itself", () => {
    expect(isTrusted(READINGS["PLM001"], null)).toBe(false);
    expect(severities("        total += loss")).toEqual(["warning"]);
  });
  test("says it in a note behind a test, unless the user wants it louder", () => {
    const behind = "        if verbose:\n            total += loss";
    expect(severities(behind)).toEqual(["note"]);
    expect(severities(behind, { ...DEFAULTS, severity: { PLM001: "error" } })).toEqual(["error"]);
    expect(severities(behind, { ...DEFAULTS, unproven: true })).toEqual(["warning"]);
  });
});
