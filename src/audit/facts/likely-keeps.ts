import { isModuleRole, selfAttribute, attributesOf } from "./classes.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord, namesIn, walk } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Expr, Name, Node } from "../../python/tree.ts";
import { givenFor } from "./called-keeps.ts";
import type { Facts } from "./facts.ts";
import { candidates, isFirst, isMaybeNumber, isQueue, isRescaled, isReset, parts, rootOf } from "./kept.ts";
import type { Candidate, Keep } from "./kept.ts";
import { bringsGraph, wanted } from "./likely-graphs.ts";
import { callsOf } from "./returns.ts";
import { loopsAround, optimizerSteps } from "./training.ts";
import type { Loop } from "./training.ts";

/**
 * `total = total + loss`, `stats["loss"].append(out)`, `self.recent.put(loss)` of any turn that trains: what grows by values
 * that bring a graph, as likely as not, and that nobody differentiates later.
 */
export function likelyKeeps(facts: Facts): readonly Keep[] {
  return facts.guesses ? facts.once(allLikely) : [];
}

function allLikely(facts: Facts): readonly Keep[] {
  const found: Keep[] = [];
  for (const one of [...candidates(facts), ...moreForms(facts)]) {
    const loop = turnThatGrows(one, facts);
    if (loop === null || facts.gradMode(one.at) === "off" || isMaybeNumber(one.added)) continue;
    if (isOfParts(one, loop, facts) || isEntryEach(one, facts) || isForOthers(one.root, facts.file)) continue;
    if (isWanted(one.root, facts) || !bringsGraph(one.added, facts)) continue;
    const keep = { ...one, loop: loop === "function" ? null : loop };
    if (!isEmptiedInTurn(keep, facts) && !isQueue(one.root, facts)) found.push(keep);
  }
  return found;
}

/** `for i in range(2): loss = loss + parts[i]` of `parts = criterion(out)` above it: one forward's, however many they are. */
export function isOfParts(
  { added, how }: Candidate,
  loop: Loop | "function" | null,
  { file }: Facts,
): boolean {
  if (how !== "sum" || loop === "function" || loop?.kind !== "For" || hasCall(added)) return false;
  const { iter } = loop;
  if (
    !/^(?:range|enumerate|zip)$/.test(iter.kind === "Call" ? lastWord(iter.func) : "") &&
    iter.kind !== "Name"
  )
    return false;
  const made = namesIn(added).flatMap((name) => file.scopes.reaching(name));
  return (
    added.kind === "Subscript" &&
    made.some(({ node }) => !contains(loop, node)) &&
    made.every(
      ({ how: by, node }) => contains(loop.target, node) || (by !== "param" && !contains(loop, node)),
    )
  );
}

function hasCall(expr: Expr): boolean {
  let found = false;
  walk(expr, (node) => {
    found ||= node.kind === "Call";
    return !found;
  });
  return found;
}

