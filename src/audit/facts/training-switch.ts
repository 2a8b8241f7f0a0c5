import type { PythonFile } from "../../python/file.ts";
import type { Call, Expr, FunctionDef, Node } from "../../python/tree.ts";

/** After the name of a switch: it is off unless a call turns it on. */
const OFF_UNLESS_ASKED = "?";

/**
 * `training` of `def update(self, x, training=True):` where every backward and every optimizer step stands under
 * `if training:`. Who calls it with False only looks.
 */
export function trainingSwitch(
  fn: FunctionDef,
  taken: readonly Call[],
  file: PythonFile,
): string | undefined {
  const [first, ...more] = taken.map((call) => switchesAround(call, fn, file));
  const name = first?.find((one) => more.every((others) => others.includes(one)));
  const given = fn.params.find((param) => param.name === name)?.default;
  return name && isFalse(given) ? name + OFF_UNLESS_ASKED : name;
}

/** The parameters that have to be true for the node to run. */
function switchesAround(node: Node, fn: FunctionDef, file: PythonFile): readonly string[] {
  const found: string[] = [];
  for (let child = node, at = node.parent; at && at !== fn; child = at, at = at.parent) {
    if (at.kind !== "If" || !at.body.includes(child as never)) continue;
    for (const asked of at.test.kind === "Bool" && at.test.op === "and" ? at.test.values : [at.test]) {
      const [definition, ...others] = asked.kind === "Name" ? file.scopes.reaching(asked) : [];
      if (definition?.node.kind === "Param" && definition.node.parent === fn && others.length === 0)
        found.push(definition.name);
    }
  }
  return found;
}

/** What a call gives, as far as a switch may be among it: "110;training=0", or undefined where stars hide it. */
export function switchesGiven({ args }: Call): string | undefined {
  let places = "";
  let names = "";
  for (const { name, star, value } of args) {
    if (star !== 0) return undefined;
    const told = isFalse(value) ? "0" : "1";
    if (name === null) places += told;
    else names += `;${name}=${told}`;
  }
  return places + names;
}

/** Whether a call that gives this turns the switch off. */
export function isTurnedOff(
  named: string | null,
  params: readonly string[],
  given: string | undefined,
): boolean {
  if (named === null || given === undefined) return false;
  const offUnlessAsked = named.endsWith(OFF_UNLESS_ASKED);
  const name = offUnlessAsked ? named.slice(0, -1) : named;
  const [places, ...names] = given.split(";");
  const told =
    names.find((one) => one.startsWith(`${name}=`))?.at(-1) ??
    places![params.indexOf(name) - (params[0] === "self" ? 1 : 0)];
  return told === undefined ? offUnlessAsked : told === "0";
}

function isFalse(expr: Expr | null | undefined): boolean {
  return expr?.kind === "Const" && expr.value === false;
}
