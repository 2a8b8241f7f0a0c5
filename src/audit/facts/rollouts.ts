import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord } from "../../python/nodes.ts";
import type { Assign, Call, Expr, Name, Node } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { lexicalGrad } from "./gradmode.ts";
import { ACTING, stepsEnvironment } from "./idle-states.ts";
import { isFactory, isTensorOf } from "./keepers.ts";
import { isNetwork } from "./networks.ts";
import { loopsAround } from "./training.ts";
import { assignsOfKind } from "./assigns.ts";

/** What is put away, with its graph, in a game that is played to learn from it. */
export interface Played {
  readonly at: Call | Assign;
  /** `values` of `values.append(value)`, of `values[t] = value`. */
  readonly into: Expr;
  /** The `value`; of `memory.append(Step(state, value))` as well. */
  readonly kept: Expr;
  /** Written into a tensor that outlasts the game, and chains the graphs of all games. */
  readonly chains: boolean;
}

/**
 * `value = critic(state)`, `values.append(value)`, `env.step(action)` in a loop: nobody differentiates that graph where the loop
 * that learns runs the critic anew, for several epochs, and nobody can where the graphs of all games are in one tensor.
 */
export function* playedWithGraphs(facts: Facts): Generator<Played> {
  const { file } = facts;
  for (const call of file.callsNamed("append")) {
    const into = call.func.kind === "Attribute" ? call.func.value : null;
    const given = call.args[0]?.value;
    if (!into || !given || !isPlaying(call, facts)) continue;
    for (const kept of partsKept(given, file)) {
      const run = learnerRun(kept, facts);
      if (!run || !(isLearntAnew(run, call, facts) || isCutBeside(kept, run, call, facts))) continue;
      yield { at: call, into, kept, chains: false };
      break;
    }
  }
  for (const at of assignsOfKind("Subscript", file)) {
    const [target] = at.targets;
    if (target?.kind !== "Subscript" || target.index.kind === "Str" || !isPlaying(at, facts)) continue;
    const into = target.value;
    const chains = isOfAllGames(into, at, facts);
    if (!chains && !isTensor(into, file)) continue;
    const run = learnerRun(at.value, facts);
    if (run && (chains || isLearntAnew(run, at, facts))) yield { at, into, kept: at.value, chains };
  }
}

/** In a loop that steps an environment, or of a method that plays in one by other means, and differentiates nothing itself. */
function isPlaying(node: Node, facts: Facts): boolean {
  const { backwards, file } = facts;
  const [loop] = loopsAround(node);
  const fn = loop ? functionOf(loop) : null;
  // What predicts may go through data.
  const acts = fn?.kind === "FunctionDef" && ACTING.test(fn.name) && !fn.name.includes("predict");
  return (
    loop !== undefined &&
    (acts || stepsEnvironment(loop, file)) &&
    lexicalGrad(node, file) === null &&
    facts.gradMode(node) !== "off" &&
    !backwards.some(({ call }) => contains(loop, call))
  );
}

/** The parts of `(state, value)`, `{"value": value}` and `Step(state, value)`, also under a name. */
function partsKept(expr: Expr, file: PythonFile): readonly Expr[] {
  const made = expr.kind === "Name" ? (file.scopes.onlyValue(expr) ?? expr) : expr;
  if (made.kind === "Tuple" || made.kind === "List") return made.items;
  if (made.kind === "Dict") return made.values;
  const isRecord = made.kind === "Call" && made.func.kind === "Name" && /^[A-Z]/.test(made.func.id);
  return isRecord ? made.args.map(({ value }) => value) : [expr];
}

/** Methods of a tensor, or of a distribution, whose result has its graph. */
const GOES_ON = /^(?:squeeze|unsqueeze|view|reshape|flatten|float|mean|sum|log_prob|entropy|clone|to)$/;

/** What is drawn has no graph. */
const DRAWN = /^(?:\w+_)?actions?$/;

/** Parts of an agent, and what they are asked for by, that hand out what they compute. */
const PARTS = /^(?:(?:\w+_)?(?:critic|actor|value|policy|head|net)|get_values?|evaluate(?:_actions?)?)$/;

/** Copies that do not learn. */
const COPIES = /ema|target|old|frozen|teacher|ref(?:erence)?_|_ref/i;

/** The run of a network that learns, which what is kept comes from, with its graph. */
export function learnerRun(expr: Expr, facts: Facts, depth = 0): Call | null {
  const { file } = facts;
  if (depth > 6) return null;
  const again = (one: Expr): Call | null => learnerRun(one, facts, depth + 1);
  if (expr.kind === "Name") {
    const runs = DRAWN.test(expr.id)
      ? []
      : file.scopes
          .reaching(expr)
          .map(({ how, value }) => ((how === "assign" || how === "unpack") && value ? again(value) : null));
    return runs.every((run) => run !== null) ? (runs[0] ?? null) : null;
  }
  // `values[0, action]`
  if (expr.kind === "Subscript") return again(expr.value);
  if (expr.kind === "Binary") return again(expr.left) ?? again(expr.right);
  if (expr.kind !== "Call" || file.dotted(expr.func) !== null) return null;
  const { func } = expr;
  if (func.kind === "Attribute" && GOES_ON.test(func.attr)) return again(func.value);
  if (lexicalGrad(expr, file) !== null || facts.gradMode(expr) === "off") return null;
  if (COPIES.test(file.textOf(func)) || facts.networks.isFrozen(func)) return null;
  return isNetwork(func, facts) || PLAYERS.test(lastWord(func)) || isPartOfNetwork(func, facts) ? expr : null;
}

