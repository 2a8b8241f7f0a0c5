import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord, namesIn, statementOf } from "../../python/nodes.ts";
import type { Assign, Call, Expr, FunctionDef, Lambda, Name, Node } from "../../python/tree.ts";
import { attributesOf, isModuleRole, isSelf, selfAttribute } from "../facts/classes.ts";
import { isConstructing } from "../facts/constructing.ts";
import type { Facts } from "../facts/facts.ts";
import { detach } from "../facts/on-tensor.ts";
import { isCut, isCutEach } from "../facts/cuts.ts";
import { parts } from "../facts/kept.ts";
import { attributeMayBeDifferentiated, derivesFromInput } from "../facts/flow.ts";
import { computedWith, detachKept } from "../facts/detach-kept.ts";
import { bringsGraph, wanted } from "../facts/likely-graphs.ts";
import { networkCall } from "../facts/networks.ts";
import { loopsAround } from "../facts/training.ts";
import type { Finding, Rule } from "../rule.ts";
import { assignsBeyondNames } from "../facts/assigns.ts";
import { isOfGiven, storedBy, hookFunction } from "../facts/hook-stores.ts";
import { isCount, isKnownTensor } from "../facts/known-tensors.ts";
import { isGlobal, rootOf, stores } from "../facts/stores.ts";
import type { Store } from "../facts/stores.ts";

/** What is kept to be added to a loss. */
const OF_LOSS = /loss|aux|penal|reg|entropy|kl|balance|log_?prob/i;
/** The same, or what is backpropagated through later. */
const WANTED = new RegExp(`${OF_LOSS.source}|hidden_state|state$|memory|prev|past`, "i");

/** What is kept to be looked at, and is as large as anything in a forward. */
const MAPS =
  /(?:^|_)(?:att(?:n|ention)s?(?:_(?:weights?|probs?|scores?))?|(?:\w+_)?maps?|activations?|acts?)$/;

export const rule: Rule = {
  meta: {
    code: "PLM004",
    name: "attached-output-kept-on-module",
    summary: "A tensor with its graph is stored on self or by a hook, and nobody wants more than its numbers",
    severity: "warning",
    fix: "unsafe",
    patterns: [4],
  },
  check: found,
};

function* found(facts: Facts): Generator<Finding> {
  for (const statement of assignsBeyondNames(facts.file)) {
    const target = statement.targets[0]!;
    // A plain variable, or made with the object: most assignments are.
    if (statement.targets.length !== 1 || target.kind === "Name") continue;
    const fn = functionOf(statement);
    if (fn?.kind === "FunctionDef" && fn.name === "__init__") continue;
    const { value } = statement;
    const pairs: (readonly [Expr, Expr])[] =
      target.kind === "Tuple" && value.kind === "Tuple" && target.items.length === value.items.length
        ? target.items.map((item, at) => [item, value.items[at]!] as const)
        : target.kind === "Tuple" && value.kind === "Call"
          ? target.items.map((item) => [item, value] as const)
          : [[target, value]];
    for (const [to, stored] of pairs) {
      // `self.taps["hidden"] = x`
      const attribute = selfAttribute(to.kind === "Subscript" && to.index.kind === "Str" ? to.value : to);
      if (attribute === null) {
        if (to.kind === "Attribute" && (to.value.kind === "Name" || selfAttribute(to.value) !== null))
          yield* onObject(statement, to, stored, facts);
        continue;
      }
      if (facts.value(stored).what === "module") continue;
      for (const part of parts(stored, facts)) {
        const found = [...kept(statement, attribute, part, facts)];
        yield* found;
        // One of what is kept together is enough to say it.
        if (found.length > 0) break;
      }
    }
  }
  yield* lists(facts);
  yield* setters(facts);
  yield* hooks(facts);
  if (facts.guesses) yield* likely(facts);
}

/** Where things are, and how large: no tensor that a network computed. */
const PLACES =
  /mask|shape|len|size|idx|index|ids|num|pos|cache|kv|grad|device|dtype|step|weight|param|label|target|anchor|grid|model|net$/i;

