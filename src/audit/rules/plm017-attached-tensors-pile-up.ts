import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord, statementOf } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, ClassDef, Expr, FunctionDef, Name, Node } from "../../python/tree.ts";
import { runsBehind } from "../facts/behind-loss.ts";
import { attributesOf, isModuleRole, isOnlyMadeBy, selfAttribute } from "../facts/classes.ts";
import { isFilled, isReadCut, readsOfList } from "../facts/cuts.ts";
import { callOf } from "../facts/called-keeps.ts";
import type { Facts } from "../facts/facts.ts";
import { detach } from "../facts/on-tensor.ts";
import { attributeMayBeDifferentiated, derivesFromInput } from "../facts/flow.ts";
import {
  handedToKeepers,
  isFactory,
  isTensorOf,
  keptArguments,
  keptParameters,
  writtenRows,
} from "../facts/keepers.ts";
import { likelyPiles } from "../facts/likely-piles.ts";
import { recordsActing } from "../facts/inferring.ts";
import { isNetwork, networkCall } from "../facts/networks.ts";
import { derivesFrom, isBackwarded } from "../facts/backwarded.ts";
import {
  isBounded,
  isEmptied,
  isOfFixedLength,
  isQueue,
  isRing,
  keeps,
  keepsOfCalls,
  keptForBackward,
} from "../facts/kept.ts";
import type { Keep } from "../facts/kept.ts";
import { loopsAround, optimizerSteps } from "../facts/training.ts";
import { lexicalGrad } from "../facts/gradmode.ts";
import { constructed } from "../facts/recurrent.ts";
import { learnerRun, playedWithGraphs } from "../facts/rollouts.ts";
import type { Finding, Rule } from "../rule.ts";
import { assignsOfKind } from "../facts/assigns.ts";

export const rule: Rule = {
  meta: {
    code: "PLM017",
    name: "attached-tensors-pile-up",
    summary:
      "Tensors with their graphs are kept in a list on self that is never emptied, or written into a tensor that lasts",
    severity: "error",
    fix: "unsafe",
    patterns: [17, 2, 4],
  },
  *check(facts) {
    const told = new Set<Finding["at"]>();
    for (const finding of piles(facts)) {
      told.add(finding.at);
      yield finding;
    }
    for (const { at, into, kept, chains } of playedWithGraphs(facts))
      if (!told.has(at))
        yield {
          at,
          severity: "note",
          message: chains
            ? `\`${facts.file.textOf(into)}\` takes over the graph of what is written into it, and chains it to those of all games before`
            : `\`${facts.file.textOf(into)}\` keeps the graph of every turn of the game, and the network is run anew where it learns: nothing is ever differentiated through it`,
          fix: { grade: "unsafe", title: "Detach what is kept", edits: detach(kept, facts) },
        };
    if (facts.guesses)
      for (const { at, root } of likelyPiles(facts))
        yield {
          at,
          message: `\`${facts.file.textOf(root)}\` keeps what it is given with its graph, beside that of other steps`,
        };
  },
};

