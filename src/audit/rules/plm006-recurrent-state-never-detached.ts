import { isNone, isTrue, keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord, namesIn, statementOf } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr, Global, Name, Node } from "../../python/tree.ts";
import {
  STATE,
  handedOn,
  isCutOff,
  isRenamed,
  keptBelow,
  lookedUp,
  ownState,
  partsOf,
  begunUnderTest,
  handedBack,
  handsState,
  isAbove,
  isGiven,
  isSamePlace,
  placeOf,
  retainsGraph,
  rewrapped,
  throughName,
} from "../facts/carried-states.ts";
import { attributesOf, isModuleRole, isOnlyMadeBy, methodsOf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { derivesFromInput } from "../facts/flow.ts";
import { derivesFrom } from "../facts/backwarded.ts";
import { throughRollout, whileActing } from "../facts/idle-states.ts";
import type { Idle } from "../facts/idle-states.ts";
import { actingStates } from "../facts/likely-acting.ts";
import { carriedPlaces } from "../facts/likely-states.ts";
import { handedMemories } from "../facts/handed-memories.ts";
import { joinedMemories } from "../facts/joined-memories.ts";
import { statesOnNetworks } from "../facts/network-states.ts";
import { isNetwork, runInParts } from "../facts/networks.ts";
import { callTarget } from "../facts/summary.ts";
import { loopsAround } from "../facts/training.ts";
import type { Finding, Rule } from "../rule.ts";
import { anyCutsItsOwn, isOwnRecurrent, isRecurrentLayer } from "../facts/recurrent.ts";
import { assignsOfKind } from "../facts/assigns.ts";

/** A recurrent layer, or by its name a block around one. */
const NAMED_RECURRENT = /^\w*(?:LSTM|GRU|RNN)(?:Cell|Block|Layer)?$/;

export const rule: Rule = {
  meta: {
    code: "PLM006",
    name: "recurrent-state-never-detached",
    summary: "A recurrent state is carried from step to step with its graph",
    severity: "error",
    fix: "unsafe",
    patterns: [6],
  },
  *check(facts) {
    const told = new Set<number>();
    for (const finding of carried(facts)) {
      told.add(finding.at.start);
      yield finding;
    }
    for (const finding of [...cutsNothing(facts), ...throughPlace(facts), ...partByPart(facts)])
      if (!told.has(finding.at.start)) yield finding;
    for (const { read } of carriedPlaces(facts))
      if (!told.has(read.start)) yield { at: read, message: message(facts.file.textOf(read)) };
    for (const { at, own } of actingStates(facts))
      if (!told.has(at.start))
        yield {
          at,
          message: `\`self.${own}\` keeps the graphs of all observations before this one, though nothing is differentiated through them; run it without recording gradients, or detach it`,
        };
  },
};

function* carried(facts: Facts): Generator<Finding> {
  const told = [...inForward(facts)];
  yield* told;
  for (const { at, own } of joinedMemories(facts))
    if (!told.some((one) => one.at === at))
      yield {
        at,
        severity: "note",
        message: `${ofForwards(own)}, unless it is begun anew after each backward`,
      };
  if (facts.guesses)
    for (const { at, memory } of handedMemories(facts))
      yield {
        at,
        message: `What \`${memory}\` brings from the step before is joined with what this one computes and handed on with its graph: the chain grows with every step, unless whoever carries it detaches it`,
      };
  for (const { at, own } of throughName(facts))
    if (!told.some((one) => one.at === at))
      yield {
        at,
        severity: "note",
        message: `${ofForwards(own)}, unless it is begun anew after each backward`,
      };
  yield* throughLayer(facts);
  for (const one of whileActing(facts)) yield inVain(one, "calls", facts);
  const idle = [...throughRollout(facts)];
  for (const one of idle) yield inVain(one, "turns", facts);
  if (facts.backwards.length === 0) return;
  yield* throughStep(facts);
  const { file } = facts;
  for (const call of file.all("Call")) {
    const loop = facts.stepLoop(call);
    if (!loop || facts.gradMode(call) === "off") continue;
    const known = isNetwork(call.func, facts);
    if (!known && !handsState(call)) continue;
    const inLoop = facts.backwards.filter(
      (one) => contains(loop, one.call) && facts.stepLoop(one.call) === loop,
    );
    if (inLoop.length === 0) continue;
    const retained = inLoop.some((one) => isTrue(keyword(one.call, "retain_graph")?.value ?? null));
    // Without any of these we cannot see whether the network detaches the state.
    if (!known && !retained) continue;
    if (facts.callee(call)?.cutsOff === true) continue;
    const opaque = !isRecurrentLayer(call.func, facts) && !isOwnRecurrent(call.func, facts);
    const statement = statementOf(call);
    for (const { value } of call.args)
      // `net((x, (h, c)))`
      for (const item of value.kind === "Tuple" ? partsOf(value) : [value]) {
        const part = handedOn(item, loop, file);
        // What nothing is differentiated through is told of as such.
        if (part.kind !== "Name" || idle.some(({ read }) => read === part)) continue;
        const helper = uncut(file.scopes.reaching(part), facts);
        const definitions = helper?.before ?? file.scopes.reaching(part);
        const carried = definitions.find(
          (one) => statement !== null && (contains(statement, one.node) || isRenamed(one, statement, facts)),
        );
        if (!carried) continue;
        if (definitions.every((one) => contains(loop, one.node))) {
          const begun = STATE.test(part.id) ? begunUnderTest(definitions, carried, loop, file) : null;
          if (begun)
            yield {
              at: begun,
              severity: "note",
              message: `${message(part.id)}: it is begun anew only under this test, and not cut off otherwise`,
            };
          continue;
        }
        const begins = definitions.filter((one) => !contains(loop, one.node));
        // `if hidden is not None: hidden = hidden.detach()`
        if (opaque && isRebound(part.id, loop, file)) continue;
        if (opaque && !retained && (!STATE.test(part.id) || file.once(anyCutsItsOwn))) continue;
        const finding = helper
          ? { at: helper.at, message: `${message(part.id)}: \`${helper.name}\` detaches nothing` }
          : part === item
            ? report(part, part.id, begins, value === part, call, facts)
            : { at: part, message: message(part.id) };
        // It may detach the state itself.
        yield opaque
          ? {
              ...finding,
              severity: "note",
              message: `${finding.message}, unless \`${file.textOf(call.func)}\` detaches it itself`,
            }
          : finding;
      }
  }
  yield* onSelf(facts);
  yield* throughGlobal(facts);
  yield* onNetwork(facts);
}

function isRebound(name: string, loop: Node, file: PythonFile): boolean {
  return new RegExp(`\\b${name} *= *${name}\\.(?:detach\\(|data\\b)|\\b${name}\\.detach_\\(`).test(
    file.codeOf(loop),
  );
}

/** By its name a function that cuts a state off from the steps before. */
const CUTS_BY_NAME =
  /^_?(?:(?:detach|repackage|truncate|cut|cut_off|reuse)(?:_\w*(?:hidden|states?|memory|memories|mems?|h))?|(?:hidden|states?|memory|mems?)_(?:detach|repackage)\w*)$/;

/** What has no graph, whatever it was made of. */
const NO_GRAPH = /detach|\.data\b|no_grad|Variable\(|zeros|numpy|\.item\(|NotImplemented/;

/**
 * `def repackage_hidden(self, hidden): return tuple(h.clone() for h in hidden)`: who calls it takes the state to be cut off, and
 * it comes back with the graphs of all steps before.
 */
function* cutsNothing({ file }: Facts): Generator<Finding> {
  for (const fn of file.all("FunctionDef")) {
    const state = CUTS_BY_NAME.test(fn.name) ? fn.params.find(({ name }) => name !== "self") : undefined;
    if (!state || !(STATE.test(state.name) || /hidden|state|mem/.test(fn.name))) continue;
    if (NO_GRAPH.test(file.codeOf(fn).replaceAll(fn.name, ""))) continue;
    const back = file.all("Return").find(
      ({ value }) =>
        value !== null &&
        functionOf(value) === fn &&
        namesIn(value).some(({ id }) => id === state.name) &&
        // Handed to another, or to itself once more, which may cut it off.
        !/^(?!tuple|list)\w+\(/.test(file.textOf(value)) &&
        !file.textOf(value).includes(fn.name),
    );
    if (back)
      yield {
        at: back,
        severity: "note",
        message: `\`${fn.name}\` hands \`${state.name}\` back with its graph: who carries it on brings the graphs of all steps before into the next`,
      };
  }
}

/** `out, state["hidden"] = net(x, state["hidden"])`, `out, run.hidden = net(x, run.hidden)`: carried in an entry or an attribute. */
function* throughPlace(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const statement of facts.backwards.length > 0 ? assignsOfKind("Tuple", file) : []) {
    const [target] = statement.targets;
    const call = statement.value;
    const loop = target?.kind === "Tuple" && call.kind === "Call" ? facts.stepLoop(call) : null;
    if (!loop || call.kind !== "Call" || facts.gradMode(call) === "off") continue;
    const inLoop = facts.backwards.filter((one) => contains(loop, one.call));
    const retained = inLoop.some((one) => isTrue(keyword(one.call, "retain_graph")?.value ?? null));
    const given = call.args.flatMap(({ value }) => partsOf(value)).map((value) => handedOn(value));
    for (const part of inLoop.length > 0 ? partsOf(target!) : []) {
      const key = placeOf(part);
      const read = key === null ? undefined : given.find((one) => file.textOf(one) === file.textOf(part));
      if (!read || key === null || !(STATE.test(key) || retained)) continue;
      if (!isNetwork(call.func, facts) && !retained) continue;
      const place = file.textOf(part).replaceAll(/\W/g, String.raw`\$&`);
      if (
        new RegExp(
          `${place}[^\\n]*(?:detach|\\.data\\b)|(?:detach|repackage|reset|init)\\w*\\([^)\\n]*${place}`,
        ).test(file.codeOf(loop))
      )
        continue;
      const begun = file
        .all("Assign")
        .some(
          (one) =>
            one !== statement &&
            contains(loop, one) &&
            one.targets.flatMap(partsOf).some((to) => isSamePlace(to, part, file)),
        );
      if (!begun)
        yield {
          at: read,
          severity: "note",
          message: `${message(file.textOf(part))}, unless \`${file.textOf(call.func)}\` detaches it itself`,
        };
    }
  }
}

/**
 * `for loss in net(batch): loss.backward(retain_graph=True)`: a network that gives a loss for each part of what it gets, one
 * after the other, and is differentiated in between. The graph is wanted after that by what it carries into the next part.
 */
function* partByPart(facts: Facts): Generator<Finding> {
  for (const { call } of facts.backwards) {
    const [loop] = loopsAround(call);
    const run = loop ? runInParts(loop, facts) : null;
    if (run && facts.gradMode(run) !== "off" && isTrue(keyword(call, "retain_graph")?.value ?? null))
      yield {
        at: run,
        severity: "note",
        message: `The graph of each part is kept for the backward of the next: what \`${facts.file.textOf(run.func)}\` carries from one into the other is not cut off, and each backward walks through all parts before`,
      };
  }
}

/** A state that the network keeps itself, through the chunks of one sequence. */
function* onNetwork(facts: Facts): Generator<Finding> {
  const seen = new Set<string>();
  for (const { call: backward } of facts.backwards) {
    if (!isTrue(keyword(backward, "retain_graph")?.value ?? null)) continue;
    for (const { at, loop, net, state } of statesOnNetworks(backward, facts)) {
      const key = `${loop.start} ${net}`;
      if (seen.has(key)) continue;
      seen.add(key);
      yield {
        at,
        severity: "note",
        message: `${message(state)}, unless \`${net}\` detaches it itself`,
      };
    }
  }
}

/** `loss, hidden = train_step(x, hidden)`: a function of this file that runs a network, and hands the state back as its network made it. */
function* throughStep(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const statement of assignsOfKind("Tuple", file)) {
    const [target] = statement.targets;
    const call = statement.value;
    if (target?.kind !== "Tuple" || call.kind !== "Call") continue;
    const retained = retainsGraph(call, facts);
    // Who keeps the graph for another backward carries something through it, whatever its name: `cache`, `past`.
    const at = target.items.findIndex(
      (item) => item.kind === "Name" && (STATE.test(item.id) || (retained && isGiven(call, item.id))),
    );
    const [loop] = at < 0 ? [] : loopsAround(statement);
    if (!loop || facts.gradMode(call) === "off") continue;
    // By the function itself, or by this loop with what it hands back.
    const differentiates =
      facts.callee(call)?.reachesBackward === true ||
      facts.backwards.some(
        (one) =>
          contains(loop, one.call) &&
          facts.stepLoop(one.call) === loop &&
          keyword(one.call, "retain_graph") === null,
      );
    if (!differentiates) continue;
    const name = (target.items[at] as Name).id;
    const given = call.args
      .map(({ value }) => handedOn(value))
      .find((value) => value.kind === "Name" && value.id === name);
    const definitions = given?.kind === "Name" ? file.scopes.reaching(given) : [];
    // Begun before the loop, and carried by this statement.
    const others = definitions.filter((one) => contains(loop, one.node) && !contains(statement, one.node));
    if (definitions.length < 2) continue;
    const seldom = others.length > 0 && STATE.test(name);
    if (others.length > 0 && !(seldom && others.every((one) => isBegunAtTimes(one, loop, file)))) continue;
    const isLeft = (one: Definition): boolean => contains(statement, one.node) || keepsOther(one) !== null;
    if (seldom && !definitions.some(isLeft)) continue;
    const network = handedBack(call, at, retained, facts);
    if (network)
      yield {
        at: given!,
        ...(isOwnRecurrent(network, facts) &&
        !seldom &&
        STATE.test(name) &&
        functionOf(network) === file.functionNamed(callTarget(call, file))
          ? {}
          : { severity: "note" as const }),
        message: `${message(name)}${seldom ? ": it is begun anew only under a test, and not cut off otherwise" : ""}, unless \`${file.textOf(network)}\` detaches it itself`,
      };
  }
}

/** `if at > end: hidden = net.begin(n)`, with nothing cut off in a turn in which that does not hold. */
function isBegunAtTimes(one: Definition, loop: Node, file: PythonFile): boolean {
  const begun = keepsOther(one) ?? one.value;
  const test = statementOf(one.node)?.parent;
  if (one.how !== "assign" || !begun || loopsAround(one.node)[0] !== loop) return false;
  return (
    // In the other branch it may be cut off.
    (begun !== one.value || (test?.kind === "If" && test.orelse.length === 0)) &&
    !namesIn(begun).some(({ id }) => id === one.name) &&
    !/detach|\.data\b|no_grad/.test(file.textOf(begun))
  );
}

/** What `hidden = net.begin(n) if at > end else hidden` begins with, where it does not leave it as it is. */
function keepsOther({ name, value }: Definition): Expr | null {
  if (value?.kind !== "IfExp") return null;
  const isSame = (expr: Expr): boolean => expr.kind === "Name" && expr.id === name;
  return isSame(value.orelse) ? value.body : isSame(value.body) ? value.orelse : null;
}

/** `global hidden` in the function that is a step, whose network gets it and gives it back. */
function* throughGlobal(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const declared of file.all("Global") as readonly Global[]) {
    const fn = functionOf(declared);
    const names = declared.names.filter((name) => STATE.test(name));
    if (!fn || names.length === 0 || !facts.backwards.some((one) => functionOf(one.call) === fn)) continue;
    for (const statement of file.all("Assign")) {
      const call = statement.value;
      if (functionOf(statement) !== fn || call.kind !== "Call" || facts.gradMode(call) === "off") continue;
      const kept = partsOf(statement.targets[0]!);
      const name = names.find((one) => kept.some((part) => part.kind === "Name" && part.id === one));
      const given = call.args
        .map(({ value }) => handedOn(value))
        .find((value) => value.kind === "Name" && value.id === name);
      if (!given || !isNetwork(call.func, facts) || isCutOff(name!, fn, file)) continue;
      // Begun anew by the step itself.
      const others = file
        .all("Assign")
        .filter(
          (one) =>
            one !== statement &&
            functionOf(one) === fn &&
            one.targets.some((to) => partsOf(to).some((part) => part.kind === "Name" && part.id === name)),
        );
      if (others.length === 0)
        yield {
          at: given,
          ...(isOwnRecurrent(call.func, facts) ? {} : { severity: "note" as const }),
          message: `${message(name!)}, unless \`${file.textOf(call.func)}\` detaches it itself`,
        };
    }
  }
}

/**
 * `hidden = repackage(hidden)` with a function of this file that cuts nothing off, or `hidden = tuple(h.clone() for h in hidden)`:
 * what came before it, and where it is handed back.
 */
function uncut(
  [one, ...more]: readonly Definition[],
  { file }: Facts,
): { readonly before: readonly Definition[]; readonly at: Node; readonly name: string } | null {
  if (!one?.value || more.length > 0 || one.how !== "assign") return null;
  const within = rewrapped(one.value, one.name, file);
  if (within) return { before: file.scopes.reaching(within), at: one.value, name: file.textOf(one.value) };
  if (one.value.kind !== "Call") return null;
  const { args, func } = one.value;
  const same = args.find(({ value }) => value.kind === "Name" && value.id === one.name)?.value;
  const [made, ...others] = func.kind === "Name" ? file.scopes.reaching(func) : [];
  const fn = made?.node;
  if (same?.kind !== "Name" || fn?.kind !== "FunctionDef" || others.length > 0) return null;
  if (/\.detach|\.data\b|no_grad|Variable\(|zeros|numpy|item/.test(file.codeOf(fn))) return null;
  const at = file.all("Return").find(({ value, parent }) => value && parent && functionOf(value) === fn);
  return at ? { before: file.scopes.reaching(same), at, name: fn.name } : null;
}

function inVain({ read, by }: Idle, before: "calls" | "turns", { file }: Facts): Finding {
  return {
    at: read,
    severity: "note",
    message: `\`${file.textOf(read)}\` keeps the graphs of all ${before} before this one, though nothing is ever differentiated through them; run it without recording gradients${by ? `, unless \`${file.textOf(by)}\` cuts it off itself` : ""}`,
  };
}

function message(name: string): string {
  return `\`${name}\` brings the graphs of all steps before into this one: backward walks through every one of them, or fails at the second`;
}

function ofForwards(own: string): string {
  return `\`self.${own}\` brings the graphs of all forwards before into the next one: backward walks through every one of them, or fails at the second`;
}

function report(
  part: Expr,
  name: string,
  begins: readonly Definition[],
  whole: boolean,
  call: Call,
  facts: Facts,
): Finding {
  const none = begins.some(({ value }) => isNone(value));
  const tuple = whole && facts.file.says(/\bLSTM\b/);
  const cut = tuple ? `tuple(s.detach() for s in ${name})` : `${name}.detach()`;
  const text = none ? `None if ${name} is None else ${cut}` : cut;
  // What an opaque network returns may be a tensor or a tuple of them.
  const known = begins.some(({ value }) => value !== null) || !whole;
  return {
    at: part,
    message: message(name),
    ...(known && (tuple || !whole || isRecurrentLayer(call.func, facts) || isOwnRecurrent(call.func, facts))
      ? {
          fix: {
            grade: "unsafe" as const,
            title: "Cut it off from the steps before",
            edits: [{ start: part.start, end: part.end, text }],
          },
        }
      : {}),
  };
}

/** `out, self.hidden = self.rnn(x, self.hidden)` in a method that differentiates. */
function* onSelf(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const statement of assignsOfKind("Tuple", file)) {
    const [target] = statement.targets;
    const call = statement.value;
    if (target?.kind !== "Tuple" || call.kind !== "Call" || facts.gradMode(call) === "off") continue;
    const inStep = facts.backwards.filter((one) => functionOf(one.call) === functionOf(statement));
    if (inStep.length === 0) continue;
    const retained = inStep.some((one) => isTrue(keyword(one.call, "retain_graph")?.value ?? null));
    if (!retained && !isRecurrentLayer(call.func, facts)) continue;
    for (const item of target.items) {
      const own = ownState(item);
      const read =
        own === null
          ? null
          : call.args.map(({ value }) => handedOn(value)).find((value) => ownState(lookedUp(value)) === own);
      if (!read || new RegExp(`self\\.${own}\\b[^\\n]*detach`).test(file.code)) continue;
      yield {
        at: read,
        message: message(`self.${own}`),
      };
    }
  }
}

/** A forward that mixes `self.memory` into its result, and keeps that result's graph in `self.memory` for the next. */
function* inForward(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const statement of assignsOfKind("Attribute", file)) {
    const [target] = statement.targets;
    const own = target && target.kind === "Attribute" ? selfAttribute(target) : null;
    const method = own === null ? null : functionOf(statement);
    const cls = own === null ? null : classOf(statement);
    if (!cls || method?.kind !== "FunctionDef" || method.name !== "forward" || facts.role(cls) !== "module")
      continue;
    // Caches of generation are meant to be carried, without gradients.
    if (/cache|past|kv|mask|shape|size/i.test(own!) || facts.frequency(statement, method) !== "every")
      continue;
    if (new RegExp(`\\b${own}\\b[^\\n]*detach|\\.detach\\(\\)[^\\n]*\\b${own}\\b`).test(file.code)) continue;
    const writes = attributesOf(cls, file).get(own!)?.writes ?? [];
    if (writes.some((write) => write.in !== method && write.in.name !== "__init__")) continue;
    if (writes.some((write) => write.how === "buffer" || write.how === "augment")) continue;
    const reads = file
      .all("Attribute")
      .filter((node) => contains(method, node) && selfAttribute(node) === own && node !== target);
    // Read into what is then kept: through a name, not in the statement itself, which is a running statistic's.
    const mixed = new Set<Definition>();
    for (const read of reads) {
      const into = statementOf(read);
      if (contains(statement, read)) continue;
      if (read.parent?.kind !== "Binary" && read.parent?.kind !== "Arg") continue;
      // Written above it in this forward, it is of this forward.
      if (writes.some((write) => isAbove(write.target, read))) continue;
      if (into?.kind === "Assign" && into.targets[0]?.kind === "Name" && facts.gradMode(into) !== "off") {
        const made = file.scopes.definitionAt(into.targets[0]);
        if (made) mixed.add(made);
      }
    }
    if (mixed.size === 0 || facts.gradMode(statement) === "off") continue;
    if (!derivesFromInput(statement.value, facts) || !derivesFrom(statement.value, mixed, facts)) continue;
    yield {
      at: target!,
      message: ofForwards(own!),
    };
  }
}

