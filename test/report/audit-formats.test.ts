import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Browser } from "playwright-core";
import type { Log, Run } from "sarif";
import { ALL_META } from "../../src/audit/rules.ts";
import { auditTexts } from "../../src/audit/session.ts";
import { DEFAULTS } from "../../src/audit/settings.ts";
import type { AuditReport } from "../../src/audit/report.ts";
import { rulePage } from "../../src/cli/rule-pages.ts";
import { auditGithub } from "../../src/report/audit/github.ts";
import { auditGitlab } from "../../src/report/audit/gitlab.ts";
import { auditHtml } from "../../src/report/audit/html.ts";
import { auditJson } from "../../src/report/audit/json.ts";
import { auditJunit } from "../../src/report/audit/junit.ts";
import { auditMarkdown } from "../../src/report/audit/markdown.ts";
import { auditSarif } from "../../src/report/audit/sarif.ts";
import { launchBrowser } from "../support/browser.ts";
import { emptyFolder } from "../support/folder.ts";

const TRAIN = `import torch

def train(model, loader, optimizer):
    total = 0
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(model(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        torch.cuda.empty_cache()
        total += loss
    return total
`;
const cells = [
  { cell_type: "markdown", metadata: {}, source: ["# notes"] },
  { cell_type: "code", metadata: {}, outputs: [], execution_count: null, source: [TRAIN] },
];
const NOTEBOOK = JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 });
/** A path that every format must escape in its own way. */
const NASTY = `a & "b", <i>100%:\u0001|\`.py`;

function report(texts: readonly { path: string; text: string }[]): AuditReport {
  const { findings, diagnostics } = auditTexts(texts, DEFAULTS);
  return { files: texts.length, bytes: 1000, generated: 0, findings, diagnostics, fixed: [], diff: null };
}
const whole = report([
  { path: "train.py", text: TRAIN },
  { path: "nested/book.ipynb", text: NOTEBOOK },
  { path: NASTY, text: TRAIN },
  { path: "broken.py", text: "import torch\ndef f(:\n" },
]);
const pages = ALL_META.map((meta) => ({ meta, help: rulePage(meta.code) ?? meta.summary }));
const codes = (path: string): string[] =>
  whole.findings.filter((finding) => finding.path === path).map(({ rule }) => rule);

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

test("the report that the formats are tried on has a fix, a notebook and a diagnostic", () => {
  expect(codes("train.py")).toEqual(expect.arrayContaining(["PLM001", "PLM031"]));
  expect(codes("nested/book.ipynb")).toEqual(codes("train.py"));
  expect(whole.diagnostics.map(({ path }) => path)).toEqual(["broken.py"]);
});

test("json: every finding has its place and its fix or null", () => {
  const { findings, diagnostics } = JSON.parse(auditJson(whole)) as {
    findings: Record<string, unknown>[];
    diagnostics: unknown[];
  };
  expect(findings.length).toBe(whole.findings.length);
  expect(diagnostics).toEqual(whole.diagnostics);
  const sum = findings.find(({ rule, path }) => rule === "PLM001" && path === "train.py")!;
  expect(sum).toMatchObject({ severity: "warning", line: 11, endLine: 11, column: 9 });
  expect(sum["fix"]).toMatchObject({ grade: "safe", edits: [{ line: 11, text: ".detach()" }] });
  expect(sum).not.toHaveProperty("cell");
  expect(findings.find(({ path }) => path === "nested/book.ipynb")).toMatchObject({ cell: 2 });
  for (const finding of findings) expect(finding).toHaveProperty("fix");
});

