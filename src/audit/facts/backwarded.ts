import { contains, functionOf, namesIn } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Expr, Name, Node } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { returnsByName } from "./returns.ts";
import { callTarget } from "./summary.ts";

/** Definitions behind a loss that are looked at before it is left alone. */
const MAX_HISTORY = 200;

/** `batch["loss"]`, after `batch["loss"].backward()` here or in the function of this file that handed the dictionary back. */
export function isDifferentiatedItem(expr: Expr, facts: Facts): boolean {
  const { file } = facts;
  if (expr.kind !== "Subscript" || expr.index.kind !== "Str" || expr.value.kind !== "Name") return false;
  const key = expr.index.value;
  const isWritten = (of: Expr, from: number): boolean =>
    file
      .all("Assign")
      .some(
        ({ start, targets: [target] }) =>
          start > from &&
          target?.kind === "Subscript" &&
          functionOf(target) === functionOf(of) &&
          file.textOf(target) === file.textOf(of),
      );
  return facts.backwards.some(({ call, loss }) => {
    const item = loss?.kind === "Binary" ? loss.left : loss;
    if (item?.kind !== "Subscript" || item.index.kind !== "Str" || item.index.value !== key) return false;
    const from = item.value.kind === "Name" ? file.scopes.reaching(item.value) : [];
    // What is put in its place afterwards may be a number.
    if (from.length === 0 || isWritten(item, call.end)) return false;
    const handedBack = (one: Expr): boolean =>
      one.kind === "Name" &&
      functionOf(one) === functionOf(call) &&
      file.scopes.reaching(one).some((made) => from.includes(made));
    return file.scopes
      .reaching(expr.value as Name)
      .some(
        (made) =>
          (from.includes(made) && call.end < expr.start) ||
          (returnedFor(made, facts).some(handedBack) && !isWritten(expr, made.node.start)),
      );
  });
}

/** Whether a backward of the same turn runs through the value's graph, which frees what the graph saved. */
export function isBackwarded(expr: Expr, within: Node | null, facts: Facts, depth = 0): boolean {
  if (isDifferentiatedItem(expr, facts)) return true;
  const mine = new Set<Definition>();
  const add = (name: Name): void => {
    for (const one of facts.file.scopes.reaching(name)) {
      if (mine.has(one)) continue;
      mine.add(one);
      for (const earlier of scaledFrom(one, facts)) add(earlier);
      // `loss, parts = model(batch)`: what a network hands back beside its loss, that was computed of.
      if (one.how === "unpack" && one.value?.kind === "Call")
        for (const other of besides(one, facts)) mine.add(other);
    }
  };
  for (const name of namesIn(expr)) add(name);
  const isHere = (call: Node): boolean =>
    within ? contains(within, call) : functionOf(call) === functionOf(expr);
  return (
    facts.backwards.some(
      ({ call, loss }) => loss !== null && isHere(call) && derivesFrom(loss, mine, facts),
    ) ||
    // `self.train_step(loss)`, which differentiates what it is handed.
    facts
      .callsTo("loose")
      .some(
        (call) =>
          isHere(call) &&
          call.args.some(({ value }) => value.kind === "Name" && derivesFrom(value, mine, facts)) &&
          facts.callee(call)?.reachesBackward === true,
      ) ||
    // `loss, accuracy = step(batch)`, and the function differentiates the loss before it hands it back.
    [...mine].some(({ value }) => value?.kind === "Call" && (facts.callee(value)?.losses ?? null) !== null) ||
    (depth < 2 &&
      expr.kind === "Name" &&
      facts.backwards.length > 0 &&
      [...mine].some((one) =>
        returnedFor(one, facts).some((item) => isBackwarded(item, null, facts, depth + 1)),
      )) ||
    (depth < 2 && isSumOfBackwarded(expr, within, facts, depth + 1))
  );
}

