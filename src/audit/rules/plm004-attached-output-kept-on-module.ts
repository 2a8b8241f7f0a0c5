import { classOf, functionOf } from "../../python/nodes.ts";
import type { Node } from "../../python/tree.ts";
import { appendCall } from "../edits.ts";
import { selfAttribute } from "../facts/classes.ts";
import { derivesFromInput } from "../facts/flow.ts";
import type { Rule } from "../rule.ts";

const CUTS = new Set(["detach", "cpu", "numpy", "item", "tolist", "data", "shape", "size", "dim"]);

export const rule: Rule = {
  meta: {
    code: "PLM004",
    name: "attached-output-kept-on-module",
    summary:
      "A forward stores a tensor with its graph on the module, and every reader only wants its numbers",
    severity: "warning",
    fix: "unsafe",
    patterns: [4],
  },
  *check(facts) {
    for (const statement of facts.file.all("Assign")) {
      const attribute = statement.targets.length === 1 ? selfAttribute(statement.targets[0]!) : null;
      const cls = attribute === null ? null : classOf(statement);
      const fn = functionOf(statement);
      if (
        !cls ||
        fn?.kind !== "FunctionDef" ||
        fn.name !== "forward" ||
        !/^(?:module|lightning)$/.test(facts.role(cls))
      )
        continue;
      if (facts.gradMode(statement) === "off" || !derivesFromInput(statement.value, facts)) continue;
      const reads = facts.file.all("Attribute").filter((node) => node.attr === attribute && !isWritten(node));
      // An auxiliary loss is read with its graph; where nobody reads it here, another file may.
      if (reads.length === 0 || !reads.every((read) => isCut(read))) continue;
      yield {
        at: statement,
        message: `\`self.${attribute}\` keeps this forward's graph alive until the next one, and all its readers cut it off anyway`,
        fix: {
          grade: "unsafe",
          title: "Detach what is kept",
          edits: appendCall(statement.value, ".detach()"),
        },
      };
    }
  },
};

function isWritten(node: Node): boolean {
  return node.parent?.kind === "Assign" && node.parent.targets.includes(node as never);
}

function isCut(node: Node): boolean {
  return node.parent?.kind === "Attribute" && CUTS.has(node.parent.attr);
}
