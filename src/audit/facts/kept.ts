import type { PythonFile } from "../../python/file.ts";
import { keyword } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord, statementOf, walk } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr, FunctionDef, Node, Sequence, Stmt } from "../../python/tree.ts";
import { askedType } from "./asked-types.ts";
import { definitionsOf, givenFor, innerRoot, isTakenBack } from "./called-keeps.ts";
import type { CalledKeep } from "./called-keeps.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import { derivesFrom, isDifferentiatedItem, returnedFor } from "./backwarded.ts";
import type { Facts } from "./facts.ts";
import { attributeMayBeDifferentiated, mayBeDifferentiated } from "./flow.ts";
import { isCutEntry, isPlain } from "./likely-graphs.ts";
import { callsOf } from "./returns.ts";
import { isThrottle, skips, skipsAbove } from "./turns.ts";
import { loopsAround } from "./training.ts";
import type { Loop } from "./training.ts";

/** A place that keeps a value past the turn of the loop it was made in. */
export interface Keep {
  readonly at: Call | Stmt;
  readonly added: Expr;
  /** "sum" mixes it into what was there before; "list" puts it beside the others. */
  readonly how: "sum" | "list";
  /** The sum or the container: a name, or an attribute of self. */
  readonly root: Expr;
  /** The innermost loop that fills it; null where a function that runs every step does. */
  readonly loop: Loop | null;
}

/** Everything in the file that grows from turn to turn: sums, averages, lists, entries of dicts. */
export function keeps(facts: Facts): readonly Keep[] {
  return facts.once(allKeeps).here;
}

/** The same of what a loop hands to a function that it calls every turn, and that this adds to. */
export function keepsOfCalls(facts: Facts): readonly CalledKeep[] {
  return facts.once(allKeeps).called;
}

function allKeeps(facts: Facts): { readonly here: readonly Keep[]; readonly called: readonly CalledKeep[] } {
  const here: Keep[] = [];
  const called: CalledKeep[] = [];
  for (const one of candidates(facts)) {
    const found = outlives(one, facts);
    if (found.length > 0) here.push(...found);
    else called.push(...outlivesByCall(one, facts));
  }
  return { here, called };
}

export type Candidate = Omit<Keep, "loop">;

export function* candidates(facts: Facts): Generator<Candidate> {
  for (const at of facts.file.all("AugAssign")) {
    const root = rootOf(at.target);
    if (at.op !== "+" || !root || !mayOutlive(root, at, facts)) continue;
    if (at.value.kind === "List" || at.value.kind === "Tuple")
      for (const added of parts(at.value, facts)) yield { at, added, how: "list", root };
    // `rows += torch.unbind(features)`
    else if (isUnbound(at.value, facts))
      yield { at, added: (at.value as Call).args[0]!.value, how: "list", root };
    else yield { at, added: at.value, how: "sum", root };
  }
  for (const at of facts.file.all("Assign")) {
    const target = at.targets[0]!;
    // Most assignments are of what was just made, to a name.
    if (target.kind === "Name" && !mayAdd(at.value, facts)) continue;
    // `total, count = total + loss, count + 1`
    if (target.kind === "Tuple" && at.value.kind === "Tuple" && target.items.length === at.value.items.length)
      for (const [index, item] of target.items.entries()) {
        const value = at.value.items[index]!;
        const root = value.kind === "Binary" ? rootOf(item) : null;
        if (root) for (const added of mixedIn(value, item, facts)) yield { at, added, how: "sum", root };
      }
    const grown = at.targets.length === 1 ? addedToList(at.value, target, facts) : [];
    if (grown.length > 0) {
      const root = rootOf(target);
      if (root && mayOutlive(root, at, facts))
        for (const added of grown.flatMap((item) => parts(item, facts)))
          yield { at, added, how: "list", root };
      continue;
    }
    const mixes = at.value.kind === "IfExp" || at.value.kind === "Binary" || adds(at.value, facts);
    if (at.targets.length !== 1 || (!mixes && target.kind !== "Subscript")) continue;
    const root = rootOf(target);
    if (!root || !mayOutlive(root, at, facts)) continue;
    if (mixes) for (const added of mixedIn(at.value, target, facts)) yield { at, added, how: "sum", root };
    // `trace[step] = loss`: a dict, or a list of places, that another entry is put into each turn.
    if (
      target.kind === "Subscript" &&
      !(target.index.kind === "Str" && target.index.value !== null) &&
      target.index.kind !== "Slice" &&
      isPlaces(root, facts)
    )
      for (const added of parts(at.value, facts)) yield { at, added, how: "list", root };
  }
  for (const at of facts.file.callsNamed("append", "appendleft", "extend", "insert", "add", "push")) {
    if (at.func.kind !== "Attribute" || !/^(?:append|appendleft|extend|insert|add|push)$/.test(at.func.attr))
      continue;
    const inserts = at.func.attr === "insert";
    const arg = at.args[inserts ? 1 : 0];
    const root = rootOf(at.func.value);
    if (!arg || at.args.length !== (inserts ? 2 : 1) || arg.star !== 0 || !root) continue;
    if (!mayOutlive(root, at, facts)) continue;
    if (at.func.attr === "push" && root.kind === "Name" && facts.value(root).what === "unknown") continue;
    // What another object's method does with it, the method says (keepers.ts).
    if (isMeter(root, facts, at.func.attr)) continue;
    for (const added of parts(arg.value, facts)) yield { at, added, how: "list", root };
  }
}

