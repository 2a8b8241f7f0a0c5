import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord, namesIn, walk } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, ClassDef, Expr, FunctionDef, Lambda, Name, Node } from "../../python/tree.ts";
import { given } from "../facts/arguments.ts";
import { attributesOf, selfAttribute } from "../facts/classes.ts";
import { runsBehind } from "../facts/behind-loss.ts";
import type { Facts } from "../facts/facts.ts";
import { isOtherBranch } from "../facts/guards.ts";
import { statesOnNetworks } from "../facts/network-states.ts";
import { carriedNames, isNetwork, runInParts } from "../facts/networks.ts";
import { retainedGrads } from "../facts/retained-grads.ts";
import { paramGiven } from "../facts/returns.ts";
import { isAlwaysOn } from "../facts/settled-flags.ts";
import { METHODS } from "../facts/torch-names.ts";
import { loopsAround, optimizerSteps } from "../facts/training.ts";
import type { Rule } from "../rule.ts";
import {
  OTHERWISE,
  graphBehind,
  isDifferentiatedOtherwise,
  isHandedToAnother,
  isReadAfter,
  isSharedThroughSelf,
  isState,
  isWantedAgain,
} from "../facts/wanted-graphs.ts";

const MESSAGE =
  "The graph is kept for a second backward that never comes: its activations stay until the loss is rebound, into the next forward";

export const rule: Rule = {
  meta: {
    code: "PLM007",
    name: "graph-retained-for-one-backward",
    summary: "`retain_graph=True` although nothing differentiates the graph again",
    severity: "warning",
    fix: "unsafe",
    patterns: [7],
    inTraining: true,
  },
  *check(facts) {
    for (const { call, loss } of facts.backwards) {
      const flag = keyword(call, "retain_graph");
      const third = positional(call, 1);
      const spread = flag || third ? null : given(call, "retain_graph", facts.file);
      const passed = flag ? flag.value : (third ?? spread);
      if (!passed || !isAlwaysOn(passed, facts)) continue;
      if (isHandedToAnother(call, facts)) continue;
      // Of `backward(**settings)` as well at the call, where what is certain is told.
      if (facts.guesses && isLastOfTurn(call, loss, facts))
        yield { at: flag ?? third ?? call, message: MESSAGE };
      if (!loss) continue;
      // `for loss in net(batch)`: each part of the batch may go on from the graph of the one before.
      const [around] = loopsAround(call);
      if (around && runInParts(around, facts)) continue;
      if (isSharedThroughSelf(call, loss, facts)) continue;
      const alone = isOnlyOne(call, facts);
      if (
        !alone &&
        ![sharesNothing, isHandedOnce, isOnlyOneOfStep, isOfScaler].some((holds) => holds(call, facts))
      )
        continue;
      // What several backwards share, and what a function is handed, is followed by names only.
      const severity = alone ? {} : { severity: "note" as const };
      const value = third ?? spread;
      if (!flag) {
        yield {
          at: third ?? call,
          ...severity,
          message: MESSAGE,
          fix: {
            grade: "unsafe",
            title: "Do not retain",
            edits: [{ start: value!.start, end: value!.end, text: "False" }],
          },
        };
        continue;
      }
      const before = call.args[call.args.indexOf(flag) - 1];
      const after = call.args[call.args.indexOf(flag) + 1];
      const start = before ? before.end : flag.start;
      const end = before ? flag.end : (after?.start ?? flag.end);
      yield {
        at: flag,
        ...severity,
        message: MESSAGE,
        fix: { grade: "unsafe", title: "Remove retain_graph", edits: [{ start, end, text: "" }] },
      };
    }
    for (const { flag } of retainedGrads(facts)) yield { at: flag, severity: "note", message: MESSAGE };
  },
};

/**
 * `accelerator.backward(out.loss, retain_graph=True)`: nothing below it in the same turn differentiates anything, nothing else in
 * the file does so otherwise, and what it goes through was computed in this turn.
 */
