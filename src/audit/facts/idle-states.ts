import type { PythonFile } from "../../python/file.ts";
import { contains, functionOf, statementOf } from "../../python/nodes.ts";
import type { Assign, Attribute, Call, ClassDef, Expr, FunctionDef, Name, Node } from "../../python/tree.ts";
import { isEnvironmentStep } from "./actions.ts";
import { STATE, handedOn, isCutOff, isRenamed, keptBelow, ownState, partsOf } from "./carried-states.ts";
import { isOnlyMadeBy, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { lexicalGrad } from "./gradmode.ts";
import { isNetwork, ranNetwork } from "./networks.ts";
import { anyCutsItsOwn, constructed } from "./recurrent.ts";
import { instanceType } from "./summary.ts";
import { loopsAround } from "./training.ts";
import type { Loop } from "./training.ts";
import { assignsOfKind } from "./assigns.ts";

/** A state that is carried on with its graph where nobody differentiates it. */
export interface Idle {
  /** The state, where it is handed in again. */
  readonly read: Expr;
  /** What may cut it off by itself, or record nothing, for all that is seen here. */
  readonly by: Expr | null;
}

/** Methods of agents that choose what to do in an environment, or play in it to have something to learn from. */
export const ACTING =
  /^_?(?:act|explore|predict|(?:select|choose|get|sample|predict|take)_actions?|(?:sample|collect|gather)_(?:training_)?(?:data|rollouts?|experiences?|trajector(?:y|ies)|episodes?|samples))$/;

/** `action, self.hidden = self.actor(obs, self.hidden)`, where all else that came back is cut off: nobody differentiates it, and the state keeps the graphs of a whole episode. */
export function* whileActing(facts: Facts): Generator<Idle> {
  const { file } = facts;
  const isActing = (fn: FunctionDef): boolean => ACTING.test(fn.name) || stepsEnvironment(fn, file);
  if (facts.backwards.length === 0 && !file.all("FunctionDef").some(isActing)) return;
  for (const statement of file.all("Assign")) {
    const [target] = statement.targets;
    const call = statement.value;
    if (!target || call.kind !== "Call" || call.args.length < 2) continue;
    const passed = call.args.flatMap(({ value }) => partsOf(value)).map((value) => handedOn(value));
    const states = passed.filter((part) => STATE.test(selfAttribute(part) ?? ""));
    // `self.net(self.state, self.hidden)`: what is observed may be called a state as well.
    const whole =
      states.find((part) => partsOf(target).map(ownState).includes(selfAttribute(part))) ?? states[0];
    const read = whole ?? passed.map((part) => windowOf(part, statement, file)).find((part) => part !== null);
    const fn = read ? functionOf(statement) : null;
    if (!read || fn?.kind !== "FunctionDef" || facts.backwards.some((one) => functionOf(one.call) === fn))
      continue;
    const acts = isActing(fn);
    if (facts.backwards.length === 0 && !acts) continue;
    const own = selfAttribute(read)!;
    const kept = [...partsOf(target).map(ownState), ...keptBelow(target, statement, facts)];
    const runs =
      ranNetwork(call, facts) ??
      (acts &&
        call.func.kind === "Attribute" &&
        (isNetwork(call.func.value, facts) ||
          /^(?:\w+_)?(?:agent|policy|actor)$/.test(selfAttribute(call.func) ?? "")));
    if (!kept.includes(own) || !runs || !isRecorded(call, fn, facts)) continue;
    // Cut off, here or by the network.
    const cut = new RegExp(`\\b${own}\\b[^\\n]*detach|\\.detach_?\\(\\)[^\\n]*\\b${own}\\b`);
    if (cut.test(file.code) && cut.test(withoutCopies(own, file))) continue;
    const cls = classBehind(call.func, facts);
    // A network of another file, of one who acts: it may detach the state itself, and the note says so.
    if (cls ? /\.detach|no_grad|inference_mode/.test(file.codeOf(cls)) : !acts) continue;
    if (!isCutBelow(target, own, statement, facts) && !(acts && returnsNumbers(fn, file))) continue;
    // Who reads the state elsewhere may differentiate it; of a memory that is read by windows, who learns from it.
    const isReadElsewhere = (one: Expr): boolean =>
      selfAttribute(one) === own &&
      functionOf(one) !== fn &&
      !isWritten(one) &&
      !(MEASURING.test(fn.name) && isCarriedOn(one, own)) &&
      (whole !== undefined || facts.backwards.some(({ call: by }) => functionOf(by) === functionOf(one)));
    if (file.all("Attribute").some((one) => one.attr === own && isReadElsewhere(one))) continue;
    yield { read, by: cls ? null : call.func };
  }
}

/**
 * `self.memory` behind `window = pick(self.memory, 1, places)`, which a network is handed under that name, where what it gives is
 * put into the memory again: `self.memory[workers, step] = item`.
 */
function windowOf(part: Expr, statement: Node, file: PythonFile): Expr | null {
  const made = part.kind === "Name" ? file.scopes.onlyValue(part) : null;
  const from =
    made?.kind === "Call"
      ? made.args.map(({ value }) => value)
      : made?.kind === "Subscript"
        ? [made.value]
        : [];
  const own = from.find((one) => STATE.test(selfAttribute(one) ?? ""));
  if (!own || functionOf(own) !== functionOf(statement)) return null;
  const isKept = ({ targets: [target], start }: Assign): boolean =>
    start > statement.end &&
    target?.kind === "Subscript" &&
    selfAttribute(target.value) === selfAttribute(own);
  return file.all("Assign").some((one) => functionOf(one) === functionOf(own) && isKept(one)) ? own : null;
}

/** The code without `self.memories[i] = self.memory.detach()`, `rows.append(self.memory.detach())`: a copy for later leaves the state as it is. */
function withoutCopies(own: string, file: PythonFile): string {
  let code = file.code;
  for (const { func } of file.callsNamed("detach")) {
    const statement =
      func.kind === "Attribute" && selfAttribute(func.value) === own ? statementOf(func) : null;
    const copies =
      statement?.kind === "Assign"
        ? statement.targets.every((target) => target.kind === "Subscript" && ownState(target) !== own)
        : statement?.kind === "ExprStmt" &&
          statement.value.kind === "Call" &&
          statement.value.func.kind === "Attribute" &&
          /^(?:append|add|push|store|insert)$/.test(statement.value.func.attr);
    if (statement && copies) code = code.replaceAll(file.codeOf(statement), "");
  }
  return code;
}

/** Functions that only measure. */
const MEASURING = /eval|valid|test|infer|perplexity/i;

/** `for x, y in batches(val_data):` beside the training, of which only numbers are taken. */
function judges(loop: Loop, { backwards, file }: Facts): boolean {
  return (
    loop.kind === "For" &&
    /(?:^|[^a-z])(?:val|valid|validation|test|eval|dev)(?:[^a-z]|$)/i.test(file.textOf(loop.iter)) &&
    !backwards.some(({ call }) => contains(loop, call)) &&
    file.callsNamed("item").some((call) => contains(loop, call))
  );
}

/**
 * `out, hidden = net(x, hidden)` in a loop that measures or acts, and differentiates nothing: the state holds the graphs
 * of all turns until somebody lets go of it.
 */
export function* throughRollout(facts: Facts): Generator<Idle> {
  const { file } = facts;
  for (const statement of assignsOfKind("Tuple", file)) {
    const [target] = statement.targets;
    const call = statement.value;
    if (target?.kind !== "Tuple" || call.kind !== "Call") continue;
    // `net(x, (h, c))`, `net((x, (h, c)))`
    const parts = call.args.flatMap(({ value }) => (value.kind === "Tuple" ? partsOf(value) : [value]));
    if (parts.length < 2) continue;
    const loop = loopsAround(statement)[0];
    if (!loop) continue;
    const names = new Set(
      partsOf(target).flatMap((part) => (part.kind === "Name" && STATE.test(part.id) ? [part.id] : [])),
    );
    // `out, new_hidden = net(x, hidden)`, and `hidden = new_hidden` below it.
    const given = parts
      .map((value) => handedOn(value))
      .find(
        (value): value is Name =>
          value.kind === "Name" && (names.has(value.id) || (names.size > 0 && STATE.test(value.id))),
      );
    if (!given || !isCarried(given, statement, loop, facts)) continue;
    const fn = functionOf(statement);
    const collects = isCollected(call, target, given, statement, loop, facts);
    // Beside a training, as after each of its epochs, only what is drawn from the outputs goes on.
    const beside = facts.backwards.some((one) => functionOf(one.call) === fn);
    if (fn?.kind === "Lambda") continue;
    // In a game that is learnt from, what is drawn may be differentiated by the chance it had.
    if (
      beside &&
      !collects &&
      (isPlayedOn(given, loop, facts) || !(isDrawn(loop, facts) || judges(loop, facts)))
    )
      continue;
    if (beside && file.once(anyCutsItsOwn)) continue;
    const within = beside ? loop : (fn ?? file.tree.module);
    const all = [given.id, ...names];
    if (facts.gradMode(call) === "off" || all.some((name) => isCutOff(name, within, file))) continue;
    // `belief, state = agent.infer(obs, belief, state)`: all that comes back goes in again, while an environment is stepped.
    const played =
      call.func.kind === "Attribute" &&
      partsOf(target).every((part) => part.kind === "Name" && isGivenIn(part.id, call)) &&
      stepsEnvironment(loop, file);
    const acts = call.func.kind === "Attribute" && (collects || ACTING.test(call.func.attr));
    const network = acts ? (call.func as Attribute).value : call.func;
    if (!played && !collects && !isNetwork(network, facts) && !facts.networks.is(network)) continue;
    const inVain =
      played ||
      beside ||
      collects ||
      (acts
        ? isCutBelow(target, given.id, statement, facts, /^actions?$/)
        : fn !== null && MEASURING.test(fn.name) && isMeasured(fn, facts));
    if (inVain) yield { read: given, by: played || collects ? call.func : null };
  }
}

/**
 * `action, logp, value, state = agent.act(obs, state)` in a loop that steps an environment, beside the loops that learn from
 * what it collects: all but the state is cut off there, so that nothing is differentiated through it.
 */
function isCollected(
  call: Call,
  target: Expr,
  state: Name,
  statement: Node,
  loop: Loop,
  facts: Facts,
): boolean {
  const { backwards, file } = facts;
  const { func } = call;
  const runs =
    ranNetwork(call, facts) !== null || (func.kind === "Attribute" && isNetwork(func.value, facts));
  const type = instanceType(
    func.kind === "Attribute" && isNetwork(func.value, facts) ? func.value : func,
    file,
  );
  const cls = file.all("ClassDef").find((one) => file.qualified(one) === type);
  return (
    runs &&
    !(cls && /\.detach|no_grad|inference_mode/.test(file.codeOf(cls))) &&
    !file.once(anyCutsItsOwn) &&
    stepsEnvironment(loop, file) &&
    !backwards.some((one) => contains(loop, one.call)) &&
    isCutBelow(target, state.id, statement, facts, /^actions?$/) &&
    // What is read of it beside the loop, as for the value of the last state, is cut off too.
    partsOf(target)
      .flatMap((part) =>
        part.kind === "Name" && part.id === state.id ? [file.scopes.definitionAt(part)] : [],
      )
      .flatMap((made) => (made ? file.scopes.uses(made) : []))
      .every((use) => contains(loop, use) || isCut(use, facts) || lexicalGrad(use, file) === "off")
  );
}

/** Whether the loop steps an environment, or the state that it leaves is read below it with its graph. */
function isPlayedOn(state: Name, loop: Loop, facts: Facts): boolean {
  const { file } = facts;
  return (
    stepsEnvironment(loop, file) ||
    file.scopes
      .reaching(state)
      .filter((one) => contains(loop, one.node))
      .flatMap((one) => file.scopes.uses(one))
      .some((use) => use.start > loop.end && lexicalGrad(use, file) !== "off" && !isCut(use, facts))
  );
}

/** A loop that samples, with no backward in it or around it. */
function isDrawn(loop: Loop, { backwards, stepLoops, file }: Facts): boolean {
  return (
    !stepLoops.has(loop) &&
    !backwards.some(({ call }) => contains(loop, call)) &&
    /\.sample\(\)|multinomial\(|argmax\(|\.topk\(/.test(file.codeOf(loop))
  );
}

function isGivenIn(name: string, { args }: Call): boolean {
  return args.some(({ value }) => partsOf(value).some((part) => part.kind === "Name" && part.id === name));
}

/** `env.step(action)` in every turn. */
export function stepsEnvironment(within: Node, file: PythonFile): boolean {
  return file.callsNamed("step").some((call) => contains(within, call) && isEnvironmentStep(call, file));
}

/** Begun before the loop, and in each turn what the statement, or something computed from that, left. */
function isCarried(state: Name, statement: Node, loop: Node, facts: Facts): boolean {
  const definitions = facts.file.scopes.reaching(state);
  return (
    definitions.some((one) => !contains(loop, one.node)) &&
    definitions.some(
      (one) =>
        contains(loop, one.node) &&
        (contains(statement, one.node) ||
          isRenamed(one, statement, facts) ||
          // `hidden = hidden * masks`
          (one.value?.kind === "Binary" && one.value.left.kind === "Name" && one.value.left.id === state.id)),
    )
  );
}

/** Gradients are recorded, and whoever calls it differentiates nothing of what it hands back. */
function isMeasured(fn: FunctionDef, facts: Facts): boolean {
  const { callersGradOff, reachesBackward } = facts.functionFacts(fn.body[0]!);
  return callersGradOff === "never" && !reachesBackward && lexicalGrad(fn.body[0]!, facts.file) === null;
}

/**
 * `value, logits, self.hidden = self.net(x, self.hidden)` in the method that plays to learn: a game that is only measured begins
 * with a state of its own.
 */
function isCarriedOn(state: Expr, own: string): boolean {
  const statement = statementOf(state);
  return (
    statement?.kind === "Assign" &&
    statement.value.kind === "Call" &&
    statement.targets.flatMap(partsOf).map(ownState).includes(own) &&
    statement.value.args.flatMap(({ value }) => partsOf(value)).some((part) => handedOn(part) === state)
  );
}

/** `self.hidden = …`, also as one of several. */
function isWritten(expr: Expr): boolean {
  let at: Node = expr;
  while (at.parent?.kind === "Tuple") at = at.parent;
  return at.parent?.kind === "Assign" && at.parent.targets.some((target) => target === at);
}

/** Gradients are recorded there; where no caller is seen, whoever writes `detach` says so. */
function isRecorded(call: Call, fn: FunctionDef, facts: Facts): boolean {
  const mode = facts.gradMode(call);
  return (
    mode === "on" ||
    (mode === "unknown" &&
      lexicalGrad(call, facts.file) === null &&
      facts.functionFacts(call).callersGradOff === "unknown" &&
      (ACTING.test(fn.name) || /\.detach\(\)|\.data\b/.test(facts.file.codeOf(fn))))
  );
}

/** The class of this file whose instance on self a call runs: `self.actor(…)`, `self.actor.act(…)`. */
function classBehind(func: Expr, { file }: Facts): ClassDef | null {
  const holder = selfAttribute(func) === null && func.kind === "Attribute" ? func.value : func;
  return (
    file
      .all("ClassDef")
      .find((cls) => isOnlyMadeBy(holder, file, (made) => constructed(made, file) === file.qualified(cls))) ??
    null
  );
}

/**
 * Whether a function hands back the numbers alone: `return action.item()`, `return actions.cpu().numpy()`, `-> np.ndarray`,
 * and `return np.clip(action, -1, 1)` of such a name.
 */
function returnsNumbers(fn: FunctionDef, file: PythonFile): boolean {
  if (fn.returns && /^(?:np|numpy)\.(?:nd)?array$|^(?:int|float)$/.test(file.textOf(fn.returns))) return true;
  return file
    .all("Return")
    .some(
      ({ value }) =>
        value !== null &&
        functionOf(value) === fn &&
        (NUMBERS.test(file.textOf(value)) || partsOf(value).every((part) => isOfNumbers(part, file))),
    );
}

/** What has no graph, whatever it was made of. */
const NUMBERS = /\.(?:item|numpy|tolist|detach)\(\)|\.data\b/;

/** `np.clip(a, low, high)`, `int(a)`, which take no tensor with a graph but to read it, and names of nothing but such results. */
function isOfNumbers(expr: Expr, file: PythonFile): boolean {
  if (expr.kind === "Name") {
    const made = file.scopes.reaching(expr);
    return (
      made.length > 0 &&
      made.every(
        ({ how, value }) =>
          how === "assign" &&
          value?.kind === "Call" &&
          (NUMBERS.test(file.textOf(value)) || isOfNumbers(value, file)),
      )
    );
  }
  const name = expr.kind === "Call" ? file.dotted(expr.func) : null;
  return name !== null && /^(?:numpy\.\w|builtins\.(?:int|float)$)/.test(name);
}

/** Whether all that was unpacked beside the state is only read below, or cut off from its graph; what is `sampled` has none. */
function isCutBelow(
  target: Expr,
  own: string,
  statement: Node,
  facts: Facts,
  sampled: RegExp | null = null,
): boolean {
  const { file } = facts;
  let any = false;
  for (const part of partsOf(target)) {
    // `logits, self.hx, self.cx = …`: both halves of a state.
    if (ownState(part) === own || STATE.test(ownState(part) ?? "")) continue;
    if (part.kind === "Name" && part.id === own) continue;
    const made = part.kind === "Name" ? file.scopes.definitionAt(part) : null;
    if (!made) return false;
    for (const use of file.scopes.uses(made)) {
      // `self.hidden = hidden`
      const into = statementOf(use);
      if (into?.kind === "Assign" && into !== statement && ownState(into.targets[0]!) === own) continue;
      const cut = isCut(use, facts) || lexicalGrad(use, file) === "off";
      if (!cut && !sampled?.test(made.name)) return false;
      any ||= cut;
    }
  }
  return any;
}

/** `action.detach()`, `logits[0].argmax(-1)`, `action.cpu().data.numpy()`; `policy = Categorical(logits=logits)`, of which no more is read. */
function isCut(use: Expr, facts: Facts): boolean {
  const { file } = facts;
  let at: Expr = use;
  for (;;) {
    const { parent } = at;
    if (parent?.kind === "Subscript" && parent.value === at) at = parent;
    else if (parent?.kind === "Call" && parent.func === at) at = parent;
    else if (parent?.kind === "Arg" && parent.parent?.kind === "Call" && isDistribution(parent.parent, file))
      at = parent.parent;
    // `prob = F.softmax(logits, dim=1)`, `torch.argmax(logits)`
    else if (parent?.kind === "Arg" && parent.parent?.kind === "Call" && parent.parent.args[0] === parent) {
      const [, word] = SCORED.exec(file.dotted(parent.parent.func) ?? "") ?? [];
      if (word === undefined) return false;
      if (/^(?:argmax|multinomial)$/.test(word)) return true;
      at = parent.parent;
      if (at.parent?.kind === "Assign")
        return at.parent.targets.every((target) => isCutUnderName(target, facts));
    } else if (parent?.kind === "Assign" && at.kind === "Call" && isDistribution(at, file))
      return parent.targets.every((target) => isCutUnderName(target, facts));
    else if (parent?.kind === "Attribute" && parent.value === at) {
      // What a distribution gives for `sample` has no graph; `rsample` is for those who want one.
      if (/^(?:detach|data|item|argmax|multinomial|numpy|tolist|sample)$/.test(parent.attr)) return true;
      if (
        !/^(?:cpu|clone|contiguous|squeeze|unsqueeze|flatten|view|reshape|transpose|permute|softmax|float|clamp|max|log_prob|entropy|sum|mean)$/.test(
          parent.attr,
        )
      )
        return false;
      at = parent;
    } else return false;
  }
}

/** What makes chances of scores, or picks one. */
const SCORED = /^torch\.(?:nn\.functional\.)?(softmax|log_softmax|sigmoid|tanh|argmax|multinomial)$/;

function isDistribution({ func }: Call, file: PythonFile): boolean {
  return /^torch\.distributions\.(?:\w+\.)*[A-Z]\w*$/.test(file.dotted(func) ?? "");
}

function isCutUnderName(target: Expr, facts: Facts): boolean {
  const { scopes } = facts.file;
  const made = target.kind === "Name" ? scopes.definitionAt(target) : null;
  const uses = made ? scopes.uses(made) : [];
  return uses.length > 0 && uses.every((use) => isCut(use, facts) || lexicalGrad(use, facts.file) === "off");
}