/**
 * `[x]` of `recent = (recent + [x])[-n:]`, `recent = recent[1:] + [x]`, `recent = [x] + recent[:n]` and `recent = [*recent, x]`: what
 * a list or tuple is given besides its own.
 */
function addedToList(value: Expr, target: Expr, { file }: Facts): readonly Expr[] {
  const whole = uncut(value);
  const isItself = (side: Expr): boolean => file.textOf(uncut(side)) === file.textOf(target);
  if (isSequence(whole)) {
    if (!whole.items.some((item) => item.kind === "Starred")) return [];
    const others = whole.items.filter((item) => item.kind !== "Starred" || !isItself(item.value));
    return others.length < whole.items.length ? others : [];
  }
  if (whole.kind !== "Binary" || whole.op !== "+") return [];
  const { left, right } = whole;
  if (isSequence(right) && isItself(left)) return right.items;
  return isSequence(left) && isItself(right) ? left.items : [];
}

function isSequence(expr: Expr): expr is Sequence {
  return expr.kind === "List" || expr.kind === "Tuple";
}

/** `recent` of `recent[-n:]` */
function uncut(expr: Expr): Expr {
  return expr.kind === "Subscript" && expr.index.kind === "Slice" ? expr.value : expr;
}

function isUnbound(expr: Expr, { file }: Facts): boolean {
  return expr.kind === "Call" && file.dotted(expr.func) === "torch.unbind" && expr.args.length > 0;
}

/** What is kept with a record: `(step, loss)`, `{"loss": loss}`, `{k: v for k, v in losses.items()}`, `Row(step, loss)`. */
export function parts(expr: Expr, facts: Facts): readonly Expr[] {
  if (expr.kind === "Tuple" || expr.kind === "List") return expr.items.flatMap((item) => parts(item, facts));
  if (expr.kind === "Dict") return expr.values;
  if (expr.kind === "Comp" && expr.flavour === "dict" && expr.value) return [expr.value];
  if (expr.kind === "Call" && facts.file.dotted(expr.func) === "builtins.dict")
    return expr.args.map(({ value }) => value);
  return isRecord(expr, facts) ? expr.args.map(({ value }) => value) : [expr];
}

/** Made by a class that is no collection: `meter = Averager()`; `meter = utils.averager()`, as no list has an `add`. */
export function isMeter(root: Expr, facts: Facts, method: string): boolean {
  const own = method === "add" ? selfAttribute(root) : null;
  const cls = own === null ? null : classOf(root);
  const made =
    root.kind === "Name"
      ? (facts.file.scopes.lookup(root)?.definitions ?? [])
      : ((cls && attributesOf(cls, facts.file).get(own!)?.writes) ?? []);
  return made.some(({ value }) => {
    if (value?.kind !== "Call") return false;
    const name = lastWord(value.func);
    if ((method === "add" || method === "push") && !/^(?:frozen)?set$/.test(name)) return true;
    return /^[A-Z]/.test(name) && !/^(?:Ordered|default)?[Dd]ict$|Counter|Deque|Queue|List|Buffer/.test(name);
  });
}

