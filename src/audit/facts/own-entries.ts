import type { PythonFile } from "../../python/file.ts";
import { contains, walk } from "../../python/nodes.ts";
import type { Expr, Node, Subscript } from "../../python/tree.ts";
import type { Loop } from "./training.ts";

/**
 * `mems[i]` in a loop over `i` that ends in `mems[i] = new`, of a list that began as one of nothing, `[None] * n`: each turn has an
 * entry to itself, and what it leaves there is for the same part of the next batch, not for the next turn.
 */
export function isOwnEntry(node: Node, loop: Loop, file: PythonFile): node is Subscript {
  if (node.kind !== "Subscript" || node.value.kind !== "Name" || loop.kind !== "For") return false;
  const { value: list, index } = node;
  const isOfTurn =
    index.kind === "Name" && file.scopes.reaching(index).every((one) => contains(loop.target, one.node));
  const isBegun = file.scopes
    .reaching(list)
    .some(({ value, how }) => how === "assign" && value !== null && isBlank(value));
  const text = file.textOf(node);
  return isOfTurn && isBegun && entriesLeft(list.id, loop, file).some((one) => file.textOf(one) === text);
}

/** `hidden[i + 1]` of `out, hidden[i + 1] = net(x, hidden[i])`: what the turns of a loop leave in a list or a dictionary of before it. */
export function entriesLeft(list: string, loop: Loop, file: PythonFile): readonly Subscript[] {
  return file
    .all("Assign")
    .filter((one) => contains(loop, one))
    .flatMap(({ targets }) => targets.flatMap(parts))
    .filter(
      (part): part is Subscript =>
        part.kind === "Subscript" && part.value.kind === "Name" && part.value.id === list,
    );
}

const parts = (target: Expr): readonly Expr[] => (target.kind === "Tuple" ? target.items : [target]);

/** `[None] * n`, `[tuple() for _ in range(n)]`, `{}`: entries that no network has made. */
function isBlank(value: Expr): boolean {
  const blank = value.kind === "Binary" && value.op === "*" ? value.left : value;
  if (blank.kind === "Dict") return blank.values.every(isNothing);
  if (blank.kind === "List") return blank.items.every(isNothing);
  return blank.kind === "Comp" && isNothing(blank.value ?? blank.element);
}

/** `None`, `()`, `tuple()`, `torch.zeros(2, 8)`, `net.init_hidden(n)`. */
function isNothing(value: Expr): boolean {
  if (value.kind === "Const") return true;
  if (value.kind === "Tuple" || value.kind === "List") return value.items.every(isNothing);
  if (value.kind !== "Call") return false;
  let begun = true;
  walk(value.func, (node) => {
    begun &&= node.kind !== "Call";
    return begun;
  });
  const word =
    value.func.kind === "Attribute" ? value.func.attr : value.func.kind === "Name" ? value.func.id : "";
  return begun && /^(?:tuple|list|zeros|(?:get_)?init(?:ial)?(?:_\w+)?)$/.test(word);
}
