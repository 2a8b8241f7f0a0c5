import type { PythonFile } from "../python/file.ts";
import type { Edit } from "./rule.ts";

/** Edits that add the import lines the file lacks, after its last top-level import. */
export function importEdits(file: PythonFile, imports: readonly string[]): Edit[] {
  const { body } = file.tree.module;
  const present = new Set(
    body
      .filter((statement) => statement.kind === "Import" || statement.kind === "ImportFrom")
      .map((statement) => file.textOf(statement)),
  );
  const missing = imports.filter((line) => !present.has(line));
  if (missing.length === 0) return [];
  const ending = file.text.includes("\r\n") ? "\r\n" : "\n";
  // Imports lower down are often conditional or late on purpose: only the leading run counts.
  let after: { readonly end: number } | null = null;
  for (const [at, statement] of body.entries()) {
    if (statement.kind === "Import" || statement.kind === "ImportFrom") after = statement;
    else if (!(at === 0 && statement.kind === "ExprStmt" && statement.value.kind === "Str")) break;
    else after = statement;
  }
  const start = after ? file.lines.start(file.lines.line(after.end) + 1) : 0;
  const needsBreak = after !== null && start === file.text.length && !/[\r\n]$/.test(file.text);
  return [
    { start, end: start, text: (needsBreak ? ending : "") + missing.map((line) => line + ending).join("") },
  ];
}

/** The name this file's top level knows a module by ("torch", or "th" after `import torch as th`); null when not imported. */
export function localName(file: PythonFile, dotted: string): string | null {
  for (const alias of file.all("Alias")) {
    if (alias.parent!.parent !== file.tree.module) continue;
    const bound = alias.as ?? (alias.parent!.kind === "Import" ? alias.name.split(".")[0]! : alias.name);
    if (file.importedName(alias) === dotted) return bound;
  }
  return null;
}