/** `Row(step, loss)`: a class of this file, or a named tuple, that holds what it is made of. */
function isRecord(expr: Expr, facts: Facts): expr is Call {
  if (expr.kind !== "Call" || expr.func.kind !== "Name") return false;
  return (facts.file.scopes.lookup(expr.func)?.definitions ?? []).some(
    ({ how, value }) =>
      how === "class" ||
      (value?.kind === "Call" && facts.file.dotted(value.func) === "collections.namedtuple"),
  );
}

/** Begun as a dict or list, so that what is put into it is kept as it is; into a tensor it would be copied. */
function isPlaces(root: Expr, facts: Facts): boolean {
  const own = selfAttribute(root);
  const cls = own === null ? null : classOf(root);
  const begun: (Expr | null)[] =
    root.kind === "Name"
      ? (facts.file.scopes.lookup(root)?.definitions ?? []).map(({ value }) => value)
      : (cls ? (attributesOf(cls, facts.file).get(own!)?.writes ?? []) : []).map(({ value }) => value);
  return (
    begun.length > 0 &&
    begun.every(
      (value) =>
        value?.kind === "Dict" ||
        value?.kind === "List" ||
        (value?.kind === "Binary" && value.left.kind === "List") ||
        (value?.kind === "Call" &&
          /^(?:builtins\.dict|collections\.(?:OrderedDict|defaultdict))$/.test(
            facts.file.dotted(value.func) ?? "",
          )),
    )
  );
}

/** `stats["loss"]` → `stats`; `self.stats.setdefault(k, [])` → `self.stats`. */
export function rootOf(expr: Expr): Expr | null {
  if (expr.kind === "Name" || selfAttribute(expr) !== null) return expr;
  if (expr.kind === "Subscript") return rootOf(expr.value);
  // `self.memory.values`
  if (expr.kind === "Attribute" && selfAttribute(expr.value) !== null) return expr.value;
  // `totals.loss` of a record of one's own.
  if (expr.kind === "Attribute" && expr.value.kind === "Name" && !/^(?:grad|data)$/.test(expr.attr))
    return expr.value;
  return expr.kind === "Call" && expr.func.kind === "Attribute" && expr.func.attr === "setdefault"
    ? rootOf(expr.func.value)
    : null;
}

const MIXERS: ReadonlySet<string> = new Set(["add", "sub", "lerp", "maximum", "minimum", "fmax", "fmin"]);

/** By its form alone what may add to something. */
function mayAdd(value: Expr, facts: Facts): boolean {
  return value.kind === "Call" ? adds(value, facts) : ADDS.has(value.kind);
}

const ADDS: ReadonlySet<Expr["kind"]> = new Set(["Binary", "IfExp", "List", "Tuple", "Subscript"]);

/** `torch.add(total, loss)`, `total.add(loss)`, `torch.maximum(peak, loss)` */
function adds(value: Expr, { file }: Facts): value is Call {
  if (value.kind !== "Call" || value.func.kind !== "Attribute" || !MIXERS.has(value.func.attr)) return false;
  const name = file.dotted(value.func);
  return name === null ? value.args.length >= 1 : name.startsWith("torch.") && value.args.length >= 2;
}

/** What `x = x + v`, `x = 0.9 * x + 0.1 * v`, `x = v if x is None else …` mixes into x. */
function mixedIn(value: Expr, target: Expr, facts: Facts): Expr[] {
  if (adds(value, facts)) {
    const dotted = facts.file.dotted(value.func) !== null;
    const into = dotted ? value.args[0]!.value : (value.func as Expr & { kind: "Attribute" }).value;
    const other = value.args[dotted ? 1 : 0]!.value;
    return facts.file.textOf(into) === facts.file.textOf(target) ? [other] : [];
  }
  if (value.kind !== "IfExp" && (value.kind !== "Binary" || (value.op !== "+" && value.op !== "-")))
    return [];
  const own = facts.file.textOf(target);
  const reads = (expr: Expr): boolean => {
    let found = false;
    walk(expr, (node) => {
      if (node.kind === "Call" && node.func.kind === "Attribute" && /^(?:detach|item)$/.test(node.func.attr))
        return false;
      if (node.kind === target.kind && facts.file.textOf(node) === own) found = true;
      return !found;
    });
    return found;
  };
  if (value.kind === "IfExp") {
    const inner = reads(value.orelse) ? value.orelse : reads(value.body) ? value.body : null;
    return inner ? mixedIn(inner, target, facts) : [];
  }
  if (!reads(value)) return [];
  const [left, right] = [reads(value.left), reads(value.right)];
  if (left && right) return [];
  return left ? [value.right] : [value.left];
}