/** `FEATS[name] = x`, `LAST = y`, `self.seen.update(map=z)`: whatever outlives the call is given what has a graph, as it seems. */
function* likely(facts: Facts): Generator<Finding> {
  for (const store of stores(facts)) {
    const { at, place, value } = store;
    const root = rootOf(place);
    const fn = functionOf(at);
    if (!root || fn?.kind !== "FunctionDef" || fn.name === "__init__" || facts.gradMode(at) === "off")
      continue;
    const word = root.kind === "Name" ? root.id : lastWord(root);
    if (
      WANTED.test(word) ||
      PLACES.test(word) ||
      isCarried(word, store, facts) ||
      isScalar(value) ||
      isSetting(value, word) ||
      isSpent(value, facts) ||
      isBeforeBackward(at, facts)
    )
      continue;
    const cls = classOf(at);
    const isForward = cls !== null && isModuleRole(facts.role(cls)) && !isConstructing(fn, facts.file);
    const hot = facts.hot(at);
    if ((!isForward && !hot) || !isThereBefore(root, at, isForward, facts)) continue;
    if (facts.frequency(at, hot?.within ?? fn) === "throttled" || isOfEvaluation(at, facts)) continue;
    const brings = parts(value, facts).some(
      (part) => !isScalar(part) && (isForward ? derivesFromInput(part, facts) : bringsGraph(part, facts)),
    );
    if (brings && !isUnrecorded(value, facts) && !isReadWithGraph(root, word, at, isForward, facts))
      yield {
        at,
        message: `\`${facts.file.textOf(place)}\` keeps this step's graph alive until the next one, and nobody here differentiates it`,
      };
  }
}

/** Differentiated further down in the same function: what is kept by then is the output alone. */
function isBeforeBackward(at: Node, { backwards }: Facts): boolean {
  return (
    loopsAround(at).length === 0 &&
    backwards.some(({ call }) => functionOf(call) === functionOf(at) && call.start > at.end)
  );
}

/** `out, self.carried = self.cells(x, self.carried)`, by what it is given or by its name. */
function isCarried(word: string, { at }: Store, { file }: Facts): boolean {
  return (
    /^(?:hidden|carr|[hc]x?$)/.test(word) ||
    (at.kind === "Assign" && new RegExp(`\\b${word}\\b`).test(file.textOf(at.value)))
  );
}

/** `self.pool(x)` of an `x` that was computed without recording. */
function isUnrecorded(value: Expr, facts: Facts): boolean {
  const { scopes } = facts.file;
  const made = namesIn(value).flatMap((name) => (name.id === "self" ? [] : scopes.reaching(name)));
  return made.length > 0 && made.every(({ node }) => facts.gradMode(node) === "off");
}

/** An object's, a global one, or begun before the loop: what goes with the call or the turn keeps nothing. */
function isThereBefore(root: Expr, at: Node, isForward: boolean, facts: Facts): boolean {
  const { scopes } = facts.file;
  let owner = root;
  while (owner.kind === "Attribute" || owner.kind === "Subscript") owner = owner.value;
  if (owner.kind !== "Name") return false;
  if (isSelf(owner)) return true;
  const binding = scopes.lookup(owner);
  // `LAST = y`: not written into what it was before.
  if (scopes.binds(owner) && isGlobal(owner, facts.file)) return true;
  if (!binding || facts.value(owner).what === "tensor" || facts.value(owner).what === "output") return false;
  if (binding.scope.node !== scopes.scopeOf(owner).node) return true;
  if (isGlobal(owner, facts.file)) return true;
  const loop = facts.stepLoop(at);
  return !isForward && loop !== null && binding.definitions.every(({ node }) => !contains(loop, node));
}

/** `if not self.training:` */
function isOfEvaluation(node: Node, { file }: Facts): boolean {
  for (let at = node.parent; at && at.kind !== "FunctionDef"; at = at.parent)
    if (at.kind === "If" && /not (?:\w+\.)*(?:training|train)\b|eval|valid|test/.test(file.textOf(at.test)))
      return true;
  return false;
}

