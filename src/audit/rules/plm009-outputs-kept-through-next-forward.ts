import { contains, statementOf } from "../../python/nodes.ts";
import type { Node, Stmt } from "../../python/tree.ts";
import { indentAt } from "../edits.ts";
import { isNetwork } from "../facts/networks.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM009",
    name: "outputs-kept-through-next-forward",
    summary: "A step's outputs, logits among them, stay alive while the next forward runs",
    severity: "note",
    fix: "safe",
    patterns: [9],
  },
  *check(facts) {
    if (facts.backwards.length === 0) return;
    const { file } = facts;
    for (const statement of file.all("Assign")) {
      const [target] = statement.targets;
      if (
        statement.targets.length !== 1 ||
        target?.kind !== "Name" ||
        statement.value.kind !== "Call" ||
        !isNetwork(statement.value.func, facts)
      )
        continue;
      const loop = facts.stepLoop(statement);
      if (!loop || !loop.body.includes(statement) || facts.gradMode(statement) === "off") continue;
      const definition = file.scopes.definitionAt(target);
      if (!definition || (file.scopes.scopeOf(target).bindings.get(target.id)?.length ?? 0) !== 1) continue;
      const uses = file.scopes.uses(definition);
      // The loss is computed inside the network, so its logits are what nobody needs any more.
      if (
        uses.length === 0 ||
        !uses.some((use) => isLoss(use)) ||
        uses.some((use) => !contains(loop, use) || use.start < statement.end)
      )
        continue;
      // Anything else that takes the whole output may keep it.
      if (!uses.every((use) => use.parent?.kind === "Attribute" || use.parent?.kind === "Subscript"))
        continue;
      const last = Math.max(...uses.map((use) => loop.body.findIndex((one) => contains(one, use))));
      const backward = Math.max(
        ...facts.backwards
          .filter(({ call }) => contains(loop, call))
          .map(({ call }) => loop.body.findIndex((one) => contains(one, call))),
      );
      const after = loop.body[Math.max(last, backward)];
      if (!after || backward < 0 || !isPlain(after)) continue;
      const lineEnd = file.lines.start(file.lines.line(after.end) + 1);
      if (lineEnd <= after.end || !/^\s*(?:#.*)?$/.test(file.text.slice(after.end, lineEnd))) continue;
      const ending = file.text.includes("\r\n") ? "\r\n" : "\n";
      yield {
        at: target,
        message: `\`${target.id}\` holds this step's logits until the next forward has finished, whose own loss then runs beside them`,
        fix: {
          grade: "safe",
          title: "Delete them after their last use",
          edits: [
            { start: lineEnd, end: lineEnd, text: `${indentAt(file, after.start)}del ${target.id}${ending}` },
          ],
        },
      };
    }
  },
};

function isLoss(use: { parent: Node | null }): boolean {
  const { parent } = use;
  return (
    (parent?.kind === "Attribute" && parent.attr === "loss") ||
    (parent?.kind === "Subscript" && parent.index.kind === "Str" && parent.index.value === "loss")
  );
}

function isPlain(statement: Stmt): boolean {
  return (
    statementOf(statement) === statement &&
    ["ExprStmt", "Assign", "AugAssign", "If", "With"].includes(statement.kind)
  );
}