function* piles(facts: Facts): Generator<Finding> {
  const later = [...cutOffLater(facts)];
  yield* later;
  yield* cutOffBeside(facts);
  if (facts.guesses) yield* handedOnBeside(facts);
  yield* rows(facts);
  yield* rowsElsewhere(facts);
  yield* joined(facts);
  for (const keep of [...keeps(facts), ...keepsOfCalls(facts)]) {
    const { added, at, root } = keep;
    if (keep.how !== "list" || facts.gradMode(at) === "off") continue;
    if (later.some((one) => one.at === at)) continue;
    // Another rule tells of lists that a function fills; a bounded queue of its own outlives the step as one on self does.
    if (root.kind === "Name" && !(isQueue(root, facts) && facts.stepLoop(callOf(keep) ?? at))) continue;
    if (!isRing(at, facts.file) && replaces(at, facts)) continue;
    const known =
      facts.value(added).graph === "yes" ||
      (isModule(at, facts) && facts.hot(at) && computesFromInput(added, facts));
    // What a network gave in a step that records; it may be one that does not learn.
    const maybe =
      !known &&
      facts.value(added).graph !== "no" &&
      ((networkCall(added, facts) !== null && isWhereDifferentiated(at, facts)) ||
        isOfReturnedLoss(keep, facts) ||
        isOfDifferentiatedMethod(keep, facts) ||
        isBehindLoss(keep, facts) ||
        // Cut off for one loss, and part of another: it has a graph.
        (isCutBeside(added, facts) && isBackwarded(added, null, facts)));
    if (!known && !maybe) continue;
    // A bounded deque, or one renewed elsewhere, is no pile; what is read for a loss needs its graph.
    const queue =
      root.kind === "Name" ||
      isRing(at, facts.file) ||
      isBounded(keep, facts) ||
      isOnlyMadeBy(root, facts.file, (made) => isOfFixedLength(made, facts.file));
    const epoch = !queue && isEmptied(keep, facts);
    if (epoch && !isEmptiedByEpoch(keep, facts)) continue;
    if (!queue && !isBackwarded(added, keep.loop, facts) && keptForBackward(keep, facts)) continue;
    yield {
      at,
      ...(queue || epoch || maybe ? { severity: "note" as const } : {}),
      message: epoch
        ? `\`${facts.file.textOf(root)}\` keeps what every step of the epoch put into it, with the graph nodes behind it`
        : queue
          ? `\`${facts.file.textOf(root)}\` holds the graphs of as many steps as fit into it, and those of the steps before cannot be differentiated again`
          : `\`${facts.file.textOf(root)}\` gets one more tensor with its graph each time and is never emptied: memory grows until it runs out`,
      fix: { grade: "unsafe", title: "Detach what is appended", edits: detach(added, facts) },
    };
  }
}

/**
 * `self.recent.append(entropies)` in the method that computes a loss of them and hands it out: what a network made there, or a
 * method that is handed one, `self.scores(model, batch)`, has the graph that who calls this goes back through.
 */
function isOfReturnedLoss({ added, at }: Keep, facts: Facts): boolean {
  const { file } = facts;
  const fn = functionOf(at);
  if (fn?.kind !== "FunctionDef" || fn.name === "__init__" || facts.gradMode(at) === "off") return false;
  if (!/loss/.test(fn.name) || !isMadeByNetwork(added, facts)) return false;
  const made = added.kind === "Name" ? new Set(file.scopes.reaching(added)) : new Set<Definition>();
  return (
    made.size > 0 &&
    file
      .all("Return")
      .some((one) => functionOf(one) === fn && one.value !== null && derivesFrom(one.value, made, facts))
  );
}

/** In a function with a backward, or one that hands its loss to what has it: `update(optimizer, loss)`. */
function isWhereDifferentiated(at: Node, facts: Facts): boolean {
  const fn = functionOf(at);
  return (
    facts.backwards.some(({ call }) => functionOf(call) === fn) ||
    facts
      .callsTo("loose")
      .some((call) => functionOf(call) === fn && facts.callee(call)?.reachesBackward === true)
  );
}

/**
 * `self.recent.append(log_prob)` of `action, log_prob = self.actor.sample(state)`: what a method of a network gave, where the
 * backward of the same function goes through it.
 */
function isOfDifferentiatedMethod({ added, at }: Keep, facts: Facts): boolean {
  const { file } = facts;
  if (functionOf(at) === null || !isWhereDifferentiated(at, facts)) return false;
  const parts = added.kind === "Tuple" ? added.items : [added];
  return parts.some((part) => {
    const made = part.kind === "Name" ? file.scopes.reaching(part) : [];
    return (
      made.length > 0 &&
      made.every(({ node, value }) => facts.gradMode(node) !== "off" && isMethodOfNetwork(value, facts)) &&
      isBackwarded(part, null, facts)
    );
  });
}

/**
 * `self.recent.append(error)` of `error = self.mixer(values) - target.detach()`, where the backward of the same function goes
 * through it: a network that learns was run for it.
 */