/** What is called as a function, and plays: a network, wherever it was made. */
const PLAYERS = /^(?:\w+_)?(?:agent|policy|actor|critic)$/;

/** `self.policy.critic`, `agent.get_value`: of a network, which hands out what it computes as it is. */
function isPartOfNetwork(callee: Expr, facts: Facts): boolean {
  if (callee.kind !== "Attribute" || !isNetwork(callee.value, facts)) return false;
  const methods = facts.file.all("FunctionDef").filter(({ name }) => name === callee.attr);
  return methods.length === 0
    ? PARTS.test(callee.attr)
    : methods.every((fn) => !/detach|no_grad|inference_mode|\.item\(|\.numpy\(/.test(facts.file.codeOf(fn)));
}

/**
 * In a loop with a backward, which what is kept is not in, the same network is run again, with gradients. A backward beside those
 * loops, in the function that plays, may go through what was kept.
 */
function isLearntAnew(run: Call, at: Node, facts: Facts): boolean {
  const { backwards, file } = facts;
  const words = wordsOf(run.func);
  const isRun = ({ func }: Call): boolean =>
    wordsOf(func).some((word) => words.includes(word)) &&
    facts.gradMode(func) !== "off" &&
    (isNetwork(func, facts) || (func.kind === "Attribute" && isNetwork(func.value, facts)));
  const loops = [...new Set(backwards.flatMap(({ call }) => loopsAround(call)))].filter(
    (loop) => !contains(loop, at) && file.all("Call").some((call) => contains(loop, call) && isRun(call)),
  );
  return (
    loops.length > 0 &&
    backwards.every(
      ({ call }) => functionOf(call) !== functionOf(at) || loops.some((loop) => contains(loop, call)),
    )
  );
}

/** `chance, value = agent(view)`, `chances.append(chance.detach())` and `values.append(value)`: who cuts one off where it is kept wants no graph. */
function isCutBeside(kept: Expr, run: Call, at: Node, { backwards, file }: Facts): boolean {
  const fn = functionOf(at);
  const [loop] = loopsAround(at);
  const [made] = kept.kind === "Name" ? file.scopes.reaching(kept) : [];
  const tuple = made?.node.parent;
  if (made?.value !== run || tuple?.kind !== "Tuple" || backwards.some(({ call }) => functionOf(call) === fn))
    return false;
  const isKept = ({ start, end }: Node): boolean =>
    file
      .callsNamed("append")
      .some((call) => contains(loop!, call) && call.start < start && end < call.end && cuts(call));
  const cuts = (call: Call): boolean => /\.(?:detach|item)\(\)/.test(file.textOf(call));
  return tuple.items.some((item) => {
    const other = item.kind === "Name" && item !== made.node ? file.scopes.definitionAt(item) : null;
    return other !== null && file.scopes.uses(other).some(isKept);
  });
}

/** `policy` and `critic` of `self.policy.critic`. */
function wordsOf(callee: Expr): readonly string[] {
  const own = lastWord(callee);
  return callee.kind === "Attribute" && callee.value.kind !== "Call"
    ? [own, ...wordsOf(callee.value)].filter((word) => word !== "self" && word !== "")
    : [own];
}

/** `values = torch.zeros(n, device=device)`, once for all games, and never cut off: its name, or that of an attribute. */
function isOfAllGames(into: Expr, at: Node, facts: Facts): boolean {
  const { file } = facts;
  const text = file.textOf(into);
  const isCut = file
    .callsNamed("detach", "detach_", "zero_", "fill_", "zeros_like")
    .some(({ start, end }) => file.text.slice(start, end).includes(text));
  if (isCut) return false;
  if (into.kind === "Name") {
    const [outermost] = loopsAround(at).toReversed();
    return isTensor(into, file) && madeOf(into, file).every(({ node }) => !contains(outermost!, node));
  }
  // `self.buffer.values`, of a store that is made once.
  if (into.kind === "Attribute" && selfAttribute(into.value) !== null) return true;
  const own = selfAttribute(into);
  const cls = own === null ? null : classOf(into);
  const writes = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  return (
    cls !== null &&
    isTensorOf(cls, own!) &&
    writes.every(({ how, in: method }) => how !== "assign" || method !== functionOf(at))
  );
}

const madeOf = (name: Name, { scopes }: PythonFile) => scopes.lookup(name)?.definitions ?? [];

/** Bound to nothing but `torch.zeros(…)` and the like. */
function isTensor(into: Expr, file: PythonFile): boolean {
  const made = into.kind === "Name" ? madeOf(into, file) : [];
  return made.length > 0 && made.every(({ value }) => value !== null && isFactory(value));
}