/** Read elsewhere for more than its numbers; in the same forward, below it, the tensor is there under its own name. */
function isReadWithGraph(root: Expr, word: string, at: Node, isForward: boolean, facts: Facts): boolean {
  const { file } = facts;
  const fn = functionOf(at);
  if (!isForward && wanted(facts).words.has(word)) return true;
  if (root.kind === "Name")
    return (file.scopes.lookup(root)?.definitions ?? []).some(
      (one) =>
        wanted(facts).definitions.has(one) ||
        (isForward &&
          file.scopes
            .uses(one)
            .some((use) => functionOf(use) !== fn && !isWrittenInto(use) && !isCut(use, facts))),
    );
  return file.all("Attribute").some((read) => {
    if (read.attr !== word || isWrittenInto(read) || isCut(read, facts)) return false;
    if (isAskedForGradients(read)) return true;
    if (functionOf(read) === fn) return isForward && read.start < at.start;
    // Asked for by who only looks at it.
    const by = functionOf(read);
    const isReturned = statementOf(read)?.kind === "Return";
    return isForward
      ? !(isReturned && by?.kind === "FunctionDef" && /^(?:get_(?!.*loss)|show|visuali)/.test(by.name)) &&
          !isReturnedCut(read)
      : isReturned;
  });
}

/** `return self.unpatchify(self.last).detach().cpu()` */
function isReturnedCut(read: Node): boolean {
  for (let at = read.parent; at; at = at.parent) {
    if (at.kind === "Attribute" && /^(?:detach|data|item|numpy)$/.test(at.attr)) return true;
    if (!/^(?:Arg|Call|Attribute|Subscript|Binary)$/.test(at.kind)) return false;
  }
  return false;
}

function isWrittenInto(node: Node): boolean {
  let at: Node = node;
  while (at.parent?.kind === "Subscript" && at.parent.value === at) at = at.parent;
  return (
    isWritten(at) ||
    (at.parent?.kind === "Attribute" &&
      /^(?:update|append|clear|setdefault|__setitem__)$/.test(at.parent.attr))
  );
}

/** `self.features.append(x)` in a forward that begins the list anew: until the next one, all of them are kept. */
function* lists(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const call of file.callsNamed("append")) {
    const own = call.func.kind === "Attribute" ? selfAttribute(call.func.value) : null;
    const fn = functionOf(call);
    const cls = own === null ? null : classOf(call);
    if (!cls || fn?.kind !== "FunctionDef" || fn.name !== "forward" || call.args.length !== 1) continue;
    if (!isModuleRole(facts.role(cls)) || WANTED.test(own!) || facts.gradMode(call) === "off") continue;
    const value = call.args[0]!.value;
    const begun = (attributesOf(cls, file).get(own!)?.writes ?? []).some(
      (write) => write.in === fn && write.how === "assign",
    );
    if (!begun || isScalar(value) || !derivesFromInput(value, facts)) continue;
    const read = file
      .all("Attribute")
      .some(
        (node) =>
          node.attr === own &&
          !isWritten(node) &&
          !(node.parent?.kind === "Attribute" && /^(?:append|clear)$/.test(node.parent.attr)),
      );
    if (read) continue;
    yield {
      at: call,
      severity: "note",
      message: `\`self.${own}\` keeps this step's graph alive until the next one, and nobody here differentiates it`,
      ...detaching(value, facts),
    };
  }
}

/** `setattr(self, f"stage_{i}", x)` and `setattr(self, "last_" + name, x)` in what a module computes: read by nobody under such a name. */
function* setters(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const call of file.callsNamed("setattr")) {
    const [to, name, value, ...more] = call.args.map((arg) => arg.value);
    const cls = to && isSelf(to) ? classOf(call) : null;
    if (!cls || !name || !value || more.length > 0 || !isModuleRole(facts.role(cls))) continue;
    const begins = beginningOf(name, file);
    const fn = functionOf(call);
    if (begins === "" || WANTED.test(begins) || fn?.kind !== "FunctionDef" || isConstructing(fn, file))
      continue;
    if (isScalar(value) || facts.gradMode(call) === "off" || !derivesFromInput(value, facts)) continue;
    const isRead =
      file.callsNamed("getattr").length > 0 ||
      file.all("Attribute").some((node) => node.attr.startsWith(begins) && !isWritten(node));
    if (!isRead)
      yield {
        at: call,
        severity: "note",
        message: `\`self.${begins}…\` keeps this step's graph alive until the next one, and nobody here differentiates it`,
        ...detaching(value, facts),
      };
  }
}

