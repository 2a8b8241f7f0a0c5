import { blocksOf, contains, functionOf, statementOf, walk } from "../../python/nodes.ts";
import type { Call, Stmt } from "../../python/tree.ts";
import { indentAt } from "../edits.ts";
import type { Facts } from "../facts/facts.ts";
import { isNetwork } from "../facts/networks.ts";
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
      if (
        !within ||
        !statement?.parent ||
        !(facts.stepLoop(backward) ?? facts.hot(backward)) ||
        loss?.kind !== "Name"
      )
        continue;
      // With two backwards in a turn, clearing between them is what keeps their gradients apart: it cannot be moved.
      const single =
        facts.backwards.filter(({ call }) => contains(within, call)).length === 1 &&
        optimizerSteps(file).filter((step) => contains(within, step)).length === 1;
      const block = blocksOf(statement.parent).find((list) => list.includes(statement)) ?? [];
      const at = block.indexOf(statement);
      const clears = block.filter(
        (one): one is Stmt & { kind: "ExprStmt"; value: Call } =>
          one.kind === "ExprStmt" &&
          one.value.kind === "Call" &&
          one.value.func.kind === "Attribute" &&
          one.value.func.attr === "zero_grad",
      );
      const clear = single ? clears[0] : clears.findLast((one) => [1, 2].includes(at - block.indexOf(one)));
      if (at < 0 || (single && clears.length !== 1) || !clear) continue;
      const where = block.indexOf(clear);
      const made = file.scopes
        .reaching(loss)
        .map((definition) => block.findIndex((one) => contains(one, definition.node)));
      // The loss must be there before the clearing, and nothing may differentiate in between.
      if (where > at || made.length === 0 || made.some((index) => index < 0 || index >= where)) continue;
      if (!single && !runsBetween(block.slice(0, where), made, facts)) continue;
      const first = block[0]!;
      const lineStart = file.lines.start(file.lines.line(clear.start));
      const lineEnd = file.lines.start(file.lines.line(clear.start) + 1);
      const line = file.text.slice(clear.start, lineEnd).trimEnd();
      const alone =
        single &&
        !file.textOf(clear).includes("\n") &&
        !block.slice(0, where).some((one) => stops(one)) &&
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

/** One of the statements up to the loss runs a network, after the last step: gradients were there to be cleared before it. */
function runsBetween(before: readonly Stmt[], made: readonly number[], facts: Facts): boolean {
  const steps = optimizerSteps(facts.file);
  const from = before.findLastIndex((one) => steps.some((step) => contains(one, step)));
  return before.slice(from + 1, Math.max(...made) + 1).some((one) => {
    let found = false;
    walk(one, (node) => {
      if (node.kind === "Call" && isNetwork(node.func, facts)) found = true;
      return !found;
    });
    return found;
  });
}

/** Something may leave the turn early, with gradients that then count for the next one. */
function stops(statement: Stmt): boolean {
  let found = false;
  walk(statement, (node) => {
    if (node.kind === "Continue" || node.kind === "Break") found = true;
    return !found;
  });
  return found;
}
