import type { PythonFile } from "../../python/file.ts";
import { contains, statementOf, namesIn, walk } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type {
  Assign,
  Attribute,
  Call,
  Expr,
  Name,
  Sequence,
  Stmt,
  Subscript,
  If,
  Node,
} from "../../python/tree.ts";
import { selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { isOfPixels } from "./large-outputs.ts";
import { helperRun, isNetwork, networkCall, networkOfLoss } from "./networks.ts";
import { factors } from "./scores.ts";
import type { Loop } from "./training.ts";
import {
  MAPS,
  isComparedDensely,
  isNormalised,
  isPacked,
  isAskedForSize,
  isThrowaway,
  isWidened,
  isLoss,
} from "./output-uses.ts";
import { isCopiedToHost, isDrawn, isMeasured, isSummed, pickOf } from "./figures.ts";

/** The names that a network's outputs are bound to: whole, or as what is unpacked beside the loss. */
export function outputsOf(statement: Stmt & { kind: "Assign" }, facts: Facts): readonly Name[] {
  const [target] = statement.targets;
  if (statement.targets.length !== 1 || !target) return [];
  let value: Expr = statement.value;
  // `model(x)[0]`, `model(x).logits`, `unet(noisy, t).sample`
  if (value.kind === "Subscript" || (value.kind === "Attribute" && OUTPUT_OF.test(value.attr)))
    value = value.value;
  if (value.kind !== "Call" || (target.kind !== "Name" && target.kind !== "Tuple")) return [];
  const call = value;
  const network = isNetwork(call.func, facts);
  if (target.kind === "Name")
    return network ||
      isOfMethod(statement, facts) ||
      isNormalised(call, facts) ||
      isWidened(call, facts) ||
      isPacked(target, facts) ||
      // `out = run_batch(model, batch)` of this file hands on what the network gave.
      helperRun(call, null, facts) !== null
      ? [target]
      : [];
  // The first of those that speak of the same, and maps of attention beside them.
  const named = target.items.findIndex(
    (item) =>
      item.kind === "Name" &&
      // `alpha, pred_front, pred_error = model(image)`, of pictures.
      (OUTPUTS.test(item.id) || (network && /^pred_\w+$/.test(item.id) && isOfPixels(facts))),
  );
  const first =
    named >= 0 || !network
      ? named
      : isThrownAway(target, call)
        ? 0
        : target.items.findIndex((item) => item.kind === "Name" && isComparedDensely(item, facts));
  return target.items.filter(
    (item, at): item is Name =>
      item.kind === "Name" &&
      (at === first || MAPS.test(item.id)) &&
      // `logits, loss = run_batch(model, x, y)` of this file hands on what the network gave, as does `model.loss(batch)`.
      (network ||
        helperRun(call, at, facts) !== null ||
        // `logits, value = run(model, ids)`, of which the helper hands on all that the network gave.
        helperRun(call, null, facts) !== null ||
        networkOfLoss(call, facts) !== null ||
        isForwardOf(call) ||
        isBesideLoss(item, target, call)),
  );
}

/** What libraries call the outputs in what their networks hand back. */
const OUTPUT_OF = /^(?:logits|samples?|out|outputs?|reconstructions?|waveforms?|audio_values)$/;

const OUTPUTS =
  /logit$|logits|log_?probs$|outputs?$|^recon|^x_?(?:rec|recon|hat|tilde|prime)$|^rec(?:_x)?$|^predictions$|^preds$|^(?:\w+_)?pred$/;

/** `keys, preds = forward(images)`, of a function around several networks: by its name, whatever it makes of what they gave. */
function isForwardOf({ func }: Call): boolean {
  return func.kind === "Name" && /^_?(?:forward|predict|infer)(?:_(?:step|batch|fn|pass))?$/.test(func.id);
}

/** `loss, metrics, logits = self.batch_loss(batch)`: by their names, whatever they come through. */
function isBesideLoss(logits: Name, { items }: Sequence, { func }: Call): boolean {
  return (
    (selfAttribute(func) !== null || func.kind === "Name") &&
    logits.id.endsWith("logits") &&
    items.some((item) => item.kind === "Name" && /(?:^|_)loss$/.test(item.id))
  );
}

/** `_, loss = model(x, y)`: given the targets too, a network hands back its loss, and before it what that was computed of. */
function isThrownAway({ items }: Sequence, { args }: Call): boolean {
  const [first, loss] = items;
  return (
    items.length === 2 &&
    args.length > 1 &&
    first?.kind === "Name" &&
    isThrowaway(first) &&
    loss?.kind === "Name" &&
    /^(?:total_)?loss(?:es|_dict)?$/.test(loss.id)
  );
}

/** `scores = model.project(decoded)`: by a method that is known to run the network. */
export function isOfMethod({ value }: Assign, facts: Facts): boolean {
  return (
    value.kind === "Call" &&
    value.func.kind === "Attribute" &&
    facts.file.dotted(value.func) === null &&
    !isNetwork(value.func, facts) &&
    isNetwork(value.func.value, facts) &&
    facts.value(value).what === "output" &&
    facts.value(value).graph !== "unknown"
  );
}

/** `out = out.logits if hasattr(out, "logits") else out`: the name goes on to mean the logits, which are as large. */
export function isOwnPart({ how, name, value, node }: Definition, statement: Stmt): boolean {
  const isPart = (expr: Expr): boolean =>
    // `out = out.permute(1, 0, 2)`
    expr.kind === "Call"
      ? expr.func.kind === "Attribute" &&
        /^(?:permute|transpose|view|reshape|contiguous|squeeze|flatten)$/.test(expr.func.attr) &&
        isPart(expr.func.value)
      : expr.kind === "Name"
        ? expr.id === name
        : expr.kind === "IfExp"
          ? isPart(expr.body) && isPart(expr.orelse)
          : (expr.kind === "Attribute" ? expr.attr === "logits" : isPick(expr)) &&
            isPart((expr as Attribute | Subscript).value);
  return how === "assign" && value !== null && node.start > statement.end && isPart(value);
}

/** `out[0]`, `out["logits"]`, `out["out"]` */
function isPick(expr: Expr): boolean {
  return (
    expr.kind === "Subscript" &&
    (expr.index.kind === "Num" ||
      (expr.index.kind === "Str" && /^(?:logits|out|outputs?|sample|pred\w*)$/.test(expr.index.value ?? "")))
  );
}

/** `shift_logits = logits[..., :-1, :].contiguous()`, `probs = logits.softmax(-1)`: as large, on the way to the loss or to what is counted. */
export function shapedFrom(uses: readonly Name[], loop: Loop, facts: Facts): readonly Definition[] {
  const { file } = facts;
  const found = new Set<Definition>();
  // `flat = logits.view(-1, n)`, and `probs = flat.softmax(-1)` of that.
  const read = [...uses];
  for (const use of read) {
    const statement = statementOf(use);
    const target =
      statement?.kind === "Assign" && statement.targets.length === 1 ? statement.targets[0]! : null;
    if (target?.kind !== "Name" || isAskedForSize(use) || !isShaped((statement as Assign).value, use, file))
      continue;
    const definition = file.scopes.definitionAt(target);
    const others = file.scopes.scopeOf(target).bindings.get(target.id) ?? [];
    const again = others.filter((one) => one !== definition && contains(loop, one.node));
    if (!definition || !again.every(isCutFromItself)) continue;
    const further = [definition, ...again].flatMap((one) => file.scopes.uses(one));
    if (found.has(definition) || !further.every((one) => contains(loop, one))) continue;
    for (const one of [definition, ...again]) found.add(one);
    read.push(...further);
  }
  return [...found];
}

/** `flat = flat[:, chosen]`, below `flat = logits.view(-1, n)`. */
function isCutFromItself({ how, name, value }: Definition): boolean {
  return (
    how === "assign" && value?.kind === "Subscript" && value.value.kind === "Name" && value.value.id === name
  );
}

/** Whether the expression is what is read here, in another shape or type, or its softmax. */
function isShaped(expr: Expr, use: Name, file: PythonFile): boolean {
  if (expr === use) return true;
  if (expr.kind === "Subscript") return isShaped(expr.value, use, file);
  if (expr.kind !== "Call") return false;
  if (/^torch\.(?:nn\.functional\.)?(?:log_)?softmax$/.test(file.dotted(expr.func) ?? ""))
    return expr.args[0] !== undefined && isShaped(expr.args[0].value, use, file);
  return (
    expr.func.kind === "Attribute" &&
    /^(?:view|reshape|contiguous|float|flatten|transpose|permute|(?:log_)?softmax|squeeze|detach)$/.test(
      expr.func.attr,
    ) &&
    isShaped(expr.func.value, use, file)
  );
}

/** Bound once in the loop and read in it alone, for its size, a few numbers, a picture under a test, or nothing. */
export function isOnlyLookedAt(name: Name, loop: Loop, facts: Facts): boolean {
  const { scopes } = facts.file;
  const definition = scopes.definitionAt(name);
  const others = scopes.scopeOf(name).bindings.get(name.id) ?? [];
  return (
    definition !== null &&
    others.every((one) => one === definition || !contains(loop, one.node)) &&
    scopes.uses(definition).every(
      (use) =>
        use.start > name.start &&
        (contains(loop, use)
          ? isAskedForSize(use) || isLookedAt(use, facts) || isDrawn(use, facts)
          : // `pred.std().item()` below the loop of micro-batches.
            use.start >= loop.end && isLookedAt(use, facts)),
    )
  );
}

/** `out = encoder(x)` before `out = decoder(out)`: what the first one gave has lost its name by the end of the turn. */
export function isTakenOver({ how, node }: Definition, target: Name, loop: Loop): boolean {
  const statement = statementOf(target);
  return (
    (how === "assign" || how === "unpack") &&
    node.start < target.start &&
    statement?.kind === "Assign" &&
    stepIn(loop, statement) >= 0 &&
    namesIn(statement.value).some(({ id }) => id === target.id)
  );
}

/** Bound once in the loop, and read there alone, by one layer's name at a time or in turn. */
export function isReadByLayer(name: Name, loop: Loop, { file }: Facts): boolean {
  const definition = file.scopes.definitionAt(name);
  const others = file.scopes.scopeOf(name).bindings.get(name.id) ?? [];
  const uses = definition ? file.scopes.uses(definition) : [];
  const picked = new Set<string>();
  const byLayer = (use: Name): boolean => {
    const { parent } = use;
    if (parent?.kind === "Subscript") {
      picked.add(file.textOf(parent.index));
      // `for one in maps[1:-1]`
      if (parent.index.kind === "Slice") return isGoneThrough(parent, file);
      return parent.index.kind === "Str" || parent.index.kind === "Num" || parent.index.kind === "Name";
    }
    if (parent?.kind === "Attribute") return /^(?:items|values|keys)$/.test(parent.attr);
    return isGoneThrough(use, file);
  };
  return (
    uses.length > 0 &&
    others.every((one) => one === definition || !contains(loop, one.node)) &&
    uses.every((use) => contains(loop, use) && use.start > name.start && byLayer(use)) &&
    // `out[0]` alone is one of a pair.
    (picked.size !== 1 || ![...picked].every((index) => /^-?\d+$/.test(index)))
  );
}

/** `for one in maps`, also of a comprehension, `zip(maps, others)`, `enumerate(maps)` */
function isGoneThrough({ parent }: Expr, file: PythonFile): boolean {
  if (parent?.kind === "For" || parent?.kind === "Clause") return true;
  const call = parent?.kind === "Arg" ? parent.parent : null;
  return call?.kind === "Call" && /^builtins\.(?:zip|enumerate|len)$/.test(file.dotted(call.func) ?? "");
}

/** `if logits is not None:` reads nothing of them. */
export function isAskedForNone({ parent }: Name): boolean {
  return (
    parent?.kind === "Compare" &&
    parent.rights.length === 1 &&
    parent.rights[0]!.kind === "Const" &&
    parent.rights[0]!.value === null
  );
}

/** `del logits` below a loop of micro-batches: each turn but the last still runs beside what the one before it made. */
export function isDroppedBelow({ how, node }: Definition, loop: Loop): boolean {
  return how === "delete" && node.start >= loop.end;
}

/** `outputs["logits"].argmax(-1)`, `logits.mean()`, `outputs.loss`, below the loop, of its last turn: numbers, which that turn could have kept. */
export function isLookedAt(use: Name, facts: Facts): boolean {
  return (
    isLoss(use) ||
    pickOf(use, facts) !== null ||
    isCopiedToHost(use, facts) ||
    isMeasured(use) ||
    isSummed(use, facts)
  );
}

/** `outputs.logits`, `outputs["logits"]` */
export function isOfLogits({ parent }: Name): boolean {
  return (
    (parent?.kind === "Attribute" && parent.attr === "logits") ||
    (parent?.kind === "Subscript" && parent.index.kind === "Str" && parent.index.value === "logits")
  );
}

/** `_` of another forward, as of an evaluation under `if step % 100 == 0`: in the other turns it is this one's. */
export function isNowAndThen({ how, node }: Definition, target: Name, loop: Loop): boolean {
  return (
    isThrowaway(target) &&
    how === "unpack" &&
    loop.body.some((one) => one.kind === "If" && contains(one, node))
  );
}

/** Where in the loop's body the statement stands, with nothing but `with` around it, or one of the `choices` that are made. */
export function stepIn(loop: Loop, statement: Stmt, choices = false): number {
  const isAround = (node: Node): boolean =>
    node.kind === "With" || (choices && node.kind === "If" && isChoice(node));
  let at: Node = statement;
  while (at.parent && at.parent !== loop && isAround(at.parent)) at = at.parent;
  return at.parent === loop ? loop.body.indexOf(at as Stmt) : -1;
}

/** `if amp:` with an `else`: each turn goes one of two ways, and not now and then another. */
function isChoice({ test, orelse }: If): boolean {
  let counts = false;
  walk(test, (node) => {
    counts ||= node.kind === "Binary" && node.op === "%";
    return !counts;
  });
  return orelse.length > 0 && !counts;
}

/**
 * `a.T @ b` of what two runs of a network gave, with its graph: a number for each pair of features, which losses of this kind want
 * by the thousand. `a @ b.T` has one for each pair of examples alone.
 */
export function isOfFeaturePairs(value: Name, facts: Facts): boolean {
  const made = facts.file.scopes
    .reaching(value)
    .filter(({ how, value: from }) => how !== "augment" && !(from && isPartOfItself(from, value.id)));
  const [product] = made.length === 1 && made[0]!.how === "assign" ? [made[0]!.value] : [];
  const [left, right, ...more] = product ? factors(product, facts) : [];
  const turned = left ? turnedBy(left) : null;
  return (
    turned !== null &&
    right !== undefined &&
    more.length === 0 &&
    turnedBy(right) === null &&
    facts.gradMode(product!) !== "off" &&
    [turned, right].every((one) => networkCall(one, facts) !== null)
  );
}

/** `c / n` of `c = c / n` */
function isPartOfItself(value: Expr, id: string): boolean {
  return value.kind === "Binary" && value.left.kind === "Name" && value.left.id === id;
}

/** `a` of `a.T` and of `a.t()`. */
function turnedBy(expr: Expr): Expr | null {
  if (expr.kind === "Call")
    return expr.func.kind === "Attribute" && expr.func.attr === "t" ? expr.func.value : null;
  return expr.kind === "Attribute" && expr.attr === "T" ? expr.value : null;
}

/** Handed, with its graph or without, to a function of the tree that differentiates and takes a step, and keeps nothing of it. */
export function isStepped(use: Name, facts: Facts): boolean {
  const cut = use.parent?.kind === "Attribute" && use.parent.attr === "detach" ? use.parent.parent : use;
  const call = cut?.parent?.kind === "Arg" ? cut.parent.parent : null;
  const callee = call?.kind === "Call" ? facts.callee(call) : null;
  return callee !== null && callee.loose && callee.reachesBackward && callee.keeps === null;
}
