import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { contains, functionOf, statementOf } from "../../python/nodes.ts";
import type { AugAssign, Assign, Call, Expr, FunctionDef, Name } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { held, lossesByFunction } from "./handed-losses.ts";
import { isMeter, isReset, outlives } from "./kept.ts";
import type { Keep } from "./kept.ts";
import { returnsByName } from "./returns.ts";
import { callTarget } from "./summary.ts";
import { loopsAround } from "./training.ts";
import type { Backward } from "./training.ts";

/**
 * Functions that add a loss, after they have differentiated it, to what they are handed: `history.append(loss)` gives "history",
 * `sums["loss"] += loss` gives "+sums", and `total += loss`, where that is handed back, "+total>" or, as one of several, "+total>0".
 */
export function grownParameters(
  file: PythonFile,
  backwards: readonly Backward[],
): ReadonlyMap<FunctionDef, readonly string[]> {
  const found = new Map<FunctionDef, string[]>();
  const losses = lossesByFunction(file, backwards);
  if (losses.size === 0) return found;
  const look = (at: Call | AugAssign | Assign, into: Expr, added: Expr): void => {
    const fn = functionOf(at);
    const known = fn?.kind === "FunctionDef" ? losses.get(fn) : undefined;
    const root = into.kind === "Subscript" ? into.value : into;
    if (!known || root.kind !== "Name" || held(added, known, file) !== "+") return;
    const made = file.scopes.lookup(root)?.definitions ?? [];
    const isSame = made.every(
      (one) =>
        (one.how === "param" && one.node.parent === fn) ||
        one.how === "augment" ||
        contains(at, one.node) ||
        // Begun anew with a step of the optimizer, as likely as not.
        (at.kind === "Call" && isReset(one, fn as FunctionDef)),
    );
    if (!isSame || !made.some(({ how }) => how === "param") || made.some((one) => known.has(one))) return;
    if (loopsAround(at).length > 0) return;
    const back = at.kind === "Call" || into !== root ? "" : handedBack(root, fn as FunctionDef, file);
    if (back === null) return;
    const list = found.get(fn as FunctionDef) ?? [];
    list.push(`${at.kind === "Call" ? "" : "+"}${root.id}${back}`);
    found.set(fn as FunctionDef, list);
  };
  for (const at of file.callsNamed("append"))
    if (at.func.kind === "Attribute" && at.args.length === 1) look(at, at.func.value, at.args[0]!.value);
  for (const at of file.all("AugAssign")) if (at.op === "+") look(at, at.target, at.value);
  for (const at of file.all("Assign")) {
    const [target] = at.targets;
    if (at.value.kind !== "Binary" || at.value.op !== "+" || target?.kind !== "Name") continue;
    const { left, right } = at.value;
    if (left.kind === "Name" && left.id === target.id) look(at, target, right);
  }
  return found;
}

/** ">" of `return total`, ">0" of `return total, seen`; null where it is not handed back. */
function handedBack({ id }: Name, fn: FunctionDef, file: PythonFile): string | null {
  const isIt = (expr: Expr): boolean => expr.kind === "Name" && expr.id === id;
  const places = (file.once(returnsByName).get(file.qualified(fn)) ?? []).map((value) =>
    value.kind === "Tuple" ? value.items.findIndex(isIt) : isIt(value) ? "" : -1,
  );
  const [first] = places;
  return first === undefined || places.some((place) => place === -1 || place !== first) ? null : `>${first}`;
}

/** What a loop carries through the call of a function of another file that adds its losses to it. */
export function* grownElsewhere(facts: Facts, how: Keep["how"]): Generator<Keep & { readonly root: Name }> {
  const { file } = facts;
  for (const call of facts.callsTo("keeps")) {
    const callee = loopsAround(call).length > 0 ? facts.callee(call) : null;
    const grown = callee?.keeps?.grown ?? [];
    // Of those of this file more is known.
    if (grown.length === 0 || file.functionNamed(callTarget(call, file))) continue;
    if (facts.gradMode(call) === "off") continue;
    for (const one of grown) {
      const [, sum, name, back] = /^(\+?)([^>]*)(>?.*)$/.exec(one)!;
      const shift = callee!.params[0] === "self" ? 1 : 0;
      const root = keyword(call, name!)?.value ?? positional(call, callee!.params.indexOf(name!) - shift);
      if ((sum === "+") !== (how === "sum") || root?.kind !== "Name") continue;
      if (back !== "" && !isTaken(root, back!.slice(1), call)) continue;
      if (how === "list" && isMeter(root, facts, "append")) continue;
      for (const kept of outlives({ at: statementOf(call)!, added: root, how, root }, facts))
        yield { ...kept, root };
    }
  }
}

/** `total = step(batch, total)`, or `total, seen = step(batch, total, seen)`, of which the sum is at that place. */
function isTaken({ id }: Name, place: string, { parent }: Call): boolean {
  const [target, ...more] = parent?.kind === "Assign" ? parent.targets : [];
  const taken = place === "" ? target : target?.kind === "Tuple" ? target.items[Number(place)] : undefined;
  return more.length === 0 && taken?.kind === "Name" && taken.id === id;
}
