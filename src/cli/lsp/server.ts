import { existsSync, readFileSync } from "node:fs";
import { basename, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import {
  CodeActionKind,
  NotebookCellKind,
  NotebookDocuments,
  TextDocuments,
  TextDocumentSyncKind,
} from "vscode-languageserver";
import type {
  CodeAction,
  Connection,
  Hover,
  InitializeParams,
  NotebookDocument,
} from "vscode-languageserver";
import { TextDocument } from "vscode-languageserver-textdocument";
import packageJson from "../../../package.json" with { type: "json" };
import { auditForEditing } from "../../audit/audit.ts";
import { fixText } from "../../audit/fix.ts";
import type { ReportedFinding } from "../../audit/report.ts";
import { ALL_META } from "../../audit/rules.ts";
import { combine } from "../../audit/facts/project.ts";
import { DEFAULTS } from "../../audit/settings.ts";
import type { Settings } from "../../audit/settings.ts";
import { Workspace } from "../../audit/workspace.ts";
import type { Judged } from "../../audit/workspace.ts";
import { withoutMagics } from "../../python/notebook.ts";
import { decode } from "../../python/source.ts";
import { settingsNear } from "../audit-settings.ts";
import { describeFailure } from "../failure.ts";
import { rulePage } from "../rule-pages.ts";
import { changedLines, diagnosticOf, editsIn, overlaps, problemOf, quickFixes } from "./convert.ts";
import { leaveWith } from "./leave.ts";
import { OpenNotebook } from "./notebook.ts";

const FIX_ALL = `${CodeActionKind.SourceFixAll}.plimsoll`;
/** After the last keystroke: what the change means for other open files, and theirs for it. */
const SETTLE_MS = 300;
/** Characters. What is longer would keep the editor waiting at every keystroke. */
const MAX_LENGTH = 500_000;
const NO_CHOICE = { select: [], ignore: [], exclude: [], generated: false };

const tooLong = (path: string, text: string): Judged => ({
  findings: [],
  diagnostics: [
    {
      path,
      line: null,
      message: `too long to be audited while it is edited (${Math.round(text.length / 1000)} kB); plimsoll audit reads it`,
      level: "warning",
    },
  ],
});

/** Diagnostics, hovers and fixes for the files open in an editor, with the facts of the whole folder behind them. */
export function serve(connection: Connection): void {
  const documents = new TextDocuments(TextDocument);
  const notebooks = new NotebookDocuments(TextDocument);
  const openNotebooks = new Map<string, OpenNotebook>();
  let root = process.cwd();
  let settings: Settings = DEFAULTS;
  let workspace = new Workspace(
    {
      files: 0,
      bytes: 0,
      generated: 0,
      findings: [],
      diagnostics: [],
      fixed: [],
      diff: null,
      found: [],
      project: combine([], new Set()),
      summaries: [],
      words: new Set(),
    },
    settings,
  );
  let settling: NodeJS.Timeout | null = null;

  const pathOf = (uri: string): string => {
    const file = uri.startsWith("file:") ? fileURLToPath(uri) : uri;
    const inside = relative(root, file).split(sep).join("/");
    return inside.startsWith("../") ? file : inside;
  };

  function judged(document: TextDocument): Judged {
    const path = pathOf(document.uri);
    const text = document.getText();
    return text.length > MAX_LENGTH ? tooLong(path, text) : workspace.update(path, text);
  }

  function publish(document: TextDocument): void {
    const { findings, diagnostics } = judged(document);
    void connection.sendDiagnostics({
      uri: document.uri,
      version: document.version,
      diagnostics: [...diagnostics.map(problemOf), ...findings.map(diagnosticOf)],
    });
  }

  function read({ cells }: NotebookDocument): OpenNotebook {
    const code = cells.filter(({ kind }) => kind === NotebookCellKind.Code);
    return new OpenNotebook(code.flatMap((cell) => notebooks.getCellTextDocument(cell) ?? []));
  }

  function publishNotebook(uri: string, notebook: OpenNotebook): void {
    openNotebooks.set(uri, notebook);
    const judged = workspace.update(pathOf(uri), notebook.json);
    for (const [cell, diagnostics] of notebook.diagnostics(judged))
      void connection.sendDiagnostics({ uri: cell, diagnostics: [...diagnostics] });
  }

  function publishAll(isConcerned: (path: string) => boolean): void {
    for (const document of documents.all()) if (isConcerned(pathOf(document.uri))) publish(document);
    for (const [uri, notebook] of openNotebooks) if (isConcerned(pathOf(uri))) publishNotebook(uri, notebook);
  }

  function settleSoon(): void {
    if (settling) clearTimeout(settling);
    settling = setTimeout(() => {
      settling = null;
      const concerned = new Set(workspace.settle());
      publishAll((path) => concerned.has(path));
    }, SETTLE_MS);
  }

  /** Reads the settings and the whole folder; open documents count as they are in the editor. */
  async function load(): Promise<void> {
    try {
      settings = settingsNear(root, NO_CHOICE);
      workspace = new Workspace(await auditForEditing([root], root, settings), settings);
    } catch (error) {
      connection.window.showWarningMessage(describeFailure(error, false).trim());
    }
    publishAll(() => true);
    settleSoon();
  }

  connection.onInitialize(({ processId, workspaceFolders, rootUri }: InitializeParams) => {
    leaveWith(processId);
    const folder = workspaceFolders?.[0]?.uri ?? rootUri;
    if (folder?.startsWith("file:")) root = fileURLToPath(folder);
    return {
      serverInfo: { name: "plimsoll", version: packageJson.version },
      capabilities: {
        textDocumentSync: TextDocumentSyncKind.Incremental,
        notebookDocumentSync: { notebookSelector: [{ cells: [{ language: "python" }] }] },
        hoverProvider: true,
        codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix, FIX_ALL] },
      },
    };
  });
  connection.onInitialized(() => void load());

  documents.onDidChangeContent(({ document }) => {
    publish(document);
    settleSoon();
  });
  documents.onDidClose(({ document }) => {
    void connection.sendDiagnostics({ uri: document.uri, diagnostics: [] });
  });

  const follow = (notebook: NotebookDocument): void => {
    publishNotebook(notebook.uri, read(notebook));
    settleSoon();
  };
  notebooks.onDidOpen(follow);
  notebooks.onDidChange(({ notebookDocument, cells }) => {
    for (const { document } of cells?.removed ?? [])
      void connection.sendDiagnostics({ uri: document, diagnostics: [] });
    follow(notebookDocument);
  });
  notebooks.onDidClose(({ uri, cells }) => {
    openNotebooks.delete(uri);
    for (const { document } of cells) void connection.sendDiagnostics({ uri: document, diagnostics: [] });
  });
  /** The findings in a document, which may be a cell of a notebook. */
  const findingsIn = (uri: string): readonly ReportedFinding[] => {
    const home = notebooks.findNotebookDocumentForCell(uri);
    return home
      ? (openNotebooks.get(home.uri)?.in(uri, workspace.of(pathOf(home.uri))) ?? [])
      : workspace.of(pathOf(uri)).findings;
  };

  connection.onDidChangeWatchedFiles(({ changes }) => {
    for (const { uri } of changes) {
      if (basename(uri) === "pyproject.toml") return void load();
      const path = pathOf(uri);
      if (documents.get(uri) || openNotebooks.has(uri) || !workspace.has(path)) continue;
      const file = fileURLToPath(uri);
      const text = existsSync(file) ? decode(readFileSync(file)) : null;
      if (text === null) workspace.remove(path);
      else if (typeof text !== "string") workspace.update(path, text.text);
    }
    settleSoon();
    return undefined;
  });

  connection.onHover(({ textDocument, position }): Hover | null => {
    const here = findingsIn(textDocument.uri).filter((finding) =>
      overlaps(finding, { start: position, end: position }),
    );
    const pages = [...new Set(here.map(({ rule }) => rule))].map(
      (code) => rulePage(code) ?? ALL_META.find((meta) => meta.code === code)?.summary ?? code,
    );
    return pages.length === 0 ? null : { contents: { kind: "markdown", value: pages.join("\n\n---\n\n") } };
  });

  connection.onCodeAction(({ textDocument, range, context }): CodeAction[] => {
    const { uri } = textDocument;
    const home = notebooks.findNotebookDocumentForCell(uri);
    const document = home ? notebooks.cellTextDocuments.get(uri) : documents.get(uri);
    if (!document) return [];
    const wants = (kind: string): boolean =>
      context.only === undefined || context.only.some((one) => kind === one || kind.startsWith(`${one}.`));
    const notebook = home ? openNotebooks.get(home.uri) : undefined;
    const code = home ? withoutMagics(document.getText()) : document.getText();
    const quick = wants(CodeActionKind.QuickFix)
      ? findingsIn(uri)
          .filter((finding) => overlaps(finding, range))
          .flatMap((finding) => {
            const edits = finding.fix?.edits ?? [];
            const changes = notebook ? notebook.changes(edits) : editsIn(uri, edits);
            return quickFixes(finding, document, code, changes);
          })
      : [];
    const all = !home && wants(FIX_ALL) ? fixAll(document, pathOf(uri)) : null;
    return all ? [...quick, all] : quick;
  });

  function fixAll(document: TextDocument, path: string): CodeAction | null {
    const text = document.getText();
    if (text.length > MAX_LENGTH) return null;
    const fixed = fixText(text, new Set(["safe"] as const), (candidate) => {
      const { findings, diagnostics } = workspace.update(path, candidate);
      return { findings, broken: diagnostics.length };
    });
    workspace.update(path, text);
    if (typeof fixed === "string" || fixed.applied === 0) return null;
    return {
      title: `Apply all safe fixes of plimsoll (${fixed.applied})`,
      kind: FIX_ALL,
      edit: { changes: { [document.uri]: changedLines(document, fixed.text) } },
    };
  }

  documents.listen(connection);
  notebooks.listen(connection);
  connection.listen();
}
