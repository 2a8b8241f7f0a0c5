import { classOf } from "../../python/nodes.ts";
import type { Expr, FunctionDef, Lambda } from "../../python/tree.ts";
import { methodsOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";

/** Which function a forward hook is, and what it stores of what it is given. */

/** `out[0].mean(1)`, `(inp, out)`: computed from what the hook is given, and not cut off. */
export function isOfGiven(expr: Expr, given: ReadonlySet<string>): boolean {
  switch (expr.kind) {
    case "Name":
      return given.has(expr.id);
    case "Subscript":
      return isOfGiven(expr.value, given);
    case "Tuple":
    case "List":
      return expr.items.some((item) => isOfGiven(item, given));
    case "Dict":
      return expr.values.some((item) => isOfGiven(item, given));
    case "IfExp":
      return isOfGiven(expr.body, given) || isOfGiven(expr.orelse, given);
    case "Call":
      return (
        expr.func.kind === "Attribute" &&
        !/^(?:detach\w*|item|tolist|numpy|size|dim|numel|argmax)$/.test(expr.func.attr) &&
        isOfGiven(expr.func.value, given)
      );
    default:
      return false;
  }
}

/** What `kept.append(out)`, `kept.update(x=out)`, `kept.__setitem__(k, out)` or `setattr(m, "x", out)` stores of what the hook is given. */
export function storedBy(
  expr: Expr,
  given: ReadonlySet<string>,
): { readonly into: Expr; readonly value: Expr } | null {
  if (expr.kind !== "Call") return null;
  const isSetter = expr.func.kind === "Name" && expr.func.id === "setattr";
  const method = expr.func.kind === "Attribute" ? expr.func.attr : "";
  if (!isSetter && !/^(?:append|update|__setitem__|setdefault)$/.test(method)) return null;
  const into = isSetter ? expr.args[0]?.value : expr.func.kind === "Attribute" ? expr.func.value : undefined;
  if (!into) return null;
  for (const { value } of expr.args.slice(isSetter ? 1 : 0))
    for (const part of value.kind === "Dict" ? value.values : [value]) {
      let at = part;
      while (at.kind === "Subscript") at = at.value;
      if (at.kind === "Name" && given.has(at.id)) return { into, value: part };
    }
  return null;
}

/** The function behind `hook`, `self.hook`, `make_hook(name)` or a lambda. */
export function hookFunction(hook: Expr, facts: Facts): FunctionDef | Lambda | null {
  const { file } = facts;
  if (hook.kind === "Lambda") return hook;
  // `partial(remember, store, name)`
  if (hook.kind === "Call" && file.dotted(hook.func) === "functools.partial")
    return hook.args[0] ? hookFunction(hook.args[0].value, facts) : null;
  // `saver = ActivationSaver()`, whose `__call__` is the hook.
  const made = hook.kind === "Name" ? file.scopes.onlyValue(hook) : null;
  if (made?.kind === "Call") {
    const type = file.dotted(made.func);
    const cls = file.all("ClassDef").find((one) => file.qualified(one) === type);
    return cls ? (methodsOf(cls).find(({ name }) => name === "__call__") ?? null) : null;
  }
  const named = hook.kind === "Call" ? file.dotted(hook.func) : file.dotted(hook);
  const own = selfAttribute(hook.kind === "Call" ? hook.func : hook);
  const found = file
    .all("FunctionDef")
    .find((fn) =>
      own === null ? file.qualified(fn) === named : fn.name === own && classOf(fn) === classOf(hook),
    );
  if (!found || hook.kind !== "Call") return found ?? null;
  // A factory: the function it defines and returns.
  return found.body.find((one): one is FunctionDef => one.kind === "FunctionDef") ?? null;
}