/** What most are not: filled in a loop, or from outside of what runs every step. */
function mayOutlive(root: Expr, at: Node, facts: Facts): boolean {
  if (root.kind !== "Name") return facts.hot(at) !== null || facts.functionFacts(at).repeated;
  if (loopsAround(at).length > 0) return true;
  const { scopes } = facts.file;
  const found = scopes.lookup(root);
  if (found?.scope.node === scopes.scopeOf(root).node)
    return found.definitions.some(({ how }) => how === "param");
  return facts.hot(at) !== null;
}

/** `state["losses"]`, `state.setdefault("losses", [])`, in a loop that differentiates each turn: what it is handed is there for longer. */
function isEntryOfSteps(list: Expr, loop: Loop, { backwards }: Facts): boolean {
  const isEntry =
    (list.kind === "Subscript" && list.index.kind === "Str" && list.value.kind === "Name") ||
    (list.kind === "Call" && list.func.kind === "Attribute" && list.func.attr === "setdefault");
  return isEntry && backwards.some(({ call }) => loopsAround(call)[0] === loop);
}

/** The candidate, with its loop, when what it fills is there before the turn and after it. */
export function outlives(one: Candidate, facts: Facts): Keep[] {
  const { file } = facts;
  if (one.root.kind === "Name") {
    const loop = loopsAround(one.at)[0] ?? null;
    const name = one.root;
    const found = file.scopes.lookup(name);
    if (!found) return [];
    const begins = found.definitions.filter(
      (other) =>
        other.how !== "augment" &&
        !contains(one.at, other.node) &&
        !isReset(other, loop) &&
        !isRescaled(other) &&
        !isFirst(other, one.at) &&
        // `losses = sum(losses) / n`, shown, and begun anew below: nothing is put into what that was.
        !(
          loop &&
          contains(loop, other.node) &&
          other.how === "assign" &&
          !file.scopes.reaching(name).includes(other)
        ),
    );
    const outside = found.scope.node !== file.scopes.scopeOf(one.root).node;
    // A global or a closure's variable that a hot function fills, or a loop of it.
    if (outside)
      return begins.every(isFresh) && begins.length > 0 && (loop !== null || facts.hot(one.at))
        ? [{ ...one, loop }]
        : [];
    if (!loop) return [];
    // `total = loss if first else total + loss` begins by itself.
    if (begins.length === 0)
      return one.at.kind === "Assign" && one.at.value.kind === "IfExp" ? [{ ...one, loop }] : [];
    // A list of an object that was handed in: `args.losses.append(loss)`.
    const member =
      one.at.kind === "Call" &&
      one.at.func.kind === "Attribute" &&
      ((one.at.func.value.kind === "Attribute" && one.at.func.value.value === one.root) ||
        isEntryOfSteps(one.at.func.value, loop, facts));
    return begins.some((other) => (other.how === "param" && !member) || contains(loop, other.node))
      ? []
      : [{ ...one, loop }];
  }
  const attribute = selfAttribute(one.root);
  const cls = attribute === null ? null : classOf(one.root);
  const method = functionOf(one.at);
  if (!cls || method?.kind !== "FunctionDef" || method.name === "__init__") return [];
  // Every step, or in every turn of some loop, as what plays for an agent.
  if (!facts.hot(one.at) && !facts.functionFacts(one.at).repeated) return [];
  const writes = attributesOf(cls, file).get(attribute!)?.writes ?? [];
  const begins = writes.filter(
    ({ how, target, value }) =>
      how !== "augment" &&
      !contains(one.at, target) &&
      // `self.recent = self.recent[-n:]`
      !(
        value?.kind === "Subscript" &&
        value.index.kind === "Slice" &&
        selfAttribute(value.value) === attribute
      ),
  );
  const loop = loopsAround(one.at)[0] ?? null;
  // Begun by another method, or by this one before its loop.
  const isBefore = (write: (typeof begins)[number]): boolean =>
    write.in !== method || (loop !== null && facts.stepLoops.has(loop) && !contains(loop, write.target));
  return begins.length > 0 && begins.every(isBefore) ? [{ ...one, loop }] : [];
}

