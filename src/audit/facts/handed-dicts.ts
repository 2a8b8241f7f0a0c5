import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { returnedFor } from "./backwarded.ts";
import { isDict } from "./dict-entries.ts";
import type { Facts } from "./facts.ts";
import { returnsByName } from "./returns.ts";
import { callTarget } from "./summary.ts";

/** One value of a dict, under its key where that is written there. */
interface Entry {
  readonly key: string | null;
  readonly value: Expr;
}

/** Through how many functions and dicts of dicts one is followed. */
const DEEPEST = 4;

/**
 * The values of the dict that a function of this file hands back, `metrics` of `metrics = step(batch)`, less those that others are put
 * in the place of: null where that is no such dict.
 */
export function valuesHandedBack(dict: Expr, facts: Facts): readonly Expr[] | null {
  return handedBack(dict, facts, 0)?.map(({ value }) => value) ?? null;
}

/** `metrics = engine.step(batch)`, of another file's that differentiates and hands its losses back by their keys; nothing else is put there. */
export function holdsLosses(dict: Expr, facts: Facts): boolean {
  const [made, ...more] = dict.kind === "Name" ? facts.file.scopes.reaching(dict) : [];
  const call =
    dict.kind === "Name" ? (made?.how === "assign" && more.length === 0 ? made.value : null) : dict;
  if (call?.kind !== "Call") return false;
  const byKey =
    facts
      .callee(call)
      ?.losses?.split(",")
      .some((one) => /^[^\d+-]/.test(one)) === true;
  const isPut = ({ parent }: Expr): boolean =>
    parent?.kind === "Subscript" &&
    parent.parent?.kind === "Assign" &&
    parent.parent.targets.includes(parent);
  return byKey && !(made && facts.file.scopes.uses(made).some(isPut));
}

function handedBack(dict: Expr, facts: Facts, depth: number): readonly Entry[] | null {
  if (depth > DEEPEST) return null;
  if (dict.kind === "Call") return ofReturned(returnsOf(dict, facts), facts, depth);
  const made = dict.kind === "Name" ? facts.file.scopes.reaching(dict) : [];
  if (made.length === 0) return null;
  const found = made.map((one) => ofReturned(returnedFor(one, facts), facts, depth));
  if (found.some((one) => one === null)) return null;
  return made.flatMap((one, at) => withPuts(found[at]!, one, dict.start, facts, depth));
}

function returnsOf(call: Call, { file }: Facts): readonly Expr[] {
  const target = callTarget(call, file);
  return (target === null ? undefined : file.once(returnsByName).get(target)) ?? [];
}

function ofReturned(returned: readonly Expr[], facts: Facts, depth: number): readonly Entry[] | null {
  const found = returned.map((one) => entriesOf(one, facts, depth + 1));
  return found.length > 0 && found.every((one) => one !== null) ? found.flat() : null;
}

/** `{"loss": loss, **parts}`, `dict(loss=loss, **parts)`, and `metrics` that began as one of these. */
function entriesOf(expr: Expr, facts: Facts, depth: number): readonly Entry[] | null {
  if (depth > DEEPEST) return null;
  const spread = (value: Expr): readonly Entry[] => entriesOf(value, facts, depth + 1) ?? [];
  if (expr.kind === "Dict")
    return expr.values.flatMap((value, at) => {
      const key = expr.keys[at];
      return key ? [{ key: key.kind === "Str" ? key.value : null, value }] : spread(value);
    });
  if (expr.kind === "Call" && isDict(expr, facts.file))
    return expr.args.flatMap(({ name, value }) => (name === null ? spread(value) : [{ key: name, value }]));
  const [made, ...more] = expr.kind === "Name" ? facts.file.scopes.reaching(expr) : [];
  if (made && more.length === 0 && made.how === "assign" && isDict(made.value, facts.file))
    return withPuts(entriesOf(made.value!, facts, depth + 1) ?? [], made, expr.start, facts, depth);
  return handedBack(expr, facts, depth + 1);
}

/** With what is put into it above `end`: `metrics["loss"] = loss`, `metrics.update(parts)`. */
function withPuts(
  begun: readonly Entry[],
  made: Definition,
  end: number,
  facts: Facts,
  depth: number,
): readonly Entry[] {
  let found = [...begun];
  for (const use of facts.file.scopes.uses(made)) {
    const { parent } = use;
    if (use.start > end || (parent?.kind !== "Subscript" && parent?.kind !== "Attribute")) continue;
    const around = parent.parent;
    if (parent.kind === "Attribute" && parent.attr === "update" && around?.kind === "Call")
      found.push(...around.args.flatMap(({ value }) => entriesOf(value, facts, depth + 1) ?? []));
    if (parent.kind !== "Subscript" || around?.kind !== "Assign" || !around.targets.includes(parent))
      continue;
    const { index } = parent;
    const key = index.kind === "Str" ? index.value : null;
    // `metrics[k] = metrics[k].item()` of each that it has.
    found = index.kind === "Str" ? found.filter((one) => key === null || one.key !== key) : [];
    found.push({ key, value: around.value });
  }
  return found;
}
