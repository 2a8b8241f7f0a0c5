import type { PythonFile } from "../python/file.ts";
import { statementOf } from "../python/nodes.ts";
import type { Call, Node } from "../python/tree.ts";
import { indentAt } from "./edits.ts";
import type { Edit } from "./rule.ts";

/** `if step % 50 == 0:` around a call that is a statement of its own, where the loop counts its turns. */
export function throttle(call: Call, loop: Node, file: PythonFile): Edit[] | null {
  const statement = statementOf(call);
  if (statement?.kind !== "ExprStmt" || statement.value !== call || loop.kind !== "For") return null;
  const counts = loop.iter.kind === "Call" && file.dotted(loop.iter.func) === "builtins.enumerate";
  const counter = loop.target.kind === "Tuple" && counts ? loop.target.items[0] : null;
  if (counter?.kind !== "Name" || file.textOf(statement).includes("\n")) return null;
  const start = file.lines.start(file.lines.line(statement.start));
  const indent = indentAt(file, statement.start);
  if (file.text.slice(start, statement.start) !== indent) return null;
  const ending = file.text.includes("\r\n") ? "\r\n" : "\n";
  const text = `if ${counter.id} % 50 == 0:${ending}${indent}    `;
  return [{ start: statement.start, end: statement.start, text }];
}
