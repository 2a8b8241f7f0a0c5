import { cellSource } from "./notebook.ts";
import type { Notebook, NotebookCell } from "./notebook.ts";

/** A part of a text and what is to stand in its place. */
export interface Change {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** One JSON string, without its quotes. */
interface Piece {
  readonly start: number;
  readonly end: number;
}

interface Source {
  readonly pieces: readonly Piece[];
  /** A list of strings, of which each is a line. */
  readonly byLines: boolean;
  /** What stands between two of them. */
  readonly between: string;
  readonly text: string;
}

/** Brings changes of the joined text of a notebook's cells into its JSON, where everything else stays as it was written. */
export class NotebookJson {
  readonly #json: string;
  readonly #notebook: Notebook;
  readonly #sources: readonly (Source | null)[];
  readonly #ascii: boolean;

  constructor(json: string, notebook: Notebook) {
    this.#json = json;
    this.#notebook = notebook;
    this.#sources = new Scanner(json).sources();
    // Whoever wrote it escapes all else.
    this.#ascii = /^\p{ASCII}*$/u.test(json);
  }

  /** Null where one of them does not lie in a cell, or would change a magic. */
  changes<C extends Change>(changes: readonly C[]): C[] | null {
    const all: C[] = [];
    for (const change of changes) {
      const inJson = this.#change(change);
      if (inJson === null) return null;
      all.push({ ...change, ...inJson });
    }
    return all;
  }

  #change(change: Change): Change | null {
    const { cells, text: joined } = this.#notebook;
    let { start, end, text } = change;
    let at = cells.findIndex((one) => one.start <= start && start <= one.end);
    if (at < 0) return null;
    if (end === cells[at]!.end + 1) {
      // The line end behind a cell is not the cell's.
      end--;
      if (text.endsWith("\n")) text = text.replace(/\r?\n$/, "");
      else if (start > cells[at]!.start && joined[start - 1] === "\n")
        start -= joined[start - 2] === "\r" && start - 1 > cells[at]!.start ? 2 : 1;
    }
    if (
      start === end &&
      start === cells[at]!.start &&
      text.endsWith("\n") &&
      this.#hasMagicFirst(cells[at]!)
    ) {
      // Before such a line nothing may stand: behind the cell before, it is the same.
      if (--at < 0) return null;
      start = end = cells[at]!.end;
      text = `\n${text.replace(/\r?\n$/, "")}`;
    }
    const cell = cells[at]!;
    const source = this.#sources[cell.number - 1];
    if (!source || end > cell.end || source.pieces.length === 0 || this.#isForeign(cell)) return null;
    const [from, to] = [start - cell.start, end - cell.start];
    // What was blanked is not what is there.
    if (source.text.slice(from, to) !== joined.slice(start, end)) return null;
    return this.#spliced(source, from, to, text);
  }

  #hasMagicFirst({ number }: NotebookCell): boolean {
    return /^\s*%%/.test(this.#sources[number - 1]?.text ?? "");
  }

  /** With nothing that was read. */
  #isForeign({ start, end, number }: NotebookCell): boolean {
    const text = this.#sources[number - 1]?.text ?? "";
    return text.trim() !== "" && this.#notebook.text.slice(start, end).trim() === "";
  }

