import type { PythonFile } from "../../python/file.ts";
import { contains, functionOf } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Expr, FunctionDef, Node } from "../../python/tree.ts";
import { selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { isBoundBy } from "./training.ts";
import type { Loop } from "./training.ts";

/** What a state is called that a network hands from one step to the next. */
export const STATE =
  /hidden|recurrent|(?:^|_)hxs$|^_?(?:hid|h|c|hx|cx|h_?[0nt]|c_?[0nt]|hc)$|^(?:\w+_)?states?$|^mems?$|memory|carry|^(?:ctx|context)$/;

/** `hidden.detach()`, `hidden = hidden.data`, `repackage_hidden(hidden)` */
export function isCutOff(name: string, within: Node, file: PythonFile): boolean {
  return new RegExp(
    `\\b${name}\\b[^\\n]*\\.(?:detach|data\\b)|\\.(?:detach\\(\\)|data) for \\w+ in ${name}\\b|(?:detach|repackage|Variable)\\w*\\([^)\\n]*\\b${name}\\b`,
  ).test(file.codeOf(within));
}

/** `def forward(self, x, hidden)` that begins with `hidden = hidden.detach()`: who hands it on need not cut it off. */
export function cutsOffState(fn: FunctionDef, file: PythonFile): boolean {
  return fn.name === "forward" && fn.params.some(({ name }) => STATE.test(name) && isCutOff(name, fn, file));
}

/** `hidden = new_hidden`, of what the call returned; also `h, c = new_hidden` and then `hidden = (h, c)`. */
export function isRenamed({ how, value }: Definition, statement: Node, facts: Facts, depth = 0): boolean {
  if ((how !== "assign" && how !== "unpack") || depth > 3) return false;
  return (value ? partsOf(value) : []).some((part) => {
    // `state = outputs.state`
    let at = part;
    while (at.kind === "Attribute" || at.kind === "Subscript") {
      // `h = h.data` is cut off.
      if (at.kind === "Attribute" && at.attr === "data") return false;
      at = at.value;
    }
    return (
      at.kind === "Name" &&
      facts.file.scopes
        .reaching(at)
        .some((one) => contains(statement, one.node) || isRenamed(one, statement, facts, depth + 1))
    );
  });
}

/** The attribute of `self.state`, and of `self.states[i]` of several layers. */
export function ownState(expr: Expr): string | null {
  return selfAttribute(expr.kind === "Subscript" ? expr.value : expr);
}

/** `self.state = (h, c)` below `out, (h, c) = self.lstm(x, self.state)`. */
export function keptBelow(target: Expr, statement: Node, facts: Facts): (string | null)[] {
  const names = new Set(partsOf(target).flatMap((part) => (part.kind === "Name" ? [part.id] : [])));
  const fn = functionOf(statement);
  if (names.size === 0) return [];
  return facts.file
    .all("Assign")
    .filter(
      (one) =>
        one.start > statement.end &&
        functionOf(one) === fn &&
        partsOf(one.value).every((part) => part.kind === "Name" && names.has(part.id)),
    )
    .map((one) => ownState(one.targets[0]!));
}

/** The state in `h.to(x.device)`, `h * mask`, `h if h is not None else None`, `h or begin(x)` and, of the loop's counter, `h if i > 0 else None`. */
export function handedOn(expr: Expr, loop: Loop | null = null, file: PythonFile | null = null): Expr {
  if (expr.kind === "Call")
    return expr.func.kind === "Attribute" && /^(?:to|cuda|type_as|contiguous)$/.test(expr.func.attr)
      ? handedOn(expr.func.value, loop, file)
      : expr;
  // Zeroed for those that are done, it is still what the steps before made of it.
  if (expr.kind === "Binary" && expr.op === "*") return [expr.left, expr.right].find(isNamedState) ?? expr;
  if (expr.kind === "Bool") return expr.op === "or" && isState(expr.values[0]!) ? expr.values[0]! : expr;
  if (expr.kind !== "IfExp") return expr;
  const { test, body, orelse } = expr;
  if (isState(body) && saysCarried(body, test, true, loop, file)) return body;
  return isState(orelse) && saysCarried(orelse, test, false, loop, file) ? orelse : expr;
}

/** Whether a state is taken on all turns but the first; any other test may have it begun anew as often as not. */
function saysCarried(
  state: Expr,
  test: Expr,
  when: boolean,
  loop: Loop | null,
  file: PythonFile | null,
): boolean {
  if (test.kind === "Unary" && test.op === "not") return saysCarried(state, test.operand, !when, loop, file);
  if (isSame(test, state)) return when;
  if (test.kind !== "Compare" || test.rights.length !== 1) return false;
  const [op] = test.ops;
  const right = test.rights[0]!;
  if (isSame(test.left, state))
    return right.kind === "Const" && right.value === null && op === (when ? "is not" : "is");
  return (
    right.kind === "Num" &&
    right.text === "0" &&
    (when ? op === ">" || op === "!=" : op === "==") &&
    test.left.kind === "Name" &&
    loop !== null &&
    file !== null &&
    isBoundBy(loop, test.left, file)
  );
}

function isState(expr: Expr): boolean {
  return expr.kind === "Name" || selfAttribute(expr) !== null;
}

/** `hidden`, `self.memory` */
function isNamedState(expr: Expr): boolean {
  return STATE.test(expr.kind === "Name" ? expr.id : (selfAttribute(expr) ?? ""));
}

/** The same name, or the same attribute of self. */
function isSame(one: Expr, other: Expr): boolean {
  return one.kind === "Name"
    ? other.kind === "Name" && one.id === other.id
    : selfAttribute(one) !== null && selfAttribute(one) === selfAttribute(other);
}

export function partsOf(expr: Expr): readonly Expr[] {
  return expr.kind === "Tuple" || expr.kind === "List" ? expr.items.flatMap(partsOf) : [expr];
}
