import { walk } from "../../python/nodes.ts";
import type { Expr, For, Node } from "../../python/tree.ts";
import type { Facts } from "../facts/facts.ts";
import { loopsAround } from "../facts/training.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM034",
    name: "loop-of-small-kernels",
    summary:
      "A loss or penalty is summed over modules or parameters one by one: a few small kernels for each",
    severity: "note",
    fix: "none",
    patterns: [34],
  },
  *check(facts) {
    if (!/modules\(|parameters\(|children\(/.test(facts.file.text)) return;
    const { file } = facts;
    for (const statement of file.all("AugAssign")) {
      if (statement.op !== "+" || statement.target.kind !== "Name") continue;
      const loop = loopsAround(statement).findLast((one) => one.kind === "For" && isOverModules(one, facts));
      if (!loop || facts.gradMode(statement) === "off" || !computes(statement.value, facts)) continue;
      const uses = file.scopes.definitionAt(statement.target);
      // The sum must be handed on as a loss: returned, or differentiated here.
      if (!uses || !(facts.isDifferentiated(uses) || file.scopes.uses(uses).some((use) => isReturned(use))))
        continue;
      yield {
        at: statement,
        message: `Each module adds its own handful of tiny kernels to \`${statement.target.id}\`, forward and backward; stack the parameters and compute it in one expression`,
      };
    }
  },
};

function isOverModules(loop: For, facts: Facts): boolean {
  const { iter } = loop;
  return (
    iter.kind === "Call" &&
    iter.func.kind === "Attribute" &&
    /^(?:named_)?(?:modules|parameters|children)$/.test(iter.func.attr) &&
    facts.file.dotted(iter.func) === null
  );
}

/** Some torch arithmetic stands behind the added value, as seen in this loop. */
function computes(value: Expr, facts: Facts): boolean {
  const { what, graph } = facts.value(value);
  if (what === "number" || graph === "no") return false;
  if (value.kind === "Name")
    return facts.file.scopes
      .reaching(value)
      .some((one) => one.value !== null && one.value.kind !== "Name" && computes(one.value, facts));
  let found = false;
  walk(value, (node) => {
    if (node.kind === "Call" && node.func.kind === "Attribute") {
      if (
        /^(?:numel|size|dim|item|element_size|detach)$/.test(node.func.attr) ||
        (facts.file.dotted(node.func) ?? "").startsWith("math.")
      )
        found = false;
      else if (
        /^(?:mean|sum|norm|pow|abs|square)$/.test(node.func.attr) ||
        (facts.file.dotted(node.func) ?? "").startsWith("torch.")
      ) {
        found = true;
        return false;
      }
    }
    return !found;
  });
  return found && !/\b(?:numel|item|detach|data)\b/.test(facts.file.textOf(value));
}

function isReturned(node: Node): boolean {
  for (let at = node.parent; at; at = at.parent) {
    if (at.kind === "Return") return true;
    if (at.kind === "Call" || at.kind === "Compare" || at.kind === "If") return false;
  }
  return false;
}
