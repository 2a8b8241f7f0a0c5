import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord } from "../../python/nodes.ts";
import type { Call, ClassDef, Expr, FunctionDef, Node } from "../../python/tree.ts";
import { STATE, handedOn, isCutOff, partsOf } from "./carried-states.ts";
import { methodsOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { ACTING } from "./idle-states.ts";
import { ranNetwork } from "./networks.ts";

/** A state on self that each observation carries on with its graph. */
export interface ActingState {
  readonly at: Expr;
  readonly own: string;
}

/**
 * `belief = self.belief`, `*_, belief = self.transition(obs.unsqueeze(0), belief)` and `self.belief = belief` in a method that is
 * given one observation after the other: nobody differentiates it there, and the graph of a whole episode grows behind the state.
 */
export function* actingStates(facts: Facts): Generator<ActingState> {
  if (!facts.guesses) return;
  const { file } = facts;
  const told = new Set<Call>();
  const ofActing = (node: Node): FunctionDef | null => {
    const fn = functionOf(node);
    if (!classOf(node) || fn?.kind !== "FunctionDef" || fn.name === "__init__") return null;
    return takesOne(fn, file) || actsOnly(fn, file) ? fn : null;
  };
  for (const { at, own, given } of handedToKeepers(facts)) {
    const fn = ofActing(at);
    const run = fn && runBehind(given, facts);
    if (!run || told.has(run) || !takes(own, run, file) || !isRecorded(run, classOf(at)!, fn, facts))
      continue;
    if (isCut(own, given, fn, file)) continue;
    told.add(run);
    yield { at, own };
  }
  for (const write of file.all("Assign")) {
    const cls = classOf(write);
    const fn = ofActing(write);
    if (!cls || !fn) continue;
    for (const at of write.targets.flatMap(partsOf)) {
      const own = selfAttribute(at);
      const run = own === null || NO_STATE.test(own) ? null : runBehind(write.value, facts);
      if (!run || told.has(run) || !takes(own!, run, file) || !isRecorded(run, cls, fn, facts)) continue;
      if (isCut(own!, write.value, fn, file)) continue;
      told.add(run);
      yield { at, own: own! };
    }
  }
}

/** What is drawn or counted, and what generation carries without gradients. */
const NO_STATE = /action|reward|cache|past|kv|mask|count|step|idx|index|rng|optim|loss|norm/i;

/** What an environment or a sensor gives, by its name. */
const OBSERVED = /^(?:obs\w*|observations?|frames?|images?|img|states?|pixels|ob)$/;

/** `obs.unsqueeze(0)`, `obs[None]`, `torch.from_numpy(obs)` of what the method is given: one, as the environment gave it. */
function takesOne(fn: FunctionDef, file: PythonFile): boolean {
  const given = fn.params.map(({ name }) => name).filter((name) => OBSERVED.test(name));
  if (given.length === 0) return false;
  const any = `\\b(?:${given.join("|")})\\b`;
  return new RegExp(
    `${any}[^\\n]*(?:\\.unsqueeze\\(\\s*(?:dim\\s*=\\s*)?0\\s*\\)|\\[None\\b)|(?:from_numpy|torch\\.(?:as_)?tensor|to_tensor|FloatTensor)\\(\\s*(?:np\\.\\w+\\(\\s*\\[?)?${any}`,
  ).test(file.codeOf(fn));
}

/**
 * `def step(self, observation)` of an agent, by whose names it acts, and whose code cuts what it hands out from its graph or takes
 * it to the host: what is learnt from is run anew.
 */
function actsOnly(fn: FunctionDef, file: PythonFile): boolean {
  const cls = classOf(fn);
  return (
    cls !== null &&
    (ACTING.test(fn.name) ||
      (fn.name === "step" &&
        [cls.name, ...cls.args.map(({ value }) => lastWord(value))].some((name) => AGENT.test(name)))) &&
    fn.params.some(({ name }) => OBSERVED.test(name)) &&
    HANDED_CUT.test(file.codeOf(fn)) &&
    !file.all("Name").some(({ id, start, end }) => LEARNT.test(id) && start >= fn.start && end <= fn.end)
  );
}

const AGENT = /Agent|Policy|Actor|Player/;

/**
 * `action.detach()`, `to_numpy(action)`; over all that a tree of tensors holds, `buffer_method(out, "detach")` and
 * `tree_map(torch.detach, out)`; and what is sent to the host, where an environment takes it.
 */
const HANDED_CUT =
  /\.(?:detach|numpy|item|tolist|cpu)\(|\b(?:to_|get_)(?:numpy|np|cpu)\(|["'](?:detach|numpy|cpu)["']|\btorch\.(?:Tensor\.)?detach\b/;

/** What is learnt from as it comes out of an act. */
const LEARNT = /log_?p(?:rob|i)|entropy|^values?$/i;

/** What keeps a state that it is handed, by its name. */
const KEEPS =
  /^_?(?:advance|set|update|store|save|keep|carry|remember)_(?:\w+_)?(?:states?|hidden|memory|belief|hxs|carry)$/;

/**
 * `self.advance_rnn_state(state)` beside `self.prev_rnn_state`: what is handed to a method of the class, or to one that it has from
 * elsewhere and that is called so, is what the next call is given.
 */
function* handedToKeepers({
  file,
}: Facts): Generator<{ readonly at: Expr; readonly own: string; readonly given: Expr }> {
  for (const call of file.calls.matching(KEEPS)) {
    const name = selfAttribute(call.func);
    const cls = name === null ? null : classOf(call);
    const [arg, ...more] = call.args;
    if (!cls || !arg || arg.star !== 0 || more.length > 0) continue;
    const method = methodsOf(cls).find((one) => one.name === name);
    if (method ? CUTS.test(file.codeOf(method)) : cls.args.length === 0) continue;
    const param = method?.params.at(-1)?.name ?? "";
    const kept = method
      ? new RegExp(`\\bself\\.(\\w+)\\s*=\\s*${param}\\b`).exec(file.codeOf(method))?.[1]
      : null;
    if (method && kept === undefined) continue;
    const run = file.all("Attribute").find((one) => {
      const own = selfAttribute(one);
      return (
        own !== null &&
        functionOf(one) === functionOf(call) &&
        (kept ? own === kept : STATE.test(own) && !NO_STATE.test(own) && own !== name)
      );
    });
    if (run) yield { at: call, own: selfAttribute(run)!, given: arg.value };
  }
}

const CUTS = /detach|\.data\b|no_grad|\.(?:cpu|numpy|item)\(/;

/** The call that gave it, by itself, as a part of what it gave, or under a name. */
function runBehind(value: Expr, facts: Facts, depth = 0): Call | null {
  if (depth > 3) return null;
  if (value.kind === "Call") return value;
  if (value.kind === "Subscript" || value.kind === "Attribute")
    return selfAttribute(value) === null ? runBehind(value.value, facts, depth + 1) : null;
  if (value.kind !== "Name") return null;
  for (const { how, value: made } of facts.file.scopes.reaching(value))
    if ((how === "assign" || how === "unpack") && made) {
      const run = runBehind(made, facts, depth + 1);
      if (run) return run;
    }
  return null;
}

/** `self.belief`, or a name that it was given, on one way at least. */
function takes(own: string, run: Call, { scopes }: PythonFile): boolean {
  const isOwn = (expr: Expr): boolean => selfAttribute(handedOn(expr)) === own;
  return run.args
    .flatMap(({ value }) => partsOf(value.kind === "Starred" ? value.value : value))
    .map((value) => handedOn(value))
    .some(
      (part) =>
        isOwn(part) ||
        (part.kind === "Name" && scopes.reaching(part).some(({ value }) => value !== null && isOwn(value))),
    );
}

/** Run with gradients, by a network or by a method of the class that runs one and cuts nothing off. */
function isRecorded(run: Call, cls: ClassDef, fn: FunctionDef, facts: Facts): boolean {
  const { file } = facts;
  if (facts.gradMode(run) === "off" || facts.functionFacts(run).callersGradOff === "always") return false;
  if (facts.callee(run)?.cutsOff === true) return false;
  if (facts.backwards.some(({ call }) => functionOf(call) === fn)) return false;
  const own = selfAttribute(run.func);
  const method = methodsOf(cls).find(({ name }) => name === own);
  if (!method) return ranNetwork(run, facts) !== null;
  return (
    !/detach|no_grad|inference_mode/.test(file.codeOf(method)) &&
    file.all("Call").some((call) => contains(method, call) && ranNetwork(call, facts) !== null)
  );
}

/** `self.belief = belief.detach()`, or of what is handed in or kept by another name. */
function isCut(own: string, kept: Expr, fn: FunctionDef, file: PythonFile): boolean {
  return (
    new RegExp(`\\b${own}\\b[^\\n]*(?:detach|\\.data\\b)|\\.detach_?\\(\\)[^\\n]*\\b${own}\\b`).test(
      file.code,
    ) ||
    /\.(?:detach|item|numpy|cpu|tolist)\(|\.data\b/.test(file.textOf(kept)) ||
    (kept.kind === "Name" && isCutOff(kept.id, fn, file))
  );
}
