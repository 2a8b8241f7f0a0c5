import { contains, functionOf, statementOf } from "../../python/nodes.ts";
import type { Expr, Name } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { isNetwork } from "./networks.ts";

/**
 * `feats, logits = teacher(x)` and `feats = [f.clone() for f in feats]`, or one of them alone, where that is all that is done with
 * them: nothing was recorded, so that no graph holds what the network returned.
 */
export function isOneOfUnrecorded(expr: Expr, facts: Facts): boolean {
  const { scopes } = facts.file;
  const [one, ...more] = expr.kind === "Name" ? scopes.reaching(expr) : [];
  if (!one?.value || more.length > 0 || scopes.uses(one).length !== 1) return false;
  if (facts.gradMode(expr) !== "off") return false;
  if (one.how === "unpack") return !KEPT.test(one.name) && isUnrecordedRun(one.value, facts);
  if (one.how !== "iterate") return false;
  // `feats.items()`, `feats.values()`
  const { value } = one;
  const asked = value.kind === "Call" && value.func.kind === "Attribute" ? value.func : null;
  const all = asked && /^(?:items|values)$/.test(asked.attr) ? asked.value : value;
  // The name that these are given is no value of what they are taken from.
  const [made, ...others] =
    all.kind === "Name"
      ? scopes.reaching(all).filter((given) => !given.value || !contains(given.value, all))
      : [];
  return (
    others.length === 0 &&
    (made?.how === "unpack" || made?.how === "assign") &&
    !KEPT.test(made.name) &&
    made.value !== null &&
    isUnrecordedRun(made.value, facts) &&
    scopes.uses(made).filter((use) => use === all || !isAfterRenaming(use, all)).length === 1
  );
}

/** What a network may go on to write into. */
const KEPT = /queue|memor|bank|buffer|cache|state|hidden|proto|cent(?:er|re|roid)|weight|param/i;

/** A comprehension below `feats = [f.clone() for f in feats]` sees any value of the name, and means the last. */
function isAfterRenaming(use: Name, all: Expr): boolean {
  const statement = statementOf(all);
  const [target] = statement?.kind === "Assign" ? statement.targets : [];
  return (
    use.scope?.kind === "Comp" &&
    target?.kind === "Name" &&
    target.id === use.id &&
    use.start > statement!.end &&
    functionOf(use) === functionOf(all)
  );
}

function isUnrecordedRun(expr: Expr, facts: Facts): boolean {
  return expr.kind === "Call" && isNetwork(expr.func, facts) && facts.gradMode(expr) === "off";
}
