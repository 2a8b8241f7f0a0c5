import { blocksOf, contains, functionOf, statementOf, walk } from "../../python/nodes.ts";
import type { Call, Stmt } from "../../python/tree.ts";
import { indentAt } from "../edits.ts";
import { loopsAround, optimizerSteps } from "../facts/training.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM022",
    name: "zero-grad-after-forward",
    summary:
      "`zero_grad()` stands between forward and backward: the last step's gradients are resident during the forward",
    severity: "note",
    fix: "unsafe",
    patterns: [22],
  },
  *check(facts) {
    if (facts.backwards.length === 0) return;
    const { file } = facts;
    for (const { call: backward, loss } of facts.backwards) {
      const statement = statementOf(backward);
      const within = loopsAround(backward)[0] ?? functionOf(backward);
      // With two backwards in a turn, clearing between them is what keeps their gradients apart.
      if (
        !within ||
        !statement?.parent ||
        !(facts.stepLoop(backward) ?? facts.hot(backward)) ||
        facts.backwards.filter(({ call }) => contains(within, call)).length !== 1 ||
        loss?.kind !== "Name"
      )
        continue;
      if (optimizerSteps(file).filter((step) => contains(within, step)).length !== 1) continue;
      const block = blocksOf(statement.parent).find((list) => list.includes(statement)) ?? [];
      const at = block.indexOf(statement);
      const clears = block.filter(
        (one): one is Stmt & { kind: "ExprStmt"; value: Call } =>
          one.kind === "ExprStmt" &&
          one.value.kind === "Call" &&
          one.value.func.kind === "Attribute" &&
          one.value.func.attr === "zero_grad",
      );
      const clear = clears[0];
      if (at < 0 || clears.length !== 1 || !clear) continue;
      const where = block.indexOf(clear);
      const made = file.scopes
        .reaching(loss)
        .map((definition) => block.findIndex((one) => contains(one, definition.node)));
      // The loss must be there before the clearing, and nothing may differentiate in between.
      if (where > at || made.length === 0 || made.some((index) => index < 0 || index >= where)) continue;
      if (file.textOf(clear).includes("\n") || block.slice(0, where).some((one) => stops(one))) continue;
      const first = block[0]!;
      const lineStart = file.lines.start(file.lines.line(clear.start));
      const lineEnd = file.lines.start(file.lines.line(clear.start) + 1);
      const line = file.text.slice(clear.start, lineEnd).trimEnd();
      const alone =
        file.text.slice(lineStart, clear.start).trim() === "" &&
        /^\s*(?:#.*)?$/.test(line.slice(clear.end - clear.start)) &&
        file.lines.line(first.start) !== file.lines.line(statement.parent.start);
      const ending = file.text.includes("\r\n") ? "\r\n" : "\n";
      yield {
        at: clear,
        message: `The gradients of the step before stay allocated through this step's forward; call \`${file.textOf(clear)}\` before it, or right after the optimizer's step`,
        ...(alone
          ? {
              fix: {
                grade: "unsafe" as const,
                title: "Clear before the forward",
                edits: [
                  {
                    start: first.start,
                    end: first.start,
                    text: `${line}${ending}${indentAt(file, first.start)}`,
                  },
                  { start: lineStart, end: lineEnd, text: "" },
                ],
              },
            }
          : {}),
      };
    }
  },
};

/** Something may leave the turn early, with gradients that then count for the next one. */
function stops(statement: Stmt): boolean {
  let found = false;
  walk(statement, (node) => {
    if (node.kind === "Continue" || node.kind === "Break") found = true;
    return !found;
  });
  return found;
}
