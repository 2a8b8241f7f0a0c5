import { contains, functionOf } from "../../python/nodes.ts";
import type { Expr, Node } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { frequency } from "./guards.ts";

/** A setting of the run, or what a machine has: answered alike in every step. */
const SETTLED =
  /^(?:not )?(?:self|args|opts?|cfg|conf|config|hparams|FLAGS)\.[\w.]+$|is_cuda|cuda\.is_available|^(?:not )?self\.training|isinstance\(|use_cuda|^cuda$/;

/** What only somebody who asks for it gets. */
const ASKED = /return_|output_|debug|verbose/;

/** `transposed`, of `def forward(self, x, transposed=False)`: somebody has it on, or it would not be there. */
function isSwitch(test: Expr, { file }: Facts): boolean {
  if (test.kind !== "Name" || ASKED.test(test.id)) return false;
  const [given, ...others] = file.scopes.reaching(test);
  return others.length === 0 && given?.how === "param";
}

/**
 * Whether no condition but a setting of the run stands above, or, without these, but a switch of the function: what `else` makes up
 * for, or an empty batch brings, is rare.
 */
export function isLikelyOften(node: Node, facts: Facts, settings = true): boolean {
  const { file } = facts;
  const within = facts.hot(node)?.within;
  if (!within || frequency(node, within, file) !== "unknown") return true;
  for (let child = node, at = node.parent; at && at !== within; child = at, at = at.parent)
    if ((at.kind === "If" || at.kind === "IfExp") && child !== at.test)
      if (!(settings ? SETTLED.test(file.textOf(at.test)) : isSwitch(at.test, facts))) return false;
  const fn = functionOf(node);
  return !(fn?.kind === "FunctionDef" ? fn.body : []).some(
    (one) =>
      one.kind === "If" && one.end < node.start && !contains(one, node) && ASKED.test(file.textOf(one.test)),
  );
}
