import type { PythonFile } from "../../python/file.ts";
import { functionOf } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Expr, FunctionDef } from "../../python/tree.ts";
import { returnsByName } from "./returns.ts";
import type { Backward } from "./training.ts";

/** A loss among what a function hands back: the whole of it, one of a tuple, or one by its key; cut off from its graph or not. */
type Handed = `${"" | number | string}${"+" | "-"}`;

/** Methods of a loss that give a loss. */
const SAME = /^(?:mean|sum|clone|detach|float|squeeze|clamp)$/;

/**
 * What functions that differentiate hand back of their losses, still on the device: `return loss` gives "+",
 * `return out, loss.detach()` gives "1-" and `return {"loss": loss}` gives "loss+", with a comma between them.
 */
export function handedLosses(
  file: PythonFile,
  backwards: readonly Backward[],
): ReadonlyMap<FunctionDef, string> {
  const found = new Map<FunctionDef, string>();
  for (const [fn, known] of lossesByFunction(file, backwards)) {
    const [first, ...others] = (file.once(returnsByName).get(file.qualified(fn)) ?? []).map(
      (value) => new Set(handed(value, known, file)),
    );
    const all = first ? [...first].filter((one) => others.every((other) => other.has(one))) : [];
    if (all.length > 0) found.set(fn, all.join());
  }
  return found;
}

/** By the functions that differentiate, their losses and what these are the sums of. */
export function lossesByFunction(
  file: PythonFile,
  backwards: readonly Backward[],
): ReadonlyMap<FunctionDef, ReadonlySet<Definition>> {
  const losses = new Map<FunctionDef, Set<Definition>>();
  for (const { call, loss } of backwards) {
    const fn = functionOf(call);
    if (fn?.kind !== "FunctionDef" || !loss) continue;
    const known = losses.get(fn) ?? new Set();
    losses.set(fn, known);
    terms(loss, file, known);
  }
  return losses;
}

/** All that a loss is the sum of, and is made from by name. */
function terms(expr: Expr, file: PythonFile, found: Set<Definition>, depth = 0): void {
  if (depth > 6) return;
  if (expr.kind === "Binary") {
    terms(expr.left, file, found, depth + 1);
    terms(expr.right, file, found, depth + 1);
  } else if (expr.kind === "Call" && expr.func.kind === "Attribute" && SAME.test(expr.func.attr))
    terms(expr.func.value, file, found, depth + 1);
  else if (expr.kind === "Name")
    for (const one of file.scopes.reaching(expr)) {
      if (found.has(one) || (one.how !== "assign" && one.how !== "augment" && one.how !== "unpack")) continue;
      // Weights and counts are multiplied with; only what is called a loss is one for sure.
      if (depth > 0 && !LOSS.test(one.name)) continue;
      found.add(one);
      if (one.value && one.how !== "unpack") terms(one.value, file, found, depth + 1);
    }
}

const LOSS = /loss|cost|nll|(?:^|_)(?:kl|elbo|objective)/i;

function handed(value: Expr, losses: ReadonlySet<Definition>, file: PythonFile): Handed[] {
  const one = (expr: Expr | undefined, key: string | number): Handed[] => {
    const sign = expr ? held(expr, losses, file) : null;
    return sign === null ? [] : [`${key}${sign}`];
  };
  if (value.kind === "Tuple") return value.items.flatMap((item, at) => one(item, at));
  if (value.kind === "Dict")
    return value.keys.flatMap((key, at) =>
      key?.kind === "Str" && key.value !== null ? one(value.values[at], key.value) : [],
    );
  return one(value, "");
}

/** "+" of a loss as it was differentiated, "-" of one without its graph, null of numbers and of all else. */
export function held(expr: Expr, losses: ReadonlySet<Definition>, file: PythonFile): "+" | "-" | null {
  if (expr.kind === "Name") {
    const made = file.scopes.reaching(expr);
    return made.some((one) => losses.has(one)) && !made.some((one) => isNumber(one, file)) ? "+" : null;
  }
  // `return (policy_loss + value_loss).detach()`, `return loss / len(batch)`
  if (expr.kind === "Binary" && /^[-+*/]$/.test(expr.op)) {
    const [left, right] = [held(expr.left, losses, file), held(expr.right, losses, file)];
    return left === "+" || right === "+" ? "+" : (left ?? right);
  }
  if (expr.kind === "Attribute" && expr.attr === "data")
    return held(expr.value, losses, file) === null ? null : "-";
  if (expr.kind !== "Call" || expr.func.kind !== "Attribute" || !SAME.test(expr.func.attr)) return null;
  const inner = held(expr.func.value, losses, file);
  return inner !== null && expr.func.attr === "detach" ? "-" : inner;
}

function isNumber({ value }: Definition, file: PythonFile): boolean {
  return (
    value !== null &&
    (value.kind === "Num" || /\.(?:item|numpy|tolist|cpu)\(|\bfloat\(/.test(file.textOf(value)))
  );
}
