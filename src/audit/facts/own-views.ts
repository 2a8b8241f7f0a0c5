import type { PythonFile } from "../../python/file.ts";
import { classOf, functionOf } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef } from "../../python/tree.ts";
import { methodsOf, selfAttribute } from "./classes.ts";
import { callTarget } from "./summary.ts";

/** What hands out the same numbers in another shape, as a method or as a function. */
const VIEWS =
  /^(?:(?:un)?squeeze|view|reshape|flatten|t|transpose|permute|expand|expand_as|broadcast_to|contiguous|detach|rearrange)$/;

/**
 * What a module has on self, also of a layer, behind views and names of it: `self.conv.weight` of
 * `w = self.conv.weight.squeeze()` and `self.places` of `self.places[:, :n]`. And behind `self.resized(x, places)`, which hands back as
 * it is what fits already. Null of anything else.
 */
export function behindViews(expr: Expr, file: PythonFile, depth = 0): Expr | null {
  if (depth > 5) return null;
  const again = (inner: Expr | null | undefined): Expr | null =>
    inner ? behindViews(inner, file, depth + 1) : null;
  if (expr.kind === "Attribute") {
    if (/^(?:T|mT|data)$/.test(expr.attr)) return again(expr.value);
    return selfAttribute(expr) !== null || selfAttribute(expr.value) !== null ? expr : null;
  }
  if (expr.kind === "Subscript") return isSlice(expr.index) ? again(expr.value) : null;
  if (expr.kind === "Call") return again(viewed(expr, file) ?? handedBack(expr, file));
  if (expr.kind !== "Name") return null;
  const made = file.scopes.reaching(expr);
  // `w = self.weight`, and after it `w = w.t()` on one way.
  const behind = made.map(({ how, value }) => (how === "assign" ? again(value) : null));
  const [first] = behind;
  return first && behind.every((one) => one !== null && file.textOf(one) === file.textOf(first))
    ? first
    : null;
}

/** `[:, :n]`, `[None]`, `[..., 0]`: what is picked by an index is a new tensor, and small. */
function isSlice(index: Expr): boolean {
  if (index.kind === "Tuple") return index.items.every((item) => item.kind === "Num" || isSlice(item));
  return index.kind === "Slice" || index.kind === "Const";
}

/** `w` of `w.squeeze()` and of `torch.squeeze(w)`. */
function viewed({ args, func }: Call, file: PythonFile): Expr | null {
  const name = file.dotted(func);
  if (func.kind === "Attribute" && name === null) return VIEWS.test(func.attr) ? func.value : null;
  const [, short] = /^(?:torch|einops)\.(\w+)$/.exec(name ?? "") ?? [];
  return short !== undefined && VIEWS.test(short) ? (args[0]?.value ?? null) : null;
}

/** What a method of the class is handed and returns unchanged on one way, as what fits already. */
function handedBack(call: Call, file: PythonFile): Expr | null {
  const own = selfAttribute(call.func);
  const cls = own === null ? null : classOf(call);
  const method = cls ? methodsOf(cls).find(({ name }) => name === own) : undefined;
  if (!method || file.functionNamed(callTarget(call, file)) !== method) return null;
  const at = method.params.slice(1).findIndex(({ name }) => returnsAsItIs(method, name, file));
  const given = call.args[at];
  return at >= 0 && given?.name === null && given.star === 0 ? given.value : null;
}

function returnsAsItIs(method: FunctionDef, param: string, file: PythonFile): boolean {
  return file.all("Return").some(({ value }) => {
    if (value?.kind !== "Name" || value.id !== param || functionOf(value) !== method) return false;
    const made = file.scopes.reaching(value);
    return made.length > 0 && made.every(({ how }) => how === "param");
  });
}