function isLastOfTurn(call: Call, loss: Expr | null, facts: Facts): boolean {
  const { backwards, file } = facts;
  const fn = functionOf(call);
  const loop = loopsAround(call)[0];
  const within = loop ?? fn;
  if (!within || isDifferentiatedOtherwise(call, facts) || isAskedAgain(call, facts)) return false;
  const isLater = (one: Call): boolean =>
    one !== call && functionOf(one) === fn && one.start > call.start && !isOtherBranch(one, call);
  if (backwards.some((one) => isLater(one.call))) return false;
  // `update(net, loss)`, which differentiates what it is handed.
  if (facts.callsTo("loose").some((one) => isLater(one) && facts.callee(one)?.reachesBackward === true))
    return false;
  if (loop && runInParts(loop, facts)) return false;
  const names = loss ? namesIn(loss).filter(({ id }) => id !== "self") : [];
  if (loop && names.some((name) => !file.scopes.reaching(name).some(({ node }) => contains(loop, node))))
    return false;
  if (names.some((name) => file.scopes.reaching(name).some(({ how }) => how === "param"))) return false;
  if (fn && functionOf(fn) !== null && names.some((name) => !isBoundIn(fn, name, file))) return false;
  // One of its terms is handed on with its graph.
  if (names.some((name) => file.scopes.reaching(name).some((one) => isReadAfter(one, call, facts))))
    return false;
  if (loss && (selfAttribute(loss) !== null || isSharedThroughSelf(call, loss, facts))) return false;
  if (loss && loop && runsBehind(loss, facts, true).some((run) => !contains(loop, run))) return false;
  if (loop && [...carriedNames(loop, loop, facts)].some((name) => isState(name, loss, loop, facts)))
    return false;
  for (const _ of statesOnNetworks(call, facts)) return false;
  return !readsOwnState(fn, facts);
}

/** `loss` of `def backward(): loss.backward(retain_graph=True)` is none of that function's: each call goes through the same graph. */
const isBoundIn = (fn: Node, name: Name, { scopes }: PythonFile): boolean =>
  scopes.reaching(name).some(({ node }) => contains(fn, node));

/** No other backward, here or in a function called here, can want this graph. */
function isOnlyOne(call: Call, facts: Facts): boolean {
  const { file } = facts;
  // Another function's backward differentiates other tensors, unless it is handed this graph: those are parameters there.
  const others = facts.backwards.filter(
    (one) => one.call !== call && functionOf(one.call) === functionOf(call) && !isOtherBranch(one.call, call),
  );
  if (isHelper(call, facts) || isHook(call, facts)) return true;
  if (isAskedAgain(call, facts)) return false;
  const handed = facts.backwards.some(
    (one) => one.loss?.kind === "Name" && file.scopes.reaching(one.loss).some(({ how }) => how === "param"),
  );
  if (others.length > 0 || handed || isDifferentiatedOtherwise(call, facts)) return false;
  const fn = functionOf(call);
  // A closure or a method may be called several times with one graph; a plain function's own tensors are new each time.
  const loss = reduced(facts.backwards.find((one) => one.call === call)!.loss);
  if (fn?.kind === "Lambda" || (fn && functionOf(fn) !== null && !(loss && isOwnForward(loss, fn, facts))))
    return false;
  const loop = loopsAround(call)[0];
  const own = loss ? selfAttribute(loss) : null;
  if (own !== null) {
    const within = loop ?? (fn && isSelfContained(fn, own, facts) ? fn : null);
    if (!within || !isWrittenIn(within, loss!, call, facts)) return false;
  } else if (loss?.kind !== "Name") return false;
  const definitions = loss?.kind === "Name" ? file.scopes.reaching(loss) : [];
  if (
    own === null &&
    (definitions.length === 0 ||
      definitions.some((one) => one.how === "param" || (loop && !contains(loop, one.node))))
  )
    return false;
  // The network ran before the loop: every turn differentiates that one graph.
  if (loop && loss && runsBehind(loss, facts, true).some((run) => !contains(loop, run))) return false;
  // Its terms are used again below: something else may differentiate them.
  if (definitions.some((one) => isReadAfter(one, call, facts))) return false;
  // A hidden state carried over, as a name or on self, needs the old graph: another rule's matter.
  if (loop && [...carriedNames(loop, loop, facts)].some((name) => isState(name, loss, loop, facts)))
    return false;
  // One that the network keeps itself, too.
  for (const _ of statesOnNetworks(call, facts)) return false;
  return !readsOwnState(fn, facts);
}

