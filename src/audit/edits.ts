import type { PythonFile } from "../python/file.ts";
import { blockOf } from "../python/nodes.ts";
import type { Call, Expr, FunctionDef, Stmt } from "../python/tree.ts";
import type { Edit } from "./rule.ts";

/** Building blocks for fixes. Each touches only what it must, and keeps comments and line ends. */

/** `.detach()` after an expression, with brackets where binding asks for them. */
export function appendCall(expr: Expr, suffix: string): Edit[] {
  const tight =
    expr.kind === "Name" || expr.kind === "Attribute" || expr.kind === "Call" || expr.kind === "Subscript";
  if (tight) return [{ start: expr.end, end: expr.end, text: suffix }];
  return [
    { start: expr.start, end: expr.start, text: "(" },
    { start: expr.end, end: expr.end, text: `)${suffix}` },
  ];
}

/** `name=value` as the last argument of a call, after a trailing comma too. */
export function addKeyword(call: Call, text: string, file: PythonFile): Edit[] {
  const close = call.end - 1;
  const last = call.args[call.args.length - 1];
  if (!last) return [{ start: close, end: close, text }];
  const between = file.text.slice(last.end, close);
  // Brackets of the last argument's own may stand in between: `f((x))`.
  const comma = /^[\s)]*,/.exec(between);
  if (!comma)
    return [
      {
        start: last.end + (/^\)*/.exec(between)?.[0].length ?? 0),
        end: last.end + (/^\)*/.exec(between)?.[0].length ?? 0),
        text: `, ${text}`,
      },
    ];
  const at = last.end + comma[0].length;
  const multiline = /[\r\n]/.test(between);
  if (!multiline) return [{ start: at, end: at, text: ` ${text}` }];
  const ending = file.text.includes("\r\n") ? "\r\n" : "\n";
  return [{ start: at, end: at, text: `${ending}${indentAt(file, last.start)}${text},` }];
}

/** The white space a line begins with. */
export function indentAt(file: PythonFile, offset: number): string {
  const start = file.lines.start(file.lines.line(offset));
  return /^[ \t\f]*/.exec(file.text.slice(start, offset))?.[0] ?? "";
}

/** Removes a whole statement with its line; the only statement of a block becomes `pass`. */
export function deleteStatement(statement: Stmt, file: PythonFile): Edit[] {
  const block = blockOf(statement);
  if (!block || block.length === 1) return [{ start: statement.start, end: statement.end, text: "pass" }];
  const lineStart = file.lines.start(file.lines.line(statement.start));
  const nextLine = file.lines.start(file.lines.line(statement.end) + 1);
  const before = file.text.slice(lineStart, statement.start);
  const after = file.text.slice(statement.end, nextLine);
  // Others share the line (`a; b`), or a comment follows: keep what is not ours.
  if (before.trim() !== "" || after.trim() !== "")
    return [{ start: statement.start, end: statement.end, text: "pass" }];
  return [{ start: lineStart, end: nextLine, text: "" }];
}

/** A decorator line above a function, below the decorators it has. */
export function decorate(fn: FunctionDef, decorator: string, file: PythonFile): Edit[] {
  const ending = file.text.includes("\r\n") ? "\r\n" : "\n";
  return [
    { start: fn.defStart, end: fn.defStart, text: `@${decorator}${ending}${indentAt(file, fn.defStart)}` },
  ];
}
