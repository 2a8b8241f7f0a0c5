import { expect, test } from "vitest";
import { READINGS } from "../../src/audit/readings.ts";
import { ALL_META } from "../../src/audit/rules.ts";
import { isTrusted } from "../../src/audit/trust.ts";
import { keyOf, readLabels } from "../support/audit-labels.ts";
import type { Label } from "../support/audit-labels.ts";

const LABELS = readLabels();

/** The share of findings that are right about the code, if only where the training by default does not go, or get. */
const precision = (labels: readonly Label[]): number =>
  labels.filter((label) => label.verdict !== "false").length / labels.length;
const count = (rule: string): number => LABELS.filter((label) => label.rule === rule).length;
/** What the audit says today, of what makes people act: not what does not run as shipped, nor where a rule has often erred. */
const raised = LABELS.filter(
  ({ severity, mended, where = null, rule }) =>
    severity !== "note" && !mended && where !== "off" && isTrusted(READINGS[rule], where),
);

test("each label names a finding once, with its source and a reason", () => {
  const codes = new Set(ALL_META.map((meta) => meta.code));
  for (const label of LABELS) {
    expect(label.repository).toMatch(/^[\w.-]+\/[\w.-]+$/);
    expect(label.commit).toMatch(/^[0-9a-f]{40}$/);
    expect(codes).toContain(label.rule);
    expect(["error", "warning", "note"]).toContain(label.severity);
    expect(["true", "elsewhere", "broken", "false"]).toContain(label.verdict);
    expect(label.why.length).toBeGreaterThan(5);
    expect(label.excerpt.split("\n").length).toBeLessThanOrEqual(3);
    if (label.mended) expect(label.verdict).not.toBe("true");
  }
  expect(new Set(LABELS.map(keyOf)).size).toBe(LABELS.length);
});

test("at least 300 findings were read, of many rules and repositories", () => {
  expect(LABELS.length).toBeGreaterThanOrEqual(300);
  expect(new Set(LABELS.map((label) => label.rule)).size).toBeGreaterThan(50);
  expect(new Set(LABELS.map((label) => label.repository)).size).toBeGreaterThan(25);
});

test("at least 95 % of the errors and warnings are true, on repositories held out too", () => {
  expect(precision(raised)).toBeGreaterThanOrEqual(0.95);
  expect(precision(raised.filter((label) => label.heldOut))).toBeGreaterThanOrEqual(0.95);
  // The rule with the most findings must not hide the others.
  const most = "PLM025";
  for (const { code } of ALL_META) expect(count(code), code).toBeLessThanOrEqual(count(most));
  expect(precision(raised.filter((label) => label.heldOut && label.rule !== most))).toBeGreaterThanOrEqual(
    0.95,
  );
});