/** The candidate of a function that is called in a loop, where what it fills is the loop's, and there before the turn and after it. */
function outlivesByCall(one: Candidate, facts: Facts): CalledKeep[] {
  const { file } = facts;
  const { root: inner } = one;
  const fn = functionOf(one.at);
  if (inner.kind !== "Name" || fn?.kind !== "FunctionDef" || loopsAround(one.at).length > 0) return [];
  const definitions = file.scopes.lookup(inner)?.definitions ?? [];
  const param = definitions.find(({ how, node }) => how === "param" && node.parent === fn);
  if (!param) return [];
  const isSame = (other: Definition): boolean =>
    other === param ||
    other.how === "augment" ||
    contains(one.at, other.node) ||
    isRescaled(other) ||
    isReset(other, fn);
  if (!definitions.every(isSame)) return [];
  for (const by of callsOf(fn, file)) {
    const statement = statementOf(by);
    const root = statement && loopsAround(by).length > 0 ? givenFor(param, fn, by) : null;
    if (root?.kind !== "Name" || (rebinds(one) && !isTakenBack(root, inner, by, fn, file))) continue;
    if (one.at.kind === "Call" && isMeter(root, facts, lastWord(one.at.func))) continue;
    const [kept] = outlives({ ...one, root, at: statement! }, facts);
    if (kept?.loop) return [{ ...kept, at: one.at, root, loop: kept.loop, by, inner }];
  }
  return [];
}

/** Of `total = total + x` and `total += x` the caller has nothing, unless it is handed back; a list, or an entry of what was handed in, it has. */
function rebinds({ at, how }: Candidate): boolean {
  if (at.kind === "Assign") return at.targets[0]!.kind !== "Subscript" && at.targets[0]!.kind !== "Attribute";
  return at.kind === "AugAssign" && how === "sum" && at.target.kind === "Name";
}

/** `if total is None: total = loss`, whose `else` is the sum. */
export function isFirst({ node, value }: Definition, sum: Node): boolean {
  for (let child: Node = node, at = node.parent; at; child = at, at = at.parent) {
    if (at.kind === "FunctionDef" || at.kind === "For" || at.kind === "While") return false;
    if (at.kind !== "If" || value === null) continue;
    const other = at.body.includes(child as never) ? at.orelse : at.body;
    return other.some((statement) => contains(statement, sum));
  }
  return false;
}

/** `total = total / 10`, before it is shown; `recent = recent[-100:]`, which keeps the last ones. */
export function isRescaled({ name, value }: Definition): boolean {
  if (value?.kind === "Subscript")
    return value.index.kind === "Slice" && value.value.kind === "Name" && value.value.id === name;
  return (
    value?.kind === "Binary" &&
    (value.op === "/" || value.op === "*") &&
    value.left.kind === "Name" &&
    value.left.id === name
  );
}

/** `if step % 100 == 0: total = 0.0`, also below `if step % 100: continue`: begun anew now and then, and alive for many turns all the same. */
export function isReset(definition: Definition, loop: Loop | FunctionDef | null): boolean {
  if (!loop || !contains(loop, definition.node) || !isFresh(definition)) return false;
  for (let at = definition.node.parent; at && at !== loop; at = at.parent)
    if ((at.kind === "If" && isThrottle(at.test)) || skipsAbove(at).some(({ test }) => skips(test)))
      return true;
  return false;
}

/** Begun empty: `[]`, `0.0`, `None`, `{}`, `deque(…)`, `defaultdict(list)`. */
function isFresh({ how, value }: Definition): boolean {
  if (how === "class") return true;
  return (
    how === "assign" &&
    value !== null &&
    (value.kind === "List" ||
      value.kind === "Dict" ||
      value.kind === "Num" ||
      value.kind === "Const" ||
      value.kind === "Call")
  );
}

/** Emptied, or begun anew, somewhere: then it is no pile. A bounded deque is one all the same, of its length. */
export function isEmptied(keep: Keep, facts: Facts): boolean {
  const root = facts.file.textOf(keep.root);
  const cls = keep.root.kind === "Name" ? null : classOf(keep.root);
  const writes = cls ? (attributesOf(cls, facts.file).get(selfAttribute(keep.root)!)?.writes ?? []) : [];
  if (writes.filter((write) => write.how === "assign" && !contains(keep.at, write.target)).length > 1)
    return true;
  return facts.file
    .callsNamed("clear", "pop", "popleft")
    .some(
      (call) =>
        call.func.kind === "Attribute" &&
        /^(?:clear|pop|popleft)$/.test(call.func.attr) &&
        facts.file.textOf(call.func.value) === root,
    );
}

