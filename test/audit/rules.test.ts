import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fixText } from "../../src/audit/fix.ts";
import { RULES } from "../../src/audit/rules.ts";
import { auditTexts } from "../../src/audit/session.ts";
import { DEFAULTS } from "../../src/audit/settings.ts";
import { parse } from "../../src/python/statements.ts";

const SAMPLES = join(import.meta.dirname, "samples");

/**
 * `# expect: PLM001` (several after commas) on the line that the finding starts on; `# likely: PLM001` where it rests on a guess.
 * `# expect: PLM001, by hand`: an edit would break what is around it, and none is offered.
 */
function expectations(text: string): string[] {
  return text.split("\n").flatMap((line, at) =>
    ["expect", "likely"].flatMap((how) => {
      const codes = new RegExp(`#\\s*${how}:\\s*([A-Z0-9, ]+)`).exec(line)?.[1];
      return (codes?.match(/[A-Z]+\d+/g) ?? []).map((code) => `${at + 1} ${code} ${how}`);
    }),
  );
}

/** By one rule: a sample may well show another rule's pattern too. A text that several tests ask for is audited once. */
function auditing(code: string) {
  const settings = { ...DEFAULTS, select: [code] };
  const known = new Map<string, ReturnType<typeof auditTexts>>();
  return (path: string, text: string) => {
    const key = `${path}\0${text}`;
    const audited = known.get(key) ?? auditTexts([{ path, text }], settings);
    known.set(key, audited);
    return audited;
  };
}

describe.each(RULES.map((rule) => rule.meta))("$code $name", ({ code, fix, patterns }) => {
  const files = readdirSync(SAMPLES).filter((name) => name.startsWith(code.toLowerCase()));
  const samples = files.map((path) => ({ path, text: readFileSync(join(SAMPLES, path), "utf8") }));
  const audited = auditing(code);

  test("has samples with at least three traps", () => {
    expect(
      samples.map(({ text }) => text.match(/# trap/g)?.length ?? 0).reduce((a, b) => a + b, 0),
    ).toBeGreaterThanOrEqual(3);
    expect(samples.flatMap(({ text }) => expectations(text)).length).toBeGreaterThan(0);
    expect(patterns.length).toBeGreaterThan(0);
  });

  test("shows its fix", () => {
    const fixes = samples.flatMap((sample) =>
      audited(sample.path, sample.text).findings.flatMap((finding) =>
        finding.fix ? [finding.fix.grade] : [],
      ),
    );
    expect(fixes.includes("safe") ? "safe" : (fixes[0] ?? "none")).toBe(fix);
  });

  test.each(samples)("$path: finds what is expected and nothing else", ({ path, text }) => {
    const { findings, diagnostics } = audited(path, text);
    expect(diagnostics).toEqual([]);
    expect(
      findings.map(({ line, rule, likely }) => `${line} ${rule} ${likely ? "likely" : "expect"}`).sort(),
    ).toEqual(expectations(text).sort());
    const lines = text.split("\n");
    expect(
      findings
        .filter(({ line, fix: edit }) => edit && lines[line - 1]!.endsWith("by hand"))
        .map(({ line }) => line),
    ).toEqual([]);
  });

  test.each(samples)("$path: its fixes parse, settle and change nothing twice", ({ path, text }) => {
    const grades = new Set(["safe", "unsafe"] as const);
    const audit = (candidate: string) => ({
      findings: audited(path, candidate).findings,
      broken: path.endsWith(".py") ? parse(candidate).errors.length : 0,
    });
    const fixed = fixText(text, grades, audit);
    if (typeof fixed === "string") throw new Error(fixed);
    if (fix === "none") expect(fixed.text).toBe(text);
    else if (audit(text).findings.some((finding) => finding.fix)) expect(fixed.applied).toBeGreaterThan(0);
    expect(fixText(fixed.text, grades, audit)).toMatchObject({ text: fixed.text, applied: 0 });
  });
});
