import type { PythonFile } from "../../python/file.ts";
import { classOf, lastWord } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Expr } from "../../python/tree.ts";
import { assignsOfKind } from "./assigns.ts";
import { attributesOf, selfAttribute } from "./classes.ts";

/**
 * `self.scales = [nn.Parameter(…) for _ in range(n)]`, or a list or dict that is filled with them one by one: the module does not
 * look into it, so that they stay where they were made when it is moved.
 */
export function holdsUnseen(expr: Expr, file: PythonFile): boolean {
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const [write, ...more] = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  if (!cls || !write?.value || more.length > 0 || write.how !== "assign") return false;
  const begun = heldBy(write.value);
  if (begun === null) return false;
  const isOfIt = (one: Expr): boolean => selfAttribute(one) === own && classOf(one) === cls;
  const added = begun.length > 0 ? begun : addedTo(isOfIt, file);
  return (
    added.length > 0 &&
    added.every((one) => isParameterOfHost(one, file)) &&
    // Shown to the module all the same, under other names.
    file.callsNamed("register_parameter", "setattr").length === 0 &&
    !file
      .callsNamed("ParameterList", "ParameterDict", "extend", "update")
      .some(({ args }) => args.some(({ value }) => isOfIt(value)))
  );
}

/** What a plain list, tuple or dict is written down with; null of anything else. */
function heldBy(value: Expr): readonly Expr[] | null {
  if (value.kind === "List" || value.kind === "Tuple") return value.items;
  if (value.kind === "Dict") return value.values;
  if (value.kind === "Comp")
    return value.flavour === "list" || value.flavour === "dict" ? [value.value ?? value.element] : null;
  return value.kind === "Call" &&
    value.func.kind === "Name" &&
    /^(?:list|dict)$/.test(value.func.id) &&
    value.args.length === 0
    ? []
    : null;
}

/** What is put into it after that, anywhere in its class. */
function addedTo(isOfIt: (one: Expr) => boolean, file: PythonFile): readonly Expr[] {
  const appended = file
    .callsNamed("append")
    .flatMap(({ func, args }) =>
      func.kind === "Attribute" && isOfIt(func.value) && args[0] ? [args[0].value] : [],
    );
  const entered = assignsOfKind("Subscript", file).flatMap(({ targets, value }) =>
    targets.some((one) => one.kind === "Subscript" && isOfIt(one.value)) ? [value] : [],
  );
  return [...appended, ...entered];
}

/** One that is made where its values are, and not on a device from the beginning. */
function isParameterOfHost(expr: Expr, file: PythonFile): boolean {
  return (
    expr.kind === "Call" &&
    /^torch\.nn\.(?:parameter\.)?Parameter$/.test(file.dotted(expr.func) ?? "") &&
    !/\bdevice\b|cuda|\.to\(/.test(file.textOf(expr))
  );
}

/** What a name is taken out of, where it is bound: `self.scales` of `for layer, scale in zip(self.layers, self.scales)`. */
export function takenOutOf({ how, index, value }: Definition): Expr | null {
  const isZipped = value?.kind === "Call" && how === "iterate" && lastWord(value.func) === "zip";
  return isZipped && index !== null ? (value.args[index]?.value ?? null) : value;
}

/** `self.blocks` of `enumerate(self.blocks)`, `self.heads.values()` and `self.heads[task]`; of `(self.down, self.up)` the first. */
export function handedOut(expr: Expr): Expr {
  if (expr.kind === "Subscript") return expr.value;
  if (expr.kind === "Tuple" || expr.kind === "List") return expr.items[0] ?? expr;
  if (expr.kind !== "Call") return expr;
  const { func } = expr;
  return func.kind === "Attribute" ? func.value : (expr.args[0]?.value ?? expr);
}

/** One of a plain list or dict, which does not move with the module. */
export function isLeftBehind(moved: Expr, file: PythonFile): boolean {
  const [one] = moved.kind === "Name" ? file.scopes.reaching(moved) : [];
  const from = one ? takenOutOf(one) : moved;
  return from !== null && holdsUnseen(from === one?.value || !one ? handedOut(from) : from, file);
}