/** `history = deque(maxlen=128)` */
export function isQueue(root: Expr, { file }: Facts): boolean {
  const made = root.kind === "Name" ? file.scopes.onlyValue(root) : null;
  return made?.kind === "Call" && isOfFixedLength(made, file);
}

/** `deque(maxlen=50)` */
export function isOfFixedLength(made: Call, file: PythonFile): boolean {
  return file.dotted(made.func) === "collections.deque" && keyword(made, "maxlen") !== null;
}

/** `if len(queue) > size: queue.pop(0)`, `queue = queue[-size:]`: what is in it is from many turns. */
export function isBounded(keep: Keep, facts: Facts): boolean {
  const { at } = keep;
  const name = facts.file.textOf(innerRoot(keep));
  // `recent = recent[1:] + [x]`
  const { value } = at.kind === "Assign" ? at : { value: null };
  const sides = value?.kind === "Binary" ? [value.left, value.right] : [value];
  if (sides.some((side) => side !== null && uncut(side) !== side)) return true;
  const trims = facts.file
    .all("Assign")
    .some(
      ({ targets, value }) =>
        value.kind === "Subscript" &&
        value.index.kind === "Slice" &&
        targets.some((target) => facts.file.textOf(target) === name) &&
        facts.file.textOf(value.value) === name,
    );
  if (trims) return true;
  return facts.file.callsNamed("pop", "popleft").some((call) => {
    if (call.func.kind !== "Attribute" || facts.file.textOf(call.func.value) !== name) return false;
    for (let at = call.parent; at; at = at.parent) {
      if (at.kind === "If" || at.kind === "While")
        return facts.file.textOf(at.test).includes(`len(${name})`) && at.test.kind === "Compare";
      if (at.kind === "FunctionDef" || at.kind === "For") return false;
    }
    return false;
  });
}

/** Whether what is kept may still be differentiated, as far as this file shows. */
export function keptForBackward(keep: Keep, facts: Facts): boolean {
  if (keep.root.kind !== "Name") {
    const cls = classOf(keep.root);
    return !cls || attributeMayBeDifferentiated(selfAttribute(keep.root)!, cls, facts, memberOf(keep));
  }
  const definitions = facts.file.scopes.lookup(keep.root)?.definitions ?? [];
  return definitions.some((one) => mayBeDifferentiated(one, facts));
}

/** "values" of `self.memory.values.append(v)`. */
function memberOf({ at }: Keep): string | null {
  const place = at.kind === "Call" && at.func.kind === "Attribute" ? at.func.value : null;
  return place?.kind === "Attribute" && selfAttribute(place.value) !== null ? place.attr : null;
}

/** `slots[step % size] = loss`: a turn further on takes the place of an old one. */
export function isRing(at: Node, file: PythonFile): boolean {
  const target = at.kind === "Assign" ? at.targets[0] : null;
  const index = target?.kind === "Subscript" ? target.index : null;
  // `place = self.step % self.length` above it.
  const made = index?.kind === "Name" ? file.scopes.onlyValue(index) : index;
  return made !== null && file.textOf(made).includes("%");
}

/** Whether what is kept brings a graph, on one of the ways it may have come. */
export function keepsGraph(added: Expr, facts: Facts): boolean {
  if (facts.guesses && (isCutEntry(added, facts) || isPlain(added, facts))) return false;
  if (facts.value(added).graph === "yes") return true;
  if (added.kind === "Binary" && /^[-+*/]$/.test(added.op))
    return keepsGraph(added.left, facts) || keepsGraph(added.right, facts);
  if (isDifferentiatedItem(added, facts)) return true;
  return (
    added.kind === "Name" &&
    askedType(added, facts.file) === null &&
    facts.file.scopes
      .reaching(added)
      .some((one) => facts.isDifferentiated(one) || facts.valueOfDefinition(one).graph === "yes")
  );
}