  #spliced(source: Source, from: number, to: number, text: string): Change {
    const { pieces, byLines, between } = source;
    const separator = `"${between}"`;
    const starts: number[] = [];
    let length = 0;
    for (const piece of pieces) {
      starts.push(length);
      length += decoded(this.#json, piece).length;
    }
    /** Where a line begins, rather than behind the end of the one before. */
    const place = (offset: number): { readonly piece: number; readonly at: number } => {
      let piece = starts.findLastIndex((start) => start <= offset);
      // Empty ones at the end have nothing to be before.
      while (piece > 0 && pieces[piece]!.start === pieces[piece]!.end) piece--;
      return { piece, at: rawOffset(this.#json, pieces[piece]!, offset - starts[piece]!) };
    };
    const [first, last] = [place(from), place(to)];
    if (
      byLines &&
      text === "" &&
      from < to &&
      to === length &&
      from === starts[first.piece] &&
      first.piece > 0
    )
      return { start: pieces[first.piece - 1]!.end, end: last.at, text: "" };
    if (!byLines) return { start: first.at, end: last.at, text: this.#escaped(text) };
    // Each line is a string of its own.
    const lines = text.split(/(?<=\n)/).map((line) => this.#escaped(line));
    if (text.endsWith("\n") && to < length) lines.push("");
    if (text !== "" && from === length && source.text.endsWith("\n")) lines.unshift("");
    const written = lines.join(separator);
    return { start: first.at, end: last.at, text: written };
  }

  #escaped(text: string): string {
    const escaped = JSON.stringify(text).slice(1, -1);
    return this.#ascii
      ? escaped.replace(/[\x7f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)
      : escaped;
  }
}

const decoded = (json: string, { start, end }: Piece): string =>
  JSON.parse(`"${json.slice(start, end)}"`) as string;

/** Where in the JSON a character of a string stands. */
function rawOffset(json: string, { start }: Piece, offset: number): number {
  let at = start;
  for (let left = offset; left > 0; left--) at += json[at] !== "\\" ? 1 : json[at + 1] === "u" ? 6 : 2;
  return at;
}

/** Where the sources of the cells stand in a notebook's JSON, which is known to be one. */
class Scanner {
  readonly #json: string;
  #at = 0;

  constructor(json: string) {
    this.#json = json;
  }

  sources(): (Source | null)[] {
    let sources: (Source | null)[] = [];
    // Of two of one name the last one counts, as for every reader.
    this.#object((key) => {
      if (key !== "cells") return this.#skip();
      sources = [];
      this.#array(() => {
        let source: Source | null = null;
        if (this.#next() === "{")
          this.#object((inner) => {
            if (inner === "source") source = this.#source();
            else this.#skip();
          });
        else this.#skip();
        sources.push(source);
      });
    });
    return sources;
  }

  #source(): Source | null {
    const pieces: Piece[] = [];
    const from = this.#at;
    if (this.#next() === '"') pieces.push(this.#string());
    else if (this.#next() === "[")
      this.#array(() => {
        if (this.#next() === '"') pieces.push(this.#string());
        else this.#skip();
      });
    else this.#skip();
    const isList = /^\s*\[/.test(this.#json.slice(from, this.#at));
    const texts = pieces.map((piece) => decoded(this.#json, piece));
    const [first, second] = pieces;
    const before = first ? /\s*$/.exec(this.#json.slice(from, first.start - 1))![0] : "";
    return {
      pieces,
      byLines:
        isList &&
        texts.every((text, at) =>
          at === texts.length - 1
            ? !/\n[^]/.test(text)
            : text.indexOf("\n") === text.length - 1 && text !== "",
        ),
      between: second
        ? this.#json.slice(first!.end + 1, second.start - 1)
        : `,${before.includes("\n") ? before : " "}`,
      text: cellSource(texts) ?? "",
    };
  }

  #next(): string | undefined {
    while (/\s/.test(this.#json[this.#at] ?? "")) this.#at++;
    return this.#json[this.#at];
  }

  #object(member: (key: string) => void): void {
    this.#list("}", () => {
      this.#next();
      const key = decoded(this.#json, this.#string());
      // The colon.
      this.#next();
      this.#at++;
      member(key);
    });
  }

  #array(item: () => void): void {
    this.#list("]", item);
  }

  #list(close: string, item: () => void): void {
    this.#next();
    this.#at++;
    while (this.#next() !== close) {
      item();
      if (this.#next() === ",") this.#at++;
    }
    this.#at++;
  }

  #string(): Piece {
    const start = ++this.#at;
    while (this.#json[this.#at] !== '"') this.#at += this.#json[this.#at] === "\\" ? 2 : 1;
    return { start, end: this.#at++ };
  }

  /** Any value, however deep. */
  #skip(): void {
    let depth = 0;
    do {
      const c = this.#next();
      if (c === '"') this.#string();
      else {
        this.#at++;
        if (c === "{" || c === "[") depth++;
        else if (c === "}" || c === "]") depth--;
        else if (c !== "," && c !== ":") while (/[\w.+-]/.test(this.#json[this.#at] ?? "")) this.#at++;
      }
    } while (depth > 0);
  }
}