/** `total = real + fake`, of losses that were each differentiated. */
function isSumOfBackwarded(expr: Expr, within: Node | null, facts: Facts, depth: number): boolean {
  const sum = expr.kind === "Name" ? facts.file.scopes.onlyValue(expr) : expr;
  if (sum?.kind !== "Binary" || sum.op !== "+") return false;
  return [sum.left, sum.right].every(
    (term) => term.kind === "Num" || isBackwarded(term, within, facts, depth),
  );
}

/** What else is bound by the unpacking of the same call, of what is called a loss. */
function besides({ node, value }: Definition, { file }: Facts): readonly Definition[] {
  const items = node.parent?.kind === "Tuple" ? node.parent.items : [];
  return items.flatMap((item) => {
    const other = item.kind === "Name" && /loss/i.test(item.id) ? file.scopes.definitionAt(item) : null;
    return other && other.value === value ? [other] : [];
  });
}

/** What a function of this file returns for a definition: `loss` of `loss, accuracy = step(batch)`. */
export function returnedFor({ how, value, index }: Definition, { file }: Facts): readonly Expr[] {
  if ((how !== "assign" && how !== "unpack") || value?.kind !== "Call") return [];
  const target = callTarget(value, file);
  const given = target === null ? undefined : file.once(returnsByName).get(target);
  return (given ?? []).flatMap((one) => {
    const item = how === "assign" ? one : one.kind === "Tuple" && index !== null ? one.items[index] : null;
    return item ? [item] : [];
  });
}

/** `loss` of `loss.float().mean()`, and of `accelerator.gather(loss.repeat(n)).mean()`, which alone on a device hands it back. */
function shapedFrom(expr: Expr): Expr {
  if (expr.kind !== "Call" || expr.func.kind !== "Attribute") return expr;
  const { attr, value } = expr.func;
  if (/^(?:mean|sum|repeat|expand|view|reshape|squeeze|unsqueeze|flatten|float|clone|to)$/.test(attr))
    return shapedFrom(value);
  return /^(?:gather|reduce)$/.test(attr) && expr.args[0] ? shapedFrom(expr.args[0].value) : expr;
}

/** `loss *= n` and `loss = loss / n` have the graph of what they scale, and no more of it; a sum has those of its terms. */
function scaledFrom({ how, node, value }: Definition, facts: Facts): Name[] {
  const isPlain = (expr: Expr): boolean => !["tensor", "output"].includes(facts.value(expr).what);
  const scales = node.parent?.kind === "AugAssign" && /^[*/]$/.test(node.parent.op);
  if (how === "augment" && value && node.parent?.kind === "AugAssign" && node.parent.op === "+")
    return namesIn(value);
  if (how === "augment") return node.kind === "Name" && scales && value && isPlain(value) ? [node] : [];
  const shaped = how === "assign" && value?.kind === "Call" ? shapedFrom(value) : null;
  if (shaped?.kind === "Name") return [shaped];
  if (how !== "assign" || value?.kind !== "Binary" || (value.op !== "*" && value.op !== "/")) return [];
  const { left, right } = value;
  if (left.kind === "Name" && isPlain(right)) return [left];
  return right.kind === "Name" && isPlain(left) ? [right] : [];
}

/**
 * Whether one of these definitions is among what the expression is computed from. Nearest first: a long history behind one
 * term must not hide the next.
 */
export function derivesFrom(expr: Expr, goal: ReadonlySet<Definition>, facts: Facts): boolean {
  const seen = new Set<Definition>();
  const queue: Name[] = namesIn(expr);
  for (let at = 0; at < queue.length && seen.size <= MAX_HISTORY; at++)
    for (const one of facts.file.scopes.reaching(queue[at]!)) {
      if (goal.has(one)) return true;
      if (seen.has(one)) continue;
      seen.add(one);
      if (one.value === null || one.how === "param") continue;
      queue.push(...namesIn(one.value));
      // `loss += penalty` also holds what was summed before.
      if (one.how === "augment" && one.node.kind === "Name") queue.push(one.node);
    }
  return false;
}