test("sarif: regions, fixes and fingerprints; rules that results point to; at most what GitHub shows", () => {
  const parsed = (from: AuditReport): Run => (JSON.parse(auditSarif(from, pages, "1.2.3")) as Log).runs[0]!;
  const { tool, results = [], invocations } = parsed(whole);
  for (const { ruleId, ruleIndex, partialFingerprints } of results) {
    expect(tool.driver.rules![ruleIndex!]!.id).toBe(ruleId);
    expect(Object.keys(partialFingerprints!)).toHaveLength(1);
    expect(tool.driver.rules![ruleIndex!]!.fullDescription!.text).not.toBe("");
  }
  for (const { locations } of results)
    expect(locations![0]!.physicalLocation!.region!.startLine).toBeGreaterThan(0);
  const uris = new Set(results.map((one) => one.locations![0]!.physicalLocation!.artifactLocation!.uri!));
  expect(uris).toContain("nested/book.ipynb");
  for (const uri of uris) expect(new URL(uri, "file:///root/").pathname).toMatch(/^\/root\//);
  const mended = results.find(({ ruleId, fixes }) => ruleId === "PLM001" && fixes)!;
  expect(mended.fixes![0]!.artifactChanges[0]!.replacements[0]!.insertedContent!.text).toBe(".detach()");
  expect(invocations![0]!.toolExecutionNotifications).toHaveLength(1);
  const many = { ...whole, findings: Array.from({ length: 6000 }, () => whole.findings[0]!) };
  expect(parsed(many).results).toHaveLength(5000);
});

test("github: one command a line, whatever the path is called", () => {
  const lines = auditGithub(whole).trimEnd().split("\n");
  expect(lines).toHaveLength(whole.findings.length + 1);
  for (const line of lines) expect(line).toMatch(/^::(?:error|warning|notice) file=[^,]+,/);
});

test("gitlab: unique fingerprints, lines of the file", () => {
  const twice = { ...whole, diagnostics: whole.diagnostics.flatMap((one) => [one, one]) };
  const entries = JSON.parse(auditGitlab(twice)) as {
    fingerprint: string;
    severity: string;
    location: { path: string; lines: { begin: number } };
  }[];
  expect(entries).toHaveLength(whole.findings.length + 2);
  expect(new Set(entries.map(({ fingerprint }) => fingerprint)).size).toBe(entries.length);
  for (const { severity, location } of entries) {
    expect(["info", "minor", "major", "critical", "blocker"]).toContain(severity);
    expect(location.lines.begin).toBeGreaterThan(0);
  }
});

test("junit: well-formed XML whose numbers add up", async () => {
  const page = await browser.newPage();
  const seen = await page.evaluate<{ suites: string[] }>(`
    const document = new DOMParser().parseFromString(${JSON.stringify(auditJunit(whole))}, "application/xml");
    const all = (name) => [...document.querySelectorAll(name)];
    ({
      errors: all("parsererror").length,
      failures: all("failure").length,
      cases: all("testcase").length,
      claimed: all("testsuite").reduce((sum, one) => sum + Number(one.getAttribute("tests")), 0),
      suites: all("testsuite").map((one) => one.getAttribute("name")),
    })`);
  await page.close();
  expect(seen).toMatchObject({
    errors: 0,
    failures: whole.findings.length,
    cases: whole.findings.length + 1,
    claimed: whole.findings.length + 1,
  });
  expect(seen.suites).toContain(NASTY.replace("\u0001", "\ufffd"));
});

test("markdown: issue, place, impact and fix; table, order of repair, validation", () => {
  const text = auditMarkdown(whole, pages);
  const headings = text.split("\n").filter((line) => line.startsWith("## "));
  expect(headings).toEqual([
    "## Issues",
    "## Not audited, or only in part",
    "## Summary",
    "## Order of repair",
    "## Validation",
  ]);
  expect(text).toContain("**Place**: `train.py:11`");
  expect(text).toContain("-        total += loss\n+        total += loss.detach()");
  expect(text).toMatch(/\*\*Impact\*\*: .{40}/);
  expect(text).toMatch(/\| \d+ \| PLM031 cache-emptied-in-step \| warning \| 3 \|/);
  const clean = auditMarkdown(report([{ path: "a.py", text: "import torch\n" }]), pages);
  expect(clean).not.toContain("## Issues");
});

test("html: one file that asks for nothing, runs nothing and shows every place", async () => {
  const file = join(emptyFolder(), "report.html");
  writeFileSync(file, auditHtml(whole, pages));
  const page = await browser.newPage();
  const troubles: string[] = [];
  page.on("console", (message) => troubles.push(message.text()));
  page.on("pageerror", (error) => troubles.push(error.message));
  page.on("request", (request) => {
    if (request.url() !== pathToFileURL(file).href) troubles.push(request.url());
  });
  await page.goto(pathToFileURL(file).href);
  const places = await page.locator("section .where").allTextContents();
  expect(places.filter((place) => place.startsWith("train.py:"))).toHaveLength(codes("train.py").length);
  expect(await page.locator("i").count()).toBe(0);
  expect(await page.locator("pre ins").first().textContent()).toMatch(/^\+/);
  expect(await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true);
  expect(await page.evaluate(`getComputedStyle(document.querySelector("table")).borderCollapse`)).toBe(
    "collapse",
  );
  expect(troubles).toEqual([]);
  await page.close();
});
