import { contains, walk } from "../../python/nodes.ts";
import type { Call, Expr, For } from "../../python/tree.ts";
import type { Facts } from "../facts/facts.ts";
import { carriedNames, isNetwork } from "../facts/networks.ts";
import { loopsAround } from "../facts/training.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM005",
    name: "micro-losses-summed-before-backward",
    summary: "Several forwards are summed and differentiated at once: all their graphs are alive together",
    severity: "warning",
    fix: "none",
    patterns: [5],
  },
  *check(facts) {
    if (facts.backwards.length === 0) return;
    const { file } = facts;
    for (const statement of file.all("AugAssign")) {
      if (statement.op !== "+" || statement.target.kind !== "Name" || facts.gradMode(statement) === "off")
        continue;
      const loop = loopsAround(statement)[0];
      const definition = file.scopes.definitionAt(statement.target);
      if (loop?.kind !== "For" || !definition || !facts.isDifferentiated(definition)) continue;
      // One backward, after the loop, in the same function.
      const after = facts.backwards.filter(({ loss }) => loss !== null && reads(loss, definition, facts));
      if (
        after.length === 0 ||
        after.some(({ call }) => contains(loop, call)) ||
        facts.backwards.some(({ call }) => contains(loop, call))
      )
        continue;
      const forward = forwardIn(loop, statement.value, facts);
      if (!forward || !isIndependent(forward, loop, facts)) continue;
      yield {
        at: statement,
        message: `Every turn's graph stays alive until \`${statement.target.id}\` is differentiated after the loop; backward in the loop gives the same gradients with one graph at a time`,
      };
    }
  },
};

function reads(loss: Expr, definition: { name: string }, facts: Facts): boolean {
  let found = false;
  walk(loss, (node) => {
    if (
      node.kind === "Name" &&
      node.id === definition.name &&
      facts.file.scopes.reaching(node).includes(definition as never)
    )
      found = true;
    return !found;
  });
  return found;
}

/** The network's call in this loop that the added value is computed from. */
function forwardIn(loop: For, value: Expr, facts: Facts, depth = 0): Call | null {
  if (depth > 6) return null;
  let found: Call | null = null;
  walk(value, (node) => {
    if (found || node.kind === "Lambda") return false;
    if (
      node.kind === "Call" &&
      isNetwork(node.func, facts) &&
      !/loss|crit/i.test(facts.file.textOf(node.func))
    )
      found = node;
    else if (node.kind === "Name" && !facts.file.scopes.binds(node))
      for (const one of facts.file.scopes.reaching(node))
        if (one.value && contains(loop, one.node) && (one.how === "assign" || one.how === "unpack"))
          found ??= forwardIn(loop, one.value, facts, depth + 1);
    return found === null;
  });
  return found;
}

/** Each turn runs on its own data: nothing is carried over, and no graph comes in from before the loop. */
function isIndependent(forward: Call, loop: For, facts: Facts): boolean {
  if (forward.args.length === 0 || carriedNames(forward, loop, facts).size > 0) return false;
  const target = new Set<string>();
  walk(loop.target, (node) => {
    if (node.kind === "Name") target.add(node.id);
  });
  let own = false;
  let outside = false;
  for (const arg of forward.args)
    walk(arg.value, (node) => {
      if (node.kind !== "Name") return;
      if (target.has(node.id)) own = true;
      for (const one of facts.file.scopes.reaching(node)) {
        if (contains(loop, one.node) && one.value)
          walk(one.value, (inner) => {
            if (inner.kind === "Name" && target.has(inner.id)) own = true;
          });
        if (!contains(loop, one.node) && one.value?.kind === "Call" && isNetwork(one.value.func, facts))
          outside = true;
      }
    });
  return own && !outside;
}
