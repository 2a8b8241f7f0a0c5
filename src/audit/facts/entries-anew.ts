import type { PythonFile } from "../../python/file.ts";
import { functionOf } from "../../python/nodes.ts";
import type { Expr, For, Name } from "../../python/tree.ts";
import { returnsByName } from "./returns.ts";
import { callTarget } from "./summary.ts";

/**
 * What the entries of a dict are made anew: `send(v)` of `for k, v in rows.items(): rows[k] = send(v)` above, of
 * `{k: send(v) for k, v in arrays.items()}`, and of a function of this file that hands one of these back. None of anything else.
 */
export function entriesAnew(dict: Expr, file: PythonFile, depth = 0): readonly Expr[] {
  if (dict.kind === "Comp") return dict.value === null ? [] : [dict.value];
  if (depth > 2) return [];
  const put = dict.kind === "Name" ? putAbove(dict, file) : null;
  if (put) return [put];
  const [made, ...more] = dict.kind === "Name" ? file.scopes.reaching(dict) : [];
  const from = dict.kind === "Name" ? made?.value : dict;
  const index = made?.how === "unpack" ? made.index : null;
  if (!from || more.length > 0 || (made && made.how !== "assign" && index === null)) return [];
  if (from.kind !== "Call") return made && index === null ? entriesAnew(from, file, depth + 1) : [];
  const target = callTarget(from, file);
  const returned = (target === null ? null : file.once(returnsByName).get(target)) ?? [];
  const found = returned.map((one) => {
    const item = index === null ? one : one.kind === "Tuple" ? one.items[index] : undefined;
    return item ? entriesAnew(item, file, depth + 1) : [];
  });
  return found.every((one) => one.length > 0) ? found.flat() : [];
}

/** In a loop over all its keys that has ended above, after which nothing else goes by its name. */
function putAbove(dict: Name, file: PythonFile): Expr | null {
  const fn = functionOf(dict);
  const loop = file
    .all("For")
    .findLast((one) => one.end < dict.start && functionOf(one) === fn && keyOf(one, dict, file) !== null);
  const key = loop ? keyOf(loop, dict, file) : null;
  if (!loop || file.scopes.reaching(dict).some(({ node }) => node.start > loop.start)) return null;
  for (const one of loop.body) {
    const [target] = one.kind === "Assign" ? one.targets : [];
    if (
      one.kind === "Assign" &&
      target?.kind === "Subscript" &&
      file.textOf(target.value) === dict.id &&
      file.textOf(target.index) === key
    )
      return one.value;
  }
  return null;
}

/** `k` of `for k, v in rows.items()`, `for k in rows`, `for k in list(rows.keys())` */
function keyOf({ iter, target }: For, dict: Name, file: PythonFile): string | null {
  const over = /^(?:(?:list|tuple|sorted)\()?(\w+)(?:\.(items|keys)\(\))?\)?$/.exec(file.textOf(iter));
  if (over?.[1] !== dict.id) return null;
  const key = over[2] === "items" ? (target.kind === "Tuple" ? target.items[0] : undefined) : target;
  return key?.kind === "Name" ? key.id : null;
}

/** By its name what makes a tensor of an array, wherever it puts it: `torchify(v)`, `to_tensor(v)`. */
export const TENSORIZES =
  /^(?:(?:np|numpy|array|to|as|into|make)_?(?:2|to)?_?)?(?:torch|tensors?)(?:_?(?:ify|ize|from_np))?$/;
