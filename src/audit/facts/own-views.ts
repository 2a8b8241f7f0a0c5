import type { PythonFile } from "../../python/file.ts";
import { classOf } from "../../python/nodes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { selfAttribute } from "./classes.ts";
import { returnsByName } from "./returns.ts";
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

/**
 * What a method of the class, or a function of the file, is handed and returns unchanged on one way, as what fits already:
 * `self.resized(x, places)`; and what of its own a method returns so, `if n == self.n: return self.places`.
 */
function handedBack(call: Call, file: PythonFile): Expr | null {
  const own = selfAttribute(call.func);
  const cls = own === null ? null : classOf(call);
  const target = callTarget(call, file);
  const fn = file.functionNamed(target);
  const returned = target === null ? [] : (file.once(returnsByName).get(target) ?? []);
  if (!fn || (own === null ? call.func.kind !== "Name" : fn.parent !== cls || fn.name !== own)) return null;
  const params = own === null ? fn.params : fn.params.slice(1);
  const at = params.findIndex(({ name }) => returnsAsItIs(returned, name, file));
  const given = at < 0 ? undefined : call.args[at];
  if (given?.name === null && given.star === 0) return given.value;
  const its = own === null ? undefined : returned.find((value) => selfAttribute(value) !== null);
  return its ?? null;
}

function returnsAsItIs(returned: readonly Expr[], param: string, file: PythonFile): boolean {
  return returned.some((value) => {
    if (value.kind !== "Name" || value.id !== param) return false;
    const made = file.scopes.reaching(value);
    return made.length > 0 && made.every(({ how }) => how === "param");
  });
}
