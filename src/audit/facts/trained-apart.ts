import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, walk } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef, Node } from "../../python/tree.ts";
import { attributesOf, methodsOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { isCallee } from "./invariants.ts";
import type { Loop } from "./training.ts";

/**
 * `self.critic(states)` among the updates of the actor, which another loop trains: nothing that this loop does, or calls, has
 * to do with its weights but to run it without gradients.
 */
export function isTrainedApart(network: Expr, loop: Loop, facts: Facts): boolean {
  const { file } = facts;
  // Weights may come to an optimizer one after the other, and to a network from another one.
  if (file.callsNamed("add_param_group", "tie_weights").length > 0) return false;
  if (!isMadeAlone(network, facts)) return false;
  const kin = kinOf(network, facts);
  const within = [loop, ...calledIn(loop, facts)];
  return [...file.all("Name"), ...file.all("Attribute")].every(
    (node) =>
      !within.some((one) => contains(one, node)) ||
      !kin.has(keyOf(node, facts)) ||
      (keyOf(node, facts) === keyOf(network, facts) && isCallee(node) && facts.gradMode(node) === "off"),
  );
}

/** The same for every mention of one variable, or of one attribute of self. */
function keyOf(expr: Expr, { file }: Facts): unknown {
  if (expr.kind === "Name") return file.scopes.lookup(expr)?.definitions[0] ?? null;
  return selfAttribute(expr);
}

/** The network, and what was made with it: its optimizer, a list of its parameters, and whatever was made of these. */
function kinOf(network: Expr, facts: Facts): ReadonlySet<unknown> {
  const kin = new Set([keyOf(network, facts)]);
  for (let size = 0; size !== kin.size;) {
    size = kin.size;
    for (const { targets, value } of facts.file.all("Assign"))
      if (holds(value, kin, facts))
        for (const target of targets)
          for (const part of target.kind === "Tuple" ? target.items : [target]) kin.add(keyOf(part, facts));
  }
  kin.delete(null);
  return kin;
}

/** `Adam(self.critic.parameters())`; what a run of it gives has nothing to do with its weights. */
function holds(value: Expr, kin: ReadonlySet<unknown>, facts: Facts): boolean {
  let found = false;
  walk(value, (node) => {
    if (node.kind === "Name" || node.kind === "Attribute")
      found ||= !isCallee(node) && kin.has(keyOf(node, facts));
    return !found;
  });
  return found;
}

/** Made here by one call, that no other network is handed to. */
function isMadeAlone(network: Expr, facts: Facts): boolean {
  const { file } = facts;
  const own = selfAttribute(network);
  const cls = own === null ? null : classOf(network);
  const made: readonly (Expr | null)[] =
    network.kind === "Name"
      ? (file.scopes.lookup(network)?.definitions ?? []).map(({ value }) => value)
      : ((cls && attributesOf(cls, file).get(own!)?.writes) ?? []).map(({ value }) => value);
  const [one, ...more] = made;
  if (one?.kind !== "Call" || more.length > 0) return false;
  let alone = true;
  walk(one, (node) => {
    if ((node.kind === "Name" || node.kind === "Attribute") && !isCallee(node))
      alone &&= (node.kind === "Name" && node.id === "self") || !isOfNetwork(node, facts);
    return alone;
  });
  return alone;
}

function isOfNetwork(expr: Expr, facts: Facts): boolean {
  return facts.networks.is(expr) || facts.value(expr).what === "module";
}

/** The functions and methods of this file that a loop calls, and those that these call. */
function calledIn(loop: Loop, { file }: Facts): ReadonlySet<FunctionDef> {
  const found = new Set<FunctionDef>();
  const look = (within: Node): void =>
    walk(within, (node) => {
      const fn = node.kind === "Call" ? calledBy(node, file) : undefined;
      if (!fn || found.has(fn)) return;
      found.add(fn);
      look(fn);
    });
  look(loop);
  return found;
}

function calledBy({ func }: Call, file: PythonFile): FunctionDef | undefined {
  const own = selfAttribute(func);
  const cls = own === null ? null : classOf(func);
  return cls ? methodsOf(cls).find(({ name }) => name === own) : file.functionNamed(file.dotted(func));
}
