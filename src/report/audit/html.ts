import type { AuditReport, ReportedFinding } from "../../audit/report.ts";
import { pageDocument } from "../html/document.ts";
import { html } from "../html/markup.ts";
import type { Markup } from "../html/markup.ts";
import { BY, change, counts, ease, issues, place, validation } from "./repair.ts";
import type { Issue, RulePage } from "./repair.ts";

const OWN = `
pre { font: 12.5px/1.45 var(--mono); background: var(--page); border: 1px solid var(--edge); border-radius: 6px; padding: 8px 10px; overflow-x: auto; margin: 6px 0; }
pre del { text-decoration: none; color: var(--alert); display: block; } pre ins { text-decoration: none; color: var(--good); display: block; }
pre mark { background: var(--mark); color: inherit; display: block; } pre span { display: block; }
summary { cursor: pointer; } summary h2 { display: inline; } .error h2 { color: var(--alert); }
.summary td:first-child, .summary th:first-child { width: auto; padding-right: 12px; } .summary td:nth-child(2) { width: 100%; }
`;

/** The report as one file for a browser; without any script, because there is nothing to compute. */
export function auditHtml(report: AuditReport, pages: readonly RulePage[]): string {
  const found = issues(report, pages);
  const title = found.length === 0 ? "No findings" : counts(report);
  const body = html`<header>
      <p class="brand">
        <span><b>plimsoll</b> audit</span>
      </p>
      <h1 class="${found.length === 0 ? "good" : ""}">${title}</h1>
      <p class="file">
        ${report.files} files, ${(report.bytes / 1e6).toFixed(1)}
        MB${report.generated > 0 ? `, ${report.generated} generated, not judged` : ""}
      </p>
    </header>
    <main>
      ${found.length > 0 ? table(found) : null} ${found.map(issue)} ${diagnostics(report)}
      <section>
        <h2>Validation</h2>
        <ol>
          ${validation(found).map((step) => html`<li>${inline(step)}</li>`)}
        </ol>
      </section>
    </main>`;
  return pageDocument(`Training code audit: ${title}`, body, null, OWN);
}

function table(found: readonly Issue[]): Markup {
  return html`<section class="summary">
    <h2>Order of repair</h2>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>#</th>
            <th>issue</th>
            <th>severity</th>
            <th class="number">places</th>
            <th class="number">mended</th>
          </tr>
        </thead>
        <tbody>
          ${found.map(
            (one, at) =>
              html`<tr>
                <td>${at + 1}</td>
                <td><a href="#${one.meta.code}">${one.meta.code}</a> ${one.meta.summary}</td>
                <td>${one.severity}</td>
                <td class="number">${one.findings.length}</td>
                <td class="number">${BY[ease(one)]}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </section>`;
}

function issue(one: Issue, at: number): Markup {
  return html`<section id="${one.meta.code}" class="${one.severity}">
    <details ${one.severity === "note" ? null : html`open`}>
      <summary><h2>${at + 1}. ${one.meta.summary} (${one.meta.code}, ${one.severity})</h2></summary>
      ${one.findings.map(finding)}
      <h3>Impact</h3>
      ${blocks(one.impact)}
      <h3>Fix: ${BY[ease(one)]}</h3>
      ${blocks(one.remedy)}
    </details>
  </section>`;
}

function finding(one: ReportedFinding): Markup {
  const fixed = change(one);
  const isAt = (line: number): boolean => line >= one.line && line <= one.endLine;
  const code = fixed
    ? [
        ...fixed.before.map((line) => html`<del>-${line}</del>`),
        ...fixed.after.map((line) => html`<ins>+${line}</ins>`),
      ]
    : one.frame.map(({ line, text }) =>
        isAt(line) ? html`<mark>${`${line} | ${text}`}</mark>` : html`<span>${`${line} | ${text}`}</span>`,
      );
  return html`<p><span class="where">${place(one)}</span> ${inline(one.message)}</p>
    <pre>${code}</pre>`;
}

function diagnostics(report: AuditReport): Markup | null {
  if (report.diagnostics.length === 0) return null;
  return html`<section>
    <h2>Not audited, or only in part</h2>
    <ul class="notes">
      ${report.diagnostics.map(
        ({ path, line, message }) =>
          html`<li><span class="where">${line === null ? path : `${path}:${line}`}</span> ${message}</li>`,
      )}
    </ul>
  </section>`;
}

/** The little Markdown that rule pages use: paragraphs, fences, code, bold; of links the text. */
function blocks(markdown: string): Markup[] {
  return markdown.split(/^```\w*\n([\s\S]*?)^```$/m).flatMap((part, at) =>
    at % 2 === 1
      ? [html`<pre>${part}</pre>`]
      : part
          .split(/\n{2,}/)
          .filter((paragraph) => paragraph.trim() !== "")
          .map((paragraph) => html`<p>${inline(paragraph)}</p>`),
  );
}

function inline(text: string): Markup[] {
  return text
    .replace(/\[([^\]]+)\]\([^)]*\)/g, "$1")
    .split(/(`[^`]+`|\*\*[^*]+\*\*)/)
    .map((part) =>
      part.startsWith("`")
        ? html`<code>${part.slice(1, -1)}</code>`
        : part.startsWith("**")
          ? html`<b>${part.slice(2, -2)}</b>`
          : html`${part}`,
    );
}
