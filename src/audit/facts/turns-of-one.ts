import { isFalse } from "../../python/file.ts";
import { functionOf } from "../../python/nodes.ts";
import type { Expr, If, Node } from "../../python/tree.ts";
import { defaultOf } from "./behind-options.ts";
import type { Facts } from "./facts.ts";
import { handedIn } from "./handed-in.ts";
import { isThrottle } from "./turns.ts";

/** What is done now and then whatever is asked for: it may well be every epoch. */
const APART = /eval|val(?!ue)|test|sav|ckpt|checkpoint|sampl|generat|epoch|profil/i;

/** The innermost `if step % args.log_every == 0:` around a node, where that is 1 unless somebody says otherwise. */
export function turnOfOne(node: Node, within: Node, facts: Facts): If | null {
  for (let child = node, at = node.parent; at && at !== within; child = at, at = at.parent) {
    if (at.kind !== "If" || child === at.test || !isThrottle(at.test)) continue;
    return at.body.includes(child as never) && isOfOne(at.test, facts) ? at : null;
  }
  return null;
}

/** `step % n == 0`, `not step % n`, also beside what says nothing of turns: `rank == 0 and step % n == 0`. */
function isOfOne(test: Expr, facts: Facts): boolean {
  if (test.kind === "Bool")
    return test.op === "and" && test.values.every((one) => !isThrottle(one) || isOfOne(one, facts));
  const asked =
    test.kind === "Unary" && test.op === "not"
      ? test.operand
      : test.kind === "Compare" && test.ops.join() === "==" && isZero(test.rights[0]!)
        ? test.left
        : null;
  return (
    asked?.kind === "Binary" &&
    asked.op === "%" &&
    !APART.test(facts.file.textOf(asked)) &&
    isOne(asked.right, facts)
  );
}

const isZero = (expr: Expr): boolean => isFalse(expr) || (expr.kind === "Num" && expr.text === "0");

/** `args.log_every`, `LOG_EVERY = 1`, `def fit(loader, log_every=1)` that nobody here gives another. */
function isOne(by: Expr, facts: Facts): boolean {
  const { file, project } = facts;
  if (by.kind === "Num") return by.text === "1";
  if (by.kind !== "Name") return defaultOf(by, file, project) === 1;
  const [one, ...more] = file.scopes.reaching(by);
  if (!one || more.length > 0) return false;
  if (one.how === "assign" && one.value && functionOf(one.value) !== null) return isOne(one.value, facts);
  // At the top of a script, it is said once.
  if (one.how === "assign") return one.value?.kind === "Num" && one.value.text === "1";
  const given = one.node.kind === "Param" ? one.node.default : null;
  return given !== null && isOne(given, facts) && handedIn(one, file, true).length === 0;
}