function isBehindLoss({ added, at }: Keep, facts: Facts): boolean {
  return (
    added.kind === "Name" &&
    isWhereDifferentiated(at, facts) &&
    isBackwarded(added, null, facts) &&
    runsBehind(added, facts, true, true).some(
      (run) => facts.gradMode(run) !== "off" && !facts.networks.isFrozen(run.func),
    )
  );
}

/** `self.encoder.embed(images)`, of a network that learns. */
function isMethodOfNetwork(made: Expr | null, facts: Facts): boolean {
  const of = made?.kind === "Call" && made.func.kind === "Attribute" ? made.func.value : null;
  return (
    of !== null &&
    (facts.networks.is(of) || facts.value(of).what === "module") &&
    !facts.networks.isFrozen(of)
  );
}

function isMadeByNetwork(added: Expr, facts: Facts): boolean {
  if (runsBehind(added, facts).some((run) => facts.gradMode(run) !== "off")) return true;
  const [made, ...more] = added.kind === "Name" ? facts.file.scopes.reaching(added) : [];
  // `chosen, rejected = out[:2]`, of `out = self.scores(model, batch)`
  let from = more.length === 0 ? (made?.value ?? null) : null;
  for (let depth = 0; depth < 4 && from && from.kind !== "Call"; depth++)
    from =
      from.kind === "Subscript"
        ? from.value
        : from.kind === "Name"
          ? facts.file.scopes.onlyValue(from)
          : null;
  return (
    from?.kind === "Call" &&
    selfAttribute(from.func) !== null &&
    from.args.some(({ value }) => isNetwork(value, facts))
  );
}

/** Of a tensor that lasts, `self.priority[places] = errors`: it takes over the graph of what is written, each time on top of the last. */
function* rows(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const { arg, into } of keptArguments(facts, "rows"))
    yield {
      at: arg,
      severity: "warning",
      message: `\`${into}\` writes this into a tensor it keeps, which chains the graph that comes with it to those of all steps before`,
      fix: { grade: "unsafe", title: "Detach what is written", edits: detach(arg, facts) },
    };
  for (const node of [...assignsOfKind("Subscript", file), ...file.callsNamed(...ROW_WRITERS)]) {
    const written = writtenRows(node);
    const cls = written ? classOf(node) : null;
    const fn = functionOf(node);
    if (!written || !cls || fn?.kind !== "FunctionDef" || fn.name === "__init__") continue;
    // A module's own buffer is another rule's matter.
    if (isModuleRole(facts.role(cls)) || !facts.hot(node) || !isTensorOf(cls, written.into)) continue;
    // What it was handed is told of where it is handed over.
    if (keptParameters(fn)?.rows.length) continue;
    const { into, value } = written;
    if (facts.gradMode(node) === "off" || facts.value(value).graph !== "yes") continue;
    if (isCutOffIn(into, cls, facts) || isBegunIn(into, cls, fn, facts)) continue;
    if (!isBackwarded(value, null, facts) && attributeMayBeDifferentiated(into, cls, facts)) continue;
    yield {
      at: node,
      severity: "warning",
      message: `\`self.${into}\` takes over the graph of what is written into it, and chains it to those of all steps before`,
      fix: { grade: "unsafe", title: "Detach what is written", edits: detach(value, facts) },
    };
  }
}

/** `bank[places] = keys` of a tensor that is there before the loop, `self.replay.priority[places] = errors` of another object's. */
function* rowsElsewhere(facts: Facts): Generator<Finding> {
  const { file } = facts;
  if (facts.backwards.length === 0) return;
  for (const statement of assignsOfKind("Subscript", file)) {
    const [target] = statement.targets;
    const { value } = statement;
    if (target?.kind !== "Subscript" || target.index.kind === "Str") continue;
    const kept = target.value;
    if ((kept.kind !== "Name" && !isOfStore(kept)) || !facts.hot(statement)) continue;
    if (kept.kind === "Name" && !isThereBefore(kept, statement, facts)) continue;
    if (facts.gradMode(statement) === "off" || facts.value(value).graph !== "yes") continue;
    // Differentiated in this turn: nobody wants its graph in the next.
    if (!isBackwarded(value, facts.stepLoop(statement), facts)) continue;
    yield {
      at: statement,
      severity: "note",
      message: `\`${file.textOf(kept)}\` takes over the graph of what is written into it, and chains it to those of all steps before`,
      fix: { grade: "unsafe", title: "Detach what is written", edits: detach(value, facts) },
    };
  }
}

