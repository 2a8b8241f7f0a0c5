import type { PythonFile } from "../../python/file.ts";
import { blockOf } from "../../python/nodes.ts";
import type { Arg, Call, Stmt } from "../../python/tree.ts";
import type { Script } from "../../recipe-files/script/program.ts";

/** One replacement in the text of one file of a program. */
export interface Edit {
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Edits of one reading of a text; two at one place stay in the order they were asked for. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  let result = "";
  let from = 0;
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    result += text.slice(from, edit.start) + edit.text;
    from = edit.end;
  }
  return result + text.slice(from);
}

export const lineEnd = ({ text }: PythonFile): string => (text.includes("\r\n") ? "\r\n" : "\n");

/** The white space that the line of an offset begins with. */
export function indentAt({ lines, text }: PythonFile, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lines.start(lines.line(offset))))![0];
}

/** Where the line of an offset ends, before its line end. */
function endOfLine({ text }: PythonFile, offset: number): number {
  const found = /[\r\n]/.exec(text.slice(offset));
  return found ? offset + found.index : text.length;
}

/** Whether the closing bracket of a call has a line of its own. */
export const isTall = (call: Call, { text }: PythonFile): boolean => {
  const last = call.args.at(-1);
  return last !== undefined && /[\r\n]/.test(text.slice(last.end, call.end - 1));
};

/** `name=value` behind a call's last argument, on a line of its own where the others have one; comments stay. */
export function addKeyword(call: Call, keyword: string, { name, file }: Script): Edit[] {
  const close = call.end - 1;
  const last = call.args.at(-1);
  const insert = (start: number, text: string): Edit => ({ file: name, start, end: start, text });
  if (!last) return [insert(close, keyword)];
  const between = file.text.slice(last.end, close);
  // Brackets of the argument's own may stand in between: `f((x))`; a comment may hold anything.
  const own = /^[\s)]*?(?=[,#]|\s*$)/.exec(between)![0].trimEnd().length;
  const comma = /^\s*,/.exec(between.slice(own));
  const at = last.end + own;
  if (!isTall(call, file))
    return [insert(comma ? at + comma[0].length : at, `${comma ? "" : ","} ${keyword}`)];
  const line = `${lineEnd(file)}${indentAt(file, last.start)}${keyword},`;
  return [...(comma ? [] : [insert(at, ",")]), insert(endOfLine(file, at + (comma?.[0].length ?? 0)), line)];
}

export function addAfter(statement: Stmt, code: readonly string[], { name, file }: Script): Edit[] {
  const indent = indentAt(file, statement.start);
  const start = endOfLine(file, statement.end);
  return [{ file: name, start, end: start, text: code.map((one) => lineEnd(file) + indent + one).join("") }];
}

/** Whole lines at the start of a statement's line. */
export function addBefore(statement: Stmt, code: readonly string[], { name, file }: Script): Edit[] {
  const start = file.lines.start(file.lines.line(statement.start));
  return [{ file: name, start, end: start, text: code.map((one) => one + lineEnd(file)).join("") }];
}

/** A statement that has its lines to itself and is not alone in its block; null otherwise. */
export function removeStatement(statement: Stmt, { name, file }: Script): Edit[] | null {
  const block = blockOf(statement);
  const start = file.lines.start(file.lines.line(statement.start));
  const end = file.lines.start(file.lines.line(statement.end) + 1);
  const rest = file.text.slice(start, statement.start) + file.text.slice(statement.end, end);
  return block && block.length > 1 && rest.trim() === "" ? [{ file: name, start, end, text: "" }] : null;
}

/** An argument with the comma before it; null when a comment stands between. */
export function removeArgument(call: Call, arg: Arg, { name, file }: Script): Edit[] | null {
  const before = call.args[call.args.indexOf(arg) - 1];
  if (!before || file.text.slice(before.end, arg.start).includes("#")) return null;
  return [{ file: name, start: before.end, end: arg.end, text: "" }];
}
