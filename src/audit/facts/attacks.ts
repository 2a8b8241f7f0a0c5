import { isTrue, keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { contains, functionOf } from "../../python/nodes.ts";
import type { Expr, Name, Node } from "../../python/tree.ts";
import { loopsAround, optimizerSteps } from "./training.ts";
import type { Backward } from "./training.ts";

/** The backwards that make the code around them a step: not those of an attack, or of a field's normals, which are after the gradient of an input. */
export function backwardsTaken(file: PythonFile, all: readonly Backward[]): readonly Backward[] {
  if (all.length === 0 || !file.mentions(".grad")) return all;
  const attacks = file.once(attackers);
  return attacks.size === 0 ? all : all.filter(({ call }) => !attacks.has(functionOf(call)));
}

/**
 * Functions that ask for the gradient of a variable of theirs and step no optimizer: that go along its sign, or clamp what
 * comes of it, or have another variable in each turn.
 */
function attackers(file: PythonFile): ReadonlySet<Node | null> {
  const found = new Set<Node | null>();
  const asked = gradientsAsked(file);
  if (asked.size === 0) return found;
  const steps = new Set<Node | null>(optimizerSteps(file).map(functionOf));
  const moved = new Set<Node | null>(file.callsNamed("sign", "clamp", "clamp_", "clip").map(functionOf));
  for (const { attr, value } of file.all("Attribute")) {
    if (attr !== "grad" || value.kind !== "Name") continue;
    const fn = functionOf(value);
    if (!fn || steps.has(fn) || asked.get(fn)?.has(value.id) !== true) continue;
    if (moved.has(fn) || isOfTurn(value, file)) found.add(fn);
  }
  return found;
}

/** What learns is there before the loop. */
function isOfTurn(variable: Name, file: PythonFile): boolean {
  const [loop] = loopsAround(variable);
  return loop !== undefined && file.scopes.reaching(variable).every(({ node }) => contains(loop, node));
}

/** By function, the variables that are told to require a gradient there. */
function gradientsAsked(file: PythonFile): ReadonlyMap<Node | null, ReadonlySet<string>> {
  const found = new Map<Node | null, Set<string>>();
  const add = (expr: Expr | undefined): void => {
    if (expr?.kind !== "Name") return;
    const fn = functionOf(expr);
    found.set(fn, (found.get(fn) ?? new Set<string>()).add(expr.id));
  };
  for (const { targets } of file.assignsTo("requires_grad"))
    if (targets[0]?.kind === "Attribute") add(targets[0].value);
  for (const { func } of file.callsNamed("requires_grad_")) if (func.kind === "Attribute") add(func.value);
  for (const call of file.calls.given(["requires_grad"]))
    if (isTrue(keyword(call, "requires_grad")!.value) && call.parent?.kind === "Assign")
      add(call.parent.targets[0]);
  return found;
}