/** `bank = torch.cat([bank[n:], features])`: the last rows, of a tensor that is there before the loop. */
function* joined(facts: Facts): Generator<Finding> {
  const { file } = facts;
  if (facts.backwards.length === 0) return;
  for (const call of file.callsNamed("cat", "concat", "vstack")) {
    const statement = statementOf(call);
    const [target] = statement?.kind === "Assign" ? statement.targets : [];
    const parts = call.args[0]?.value;
    const loop = facts.stepLoop(call);
    if (target?.kind !== "Name" || !loop || (parts?.kind !== "List" && parts?.kind !== "Tuple")) continue;
    if (!(file.dotted(call.func) ?? "").startsWith("torch.") || facts.gradMode(call) === "off") continue;
    const isItself = (part: Expr): boolean => part.kind === "Name" && part.id === target.id;
    const others = parts.items.filter((part) => !isItself(part.kind === "Subscript" ? part.value : part));
    if (others.length === parts.items.length || isBegunWithin(target, loop, call, facts)) continue;
    const added = others.find((part) => facts.value(part).graph === "yes" && isBackwarded(part, loop, facts));
    // Cut off where it is joined, or on the next line.
    if (!added || new RegExp(`\\b${target.id}\\b.*\\bdetach_?\\(`).test(file.codeOf(loop))) continue;
    yield {
      at: statement!,
      severity: "note",
      message: `\`${target.id}\` takes over the graph of what is joined to it, and chains it to those of all steps before`,
      fix: { grade: "unsafe", title: "Detach what is joined", edits: detach(added, facts) },
    };
  }
}

/** Begun in each turn: `rows = first`, and then `rows = torch.cat([rows, second])`. */
function isBegunWithin(kept: Name, loop: Node, call: Call, { file }: Facts): boolean {
  const made = file.scopes.lookup(kept)?.definitions ?? [];
  const others = made.filter(({ node }) => !contains(statementOf(call)!, node));
  return others.length === 0 || others.some(({ node }) => contains(loop, node));
}

/** A tensor that is made before the loop that takes the optimizer's steps, and is never cut off in it. */
function isThereBefore(kept: Name, statement: Node, facts: Facts): boolean {
  const { file } = facts;
  const loop = facts.stepLoop(statement);
  const made = file.scopes.lookup(kept)?.definitions ?? [];
  return (
    loop !== null &&
    optimizerSteps(file).some((step) => contains(loop, step)) &&
    made.length > 0 &&
    made.every(
      ({ how, node, value }) =>
        how === "assign" && value !== null && isFactory(value) && !contains(loop, node),
    ) &&
    !new RegExp(`\\b${kept.id}\\.(?:detach|zero|fill)_\\(`).test(file.codeOf(loop))
  );
}

/** `self.replay.priority`, `replay.priority` */
function isOfStore(kept: Expr): boolean {
  return (
    kept.kind === "Attribute" &&
    selfAttribute(kept) === null &&
    (kept.value.kind === "Name" || selfAttribute(kept.value) !== null) &&
    /priorit|bank|memory|buffer|queue|errors|losses|history/.test(kept.attr)
  );
}

const ROW_WRITERS = ["index_copy_", "index_put_", "scatter_", "masked_scatter_"] as const;

/** `self.priority.detach_()`, `self.priority = self.priority.detach()` */
function isCutOffIn(attribute: string, cls: ClassDef, { file }: Facts): boolean {
  return file
    .callsNamed("detach_", "detach", "zero_", "fill_")
    .some(
      ({ func, parent }) =>
        func.kind === "Attribute" &&
        selfAttribute(func.value) === attribute &&
        classOf(func) === cls &&
        (func.attr !== "detach" || parent?.kind === "Assign"),
    );
}

