import { classOf, contains, functionOf, lastWord, namesIn, walk } from "../../python/nodes.ts";
import type { Assign, Call, Expr, Node } from "../../python/tree.ts";
import { STATE, isCutOff, partsOf } from "./carried-states.ts";
import { attributesOf, isModuleRole, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { ACTING } from "./idle-states.ts";
import { bringsGraph, isCalledAsNetworks } from "./likely-graphs.ts";
import { isNetwork } from "./networks.ts";
import { loopsAround } from "./training.ts";

/** A name, an attribute or an entry that a step hands to a network with what the step before left there. */
export interface CarriedPlace {
  readonly read: Expr;
  /** What the call gives is what is left there. */
  readonly isMade: boolean;
}

/**
 * `out, self.h = self.cell(x, self.h)` in a step, `net(x, state=prev)` with `prev` bound below it: what goes into a network comes
 * from the turn before, each turn differentiates, and nothing cuts it off.
 */
export function carriedPlaces(facts: Facts): readonly CarriedPlace[] {
  return facts.guesses && facts.backwards.length > 0 ? facts.once(allCarried) : [];
}

function allCarried(facts: Facts): readonly CarriedPlace[] {
  const found: CarriedPlace[] = [];
  for (const write of facts.file.all("Assign"))
    for (const place of write.targets.flatMap(partsOf)) {
      const turn = turnOf(place, write, facts);
      if (!turn || isCut(place, write, turn, facts)) continue;
      const read = readBefore(place, write, turn, facts);
      if (read && (read.isMade || bringsGraph(write.value, facts))) found.push(read);
    }
  return found;
}

/** The loop that differentiates in each turn, or for what is on self the method that does. */
function turnOf(place: Expr, write: Assign, facts: Facts): Node | null {
  if (facts.gradMode(write) === "off") return null;
  const { backwards } = facts;
  const loop = loopsAround(write).find((one) => backwards.some(({ call }) => loopsAround(call)[0] === one));
  if (place.kind === "Name" || place.kind === "Subscript") return loop ?? null;
  if (selfAttribute(place) === null) return null;
  const fn = functionOf(write);
  if (loop || !fn) return loop ?? null;
  return backwards.some(({ call }) => functionOf(call) === fn) || isPartOfStep(place, write, facts)
    ? fn
    : null;
}

/** In a method that the step of its class comes to, and nothing in the loop over steps begins the state anew. */
function isPartOfStep(place: Expr, write: Assign, facts: Facts): boolean {
  const { file } = facts;
  const own = selfAttribute(place)!;
  const cls = classOf(write);
  if (!cls || !STATE.test(own) || isModuleRole(facts.role(cls)) || facts.hot(write) === null) return false;
  return (
    facts.backwards.some(({ call }) => classOf(call) === cls) &&
    !(attributesOf(cls, file).get(own)?.writes ?? []).some(
      ({ in: method }) =>
        method !== functionOf(write) &&
        file.callsNamed(method.name).some((call) => facts.stepLoop(call) !== null),
    )
  );
}

/** Detached, or begun anew, in the turn: by itself or by who is handed it. */
function isCut(place: Expr, write: Assign, turn: Node, facts: Facts): boolean {
  const { file } = facts;
  const text = file.textOf(place);
  const word = place.kind === "Name" ? place.id : lastWord(place);
  if (/model|net$|opt|loader|iter|batch|data|loss|score|reward|total|count|step|param|grad/i.test(word))
    return true;
  // `state, reward = env.step(action)`
  if (
    write.value.kind === "Call" &&
    /\benvs?\b|gym|game|simulat|\.(?:step|reset)$/i.test(file.textOf(write.value.func))
  )
    return true;
  if (/detach|\.data\b|no_grad|repackage/.test(file.textOf(write.value))) return true;
  if (isCutOff(word, turn, file) || facts.functionFacts(write).callersGradOff === "always") return true;
  const others = file
    .all("Assign")
    .filter(
      (one) =>
        one !== write &&
        contains(turn, one) &&
        one.targets.flatMap(partsOf).some((to) => file.textOf(to) === text),
    );
  // `self.state = post`, of what was computed from it above; what is not is new.
  return others.some(
    (one) =>
      !bringsGraph(one.value, facts) && !(one.value.kind === "Call" && mentions(one.value, text, facts)),
  );
}

/** Where it is handed to a network, above or in the statement that binds it. */
function readBefore(place: Expr, write: Assign, turn: Node, facts: Facts): CarriedPlace | null {
  const { file } = facts;
  const text = file.textOf(place);
  const word = place.kind === "Name" ? place.id : (selfAttribute(place) ?? lastWord(place));
  for (const call of file.all("Call")) {
    if (!contains(turn, call) || functionOf(call) !== functionOf(write)) continue;
    const same =
      contains(write, call) ||
      namesIn(write.value).some((name) => file.scopes.reaching(name).some(({ value }) => value === call));
    const isRun = isNetwork(call.func, facts) || isCalledAsNetworks(call.func);
    if (!isRun && !(same && isOfObject(call, facts) && STATE.test(word))) continue;
    if (
      facts.networks.isLoss(call.func) ||
      facts.gradMode(call) === "off" ||
      facts.callee(call)?.cutsOff === true
    )
      continue;
    for (const { value } of call.args)
      for (const part of partsOf(value.kind === "Starred" ? value.value : value))
        if (file.textOf(part) === text && isFromBefore(part, turn, facts))
          return { read: part, isMade: same };
  }
  return null;
}

/** `self.rssm.observe(embed, self.state)`: a method of something that is no library. */
function isOfObject({ func }: Call, { file }: Facts): boolean {
  return func.kind === "Attribute" && file.dotted(func) === null && !ACTING.test(func.attr);
}

/** The turn has not bound it anew above, and it was begun before. */
function isFromBefore(read: Expr, turn: Node, facts: Facts): boolean {
  const { file } = facts;
  if (read.kind === "Name") {
    const made = file.scopes.reaching(read);
    const mixes = made.some(({ value, name }) => value?.kind === "Binary" && mentions(value, name, facts));
    return (
      made.some(({ node }) => contains(turn, node)) &&
      (mixes || made.some(({ node }) => !contains(turn, node)))
    );
  }
  const text = file.textOf(read);
  const own = selfAttribute(read);
  const cls = own === null ? null : classOf(read);
  const begunBy = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  // Another method of the step may begin it anew.
  if (
    begunBy.some(
      ({ in: method }) =>
        method.name !== "__init__" && method !== functionOf(read) && !/reset|init/.test(method.name),
    )
  )
    return false;
  return !file
    .all("Assign")
    .some(
      (one) =>
        contains(turn, one) &&
        one.end < read.start &&
        one.targets.flatMap(partsOf).some((to) => file.textOf(to) === text),
    );
}

function mentions(expr: Expr, text: string, { file }: Facts): boolean {
  let found = namesIn(expr).some(({ id }) => id === text);
  walk(expr, (node) => {
    found ||= node.kind === "Attribute" && file.textOf(node) === text;
    return !found;
  });
  return found;
}
