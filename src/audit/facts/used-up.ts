import type { PythonFile } from "../../python/file.ts";
import { functionOf } from "../../python/nodes.ts";
import type { Arg, Expr, FunctionDef, Name, Node } from "../../python/tree.ts";
import { OF_LOSSES } from "./naming.ts";

const SHAPES =
  /^(?:view|reshape|flatten|squeeze|unsqueeze|transpose|permute|t|contiguous|expand|float|to|chunk|split)$/;

/** Whether a function only computes something from what it is given under a name: it writes nothing into it, and keeps it nowhere. */
export function isUsedUp(bound: Node, file: PythonFile, depth = 0): boolean {
  const made = depth < 4 ? file.scopes.definitionAt(bound) : null;
  if (!made) return false;
  const fn = functionOf(bound.kind === "Param" ? (bound.parent as FunctionDef).body[0]! : bound);
  return (
    file.scopes.uses(made).every((use) => isComputedWith(use, file, depth)) &&
    // `x -= x.mean()` writes in place.
    !file
      .all("AugAssign")
      .some(({ target }) => target.kind === "Name" && target.id === made.name && functionOf(target) === fn)
  );
}

/** Something is computed from it, or from a view of it, at once: nobody gets the tensor itself. */
function isComputedWith(use: Expr, file: PythonFile, depth: number): boolean {
  let at: Expr = use;
  for (;;) {
    const { parent } = at;
    if (parent?.kind === "Subscript" && parent.value === at) at = parent;
    else if (
      parent?.kind === "Attribute" &&
      SHAPES.test(parent.attr) &&
      parent.parent?.kind === "Call" &&
      parent.parent.func === parent
    )
      at = parent.parent;
    else if (parent?.kind === "Attribute") return !/[^_]_$/.test(parent.attr) && parent.attr !== "data";
    // `logits = logits[:, :-1]`: a view, under a name of its own.
    else if (parent?.kind === "Assign" && parent.value === at && at !== use && parent.targets.length === 1) {
      const [target] = parent.targets;
      return target?.kind === "Name" && isUsedUp(target, file, depth + 1);
    } else if (rowOf(at)) return isUsedUp(rowOf(at)!, file, depth + 1);
    else
      return (
        parent?.kind === "Binary" ||
        (parent?.kind === "Arg" &&
          parent.parent?.kind === "Call" &&
          (file.dotted(parent.parent.func) ?? "").startsWith("torch."))
      );
  }
}

/** `row` of `for row in logits`, and of `for row, index in zip(logits, labels)`: views, under names of their own. */
function rowOf(all: Expr): Name | null {
  const { parent } = all;
  const call = parent?.kind === "Arg" && parent.star === 0 ? parent.parent : null;
  const beside = call?.kind === "Call" && call.func.kind === "Name" ? call : null;
  const over = beside ?? all;
  const loop = over.parent;
  if ((loop?.kind !== "For" && loop?.kind !== "Clause") || loop.iter !== over) return null;
  const { target } = loop;
  if (!beside) return target.kind === "Name" ? target : null;
  const by = (beside.func as Name).id;
  const at = by === "zip" ? beside.args.indexOf(parent as Arg) : by === "enumerate" ? 1 : -1;
  const row = target.kind === "Tuple" ? target.items[at] : undefined;
  return row?.kind === "Name" ? row : null;
}

/** What is computed of scores, a loss or what one is made of: `selective_log_softmax(logits, labels)`, `entropy(logits)`. */
const OF_SCORES = /softmax|log_?p(?:rob)?s?(?:_|$)|entropy|perplexity/i;

/** The parameters that a loss uses up, for whoever calls it from another file; of others nobody asks. */
export function usedUpBy(fn: FunctionDef, name: string, file: PythonFile): readonly string[] | undefined {
  if (!(OF_LOSSES.test(name) || OF_SCORES.test(fn.name)) || fn.parent?.kind === "FunctionDef")
    return undefined;
  const found: string[] = [];
  for (const param of fn.params)
    if (param.star === 0 && param.name !== "self" && isUsedUp(param, file)) found.push(param.name);
  return found.length > 0 ? found : undefined;
}