/** Begun anew by the step itself. */
function isBegunIn(attribute: string, cls: ClassDef, fn: FunctionDef, { file }: Facts): boolean {
  return (attributesOf(cls, file).get(attribute)?.writes ?? []).some(
    ({ how, in: method }) => how === "assign" && method === fn,
  );
}

/**
 * `self.buffer.logps.append(logp)`, `values.append(critic(obs))` of what a network hands out with its graph, and all that read
 * it do so as `torch.stack(values).detach()`, or without gradients: the graphs of a whole rollout are kept for nothing.
 */
function* cutOffLater(facts: Facts): Generator<Finding> {
  const { file } = facts;
  if (facts.backwards.length === 0) return;
  for (const call of file.callsNamed("append")) {
    const list = call.func.kind === "Attribute" ? call.func.value : null;
    const added = call.args[0]?.value;
    if (!list || !added || facts.gradMode(call) === "off" || lexicalGrad(call, file) !== null) continue;
    if (!isUnpackedGraph(added, facts)) {
      if (!isOfLearner(added, facts)) continue;
      // Of a graph that a step has differentiated, little is left.
      if (list.kind !== "Name" && isBackwarded(added, null, facts)) continue;
    }
    const reads = list.kind === "Name" ? readsOfName(list, call, facts) : readsOfOwn(list, facts);
    if (reads.length > 0 && reads.every((one) => isReadCut(one, facts)))
      yield {
        at: call,
        severity: "note",
        message: `\`${file.textOf(list)}\` keeps the graph of every turn until it is read, and there it is cut off: nothing is ever differentiated through it`,
        fix: { grade: "unsafe", title: "Detach what is appended", edits: detach(added, facts) },
      };
  }
}

/** `logp` of `action, logp = self.policy.act(state)` */
function isUnpackedGraph(added: Expr, facts: Facts): boolean {
  const { file } = facts;
  const [made, ...more] = added.kind === "Name" ? file.scopes.reaching(added) : [];
  const run = more.length === 0 && made?.how === "unpack" ? made.value : null;
  return (
    run?.kind === "Call" &&
    made!.index !== null &&
    handsOutGraph(run, made!.index, facts) &&
    facts.gradMode(run) !== "off" &&
    lexicalGrad(run, file) === null
  );
}

/** `self.critic(state)`, and what is computed of it: by a network that is not known to be frozen. */
function isOfLearner(added: Expr, facts: Facts): boolean {
  const { graph } = facts.value(added);
  const run = graph === "unknown" ? networkCall(added, facts) : null;
  // `self.policy.critic(state)`, a part of one.
  if (run === null) return graph === "yes" || (graph === "unknown" && learnerRun(added, facts) !== null);
  return (
    !facts.networks.isFrozen(run.func) &&
    facts.gradMode(run) !== "off" &&
    lexicalGrad(run, facts.file) === null
  );
}

/** Of a list that a loop fills which differentiates nothing itself; another rule tells of those that a step fills. */
function readsOfName(list: Name, call: Call, facts: Facts): readonly Expr[] {
  const { file, backwards } = facts;
  const [loop] = loopsAround(call);
  const made = file.scopes.reaching(list);
  if (!loop || facts.stepLoops.has(loop) || backwards.some((one) => contains(loop, one.call))) return [];
  const isBegun = made.every((one) => isEmptyList(one) && !contains(loop, one.node));
  return isBegun ? readsOfList(list, facts) : [];
}

/** `values = []`, also as one of several: `views, values = [], []` */
function isEmptyList({ how, value, index }: Definition): boolean {
  const made =
    how === "unpack" && value?.kind === "Tuple" && typeof index === "number" ? value.items[index] : value;
  return (how === "assign" || how === "unpack") && made?.kind === "List" && made.items.length === 0;
}

/** Of `self.values`, `self.buffer.values`, also where others read it: `agent.values`. */
function readsOfOwn(list: Expr, { file }: Facts): readonly Expr[] {
  if (list.kind !== "Attribute" || (selfAttribute(list) === null && selfAttribute(list.value) === null))
    return [];
  return file.all("Attribute").filter((one) => one.attr === list.attr && !isFilled(one) && !isBegunAnew(one));
}

