import type { PythonFile } from "../../python/file.ts";
import { classOf, functionOf, lastWord, namesIn, walk } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef, Name } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { isTrained } from "./likely-repeats.ts";

/** What a policy is held against, which learns nothing, by its name. */
const REFERENCE =
  /^(?:\w+_)?(?:ref|reference|sft|initial|frozen)(?:_?(?:model|policy|actor|net|network|lm))?$/i;

/** What plays, or writes, with the policy, and keeps for the steps what came of it. */
const ROLLS = /(?:^|_)(?:roll_?outs?|(?:make_?)?experiences?|trajector(?:y|ies)|episodes?)(?:_|$)/;

/**
 * `self.ref_policy(queries, responses)` in a step, of what it is handed of a rollout, in a class or file whose `rollout` has asked
 * the same network for the same: with every epoch over the rollout it is asked again.
 */
export function* askedInRollout(facts: Facts): Generator<Call> {
  const { file } = facts;
  for (const call of file.calls.matching(REFERENCE)) {
    const fn = functionOf(call);
    if (fn?.kind !== "FunctionDef" || ROLLS.test(fn.name) || call.args.length === 0) continue;
    const before = file.calls.matching(REFERENCE).filter((one) => isInRollout(one, call, file));
    if (before.length === 0 || isTrained(call.func, file)) continue;
    if (facts.gradMode(call) !== "off" && !facts.networks.isFrozen(call.func)) continue;
    if (!isOfHanded(call, fn, file) || facts.everyStep(call) === null) continue;
    const wanted = wantedOf(call, file);
    const knows = (one: Call): boolean => {
      const code = file.codeOf(functionOf(one) as FunctionDef);
      return wanted.every((word) => new RegExp(`\\b${word}\\b`).test(code));
    };
    if (before.some(knows)) yield call;
  }
}

/** The same network, in a method of the same class, or function of the same file, that rolls out. */
function isInRollout(one: Call, call: Call, file: PythonFile): boolean {
  const fn = functionOf(one);
  return (
    fn?.kind === "FunctionDef" &&
    ROLLS.test(fn.name) &&
    classOf(one) === classOf(call) &&
    file.textOf(one.func) === file.textOf(call.func)
  );
}

/** Whether all that varies in what it is given is taken from what its function is handed. */
function isOfHanded(call: Call, fn: FunctionDef, file: PythonFile): boolean {
  const names = call.args.flatMap(({ value }) => variablesIn(value, fn, file));
  return (
    names.length > 0 &&
    call.args.every(({ value }) => isTaking(value)) &&
    names.every((name) => isHanded(name, fn, file))
  );
}

/** A parameter, or what is taken out of one: nothing that a network or a draw has made since. */
function isHanded(name: Name, fn: FunctionDef, file: PythonFile, depth = 0): boolean {
  return file.scopes.reaching(name).every(({ how, value }) => {
    if (how === "param") return true;
    if ((how !== "assign" && how !== "unpack") || !value || depth > 3 || !isTaking(value)) return false;
    const from = variablesIn(value, fn, file);
    return from.length > 0 && from.every((one) => isHanded(one, fn, file, depth + 1));
  });
}

/** No call in it gives anything new: `self.policy(x)`, `masked(tokens)` may. */
function isTaking(expr: Expr): boolean {
  let takes = true;
  walk(expr, (node) => {
    takes &&= node.kind !== "Call" || TAKES.test(lastWord(node.func));
    return takes;
  });
  return takes;
}

/** What takes things out of others, lays them side by side or brings them to a device. */
const TAKES =
  /^(?:unpack\w*|taken?|get\w*|pop|items|values|keys|tuple|list|dict|len|size|prepare\w*|to|to_\w+|cuda|send\w*|move\w*|cat|concat|stack|split|chunk|view|reshape|flatten|squeeze|unsqueeze|long|int|float|bool|clone|detach|contiguous|pad\w*|ones_like)$/;

/** The names of a function's own in there. */
function variablesIn(expr: Expr, fn: FunctionDef, file: PythonFile): readonly Name[] {
  return namesIn(expr).filter((name) => {
    const [one] = file.scopes.reaching(name);
    const owner = one?.how === "param" ? one.node.parent : one && functionOf(one.node);
    return name.id !== "self" && owner === fn;
  });
}

/** What is read of the result: `"logprobs"` of `out["logprobs"]`, `unpack(out, keys=("logprobs",))`; or what it is handed to at once. */
function wantedOf(call: Call, file: PythonFile): readonly string[] {
  const { parent } = call;
  if (parent?.kind === "Attribute") return [parent.attr];
  if (parent?.kind === "Subscript") return stringsIn(parent.index);
  if (parent?.kind === "Arg" && parent.parent?.kind === "Call")
    return [lastWord(parent.parent.func), ...stringsIn(parent.parent)];
  const target = parent?.kind === "Assign" && parent.targets[0]?.kind === "Name" ? parent.targets[0] : null;
  const made = target && file.scopes.definitionAt(target);
  return (made ? file.scopes.uses(made) : []).flatMap((use) => {
    const at = use.parent;
    if (at?.kind === "Attribute") return [at.attr];
    if (at?.kind === "Subscript") return stringsIn(at.index);
    return at?.kind === "Arg" && at.parent?.kind === "Call" ? stringsIn(at.parent) : [];
  });
}

function stringsIn(expr: Expr): string[] {
  const found: string[] = [];
  walk(expr, (node) => {
    if (node.kind === "Str" && /^\w+$/.test(node.value ?? "")) found.push(node.value!);
    return true;
  });
  return found;
}
