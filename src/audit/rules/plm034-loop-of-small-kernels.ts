import { contains, walk } from "../../python/nodes.ts";
import type { Call, Clause, Expr, For, Node } from "../../python/tree.ts";
import type { Facts } from "../facts/facts.ts";
import { derivesFrom } from "../facts/kept.ts";
import { loopsAround } from "../facts/training.ts";
import type { Finding, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM034",
    name: "loop-of-small-kernels",
    summary: "Modules or parameters are computed with one by one: a few small kernels for each",
    severity: "note",
    fix: "none",
    patterns: [34],
  },
  *check(facts) {
    if (facts.file.calls.matching(/modules$|parameters$|children$/).length === 0) return;
    yield* sums(facts);
    yield* comprehensions(facts);
    yield* updates(facts);
  },
};

function* sums(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const statement of [...file.all("AugAssign"), ...file.all("Assign")]) {
    const target = statement.kind === "AugAssign" ? statement.target : statement.targets[0];
    const added = statement.kind === "AugAssign" ? statement.value : addedTo(statement.value, target);
    if (target?.kind !== "Name" || !added || (statement.kind === "AugAssign" && statement.op !== "+"))
      continue;
    const loop = loopsAround(statement).findLast(
      (one) => one.kind === "For" && isOverModules(one.iter, facts),
    );
    if (!loop || facts.gradMode(statement) === "off" || !computes(added, facts)) continue;
    const made = file.scopes.definitionAt(target);
    if (!made) continue;
    const differentiated =
      facts.isDifferentiated(made) ||
      facts.backwards.some(({ loss }) => loss !== null && derivesFrom(loss, new Set([made]), facts));
    // The sum must be handed on as a loss, returned, or made on every step.
    if (differentiated || file.scopes.uses(made).some((use) => isReturned(use)) || facts.everyStep(statement))
      yield report(statement, target.id);
  }
}

function addedTo(value: Expr, target: Expr | undefined): Expr | null {
  if (value.kind !== "Binary" || value.op !== "+" || target?.kind !== "Name") return null;
  const own = (expr: Expr): boolean => expr.kind === "Name" && expr.id === target.id;
  return own(value.left) ? value.right : own(value.right) ? value.left : null;
}

/** `sum(p.abs().sum() for p in model.parameters())` in a step. */
function* comprehensions(facts: Facts): Generator<Finding> {
  for (const comp of facts.file.all("Comp")) {
    const clause: Clause | undefined = comp.clauses[0];
    if (!clause || comp.value || !isOverModules(clause.iter, facts) || facts.gradMode(comp) === "off")
      continue;
    const call = comp.parent?.kind === "Arg" ? comp.parent.parent : null;
    // A list of them, to be stacked later.
    const listed = comp.parent?.kind === "Assign" && comp.parent.value === comp;
    if (
      !listed &&
      (call?.kind !== "Call" || !/^(?:builtins\.sum|torch\.stack)$/.test(facts.file.dotted(call.func) ?? ""))
    )
      continue;
    if (computes(comp.element, facts) && facts.everyStep(comp)) yield report(comp, "it");
  }
}

/** `for p in model.parameters(): p.data.add_(…)` on every step: one `torch._foreach_…` or an optimizer does them all. */
function* updates(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const loop of file.all("For")) {
    if (!isOverModules(loop.iter, facts) || !facts.everyStep(loop)) continue;
    let found: Call | null = null;
    walk(loop, (node) => {
      if (
        node.kind === "Call" &&
        node.func.kind === "Attribute" &&
        /^(?:add_|mul_|sub_|div_|lerp_|addcmul_|addcdiv_|copy_|clamp_|normal_)$/.test(node.func.attr) &&
        !/dist|reduce/.test(file.textOf(node.func.value))
      )
        found ??= node;
      return found === null;
    });
    const update = found as Call | null;
    if (update && loopsAround(update).find((one) => one.kind === "For" && contains(loop, one)) === loop)
      yield {
        at: update,
        message:
          "Each parameter is updated by its own small kernels, one launch after the other, on every step; a `torch._foreach_` function or a fused optimizer does all of them together",
      };
  }
}

function report(at: Node, name: string): Finding {
  return {
    at,
    message: `Each module adds its own handful of tiny kernels to \`${name}\`, forward and backward; stack the parameters and compute it in one expression`,
  };
}

function isOverModules(iter: For["iter"], facts: Facts): boolean {
  if (iter.kind !== "Call") return false;
  if (facts.file.dotted(iter.func) === "builtins.zip")
    return iter.args.some((arg) => isOverModules(arg.value, facts));
  return (
    iter.func.kind === "Attribute" &&
    /^(?:named_)?(?:modules|parameters|children)$/.test(iter.func.attr) &&
    facts.file.dotted(iter.func) === null
  );
}

/** Some torch arithmetic stands behind the added value, as seen in this loop. */
function computes(value: Expr, facts: Facts): boolean {
  const { what } = facts.value(value);
  if (what === "number") return false;
  if (value.kind === "Name")
    return facts.file.scopes
      .reaching(value)
      .some((one) => one.value !== null && one.value.kind !== "Name" && computes(one.value, facts));
  let found = false;
  walk(value, (node) => {
    if (node.kind === "Call" && node.func.kind === "Attribute") {
      if (
        /^(?:numel|size|dim|item|element_size)$/.test(node.func.attr) ||
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
  return found && !/\b(?:numel|item)\b/.test(facts.file.textOf(value));
}

function isReturned(node: Node): boolean {
  for (let at = node.parent; at; at = at.parent) {
    if (at.kind === "Return") return true;
    if (at.kind === "Call" || at.kind === "Compare" || at.kind === "If") return false;
  }
  return false;
}