/** `self.values = []` */
function isBegunAnew(expr: Expr): boolean {
  const { parent } = expr;
  return (
    parent?.kind === "Assign" &&
    parent.targets.includes(expr) &&
    parent.value.kind === "List" &&
    parent.value.items.length === 0
  );
}

/** `self.policy.act(state)`, of a class of this file whose method returns that part of its result as it was computed. */
function handsOutGraph({ func }: Call, index: number, facts: Facts): boolean {
  const { file } = facts;
  if (func.kind !== "Attribute" || selfAttribute(func.value) === null) return false;
  const returned = file
    .all("Return")
    .filter(({ parent }) => parent?.kind === "FunctionDef" && parent.name === func.attr);
  return (
    returned.length > 0 &&
    returned.every(({ value, parent }) => {
      const part = value?.kind === "Tuple" ? value.items[index] : null;
      const cls = parent?.parent?.kind === "ClassDef" ? parent.parent : null;
      return (
        part?.kind === "Name" &&
        cls !== null &&
        isModuleRole(facts.role(cls)) &&
        isOnlyMadeBy(func.value, file, (made) => constructed(made, file) === file.qualified(cls)) &&
        derivesFromInput(part, facts) &&
        lexicalGrad(part, file) === null
      );
    })
  );
}

/** `values.append(value.detach())` beside `self.history.append(value)`: who cuts it off there knows that it has a graph. */
function* cutOffBeside(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const call of file.callsNamed("append", "appendleft")) {
    const list = call.func.kind === "Attribute" ? call.func.value : null;
    const added = call.args[0]?.value;
    // In what a step calls, its graph is followed by other ways.
    if (!list || selfAttribute(list) === null || !added || facts.hot(call)) continue;
    if (loopsAround(call).length === 0 || lexicalGrad(call, file) !== null || !isCutBeside(added, facts))
      continue;
    yield {
      at: call,
      severity: "note",
      message: `\`${file.textOf(list)}\` keeps each of these with its graph, which is cut off where it is kept beside this`,
      fix: { grade: "unsafe", title: "Detach what is appended", edits: detach(added, facts) },
    };
  }
}

/**
 * `env.step(action.detach().cpu().numpy())` beside `memory.push(state, action)` of `action = agent.act(state)`: a method that
 * puts what it is given into a list, of another that records.
 */
function* handedOnBeside(facts: Facts): Generator<Finding> {
  for (const { call, arg } of handedToKeepers(facts, "list")) {
    const known = facts.value(arg);
    if (facts.gradMode(call) === "off" || known.graph === "no" || known.what === "number") continue;
    const made = arg.kind === "Name" ? facts.file.scopes.reaching(arg) : [];
    const isOfActing = ({ value }: Definition): boolean =>
      value?.kind === "Call" && recordsActing(lastWord(value.func), facts.project);
    if (loopsAround(call).length > 0 && made.some((one) => isOfActing(one) && isCutWhereRead(one, facts)))
      yield {
        at: arg,
        severity: "note",
        message: `\`${facts.file.textOf(call.func)}\` keeps each of these with its graph, which is cut off where it is read beside this`,
        fix: { grade: "unsafe", title: "Detach what is kept", edits: detach(arg, facts) },
      };
  }
}

function isCutBeside(added: Expr, facts: Facts): boolean {
  const [made, ...more] = added.kind === "Name" ? facts.file.scopes.reaching(added) : [];
  return made !== undefined && more.length === 0 && isCutWhereRead(made, facts);
}

function isCutWhereRead(made: Definition, { file }: Facts): boolean {
  return (
    made.value?.kind === "Call" &&
    file.scopes
      .uses(made)
      .some(
        ({ parent }) =>
          parent?.kind === "Attribute" && parent.attr === "detach" && lexicalGrad(parent, file) === null,
      )
  );
}

