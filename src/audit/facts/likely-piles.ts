import { classOf, contains, functionOf } from "../../python/nodes.ts";
import type { ClassDef, Expr, Node } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { ACTING } from "./idle-states.ts";
import { soundsComputed } from "./likely.ts";
import { wanted } from "./likely-graphs.ts";
import { isForOthers } from "./likely-keeps.ts";
import { isOlderThan, puts, saidOf } from "./likely-puts.ts";
import type { Put } from "./likely-puts.ts";
import { networkCall } from "./networks.ts";
import { isUsedAsTensor } from "./tensor-use.ts";
import { loopsAround } from "./training.ts";

/**
 * What a step puts beside the last steps' with its graph: into a list on self, a bank, a queue, a name that is there before the
 * loop. Also what a pool is handed, which cuts nothing off.
 */
export function* likelyPiles(facts: Facts): Generator<Put> {
  const { file } = facts;
  for (const put of puts(facts)) {
    const { at, root, added } = put;
    if (facts.gradMode(at) === "off" || PARTS.test(file.textOf(root)) || CUT.test(saidOf(added, file)))
      continue;
    if (isForOthers(root, file)) continue;
    const cls = selfAttribute(root) === null ? null : classOf(at);
    if (cls && POOL.test(cls.name) && isOfPool(put, cls, facts)) yield put;
    else if ((isOfStep(put, facts) || isOfActing(put, facts)) && !isEmptiedHere(root, at, facts)) yield put;
  }
}

/** Brought to the host, or cut off, on the way; also another module, or a file. */
const CUT =
  /detach\(|\.item\(|\.data\b|\.cpu\(|numpy|np\.|no_grad|\.tolist\(|\bfloat\(|\bint\(|\blen\(|\bstr\(|stop_grad|nn\.|argmax|torch\.(?:tensor|zeros|ones|rand|empty|arange)/;

/** What a forward gathers for its own end, or a step for its loss. */
const PARTS = /loss|metric|meter|stat|param|layer|module|block|hook|handle|result|file|name|text/i;

const POOL = /Pool|Replay|Buffer|Bank|Queue|History/;

/** `self.images.append(image)` of what is handed to a class that nothing cuts off in, and that is used as a tensor there. */
function isOfPool({ at, added }: Put, cls: ClassDef, { file }: Facts): boolean {
  const fn = functionOf(at);
  if (fn?.kind !== "FunctionDef" || /^__init__|load|reset/.test(fn.name)) return false;
  const code = file.codeOf(cls);
  if (/detach|(?<!self)\.data\b|no_grad|\.cpu\(|numpy|np\.|deque\(|namedtuple|reward|done/.test(code))
    return false;
  const [made] = added.kind === "Name" ? file.scopes.reaching(added) : [];
  return made !== undefined && (isUsedAsTensor(made, file) || /torch\./.test(saidOf(added, file)));
}

/** Of a network, in what runs every step, and older than that. */
function isOfStep({ at, root, added }: Put, facts: Facts): boolean {
  const [loop] = loopsAround(at);
  const older =
    root.kind === "Name"
      ? loop !== undefined && facts.stepLoops.has(loop) && isOlderThan(root, loop, facts)
      : true;
  const cls = classOf(at);
  if (!older || (cls && facts.role(cls) === "module") || !facts.hot(at)) return false;
  const run = networkCall(added, facts);
  if (run ? facts.gradMode(run) === "off" || facts.networks.isLoss(run.func) : !isComputed(added, facts))
    return false;
  return !isJoinedForLoss(root, at, facts);
}

/**
 * `self.recent.append(action)` in `def select_action(self, state)`, which hands out `action.detach()`: it has a graph there, of a run
 * that nothing in this file differentiates. A list that nobody reads here may be for another file's loss, unless it drops the oldest.
 */
function isOfActing({ at, root, added }: Put, facts: Facts): boolean {
  const { file } = facts;
  const own = selfAttribute(root);
  const fn = functionOf(at);
  const cls = own === null ? null : classOf(at);
  if (!cls || fn?.kind !== "FunctionDef" || !ACTING.test(fn.name) || added.kind !== "Name") return false;
  const made = file.scopes.reaching(added);
  const isRun = made.every(
    ({ how, value }) =>
      (how === "assign" || how === "unpack") && value?.kind === "Call" && isOfSelf(value.func),
  );
  const isCut = made.some((one) =>
    file.scopes
      .uses(one)
      .some(({ parent }) => parent?.kind === "Attribute" && parent.attr === "detach" && contains(fn, parent)),
  );
  if (made.length === 0 || !isRun || !isCut || wanted(facts).words.has(own!)) return false;
  const writes = attributesOf(cls, file).get(own!)?.writes ?? [];
  const isRead = file
    .all("Attribute")
    .some(
      (one) =>
        one.attr === own &&
        !(one.parent?.kind === "Attribute" && /^(?:append|extend|clear)$/.test(one.parent.attr)) &&
        !writes.some(({ target }) => contains(target, one)),
    );
  return isRead || writes.some(({ value }) => value !== null && /maxlen/.test(file.textOf(value)));
}

/** `self.policy(state)`, `self.policy.sample(state)` */
function isOfSelf(func: Expr): boolean {
  return selfAttribute(func) !== null || (func.kind === "Attribute" && selfAttribute(func.value) !== null);
}

function isComputed(added: Expr, facts: Facts): boolean {
  const name = added.kind === "Name" ? added.id : "";
  return soundsComputed(name) && facts.value(added).graph === "yes";
}

/** `torch.cat(kept)`, `torch.stack(self.kept)` or a sum of it, in a function that differentiates: the graph may be wanted. */
function isJoinedForLoss(root: Expr, at: Node, { backwards, file }: Facts): boolean {
  const own = file.textOf(root).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const reads = new RegExp(
    `(?:cat|stack|sum|zip|tuple|mean)\\(\\s*[[(]?\\s*\\*?${own}\\b|in ${own}\\b|in zip\\([^)]*${own}\\b|\\(${own}\\)`,
  );
  return (
    backwards.some(({ call }) => {
      const fn = functionOf(call);
      return reads.test(fn ? file.codeOf(fn) : file.text);
    }) ||
    (functionOf(at) !== null && reads.test(file.codeOf(functionOf(at)!)))
  );
}

/** `self.kept = []` or `self.kept.clear()` in the same function. */
function isEmptiedHere(root: Expr, at: Node, { file }: Facts): boolean {
  const fn = functionOf(at);
  const own = file.textOf(root).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  if (fn !== null && new RegExp(`${own}\\.(?:detach|zero)_\\(`).test(file.codeOf(fn))) return true;
  return (
    fn !== null &&
    new RegExp(`${own}(?:\\.clear\\(| = \\[\\]| = \\{\\})|del ${own}`).test(file.codeOf(fn)) &&
    loopsAround(at).length === 0
  );
}
