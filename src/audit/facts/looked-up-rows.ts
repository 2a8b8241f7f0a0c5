import { argument, isNone, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Expr } from "../../python/tree.ts";
import { isOnlyMadeBy } from "./classes.ts";

/**
 * `self.positions(steps)` of `steps = torch.arange(n).unsqueeze(-1)`: a table looked up for numbers that have a dimension of one
 * has it as well, and a last one of its own. The place of it, where what is looked up has `rank` dimensions; null where none is
 * known.
 */
export function placeOfOneRow(looked: Expr, rank: number, file: PythonFile): number | null {
  const isLookup =
    looked.kind === "Call" &&
    isOnlyMadeBy(looked.func, file, (made) => file.dotted(made.func) === "torch.nn.Embedding");
  const given = isLookup ? positional(looked, 0) : null;
  const numbers = (given?.kind === "Name" ? file.scopes.onlyValue(given) : null) ?? given;
  if (numbers?.kind === "Subscript") {
    const cuts = numbers.index.kind === "Tuple" ? numbers.index.items : [numbers.index];
    const at = cuts.findIndex((one) => isNone(one));
    return at < 0 || cuts.some((one) => file.textOf(one) === "...") ? null : at;
  }
  if (numbers?.kind !== "Call" || numbers.func.kind !== "Attribute" || numbers.func.attr !== "unsqueeze")
    return null;
  const dim = argument(numbers, "dim", 0);
  const place = dim ? Number(file.textOf(dim)) : Number.NaN;
  return Number.isInteger(place) ? (place < 0 ? rank - 1 + place : place) : null;
}