/** Filled by a Lightning module's `training_step`, and emptied by nothing but the hooks of its epochs. */
function isEmptiedByEpoch({ at, root }: Keep, facts: Facts): boolean {
  const { file } = facts;
  const cls = classOf(root);
  const fn = functionOf(at);
  if (!cls || facts.role(cls) !== "lightning" || fn?.kind !== "FunctionDef" || fn.name !== "training_step")
    return false;
  const name = file.textOf(root);
  const places: Node[] = file
    .callsNamed("clear", "pop", "popleft")
    .filter(({ func }) => func.kind === "Attribute" && file.textOf(func.value) === name);
  for (const write of attributesOf(cls, file).get(selfAttribute(root)!)?.writes ?? [])
    if (write.how === "assign" && write.in.name !== "__init__") places.push(write.target);
  return places.every((place) => {
    const around = functionOf(place);
    return around?.kind === "FunctionDef" && /_epoch_(?:end|start)$/.test(around.name);
  });
}

/** `self.losses[type(layer).__name__] = loss`: an entry under a name that comes again, unlike a step's number. */
function replaces(at: Node, { file }: Facts): boolean {
  const target = at.kind === "Assign" ? at.targets[0] : null;
  const key = target?.kind === "Subscript" ? target.index : null;
  // What it is handed may be another one each time; a name comes again.
  if (key?.kind === "Name" && file.scopes.reaching(key).some(({ how }) => how === "param"))
    return /^(?:name|key|tag|label|metric)$|_(?:name|key|tag)$/.test(key.id) && isReset(target!, file);
  return (
    target?.kind === "Subscript" &&
    !/step|iter|epoch|batch|idx|index|count|time|turn|round|ptr|pointer|cursor|len\(|\b(?:i|n|t|k)\b/i.test(
      file.textOf(target.index),
    )
  );
}

/** `def reset_infos(self): self.infos = {}`, for whoever has the object. */
function isReset(target: Expr, file: PythonFile): boolean {
  const kept = target.kind === "Subscript" ? target.value : target;
  const own = selfAttribute(kept);
  const cls = own === null ? null : classOf(kept);
  const writes = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  return writes.some(({ in: method }) => /^_*(?:reset|clear|flush)/.test(method.name));
}

function isModule(call: Node, facts: Facts): boolean {
  const cls = classOf(call);
  return cls !== null && /^(?:module|lightning)$/.test(facts.role(cls));
}

function computesFromInput(added: Expr, facts: Facts): boolean {
  return (
    added.kind !== "Tuple" &&
    added.kind !== "Dict" &&
    !isTold(added, facts) &&
    (derivesFromInput(added, facts) || (added.kind === "Name" && isOfRows(added, facts)))
  );
}

/** `if t != self.task`: who compares it as a whole was given a number. */
function isTold(expr: Expr, { file }: Facts): boolean {
  return (
    expr.kind === "Name" &&
    file.scopes
      .reaching(expr)
      .some((one) =>
        file.scopes
          .uses(one)
          .some(({ parent }) => parent?.kind === "Compare" && /^(?:==|!=)$/.test(parent.ops[0]!)),
      )
  );
}

/** `torch.index_select(self.codebook.weight, 0, codes)`, `self.codebook.weight[codes]`: rows of what learns. */
function isOfRows(expr: Expr, facts: Facts): boolean {
  const [one, ...more] = expr.kind === "Name" ? facts.file.scopes.reaching(expr) : [];
  let from = expr.kind === "Name" ? (more.length === 0 && one?.how === "assign" ? one.value : null) : expr;
  // `….view(shape)`
  while (
    from?.kind === "Call" &&
    from.func.kind === "Attribute" &&
    facts.file.dotted(from.func) === null &&
    /^(?:view|reshape|permute|contiguous|transpose)$/.test(from.func.attr)
  )
    from = from.func.value;
  const table =
    from?.kind === "Subscript"
      ? from.value
      : from?.kind === "Call" &&
          /^torch\.(?:index_select|matmul|nn\.functional\.embedding)$/.test(
            facts.file.dotted(from.func) ?? "",
          )
        ? (from.args.find(({ value }) => value.kind === "Attribute")?.value ?? null)
        : null;
  return (
    table?.kind === "Attribute" &&
    table.attr === "weight" &&
    selfAttribute(table.value) !== null &&
    facts.value(table.value).what === "module"
  );
}