/** A method that reads what its object carries over; `self.model_state = {…}` of a checkpoint is written only. */
function readsOwnState(fn: FunctionDef | Lambda | null, { file }: Facts): boolean {
  return (
    fn?.params[0]?.name === "self" &&
    /self\.\w*(?:hidden|state|memory|prev|cache)\w*\b(?!\.(?:sample|append|push|add|store|update\w*)\(|\s*=[^=])/.test(
      file.codeOf(fn),
    )
  );
}

/** A method that runs the networks itself: what it reads of the object, other methods do not write, and none differentiates this loss. */
function isSelfContained(fn: FunctionDef | Lambda, loss: string, { backwards, file }: Facts): boolean {
  const cls = classOf(fn);
  if (!cls) return false;
  const again = backwards.filter(
    (one) => one.loss && selfAttribute(one.loss) === loss && classOf(one.call) === cls,
  );
  const attributes = attributesOf(cls, file);
  return (
    again.length === 1 &&
    file.all("Attribute").every((node) => {
      const own = functionOf(node) === fn ? selfAttribute(node) : null;
      const writes = own === null ? [] : (attributes.get(own)?.writes ?? []);
      return writes.every((write) => write.in === fn || write.in.name === "__init__");
    })
  );
}

/** A step that a framework is handed, `Engine(update)`: it runs the network itself, and differentiates what that gave. */
function isOwnForward(loss: Expr, fn: Node, facts: Facts): boolean {
  const runs = runsBehind(loss, facts);
  if (runs.length > 0) return runs.every((run) => contains(fn, run));
  // `loss = objective(model, batch)`: what it is given is a network and data.
  const made = loss.kind === "Name" ? facts.file.scopes.reaching(loss) : [];
  return (
    made.length > 0 &&
    made.every(
      ({ node, value }) =>
        contains(fn, node) &&
        value?.kind === "Call" &&
        value.args.some((arg) => facts.networks.is(arg.value)) &&
        value.args.every((arg) => facts.networks.is(arg.value) || isOfCall(arg.value, fn, facts)),
    )
  );
}

/** A parameter of the function, a part of one, or a setting. */
function isOfCall(expr: Expr, fn: Node, facts: Facts): boolean {
  let at = expr;
  while (at.kind === "Subscript" || at.kind === "Attribute") at = at.value;
  if (at.kind !== "Name") return at.kind === "Str" || at.kind === "Num" || at.kind === "Const";
  return (
    /^(?:args|cfg|conf|config|opt|self|device)$/.test(at.id) ||
    facts.file.scopes.reaching(at).every(({ how, node }) => how === "param" && contains(fn, node))
  );
}

/** `logits, self.loss = model(x, y)` in the same turn, before it is differentiated. */
function isWrittenIn(loop: Node, loss: Expr, call: Call, { file }: Facts): boolean {
  const text = file.textOf(loss);
  return file
    .all("Attribute")
    .some(
      (node) =>
        node !== loss &&
        contains(loop, node) &&
        node.end < call.start &&
        isTarget(node) &&
        file.textOf(node) === text,
    );
}

function isTarget(node: Node): boolean {
  const { parent } = node;
  if (parent?.kind === "Tuple") return isTarget(parent);
  return parent?.kind === "Assign" && parent.value !== node;
}

/** `loss.mean()`, `loss / steps` → `loss`; `losses["loss"]` → `losses`. */
function reduced(loss: Expr | null): Expr | null {
  let at = loss;
  for (;;) {
    if (at?.kind === "Call" && at.func.kind === "Attribute" && /^(?:mean|sum|float)$/.test(at.func.attr))
      at = at.func.value;
    else if (at?.kind === "Binary" && (at.op === "/" || at.op === "*")) at = at.left;
    else if (at?.kind === "Subscript" && at.value.kind === "Name") at = at.value;
    else return at;
  }
}

/** `if self.sparsity.due(step):` here, and around a backward of another function too: that one wants the graph. */
function isAskedAgain(call: Call, { backwards, file }: Facts): boolean {
  const tests = (node: Node): string[] => {
    const found: string[] = [];
    for (let at = node.parent; at; at = at.parent) if (at.kind === "If") found.push(file.textOf(at.test));
    return found;
  };
  const asked = tests(call).filter((text) => text.includes("("));
  return (
    asked.length > 0 &&
    backwards.some(
      (one) =>
        functionOf(one.call) !== functionOf(call) && tests(one.call).some((text) => asked.includes(text)),
    )
  );
}

/**
 * The one backward of a turn or a method that then steps its optimizer, of what was computed there:
 * `(kl + recon).backward(retain_graph=True)`, `optimizer.step()`. Nothing is seen that would go through the graph again: no
 * derivative beside it, no state that a network hands on to the next turn, no tensor that another method made or reads.
 */
function isOnlyOneOfStep(call: Call, facts: Facts): boolean {
  const { backwards, file } = facts;
  const fn = functionOf(call);
  const loop = loopsAround(call)[0];
  const within = loop ?? fn;
  if (!within || fn?.kind === "Lambda" || isAskedAgain(call, facts)) return false;
  const isBeside = (one: Call): boolean =>
    one !== call && functionOf(one) === fn && !isOtherBranch(one, call);
  if (backwards.some((one) => isBeside(one.call))) return false;
  // After the micro-batches as well, whose loop is inside of the one that steps.
  const steps = file.once(optimizerSteps).some((step) => isBeside(step) && step.start > call.end);
  if (!steps || mayDifferentiateBeside(call, facts)) return false;
  const { loss } = backwards.find((one) => one.call === call)!;
  if (!isComputedIn(within, loss!, facts) || leansOnOthers(loss!, call, facts)) return false;
  if (
    runsBehind(loss!, facts, true).some(
      (run) => !contains(within, run) && facts.gradMode(run) !== "off" && !facts.networks.isFrozen(run.func),
    )
  )
    return false;
  if (loop && [...carriedNames(loop, loop, facts)].some((name) => isHandedState(name, loss, loop, facts)))
    return false;
  for (const _ of statesOnNetworks(call, facts)) return false;
  return !readsOwnState(fn, facts) && !BEGINS_STATE.test(fn ? file.codeOf(fn) : file.code);
}

/** `net.memory = None`, `net.reset_states()`: a network of another file keeps a state, which may hand its graph on. */
const BEGINS_STATE =
  /\.\w*(?:hidden|memory|mems)\w* *=(?!=)|(?<!= *[\w.]*)\b(?:init|reset|detach|repackage)_\w*(?:hidden|states?|memory|mems)\w*\(/;

/** By itself, or by a function of this file that the function around the backward names: `gradient_penalty(critic, real, fake)`. */
function mayDifferentiateBeside(call: Call, { backwards, file }: Facts): boolean {
  const fn = functionOf(call);
  const around = fn ? file.codeOf(fn) : file.code;
  const differentiates = (code: string): boolean => new RegExp(OTHERWISE.source).test(code);
  return (
    (fn !== null && differentiates(around)) ||
    file.all("FunctionDef").some(
      (one) =>
        one !== fn &&
        !contains(one, call) &&
        new RegExp(`\\b${one.name}\\(`).test(around) &&
        // A backward of what it is handed, too.
        (differentiates(file.codeOf(one)) || backwards.some((other) => functionOf(other.call) === one)),
    )
  );
}

/** Every part of a loss was bound in this turn, `recon + weight * kl`; a weight may come from anywhere. */
function isComputedIn(within: Node, loss: Expr, facts: Facts): boolean {
  const { scopes } = facts.file;
  let some = false;
  let every = true;
  walk(loss, (node) => {
    if (node.kind !== "Name" || scopes.binds(node)) return every;
    const made = scopes.reaching(node).filter(({ how }) => how !== "import" && how !== "function");
    // `for loss in [first, second]:` hands out losses that may have a graph in common.
    const here = made.filter(
      ({ how, node: at }) => how !== "param" && how !== "iterate" && contains(within, at),
    );
    if (here.length > 0 && here.length === made.length) some = true;
    else
      every &&= made.every((one) => facts.valueOfDefinition(one).graph !== "yes" && !/loss/i.test(one.name));
    return every;
  });
  return some && every;
}

/** What the loss is computed from that another method has written, or that a function of several which train was handed. */
function leansOnOthers(loss: Expr, call: Call, facts: Facts): boolean {
  const { backwards, file } = facts;
  const fn = functionOf(call);
  const cls = fn ? classOf(fn) : null;
  const trainsElsewhere = backwards.some((one) => functionOf(one.call) !== fn);
  const seen = new Set<Definition>();
  let found = false;
  const follow = (expr: Expr): void =>
    walk(expr, (node) => {
      if (found || (node.kind === "Call" && /^(?:detach|item)$/.test(lastWord(node.func)))) return false;
      const own = cls && node.kind === "Attribute" ? selfAttribute(node) : null;
      if (own !== null) found ||= isWrittenBeside(own, cls!, fn!, facts);
      if (node.kind !== "Name" || file.scopes.binds(node)) return !found;
      for (const one of file.scopes.reaching(node)) {
        if (seen.has(one) || seen.size > 200) continue;
        seen.add(one);
        if (one.how === "param" && one.name !== "self")
          found ||= trainsElsewhere && facts.valueOfDefinition(one).graph !== "no" && !isAsked(node);
        else if (one.value && one.how !== "iterate" && facts.gradMode(one.node) !== "off") follow(one.value);
      }
      return !found;
    });
  follow(loss);
  return found;
}

/** `replay` of `replay.draw(32)`, `net` of `net.objective(x)`: what a method of no tensor gives, it gives anew. */
function isAsked({ parent }: Name): boolean {
  return (
    parent?.kind === "Attribute" &&
    parent.parent?.kind === "Call" &&
    parent.parent.func === parent &&
    !METHODS.has(parent.attr)
  );
}

/** `self.fake = self.generator(z)` in another method of the step, for this one and for that of the generator. */
function isWrittenBeside(own: string, cls: ClassDef, fn: Node, facts: Facts): boolean {
  return (attributesOf(cls, facts.file).get(own)?.writes ?? []).some(
    ({ in: method, value }) =>
      method !== fn &&
      method.name !== "__init__" &&
      (value === null || !/^(?:number|module|optimizer|string)$/.test(facts.value(value).what)),
  );
}

/** A name that a network, or a call that is given it, binds anew for the next turn: `out, hidden = net(chunk, hidden)`. */
function isHandedState(name: string, loss: Expr | null, loop: Node, facts: Facts): boolean {
  const { file } = facts;
  const made = (file.scopes.scopeOf(loop).bindings.get(name) ?? []).filter(({ node }) =>
    contains(loop, node),
  );
  const handsOn = ({ value }: Definition): boolean => {
    let found = false;
    if (value)
      walk(value, (node) => {
        if (node.kind === "Call" && file.dotted(node.func) === null)
          found ||=
            isNetwork(node.func, facts) ||
            node.args.some((arg) => arg.value.kind === "Name" && arg.value.id === name);
        return !found;
      });
    return found;
  };
  return made.some(handsOn) && !isRenewed(name, loop, facts) && isState(name, loss, loop, facts);
}

/**
 * `hidden = net.fresh(hidden)` or `hidden = net.initial(size)` at the beginning of each turn: what a method that is no run of
 * the network makes of a state is cut off, or new.
 */
function isRenewed(name: string, loop: Node, facts: Facts): boolean {
  const { file } = facts;
  const given = file.all("Arg").flatMap(({ value, parent }) => {
    const isRun = parent?.kind === "Call" && contains(loop, parent) && isNetwork(parent.func, facts);
    return isRun && value.kind === "Name" && value.id === name ? [value] : [];
  });
  return (
    given.length > 0 &&
    given.every((one) =>
      file.scopes
        .reaching(one)
        .every(
          ({ how, node, value }) =>
            how === "assign" &&
            contains(loop, node) &&
            value?.kind === "Call" &&
            !isNetwork(value.func, facts) &&
            file.dotted(value.func)?.startsWith("torch.") !== true &&
            file.dotted(value.func)?.startsWith("builtins.") !== true,
        ),
    )
  );
}

/** Several losses, none of which has a piece of graph in common with this one, or with the turn before. */
function sharesNothing(call: Call, facts: Facts): boolean {
  const fn = functionOf(call);
  if (isDifferentiatedOtherwise(call, facts)) return false;
  if (fn?.kind === "Lambda" || (fn && functionOf(fn) !== null)) return false;
  const here = facts.backwards.filter((one) => functionOf(one.call) === fn);
  const own = here.find((one) => one.call === call)!;
  const loop = loopsAround(call)[0];
  const within = loop ?? fn;
  if (!within || here.length < 2 || here.some((one) => one.loss === null)) return false;
  const mine = graphBehind(own.loss!, facts);
  if (mine.size === 0 || [...mine].some((one) => one.how === "param" || !contains(within, one.node)))
    return false;
  const all = graphBehind(own.loss!, facts, true);
  return here.every((other) => {
    if (other === own) return true;
    const theirs = graphBehind(other.loss!, facts, true);
    return (
      graphBehind(other.loss!, facts).size > 0 &&
      // `first, second = net(x)` are of one graph.
      ![...theirs].some(
        (one) => all.has(one) || [...all].some(({ value }) => value !== null && value === one.value),
      )
    );
  });
}

/** The file's only backward, or one of a choice of two, in a function that one place calls with the loss. */
function isHelper(call: Call, facts: Facts): boolean {
  const { backwards, file } = facts;
  const fn = functionOf(call);
  const one = backwards.find((other) => other.call === call);
  if (fn?.kind !== "FunctionDef" || fn.parent?.kind !== "Module") return false;
  if (backwards.some((other) => other !== one && !isOtherBranch(other.call, call))) return false;
  if (one?.loss?.kind !== "Name" || loopsAround(call).length > 0) return false;
  if (!file.scopes.reaching(one.loss).every(({ how }) => how === "param")) return false;
  if (isDifferentiatedOtherwise(call, facts)) return false;
  const calls = file.callsNamed(fn.name).filter((other) => file.dotted(other.func) === file.qualified(fn));
  return calls.length === 1 && facts.everyStep(calls[0]!) !== null;
}

/**
 * `def __call__(self, loss, optimizer)` of a class around a GradScaler, which differentiates what it is handed and steps: torch
 * refuses to go through a graph whose weights have changed since.
 */
function isOfScaler(call: Call, facts: Facts): boolean {
  const { backwards, file } = facts;
  const fn = functionOf(call);
  const loss = reduced(backwards.find((one) => one.call === call)!.loss);
  if (fn?.kind !== "FunctionDef" || fn.name !== "__call__" || fn.parent?.kind !== "ClassDef") return false;
  if (loss?.kind !== "Name" || !file.scopes.reaching(loss).every(({ how }) => how === "param")) return false;
  if (backwards.some((one) => one.call !== call && functionOf(one.call) === fn)) return false;
  if (loopsAround(call).length > 0 || isDifferentiatedOtherwise(call, facts)) return false;
  return file
    .once(optimizerSteps)
    .some(
      (step) =>
        functionOf(step) === fn &&
        step.start > call.end &&
        step.args.some(({ value }) => isOfCall(value, fn, facts)),
    );
}

/**
 * `def backward(loss): loss.backward(retain_graph=True)`, inside of the function that trains or a method: wherever it is
 * called, that is with a loss of this turn, and none of the others is reached in the same turn.
 */
function isHandedOnce(call: Call, facts: Facts): boolean {
  const { backwards, file } = facts;
  const fn = functionOf(call);
  const loss = reduced(backwards.find((one) => one.call === call)!.loss);
  const [param, ...more] = loss?.kind === "Name" ? file.scopes.reaching(loss) : [];
  if (fn?.kind !== "FunctionDef" || param?.node.parent !== fn || more.length > 0) return false;
  if (loopsAround(call).length > 0 || isDifferentiatedOtherwise(call, facts)) return false;
  if (backwards.some((one) => one.call !== call && !isOtherBranch(one.call, call))) return false;
  const sites = file
    .callsNamed(fn.name)
    .flatMap((site) =>
      site.args
        .filter((arg) => paramGiven(site, arg, file) === param.node)
        .map(({ value }) => ({ site, handed: value })),
    );
  // Whoever gets the function itself may call it as well.
  const named = file.code.match(new RegExp(`\\b${fn.name}\\b(?!["'])`, "g"))?.length ?? 0;
  return (
    sites.length > 0 &&
    named === sites.length + 1 &&
    sites.every(({ site }) =>
      sites.every((other) => other.site === site || isOtherBranch(other.site, site)),
    ) &&
    sites.every(({ site, handed }) => isOfThisTurn(handed, site, facts))
  );
}

/** A loss that was computed in the same turn of the loop as this call, or in the same step, and goes nowhere else. */
function isOfThisTurn(loss: Expr, site: Call, facts: Facts): boolean {
  const { scopes } = facts.file;
  const loop = loopsAround(site)[0];
  const within = loop ?? functionOf(site);
  const whole = reduced(loss);
  const made = whole?.kind === "Name" ? scopes.reaching(whole) : [];
  if (!within || !facts.hot(site) || made.length === 0) return false;
  if (made.some(({ how, node }) => how === "param" || !contains(within, node))) return false;
  if (runsBehind(loss, facts, true).some((run) => !contains(within, run))) return false;
  const uses = made.flatMap((one) => scopes.uses(one));
  if (uses.some((use) => use.parent?.kind === "Arg" && isWantedAgain(use, site, facts))) return false;
  if (made.some((one) => isReadAfter(one, site, facts))) return false;
  if (loop && [...carriedNames(loop, loop, facts)].some((name) => isState(name, loss, loop, facts)))
    return false;
  for (const _ of statesOnNetworks(site, facts)) return false;
  return !readsOwnState(functionOf(site), facts);
}

/**
 * `def backward(self, loss)` of a class: Lightning calls its module's once for each optimizer of a batch, an engine's own
 * step calls it once.
 */
function isHook(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const fn = functionOf(call);
  const cls = fn ? classOf(fn) : null;
  const loss = reduced(facts.backwards.find((one) => one.call === call)!.loss);
  if (!cls || fn?.kind !== "FunctionDef" || fn.parent !== cls || fn.name !== "backward") return false;
  if (facts.backwards.some((one) => one.call !== call && functionOf(one.call) === fn)) return false;
  if (loss?.kind !== "Name" || !file.scopes.reaching(loss).every(({ how }) => how === "param")) return false;
  if (file.codeOf(cls).search(OTHERWISE) >= 0) return false;
  if (facts.role(cls) === "lightning")
    return file
      .all("FunctionDef")
      .every(
        (one) => one.name !== "training_step" || one.params.every(({ name }) => name !== "optimizer_idx"),
      );
  return (
    file
      .callsNamed("backward")
      .filter((one) => one.func.kind === "Attribute" && selfAttribute(one.func) === "backward").length === 1
  );
}