/** `out, self.state = self.lstm(x, self.state)` in a module's forward. */
function* throughLayer(facts: Facts): Generator<Finding> {
  const { file } = facts;
  if (file.calls.matching(NAMED_RECURRENT).length === 0) return;
  for (const statement of file.all("Assign")) {
    const [target] = statement.targets;
    const call = statement.value;
    if (call.kind !== "Call" || !target) continue;
    const known = isRecurrentLayer(call.func, facts);
    if (!known && !isOnlyMadeBy(call.func, file, (made) => NAMED_RECURRENT.test(lastWord(made.func))))
      continue;
    const fn = functionOf(statement);
    const cls = classOf(statement);
    if (!cls || fn?.kind !== "FunctionDef" || !isModuleRole(facts.role(cls))) continue;
    if (/^(?:validation|test|predict)_/.test(fn.name)) continue;
    if (facts.gradMode(statement) === "off" || facts.backwards.some((one) => functionOf(one.call) === fn))
      continue;
    const kept = new Set([...partsOf(target).map(ownState), ...keptBelow(target, statement, facts)]);
    const passed = call.args.flatMap(({ value }) => partsOf(value)).map((value) => handedOn(value));
    const read = passed.find((part) => ownState(part) !== null && kept.has(ownState(part)));
    const own = read ? ownState(read) : null;
    if (!read || own === null) continue;
    if (new RegExp(`\\b${own}\\b[^\\n]*detach|\\.detach_?\\(\\)[^\\n]*\\b${own}\\b`).test(file.code))
      continue;
    // Begun anew by somebody: perhaps before every step. `net.hidden = net.init_hidden(n)` is said by who calls it.
    const renewed =
      methodsOf(cls).some(({ name }) => /^(?:init|reset|zero)_?(?:hidden|state)/.test(name)) ||
      (attributesOf(cls, file).get(own)?.writes ?? []).some(
        (write) => write.in !== fn && write.in.name !== "__init__",
      );
    yield {
      at: read,
      ...(!known || renewed || !/^(?:forward|training_step)$/.test(fn.name)
        ? { severity: "note" as const }
        : {}),
      message: `\`self.${own}\` brings the graphs of all forwards before into this one: backward walks through every one of them, or fails at the second`,
    };
  }
}
