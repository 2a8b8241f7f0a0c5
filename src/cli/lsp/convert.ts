import { diffLines } from "diff";
import { CodeActionKind, DiagnosticSeverity } from "vscode-languageserver";
import type { CodeAction, Diagnostic, Range, TextEdit } from "vscode-languageserver";
import type { TextDocument } from "vscode-languageserver-textdocument";
import type { Diagnostic as Problem, Place, ReportedEdit, ReportedFinding } from "../../audit/report.ts";
import { silencing } from "../../audit/suppress.ts";

/** By document. */
type Changes = Record<string, TextEdit[]>;

const SEVERITIES = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  note: DiagnosticSeverity.Information,
} as const;

/** Both count columns in UTF-16 units; the protocol from 0. */
function rangeOf({ line, column, endLine, endColumn }: Place): Range {
  return {
    start: { line: line - 1, character: column - 1 },
    end: { line: endLine - 1, character: endColumn - 1 },
  };
}

export function diagnosticOf(finding: ReportedFinding): Diagnostic {
  return {
    range: rangeOf(finding),
    severity: SEVERITIES[finding.severity],
    code: finding.rule,
    source: "plimsoll",
    message: finding.message,
  };
}

export function problemOf({ line, message, level }: Problem): Diagnostic {
  const at = { line: (line ?? 1) - 1, character: 0 };
  return { range: { start: at, end: at }, severity: SEVERITIES[level], source: "plimsoll", message };
}

export function overlaps(finding: ReportedFinding, { start, end }: Range): boolean {
  const own = rangeOf(finding);
  const before = (a: Range["start"], b: Range["start"]): boolean =>
    a.line < b.line || (a.line === b.line && a.character < b.character);
  return !before(own.end, start) && !before(end, own.start);
}

/** The edits of a fix in a document of its own. */
export const editsIn = (uri: string, edits: readonly ReportedEdit[]): Changes => ({
  [uri]: edits.map((edit) => ({ range: rangeOf(edit), newText: edit.text })),
});

/** What makes this text of a document, line by line: the cursor and the folds of an editor stay where nothing changes. */
export function changedLines(document: TextDocument, text: string): TextEdit[] {
  const edits: { start: number; end: number; newText: string }[] = [];
  let at = 0;
  for (const { added, removed, value } of diffLines(document.getText(), text)) {
    const last = edits.at(-1);
    if (added && last?.end === at) last.newText += value;
    else if (added) edits.push({ start: at, end: at, newText: value });
    else if (removed) edits.push({ start: at, end: at + value.length, newText: "" });
    if (!added) at += value.length;
  }
  return edits.map(({ start, end, newText }) => ({
    range: { start: document.positionAt(start), end: document.positionAt(end) },
    newText,
  }));
}

/**
 * The fix of a finding, and the comment that silences it. `code`: the document's text, without the magics of a cell.
 * `changes`: what the fix edits, null where it cannot.
 */
export function quickFixes(
  finding: ReportedFinding,
  document: TextDocument,
  code: string,
  changes: Changes | null,
): CodeAction[] {
  const diagnostics = [diagnosticOf(finding)];
  const actions: CodeAction[] = [];
  const { fix, rule, line } = finding;
  if (fix && changes)
    actions.push({
      title: fix.grade === "safe" ? fix.title : `${fix.title} (may change what the program does)`,
      kind: CodeActionKind.QuickFix,
      diagnostics,
      isPreferred: fix.grade === "safe",
      edit: { changes },
    });
  if (document.uri.endsWith(".json")) return actions;
  const isPython = !/\.(?:ya?ml|toml)$/.test(document.uri);
  const { at, text } = silencing(code, line, rule, isPython);
  const place = document.positionAt(at);
  actions.push({
    title: `Silence ${rule} on this line`,
    kind: CodeActionKind.QuickFix,
    diagnostics,
    edit: { changes: { [document.uri]: [{ range: { start: place, end: place }, newText: text }] } },
  });
  return actions;
}
