import { argument } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { contains, functionOf, statementOf } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr, FunctionDef, Name, Node } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import type { Keep } from "./kept.ts";
import { returnsByName } from "./returns.ts";
import type { Loop } from "./training.ts";

/** One that a function of this file does for the loop that calls it: `total = step(batch, total)`, of which `root` is the loop's. */
export interface CalledKeep extends Keep {
  readonly root: Name;
  readonly loop: Loop;
  /** The call in the loop. */
  readonly by: Call;
  /** The sum or the container, as the function calls it. */
  readonly inner: Name;
}

/** The call by which a loop has it done, where it does not do it itself. */
export function callOf(keep: Keep | CalledKeep): Call | null {
  return "by" in keep ? keep.by : null;
}

/** What each turn runs, around the place that keeps: the loop, or the function that it calls. */
export function turnOf(keep: Keep | CalledKeep): Node | null {
  return "by" in keep ? functionOf(keep.at) : keep.loop;
}

/** The sum or the container by its name where the value is put into it. */
export function innerRoot(keep: Keep | CalledKeep): Expr {
  return "by" in keep ? keep.inner : keep.root;
}

/** All that the sum or the container is ever bound to, by the loop and by the function that it calls; not what the call hands back. */
export function definitionsOf(keep: Keep | CalledKeep, { file: { scopes } }: Facts): readonly Definition[] {
  const own = keep.root.kind === "Name" ? (scopes.lookup(keep.root)?.definitions ?? []) : [];
  if (!("by" in keep)) return own;
  const handed = statementOf(keep.by)!;
  return [
    ...own.filter(({ node }) => !contains(handed, node)),
    ...(scopes.lookup(keep.inner)?.definitions ?? []).filter(({ how }) => how !== "param"),
  ];
}

/** What a call gives a function for its parameter. */
export function givenFor({ name }: Definition, fn: FunctionDef, call: Call): Expr | null {
  const shift = fn.parent?.kind === "ClassDef" && fn.params[0]?.name === "self" ? 1 : 0;
  return argument(call, name, fn.params.findIndex((param) => param.name === name) - shift);
}

/** `total, count = step(batch, total, count)`, of a function that ends with `return total, count`. */
export function isTakenBack(
  root: Name,
  inner: Name,
  { parent }: Call,
  fn: FunctionDef,
  file: PythonFile,
): boolean {
  const target = parent?.kind === "Assign" && parent.targets.length === 1 ? parent.targets[0]! : null;
  const isOne = (expr: Expr | undefined, { id }: Name): boolean => expr?.kind === "Name" && expr.id === id;
  const given = file.once(returnsByName).get(file.qualified(fn)) ?? [];
  if (!target || given.length === 0) return false;
  if (target.kind !== "Tuple") return isOne(target, root) && given.every((value) => isOne(value, inner));
  const at = target.items.findIndex((item) => isOne(item, root));
  return given.every(
    (value) =>
      value.kind === "Tuple" && value.items.length === target.items.length && isOne(value.items[at], inner),
  );
}