/**
 * `v` of `for k, v in out.items()`, where `out["loss"]` or the sum of all of them is differentiated: a loss, or a number told
 * beside it; and `out` itself.
 */
export function isItemOfLosses(added: Expr, facts: Facts): boolean {
  const { backwards, file } = facts;
  const whole = wholeOfItems(added, file);
  if (whole?.kind !== "Name") return false;
  const made = file.scopes.reaching(whole);
  if (whole === added) return made.some((dict) => isSummedUp(dict, facts));
  return (
    backwards.some(
      ({ loss }) =>
        loss?.kind === "Subscript" &&
        loss.value.kind === "Name" &&
        file.scopes.reaching(loss.value).some((same) => made.includes(same)),
    ) || made.some((dict) => isBesideLoss(dict, facts) || isSummedUp(dict, facts))
  );
}

/** `out` of the `v` in `for k, v in out.items()` and of `out.copy()`, and a name as it is. */
function wholeOfItems(added: Expr, file: PythonFile): Expr | null {
  if (added.kind === "Call") {
    const { func, args } = added;
    return func.kind === "Attribute" && func.attr === "copy" && args.length === 0 ? func.value : null;
  }
  const [one, ...more] = added.kind === "Name" ? file.scopes.reaching(added) : [];
  if (one?.how !== "iterate" || more.length > 0) return added;
  const over = one.value;
  if (over?.kind !== "Call" || over.func.kind !== "Attribute" || one.index === 0) return null;
  return over.func.attr === (one.index === null ? "values" : "items") ? over.func.value : null;
}

/** `losses = sum(out[k] * weight[k] for k in out)`, `total = sum(out.values())`, and that is differentiated: all of them have graphs, or are numbers told beside them. */
function isSummedUp(dict: Definition, facts: Facts): boolean {
  const { backwards, file } = facts;
  if (backwards.length === 0 || dict.value?.kind !== "Call") return false;
  return file.scopes.uses(dict).some((use) => {
    const isOfAll =
      (use.parent?.kind === "Attribute" && use.parent.attr === "values") ||
      (use.parent?.kind === "Subscript" && use.parent.index.kind === "Name");
    const statement = isOfAll ? statementOf(use) : null;
    const [target] = statement?.kind === "Assign" ? statement.targets : [];
    const sum = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
    return (
      sum !== null &&
      sum !== undefined &&
      file.callsNamed("sum", "stack").some((call) => contains(statement!, call) && contains(call, use)) &&
      backwards.some(({ loss }) => loss !== null && derivesFrom(loss, new Set([sum]), facts))
    );
  });
}

/** `terms` of `loss, terms = step(batch)`, where the function sums up what it puts into the dict, and `loss` is differentiated here. */
function isBesideLoss(dict: Definition, facts: Facts): boolean {
  const { scopes } = facts.file;
  const siblings = dict.how === "unpack" && dict.node.parent?.kind === "Tuple" ? dict.node.parent.items : [];
  const terms = returnedFor(dict, facts)
    .flatMap((value) => (value.kind === "Dict" ? value.values : []))
    .flatMap((value) => (value.kind === "Name" ? [...scopes.reaching(value)] : []));
  return (
    terms.length > 0 &&
    siblings.some((name) => {
      const loss = name.kind === "Name" ? scopes.definitionAt(name) : null;
      return (
        loss !== null &&
        loss !== undefined &&
        loss !== dict &&
        facts.isDifferentiated(loss) &&
        returnedFor(loss, facts).some((sum) => derivesFrom(sum, new Set(terms), facts))
      );
    })
  );
}

/** `if aux_loss != 0: kept.append(aux_loss)`: a number where there is none, and perhaps always. */
export function isMaybeNumber(added: Expr): boolean {
  if (added.kind !== "Name") return false;
  for (let at = added.parent; at && at.kind !== "FunctionDef"; at = at.parent)
    if (
      at.kind === "If" &&
      at.test.kind === "Compare" &&
      at.test.left.kind === "Name" &&
      at.test.left.id === added.id &&
      /^(?:!=|>)$/.test(at.test.ops[0]!) &&
      at.test.rights[0]?.kind === "Num"
    )
      return true;
  return false;
}

export function isDifferentiatedItself(keep: Keep, facts: Facts): boolean {
  return keep.root.kind === "Name" && definitionsOf(keep, facts).some((one) => facts.isDifferentiated(one));
}
