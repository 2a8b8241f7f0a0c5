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
  const { at, comma, comment } = afterArgument(file.text, last.end, close);
  const ending = file.text.includes("\r\n") ? "\r\n" : "\n";
  const line = `${ending}${indentAt(file, last.start)}${text}`;
  if (!comma)
    // What is said of the last argument stays beside it.
    return comment > at
      ? [
          { start: at, end: at, text: "," },
          { start: comment, end: comment, text: line },
        ]
      : [{ start: at, end: at, text: `, ${text}` }];
  if (!/[\r\n]/.test(file.text.slice(at, close))) return [{ start: at, end: at, text: ` ${text}` }];
  return [{ start: comment, end: comment, text: `${line},` }];
}

/** Where a call's last argument ends, with its own brackets and the comma behind it, and where the comment in its line does. */
function afterArgument(
  text: string,
  from: number,
  close: number,
): { readonly at: number; readonly comma: boolean; readonly comment: number } {
  let at = from;
  let comma = false;
  for (let i = from; i < close; i++)
    if (text[i] === "#") while (i < close && !/[\r\n]/.test(text[i]!)) i++;
    else if (text[i] === ")" || text[i] === ",") {
      comma ||= text[i] === ",";
      at = i + 1;
    }
  const comment = /^[^\S\r\n]*#[^\r\n]*/.exec(text.slice(at, close));
  return { at, comma, comment: at + (comment?.[0].length ?? 0) };
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
