import type { PythonFile } from "../python/file.ts";
import { blockOf, walk } from "../python/nodes.ts";
import { settingsOf } from "./facts/arguments.ts";
import type { Call, Expr, FunctionDef, If, Stmt } from "../python/tree.ts";
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

/** `name=value` as the last argument of a call, after a trailing comma too. None where `**settings` may hold that name. */
export function addKeyword(call: Call, text: string, file: PythonFile): Edit[] {
  const name = /^\w+/.exec(text)![0];
  if (call.args.some(({ star }) => star === 2) && settingsOf(call, file)?.has(name) !== false) return [];
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

/** The comment behind it, in its line, speaks of it: whoever wrote that had a reason, and it is not edited away. */
export function isExplained({ end }: Expr, words: RegExp, { lines, text, tree }: PythonFile): boolean {
  const line = lines.line(end);
  return tree.comments.some(
    (one) => one.start >= end && lines.line(one.start) === line && words.test(text.slice(one.start, one.end)),
  );
}

/** The white space a line begins with. */
export function indentAt(file: PythonFile, offset: number): string {
  const start = file.lines.start(file.lines.line(offset));
  return /^[ \t\f]*/.exec(file.text.slice(start, offset))?.[0] ?? "";
}

/**
 * Removes a whole statement: with its line, or from among those that share it. With the only statement of an `if` that asks nothing
 * but values, and holds no comment, the `if` goes; the only statement of another block becomes `pass`.
 */
export function deleteStatement(statement: Stmt, file: PythonFile): Edit[] {
  const block = blockOf(statement);
  const { parent } = statement;
  if (parent?.kind === "If" && block?.length === 1 && isIdle(parent, file))
    return deleteStatement(parent, file);
  if (!block || block.length === 1) return [{ start: statement.start, end: statement.end, text: "pass" }];
  const { lines, text } = file;
  const lineStart = lines.start(lines.line(statement.start));
  const nextLine = lines.start(lines.line(statement.end) + 1);
  const before = text.slice(lineStart, statement.start);
  const after = text.slice(statement.end, nextLine);
  // `a; b`, of which `b` goes with what parts them.
  const parted = /\s*;\s*$/.exec(before);
  if (parted) return [{ start: statement.start - parted[0].length, end: statement.end, text: "" }];
  const joined = /^\s*;[ \t]*(?=[^\s#])/.exec(after);
  if (joined) return [{ start: statement.start, end: statement.end + joined[0].length, text: "" }];
  if (before.trim() !== "") return [{ start: statement.start, end: statement.end, text: "pass" }];
  if (/^\s*;?\s*$/.test(after)) return [{ start: lineStart, end: nextLine, text: "" }];
  // A comment that follows keeps the line.
  const comment = /^\s*;?\s*(?=#)/.exec(after);
  return [
    comment
      ? { start: statement.start, end: statement.end + comment[0].length, text: "" }
      : { start: statement.start, end: statement.end, text: "pass" },
  ];
}

/** `if step % 10 == 0:` or `if torch.cuda.is_available():` without an else, and not itself one of several branches. */
function isIdle(test: If, file: PythonFile): boolean {
  let asks = false;
  walk(test.test, (node) => {
    const isHarmless = node.kind === "Call" && file.dotted(node.func) === "torch.cuda.is_available";
    if (/^(?:Call|Await|Walrus|Yield)$/.test(node.kind) && !isHarmless) asks = true;
    return !asks;
  });
  const isBranch = test.parent?.kind === "If" && test.parent.orelse.includes(test);
  return (
    !asks &&
    !isBranch &&
    test.orelse.length === 0 &&
    !file.tree.comments.some(({ start }) => start > test.start && start < lineEnd(test, file))
  );
}

function lineEnd({ end }: Stmt, { lines }: PythonFile): number {
  return lines.start(lines.line(end) + 1);
}

/** A decorator line above a function, below the decorators it has. */
export function decorate(fn: FunctionDef, decorator: string, file: PythonFile): Edit[] {
  const ending = file.text.includes("\r\n") ? "\r\n" : "\n";
  return [
    { start: fn.defStart, end: fn.defStart, text: `@${decorator}${ending}${indentAt(file, fn.defStart)}` },
  ];
}
