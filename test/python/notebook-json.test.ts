import { expect, test } from "vitest";
import { NotebookJson } from "../../src/python/notebook-json.ts";
import type { Change } from "../../src/python/notebook-json.ts";
import { readNotebook } from "../../src/python/notebook.ts";
import type { Notebook } from "../../src/python/notebook.ts";

const CELLS = ["import a\nimport b", "x = 'é\\n'\nfor i in x:\n    f(i)\n", "g()", 'y = "\\\\"\r\nz = 1\n\n'];
const lines = (text: string): string[] => text.split(/(?<=\n)/);
const cells = (source: (text: string) => unknown): unknown[] =>
  CELLS.flatMap((text) => [
    { source: "# {", cell_type: "markdown" },
    { cell_type: "code", metadata: { 'a"b': [[], {}, -1.5e3, null] }, source: source(text), outputs: [] },
  ]);
const escaped = (json: string): string => json.replaceAll("é", String.raw`\u00e9`);
const SHAPES: Readonly<Record<string, string>> = {
  "as Jupyter writes it": `${JSON.stringify({ cells: cells(lines), nbformat: 4 }, null, 1)}\n`,
  compact: JSON.stringify({ metadata: { cells: [{ source: "no" }] }, cells: cells(lines) }),
  "one string a cell": JSON.stringify({ cells: cells((text) => text) }, null, "\t"),
  "a list of one string": JSON.stringify({ cells: cells((text) => [text]) }, null, 2),
  "lists that are cut anywhere": JSON.stringify({
    cells: cells((text) => [text.slice(0, 3), text.slice(3), ""]),
  }),
  escaped: escaped(JSON.stringify({ cells: cells(lines) }, null, 1)),
  "CRLF, floats and doubled keys": JSON.stringify({ cells: [5], nbformat: 4 }, null, 1)
    .replace("\n}", `,\n "cells": ${JSON.stringify(cells(lines), null, 1)},\n "x": 1.0\n}`)
    .replaceAll("\n", "\r\n"),
};

const read = (json: string): Notebook => {
  const notebook = readNotebook(json);
  if (typeof notebook === "string") throw new Error(notebook);
  return notebook;
};
const applied = (text: string, { start, end, text: put }: Change): string =>
  text.slice(0, start) + put + text.slice(end);

test.each(Object.entries(SHAPES))(
  "each edit of a cell is one of its JSON, and of nothing else: %s",
  (_, json) => {
    const notebook = read(json);
    for (const { start: first, end: last } of notebook.cells)
      for (let start = first; start <= last; start++)
        for (const end of [start, start + 1, start + 4, last])
          for (const text of ["", "a", "é\n", "\nb", "a\n  b\n    "]) {
            if (end < start || end > last) continue;
            const change = { start, end, text };
            const [edit] = new NotebookJson(json, notebook).changes([change])!;
            const after = applied(json, edit!);
            expect(read(after).text).toBe(applied(notebook.text, change));
            if (!json.includes("é")) expect(after).not.toContain("é");
          }
  },
);

test("in a list of lines each line stays a string of its own", () => {
  const json = SHAPES["as Jupyter writes it"]!;
  const after = (start: number, end: number, text: string): string[] => {
    const [edit] = new NotebookJson(json, read(json)).changes([{ start, end, text }])!;
    return (JSON.parse(applied(json, edit!)) as { cells: { source: string[] }[] }).cells[1]!.source;
  };
  expect(after(0, 0, "import c\n")).toEqual(["import c\n", "import a\n", "import b"]);
  expect(after(9, 9, "import c\n")).toEqual(["import a\n", "import c\n", "import b"]);
  expect(after(17, 17, "\nimport c")).toEqual(["import a\n", "import b\n", "import c"]);
  expect(after(0, 9, "")).toEqual(["import b"]);
  expect(after(9, 17, "")).toEqual(["import a\n"]);
  // With the line end that stands for the next cell.
  expect(after(9, 18, "")).toEqual(["import a"]);
  expect(after(9, 18, "import c\n")).toEqual(["import a\n", "import c"]);
});

test("magics stay where they are, and first where they have to be", () => {
  const sources = ["import a", "%%time\n%run x\nf()", "%%bash\nls"];
  const json = JSON.stringify({ cells: sources.map((source) => ({ cell_type: "code", source })) });
  const notebook = read(json);
  const after = (start: number, end: number, text: string): string[] | null => {
    const edits = new NotebookJson(json, notebook).changes([{ start, end, text }]);
    if (edits === null) return null;
    return (JSON.parse(applied(json, edits[0]!)) as { cells: { source: string }[] }).cells.map(
      ({ source }) => source,
    );
  };
  const [, second, third] = notebook.cells;
  expect(after(second!.start, second!.start, "import b\n")).toEqual([
    "import a\nimport b",
    sources[1],
    sources[2],
  ]);
  expect(after(second!.end - 3, second!.end, "g()")).toEqual([sources[0], "%%time\n%run x\ng()", sources[2]]);
  expect(after(second!.start + 8, second!.end, "g()")).toBeNull();
  expect(after(third!.start, third!.start + 1, "g()")).toBeNull();
  expect(after(3, second!.end, "g()")).toBeNull();
});
