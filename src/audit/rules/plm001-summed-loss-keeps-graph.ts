import { contains } from "../../python/nodes.ts";
import type { AugAssign, Expr, Name } from "../../python/tree.ts";
import { appendCall } from "../edits.ts";
import type { Facts } from "../facts/facts.ts";
import { mayBeDifferentiated } from "../facts/flow.ts";
import { loopsAround } from "../facts/training.ts";
import type { Finding, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM001",
    name: "summed-loss-keeps-graph",
    summary: "A loss with its graph is added to a running sum that is never differentiated",
    severity: "error",
    fix: "safe",
    patterns: [1],
  },
  *check(facts) {
    for (const statement of facts.file.all("AugAssign")) {
      if (statement.op === "+" && statement.target.kind === "Name")
        yield* judge(statement, statement.target, statement.value, facts);
    }
    for (const statement of facts.file.all("Assign")) {
      const [target] = statement.targets;
      if (
        statement.targets.length !== 1 ||
        target?.kind !== "Name" ||
        statement.value.kind !== "Binary" ||
        statement.value.op !== "+"
      )
        continue;
      const { left, right } = statement.value;
      if (left.kind === "Name" && left.id === target.id) yield* judge(statement, target, right, facts);
      else if (right.kind === "Name" && right.id === target.id) yield* judge(statement, target, left, facts);
    }
  },
};

function* judge(
  statement: AugAssign | { readonly start: number; readonly end: number },
  target: Name,
  added: Expr,
  facts: Facts,
): Generator<Finding> {
  const [loop] = loopsAround(target);
  if (!loop || facts.value(added).graph !== "yes" || facts.gradMode(target) === "off") return;
  const definition = facts.file.scopes.definitionAt(target);
  if (!definition) return;
  // The sum must outlive the turn of the loop: its first value is set outside.
  if (
    facts.file.scopes
      .scopeOf(target)
      .bindings.get(target.id)
      ?.some((other) => other !== definition && other.how !== "augment" && contains(loop, other.node)) ===
    true
  )
    return;
  const freed = isBackwarded(added, loop, facts);
  if (!freed && mayBeDifferentiated(definition, facts)) return;
  if (facts.isDifferentiated(definition)) return;
  yield {
    at: statement,
    severity: freed ? "warning" : "error",
    message: freed
      ? `\`${target.id}\` keeps the graph nodes of every step's loss alive; their tensors are freed by backward, the nodes are not`
      : `\`${target.id}\` keeps every turn's whole graph, activations included, alive: memory grows until it runs out`,
    fix: { grade: "safe", title: "Detach what is added", edits: appendCall(added, ".detach()") },
  };
}

/** Whether the added value itself is differentiated in the same loop, which frees what its graph saved. */
export function isBackwarded(
  expr: Expr,
  loop: { readonly start: number; readonly end: number },
  facts: Facts,
): boolean {
  const names: Name[] = [];
  const collect = (inner: Expr): void => {
    if (inner.kind === "Name") names.push(inner);
    else if (inner.kind === "Binary") {
      collect(inner.left);
      collect(inner.right);
    } else if (inner.kind === "Call" && inner.func.kind === "Attribute") collect(inner.func.value);
  };
  collect(expr);
  const definitions = new Set(names.flatMap((name) => facts.file.scopes.reaching(name)));
  return facts.backwards.some(
    ({ call, loss }) =>
      loop.start <= call.start &&
      call.end <= loop.end &&
      loss?.kind === "Name" &&
      facts.file.scopes.reaching(loss).some((definition) => definitions.has(definition)),
  );
}
