/** The code cells of a notebook as one Python text, one after another, each followed by a line end. */
export interface Notebook {
  readonly text: string;
  readonly cells: readonly NotebookCell[];
}

export interface NotebookCell {
  /** Position among all cells of the notebook, from 1, as Jupyter front ends count. */
  readonly number: number;
  /** Range in the joined text. */
  readonly start: number;
  readonly end: number;
  /** First line in the joined text, from 1. */
  readonly line: number;
}

interface RawCell {
  readonly cell_type?: unknown;
  readonly source?: unknown;
}

/** Magics, shell lines and help marks are blanked, character for character, so that offsets stay. */
export function readNotebook(json: string): Notebook | string {
  let data: { cells?: unknown; worksheets?: unknown; metadata?: { kernelspec?: { language?: unknown } } };
  try {
    data = JSON.parse(json) as typeof data;
  } catch {
    return "not a notebook: invalid JSON";
  }
  if (typeof data !== "object" || data === null || !Array.isArray(data.cells))
    return Array.isArray(data?.worksheets)
      ? "a notebook in format 3: jupyter nbconvert --to notebook brings it into today's"
      : "not a notebook: no cells";
  const language = data.metadata?.kernelspec?.language;
  if (typeof language === "string" && language.toLowerCase() !== "python") return { text: "", cells: [] };
  let text = "";
  let line = 1;
  const cells: NotebookCell[] = [];
  for (const [at, raw] of (data.cells as RawCell[]).entries()) {
    if (raw?.cell_type !== "code") continue;
    const source = cellSource(raw.source);
    if (source === null) continue;
    const start = text.length;
    text += `${withoutMagics(source)}\n`;
    cells.push({ number: at + 1, start, end: text.length - 1, line });
    line += source.split("\n").length;
  }
  return { text, cells };
}

export function cellSource(source: unknown): string | null {
  if (typeof source === "string") return source;
  return Array.isArray(source) && source.every((part) => typeof part === "string") ? source.join("") : null;
}

/** Of a cell, character for character. */
export function withoutMagics(source: string): string {
  const blank = (text: string): string => text.replace(/[^\r\n]/g, " ");
  const first = /^\s*%%(\w+)/.exec(source);
  if (first && !["time", "timeit", "capture", "prun"].includes(first[1]!)) return blank(source);
  const inside = new Inside();
  // `!python train.py \`, which goes on in the next line.
  let goesOn = false;
  return source
    .split("\n")
    .map((line) => {
      const ends = line.trimEnd().endsWith("\\");
      const magic = goesOn || !inside.isInside ? withoutMagic(line, goesOn) : null;
      if (magic === null) inside.read(line);
      goesOn = magic !== null && ends;
      return magic ?? line;
    })
    .join("\n");

  /** Null for a line of Python. */
  function withoutMagic(line: string, isRest: boolean): string | null {
    if (isRest) return blank(line);
    const magic = /^(\s*)(?:[%!].*|\?.*|\S.*\?\??\s*$)/.exec(line);
    if (!magic || (/\?\s*$/.test(line) && /#|['"]/.test(line)))
      return /^\s*\w[\w, ]*=\s*[%!]/.test(line) ? blank(line) : null;
    // A block whose only statement was a magic still needs one.
    return magic[1]!.length > 0 && line.length >= magic[1]!.length + 4
      ? `${magic[1]}pass${" ".repeat(line.length - magic[1]!.length - 4)}`
      : blank(line);
  }
}

/** Whether the lines read so far leave a bracket or a string open, or go on by a backslash: what follows is no line of its own. */
class Inside {
  #depth = 0;
  /** `"""`, `'''` or null. */
  #quote: string | null = null;
  #goesOn = false;

  get isInside(): boolean {
    return this.#depth > 0 || this.#quote !== null || this.#goesOn;
  }

  read(line: string): void {
    this.#goesOn = false;
    for (let at = 0; at < line.length; at++) {
      const one = line[at]!;
      const three = line.slice(at, at + 3);
      if (this.#quote !== null) {
        if (one === "\\") at++;
        else if (three === this.#quote) {
          this.#quote = null;
          at += 2;
        }
      } else if (three === '"""' || three === "'''") {
        this.#quote = three;
        at += 2;
      } else if (one === '"' || one === "'") {
        for (at++; at < line.length && line[at] !== one; at++) if (line[at] === "\\") at++;
      } else if (one === "#") return;
      else if ("([{".includes(one)) this.#depth++;
      else if (")]}".includes(one)) this.#depth = Math.max(0, this.#depth - 1);
      else if (one === "\\" && line.slice(at + 1).trim() === "") this.#goesOn = true;
    }
  }
}