/** `self.outputs["conv%s" % (i + 1)] = x` in `for i in range(self.depth):`, written anew under the same few keys by each forward. */
function isEntryEach({ at }: Candidate, { file }: Facts): boolean {
  const target = at.kind === "Assign" ? at.targets[0] : null;
  if (target?.kind !== "Subscript" || !/^["']|^f["']/.test(file.textOf(target.index))) return false;
  const names = namesIn(target.index);
  const loops = loopsAround(at);
  return names.every((name) => {
    const made = file.scopes.reaching(name);
    return (
      made.length > 0 &&
      made.every(({ node, how }) =>
        loops.some(
          (one) =>
            how !== "param" &&
            one.kind === "For" &&
            contains(one.target, node) &&
            /^(?:range|enumerate)\(|layers|blocks|convs/.test(file.textOf(one.iter)),
        ),
      )
    );
  });
}

/**
 * `self.values` that one method fills, another empties and no other reads: who does is in another file, and may differentiate what
 * is in it.
 */
export function isForOthers(root: Expr, file: PythonFile): boolean {
  const own = selfAttribute(root);
  const cls = own === null ? null : classOf(root);
  if (!cls) return false;
  const writes = attributesOf(cls, file).get(own!)?.writes ?? [];
  const begun = writes.filter(({ how }) => how === "assign");
  const isEmptied =
    begun.some(({ in: method }) => method.name !== "__init__") ||
    file
      .callsNamed("clear")
      .some(({ func }) => func.kind === "Attribute" && selfAttribute(func.value) === own);
  return (
    isEmptied &&
    file
      .all("Attribute")
      .every(
        (read) =>
          read.attr !== own ||
          begun.some(({ target }) => contains(target, read)) ||
          (read.parent?.kind === "Attribute" && /^(?:append|extend|clear)$/.test(read.parent.attr)),
      )
  );
}

/** `total -= loss`, `total.add_(loss)`, `queue.put(loss)`, `heappush(heap, (loss, x))`, `trace.update({step: loss})`. */
function* moreForms(facts: Facts): Generator<Candidate> {
  const { file } = facts;
  for (const at of file.all("AugAssign")) {
    const root = at.op === "-" ? rootOf(at.target) : null;
    if (root) yield { at, added: at.value, how: "sum", root };
  }
  for (const at of file.callsNamed("add_", "lerp_", "put", "put_nowait", "heappush", "update")) {
    const word = lastWord(at.func);
    const [first, second] = at.args.map(({ value }) => value);
    const root =
      word === "heappush" ? first && rootOf(first) : at.func.kind === "Attribute" && rootOf(at.func.value);
    const added = word === "heappush" ? second : first;
    if (!root || !added) continue;
    if (word === "update" && (added.kind !== "Dict" || added.keys.every((key) => key?.kind === "Str")))
      continue;
    for (const part of parts(added, facts))
      yield { at, added: part, how: word.endsWith("_") ? "sum" : "list", root };
  }
}

/** The loop in each turn of which it grows, or the function that each step calls; null where it is begun anew in each. */
function turnThatGrows({ root, at }: Candidate, facts: Facts): Loop | "function" | null {
  const { file } = facts;
  const fn = functionOf(at);
  const cls = fn ? classOf(fn) : null;
  const isForward =
    fn?.kind === "FunctionDef" && fn.name === "forward" && cls !== null && isModuleRole(facts.role(cls));
  const loops = loopsAround(at);
  const each = loops.find((loop) => takesStep(loop, facts));
  const throttledIn = each ?? fn;
  if (throttledIn && facts.frequency(at, throttledIn) === "throttled") return null;
  if (root.kind !== "Name") {
    if (isForward || (!each && !facts.hot(at))) return null;
    const own = selfAttribute(root);
    const writes = own !== null && cls ? (attributesOf(cls, file).get(own)?.writes ?? []) : [];
    const anew = writes.some(
      ({ how, target, in: method }) =>
        how !== "augment" &&
        !contains(at, target) &&
        method === fn &&
        (each === undefined || contains(each, target)),
    );
    return anew ? null : (each ?? "function");
  }
  const binding = file.scopes.lookup(root);
  if (!binding) return null;
  const outside = binding.scope.node !== file.scopes.scopeOf(root).node;
  const handedIn = binding.definitions.some(({ how }) => how === "param");
  // Of a function that is itself a step, the loop's turns are parts of it.
  if (each && !outside && !handedIn && facts.hot(each)) return null;
  if (each) return isForward || binding.definitions.some((one) => isBegunIn(one, each, at)) ? null : each;
  // A global, or a list that is handed in, which a step fills.
  if (isForward || !facts.hot(at) || loops.length > 0) return null;
  return (outside && !binding.definitions.some((one) => fn !== null && contains(fn, one.node))) ||
    (handedIn && at.kind === "Call" && !isLocalOfCallers(root, facts))
    ? "function"
    : null;
}

/** A turn of it takes a step of the optimizer; where nobody in the file takes one, it differentiates. */
function takesStep(loop: Loop, facts: Facts): boolean {
  const { backwards, file } = facts;
  const steps = file.once(optimizerSteps);
  if (steps.some((step) => contains(loop, step))) return true;
  const calls = facts.callsTo("loose").filter((call) => facts.callee(call)?.loose === true);
  if (calls.some((call) => contains(loop, call))) return true;
  return (
    steps.every((step) => functionOf(step) !== functionOf(loop)) &&
    (facts.stepLoops.has(loop) || backwards.some(({ call }) => loopsAround(call)[0] === loop))
  );
}

/** `terms` of `step(batch, terms)`, which whoever calls that begins anew in each turn, or differentiates. */
function isLocalOfCallers(root: Name, facts: Facts): boolean {
  const { file } = facts;
  const param = file.scopes.lookup(root)?.definitions.find(({ how }) => how === "param");
  const fn = param?.node.parent;
  if (fn?.kind !== "FunctionDef") return false;
  return callsOf(fn, file).some((by) => {
    const given = givenFor(param!, fn, by);
    if (given?.kind !== "Name") return given !== null;
    const [loop] = loopsAround(by);
    return (
      !loop ||
      isWanted(given, facts) ||
      (file.scopes.lookup(given)?.definitions ?? []).some((one) => isBegunIn(one, loop, by))
    );
  });
}

/** Begun anew in a turn, not now and then. */
function isBegunIn(one: Definition, loop: Loop, at: Node): boolean {
  return (
    one.how !== "augment" &&
    contains(loop, one.node) &&
    !contains(at, one.node) &&
    !isReset(one, loop) &&
    !(one.value && namesIn(one.value).some(({ id }) => id === one.name)) &&
    !isRescaled(one) &&
    !isFirst(one, at)
  );
}

function isWanted(root: Expr, facts: Facts): boolean {
  const { definitions, words } = wanted(facts);
  if (root.kind === "Name")
    return (facts.file.scopes.lookup(root)?.definitions ?? []).some((one) => definitions.has(one));
  return words.has(selfAttribute(root) ?? lastWord(root));
}

/** `queue.clear()`, `queue.popleft()` in the same turn. */
function isEmptiedInTurn({ at, loop, root }: Keep, facts: Facts): boolean {
  const { file } = facts;
  const within = loop ?? functionOf(at);
  return file
    .callsNamed("clear", "pop", "popleft", "get", "heappop")
    .some(
      (call) =>
        within !== null &&
        contains(within, call) &&
        (lastWord(call.func) === "heappop" ||
          (call.func.kind === "Attribute" && file.textOf(call.func.value) === file.textOf(root))) &&
        facts.frequency(call, within) !== "throttled",
    );
}
