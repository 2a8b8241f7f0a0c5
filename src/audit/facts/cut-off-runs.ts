import { functionOf } from "../../python/nodes.ts";
import type { Call, FunctionDef, Name } from "../../python/tree.ts";
import { isDetached } from "./detached.ts";
import type { Facts } from "./facts.ts";
import { lexicalGrad } from "./gradmode.ts";
import { handedIn } from "./handed-in.ts";
import { isNetwork } from "./networks.ts";

/**
 * `def contrast(mine, x, other): theirs = other(x)`, of which all that is ever read is `theirs.detach()`: a network that is handed
 * to a function of a step for what it says alone. Who cuts it off there does not rely on its being frozen elsewhere.
 */
export function* runsCutOff(facts: Facts): Generator<Call & { readonly func: Name }> {
  const { file } = facts;
  const asked = new Set(file.callsNamed("detach").map(functionOf));
  if (asked.size === 0) return;
  for (const call of file.all("Call")) {
    const { func } = call;
    const fn = func.kind === "Name" ? functionOf(call) : null;
    if (func.kind !== "Name" || fn?.kind !== "FunctionDef" || fn.parent?.kind !== "Module") continue;
    if (!asked.has(fn) || call.args.length === 0 || !isHandedTo(fn, func, facts) || !isDetached(call, file))
      continue;
    if (lexicalGrad(call, file) !== null || facts.gradMode(call) === "off" || !isGivenNetwork(func, facts))
      continue;
    // Run once more with its graph, it is what learns.
    const learns = file
      .callsNamed(func.id)
      .some(
        (other) => functionOf(other) === fn && lexicalGrad(other, file) !== "off" && !isDetached(other, file),
      );
    if (!learns && facts.everyStep(call)) yield call as Call & { readonly func: Name };
  }
}

/** By what is known of it here, or of what this file gives for it. */
function isGivenNetwork(name: Name, facts: Facts): boolean {
  if (isNetwork(name, facts)) return true;
  const given = facts.file.scopes.reaching(name).flatMap((one) => handedIn(one, facts.file, false));
  return given.length > 0 && given.every((one) => isNetwork(one, facts));
}

/** Under one of its parameters, which it only ever runs. */
function isHandedTo(fn: FunctionDef, name: Name, { file: { scopes } }: Facts): boolean {
  const [one, ...more] = scopes.reaching(name);
  return (
    one?.how === "param" &&
    more.length === 0 &&
    one.node.parent === fn &&
    scopes.uses(one).every(({ parent }) => parent?.kind === "Call" || parent?.kind === "Attribute")
  );
}
