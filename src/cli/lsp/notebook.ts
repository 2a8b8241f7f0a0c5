import type { Diagnostic, TextEdit } from "vscode-languageserver";
import type { TextDocument } from "vscode-languageserver-textdocument";
import type { ReportedEdit, ReportedFinding } from "../../audit/report.ts";
import type { Judged } from "../../audit/workspace.ts";
import { readNotebook } from "../../python/notebook.ts";
import type { NotebookCell } from "../../python/notebook.ts";
import { diagnosticOf, problemOf } from "./convert.ts";

/** A notebook as an editor has it open: each cell a document of its own, audited as one text. */
export class OpenNotebook {
  /** What the file would be, as far as an audit reads it. */
  readonly json: string;
  readonly #cells: readonly TextDocument[];
  readonly #code: readonly NotebookCell[];
  readonly #text: string;

  /** Code cells, in their order. */
  constructor(cells: readonly TextDocument[]) {
    this.#cells = cells;
    this.json = JSON.stringify({
      cells: cells.map((cell) => ({ cell_type: "code", source: cell.getText() })),
    });
    const notebook = readNotebook(this.json);
    this.#code = typeof notebook === "string" ? [] : notebook.cells;
    this.#text = typeof notebook === "string" ? "" : notebook.text;
  }

  #documentOf({ number }: NotebookCell): TextDocument {
    return this.#cells[number - 1]!;
  }

  /** The findings in one of the cells. */
  in(uri: string, { findings }: Judged): readonly ReportedFinding[] {
    const number = this.#cells.findIndex((cell) => cell.uri === uri) + 1;
    return findings.filter(({ cell }) => cell === number);
  }

  /** For each cell, so that what was said of one before goes away. */
  diagnostics(judged: Judged): ReadonlyMap<string, readonly Diagnostic[]> {
    const all = new Map<string, Diagnostic[]>();
    for (const { uri } of this.#cells) all.set(uri, this.in(uri, judged).map(diagnosticOf));
    for (const problem of judged.diagnostics) {
      const { cell, line } = problem.inCell ?? { cell: 1, line: 1 };
      const home = this.#cells[cell - 1];
      if (home) all.get(home.uri)!.push(problemOf({ ...problem, line }));
    }
    return all;
  }

  /** A fix may add an import to an earlier cell. Null where an edit does not lie in one, or would change a magic. */
  changes(edits: readonly ReportedEdit[]): Record<string, TextEdit[]> | null {
    const changes: Record<string, TextEdit[]> = {};
    for (const { start, end, text } of edits) {
      const cell = this.#code.find((one) => one.start <= start && end <= one.end);
      if (!cell) return null;
      const document = this.#documentOf(cell);
      const here = document.getText().slice(start - cell.start, end - cell.start);
      if (here !== this.#text.slice(start, end)) return null;
      const range = {
        start: document.positionAt(start - cell.start),
        end: document.positionAt(end - cell.start),
      };
      (changes[document.uri] ??= []).push({ range, newText: text });
    }
    return changes;
  }
}