/** What the name of an attribute begins with that is put together: "stage_" of `f"stage_{i}"`. */
function beginningOf(name: Expr, file: PythonFile): string {
  if (name.kind === "Binary") return name.op === "+" ? beginningOf(name.left, file) : "";
  return name.kind === "Str" ? (/^[rf]?["'](\w+)/i.exec(file.textOf(name))?.[1] ?? "") : "";
}

/** `state.last_output = outputs`, of an object that is there before the loop and after it. */
function* onObject(
  statement: Assign,
  target: Expr & { kind: "Attribute" },
  value: Expr,
  facts: Facts,
): Generator<Finding> {
  const { file } = facts;
  const loop = facts.stepLoop(statement);
  if (!loop || WANTED.test(target.attr) || isScalar(value)) return;
  if (/^(?:grad|data|requires_grad)$/.test(target.attr) || facts.value(value).graph !== "yes") return;
  const { what } = facts.value(target.value);
  if (what === "tensor" || what === "output" || facts.gradMode(statement) === "off") return;
  const made = target.value.kind === "Name" ? file.scopes.reaching(target.value) : null;
  if (made && (made.length === 0 || made.some((one) => contains(loop, one.node)))) return;
  const reads = file.all("Attribute").filter((node) => node.attr === target.attr && !isWritten(node));
  if (!reads.every((read) => isCut(read, facts))) return;
  yield {
    at: statement,
    severity: "note",
    message: `\`${file.textOf(target)}\` keeps this step's graph alive until the next one, and nobody here differentiates it`,
    ...detaching(value, facts),
  };
}

function* kept(statement: Assign, attribute: string, value: Expr, facts: Facts): Generator<Finding> {
  const cls = classOf(statement);
  const fn = functionOf(statement);
  if (!cls || fn?.kind !== "FunctionDef" || fn.name === "__init__" || facts.gradMode(statement) === "off")
    return;
  // Whatever a module's method computes from its arguments, a forward computes with it; of one that nobody here runs, as likely
  // as not.
  const isForward =
    /^(?:module|lightning)$/.test(facts.role(cls)) &&
    !isConstructing(fn, facts.file) &&
    (fn.name === "forward" ||
      facts.hot(statement) !== null ||
      (facts.guesses && !isSetting(value, attribute)));
  if (
    !(isForward && derivesFromInput(value, facts)) &&
    !(facts.hot(statement) && facts.value(value).graph === "yes") &&
    !(!isForward && isOfLossRun(value, fn, facts))
  )
    return;
  const reads = facts.file.all("Attribute").filter(
    (node) =>
      node.attr === attribute &&
      // `vgg19(…).features` is of what was just made.
      node.value.kind !== "Call" &&
      !isWritten(node) &&
      !(node.parent?.kind === "Subscript" && isWritten(node.parent)),
  );
  // An auxiliary loss is read with its graph; where nobody reads it here, another file may.
  const cut = reads.length > 0 && reads.every((read) => isCut(read, facts));
  // What is handed back may be asked for by who is not seen here.
  const handed = reads.some((read) => {
    const by = statementOf(read)?.kind;
    // Or read under another name, unless it is cut off before.
    return by === "Return" || (by === "Assign" && !isCut(read, facts, 1));
  });
  // A state that is carried on is read by who carries it: `self.last_hidden_state` that is only written is none.
  const unread = reads.length === 0 && !(isForward ? OF_LOSS : WANTED).test(attribute) && !isScalar(value);
  // Read in this forward only, which has the tensor under its own name.
  const local =
    isForward &&
    reads.length > 0 &&
    !WANTED.test(attribute) &&
    !/len|size|shape|num|cache|kv/i.test(attribute) &&
    !isScalar(value) &&
    reads.every(
      (read) => functionOf(read) === fn && selfAttribute(read) !== null && read.start > statement.end,
    );
  // The others, of other functions, want its numbers alone.
  const elsewhere = reads.filter((read) => functionOf(read) !== fn);
  const watched =
    isForward &&
    !WANTED.test(attribute) &&
    elsewhere.length > 0 &&
    elsewhere.length < reads.length &&
    elsewhere.every((read) => isCut(read, facts)) &&
    reads.every(
      (read) => elsewhere.includes(read) || (selfAttribute(read) !== null && read.start > statement.end),
    );
  const harmless =
    reads.length > 0 &&
    !isForward &&
    !WANTED.test(attribute) &&
    !attributeMayBeDifferentiated(attribute, cls, facts);
  // By hooks of Lightning's that differentiate nothing: `validation_epoch_end`, `on_train_batch_end`.
  const looked =
    reads.length > 0 &&
    facts.role(cls) === "lightning" &&
    reads.every((read) => {
      const by = functionOf(read);
      return (
        by?.kind === "FunctionDef" &&
        /^(?:validation|test|on)_|_epoch_end$/.test(by.name) &&
        // Handed to somebody, it may be kept, or part of a loss.
        read.parent?.kind === "Attribute"
      );
    });
  // By methods that nobody calls: `def attention_entropy(self)`, there to be asked for by a notebook. Of other things a
  // whole program may ask with their graph.
  const unasked =
    isForward &&
    reads.length > 0 &&
    MAPS.test(attribute) &&
    !WANTED.test(attribute) &&
    !isScalar(value) &&
    reads.every((read) => selfAttribute(read) !== null && classOf(read) === cls && isUnasked(read, facts));
  if (facts.guesses && isUnrecorded(value, facts)) return;
  if (!cut && !unread && !harmless && !local && !looked && !watched && !unasked) return;
  if (isSpent(value, facts) || isCount(value, facts) || reads.some(isAskedForGradients)) return;
  const computed = computedWith(reads, fn, facts);
  // What nobody reads here, another file of the tree may read for a loss.
  const isKnown =
    (cut && reads.every(isAskedAsTensor)) ||
    (isKnownTensor(value, facts) && (!unread || facts.project.files < 2));
  const fix = isKnown ? detachKept(statement, value, computed, facts) : null;
  yield {
    at: statement.value === value ? statement : value,
    ...(cut && !handed && (fn.name === "forward" || !isForward) ? {} : { severity: "note" as const }),
    message: cut
      ? `\`self.${attribute}\` keeps this forward's graph alive until the next one, and all its readers cut it off anyway`
      : computed.length > 0
        ? `\`self.${attribute}\` keeps this forward's graph alive until the next one, and nothing but this forward computes with it`
        : `\`self.${attribute}\` keeps this step's graph alive until the next one, and nobody here differentiates it`,
    ...(fix && { fix }),
  };
}

/** The fix, where what is kept is a tensor for certain. */
function detaching(value: Expr, facts: Facts): Pick<Finding, "fix"> {
  return isKnownTensor(value, facts)
    ? { fix: { grade: "unsafe", title: "Detach what is kept", edits: detach(value, facts) } }
    : {};
}

/** `self.last.detach()`, which nothing but a tensor has. */
function isAskedAsTensor({ parent }: Node): boolean {
  return parent?.kind === "Attribute" && /^(?:detach|cpu|item|data|numpy)$/.test(parent.attr);
}

/** `self.training = mode`, `self._parallel_id = copy_id`: by both names no tensor. */
function isSetting(value: Expr, attribute: string): boolean {
  return value.kind === "Name" && (SETTING.test(value.id) || SETTING.test(attribute));
}

const SETTING =
  /(?:^|_)(?:id|ids|mode|flag|training|name|path|prefix|epoch|step|iter|lr|rate|ctx|config|cfg|args?|opts?|kind|type|keys?|dims?|width|depth|channels?|planes|sizes?|enabled?|verbose|seed|device|dtype|scale|alpha|beta|gamma|temperature|threshold|ratio|prob|value|[nkw])$/i;

/** `self.feat.retain_grad()`: its own gradients are asked for, which only what is in the graph has. */
function isAskedForGradients({ parent }: Node): boolean {
  return parent?.kind === "Attribute" && /^(?:retain_grad|requires_grad_)$/.test(parent.attr);
}

/** A method that runs a network for its loss, whoever calls it: `compute_loss`, `_calculate_loss`, `train_step`. */
const RUNS_FOR_LOSS = /(?:^|_)loss(?:es)?(?:_|$)|^_*train(?:ing)?_(?:step|batch)$/;

/**
 * `self.last = pred` or `self.stats = dict(recon=recon)` in `def compute_loss(self, batch)`, of what a network gave there: an
 * evaluation may call the same method without recording, training does not.
 */
function isOfLossRun(value: Expr, fn: FunctionDef, facts: Facts): boolean {
  if (!RUNS_FOR_LOSS.test(fn.name) || facts.value(value).graph === "no") return false;
  return derivesFromInput(value, facts) && namesIn(value).some((name) => isOfRun(name, facts));
}

/** Of a network's call that records, and not a term of the loss. */
function isOfRun(name: Name, facts: Facts): boolean {
  const run = OF_LOSS.test(name.id) ? null : networkCall(name, facts);
  return run !== null && facts.gradMode(run) !== "off" && !facts.networks.isLoss(run.func);
}

/** In a method that nobody in the tree calls, and whose name says nothing of a loss; Python calls some, and properties are not called. */
function isUnasked(read: Node, facts: Facts): boolean {
  const by = functionOf(read);
  return (
    by?.kind === "FunctionDef" &&
    by.decorators.length === 0 &&
    !/^(?:forward|__\w+__|(?:training|validation|test|predict|configure|on)_\w+)$|loss|penal|aux|regular/i.test(
      by.name,
    ) &&
    facts.functionFacts(read).callersGradOff === "unknown" &&
    // Handed on, as `self.monitors.append(net.entropy)`, somebody else calls it.
    !facts.file.all("Attribute").some((one) => one.attr === by.name)
  );
}

/** A loss that has been differentiated keeps nodes, and nothing that they saved. */
function isSpent(value: Expr, facts: Facts): boolean {
  if (value.kind === "Call") return facts.callee(value)?.reachesBackward === true;
  return (
    value.kind === "Name" &&
    facts.backwards.some(
      ({ call, loss }) =>
        loss?.kind === "Name" && loss.id === value.id && functionOf(call) === functionOf(value),
    )
  );
}

/** A forward hook that stores what it is given. */
function* hooks(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const seen = new Set<Node>();
  for (const call of file.callsNamed("register_forward_hook", "register_forward_pre_hook")) {
    if (call.func.kind !== "Attribute" || !/^register_forward(?:_pre)?_hook$/.test(call.func.attr)) continue;
    const hook = call.args[0]?.value;
    const fn = hook && hookFunction(hook, facts);
    if (!fn || seen.has(fn)) continue;
    seen.add(fn);
    if (fn.kind === "Lambda") {
      const stored = storedBy(fn.body, new Set(fn.params.slice(-2).map(({ name }) => name)));
      if (stored && facts.gradMode(call) !== "off" && !isWanted(stored.into, fn, facts))
        yield report(stored.value, fn, call, facts);
      continue;
    }
    if (facts.gradMode(fn.body[0]!) === "off") continue;
    // What is run through hooks without recording has no graph to keep.
    const around = functionOf(fn);
    if (
      around &&
      /no_grad|inference_mode/.test(file.codeOf(around)) &&
      !facts.functionFacts(call).reachesBackward
    )
      continue;
    // `_kind=kind` is the hook's own; the module and its output come without a default.
    const given = new Set(
      fn.params
        .filter((param) => param.default === null)
        .slice(-2)
        .map((param) => param.name),
    );
    const isGiven = (expr: Expr): boolean =>
      facts.guesses
        ? isOfGiven(expr, given)
        : expr.kind === "Subscript"
          ? isGiven(expr.value)
          : expr.kind === "Name" && given.has(expr.id);
    for (const statement of file.all("Assign"))
      if (
        functionOf(statement) === fn &&
        isGiven(statement.value) &&
        statement.targets.some(
          (target) =>
            (target.kind === "Subscript" || target.kind === "Attribute") && !isWanted(target, fn, facts),
        )
      )
        yield report(statement.value, fn, call, facts);
    for (const one of file.callsNamed("update", "setattr", "__setitem__", "setdefault")) {
      const stored = functionOf(one) === fn ? storedBy(one, given) : null;
      if (stored && !isWanted(stored.into, fn, facts)) yield report(stored.value, fn, call, facts);
    }
    for (const append of file.callsNamed("append"))
      if (
        functionOf(append) === fn &&
        append.func.kind === "Attribute" &&
        append.func.attr === "append" &&
        append.args.length === 1 &&
        isGiven(append.args[0]!.value) &&
        !isWanted(append.func.value, fn, facts)
      )
        yield report(append.args[0]!.value, fn, call, facts);
  }
}

/** Read outside the hook with its graph: to be part of a loss, or of the same forward. */
function isWanted(place: Expr, hook: FunctionDef | Lambda, facts: Facts): boolean {
  let root = place;
  while (root.kind === "Subscript" || (root.kind === "Attribute" && selfAttribute(root) === null))
    root = root.value;
  const name = lastWord(root);
  // `module.__dict__["box"]["output"]`, which whoever finds the module again reads.
  const key = name === "__dict__" && place.kind === "Subscript" ? place.index : null;
  if (key?.kind === "Str" && isKeyRead(key.value ?? "", hook, facts)) return true;
  if (facts.guesses) {
    const { definitions, words } = wanted(facts);
    return root.kind === "Name"
      ? (facts.file.scopes.lookup(root)?.definitions ?? []).some((one) => definitions.has(one))
      : words.has(name);
  }
  const mentions = root.kind === "Name" ? facts.file.all("Name") : facts.file.all("Attribute");
  return mentions.some((node) => {
    if ((node.kind === "Name" ? node.id : node.attr) !== name || contains(hook, node)) return false;
    if (node.kind === "Name" && facts.file.scopes.binds(node)) return false;
    let at: Node = node;
    while (at.parent?.kind === "Subscript" && at.parent.value === at) at = at.parent;
    if (isWritten(at) || isCut(at, facts) || isCutEach(at, facts)) return false;
    return !(at.parent?.kind === "Attribute" && /^(?:clear|keys|append|pop)$/.test(at.parent.attr));
  });
}

/** `box["output"]` somewhere else, as it is. */
function isKeyRead(key: string, hook: Node, facts: Facts): boolean {
  return facts.file
    .all("Subscript")
    .some(
      (read) =>
        read.index.kind === "Str" &&
        read.index.value === key &&
        !contains(hook, read) &&
        !isWritten(read) &&
        !isCut(read, facts),
    );
}

/** `def keep(module, inputs, out): module.out = out`, and `mse(net.out, teacher.out)`: for a loss, as like as not. */
function isReadOffModules(value: Expr, hook: Node, facts: Facts): boolean {
  const target = value.parent?.kind === "Assign" ? value.parent.targets[0] : undefined;
  return (
    target?.kind === "Attribute" &&
    facts.file
      .all("Attribute")
      .some(
        (one) => one.attr === target.attr && !contains(hook, one) && !isWritten(one) && !isCut(one, facts),
      )
  );
}

function report(value: Expr, hook: FunctionDef | Lambda, call: Call, facts: Facts): Finding {
  // Handed in as a tuple, whatever there is of them.
  const own = hook.params.filter((param) => param.default === null);
  const inputs = own.at(lastWord(call.func) === "register_forward_pre_hook" ? -1 : -2)?.name;
  const isTuple = value.kind === "Name" && value.id === inputs;
  return {
    at: value,
    severity: "note",
    message:
      "The hook keeps the output with its graph: all activations before it live as long as what is kept here",
    ...(isTuple || isReadOffModules(value, hook, facts)
      ? {}
      : { fix: { grade: "unsafe", title: "Detach what is kept", edits: detach(value, facts) } }),
  };
}

/** Reduced to one number: a loss term as likely as not. */
function isScalar(expr: Expr): boolean {
  if (expr.kind === "Unary") return isScalar(expr.operand);
  if (expr.kind === "Binary") return isScalar(expr.left) || isScalar(expr.right);
  return (
    expr.kind === "Call" &&
    expr.func.kind === "Attribute" &&
    (/loss|entropy/i.test(expr.func.attr) ||
      (/^(?:mean|sum)$/.test(expr.func.attr) && expr.args.length === 0))
  );
}

function isWritten(node: Node): boolean {
  const { parent } = node;
  if (parent?.kind === "Tuple")
    return parent.parent?.kind === "Assign" && parent.parent.targets.includes(parent);
  return parent?.kind === "Assign" && parent.targets.includes(node as never);
}
