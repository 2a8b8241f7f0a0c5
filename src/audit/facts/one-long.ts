import { argument, isNone, isTrue, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { lastWord } from "../../python/nodes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { isOnlyMadeBy } from "./classes.ts";

/** What leaves a tensor as long as it is in each dimension. */
export const SAME_SHAPE =
  /^(?:to|cuda|cpu|float|double|half|bfloat16|bool|long|type|type_as|detach|requires_grad_)$/;

export function isGivenSizes({ func }: Call, file: PythonFile): boolean {
  return (
    /^torch\.(?:rand|randn|zeros|ones|empty)$/.test(file.dotted(func) ?? "") ||
    (func.kind === "Attribute" && /^(?:view|reshape)$/.test(func.attr))
  );
}

/** How long what is made, or viewed, is in each dimension: `torch.rand(n, 1)`, `torch.rand((n, 1))`, `x.view(n, 1)`. */
export function sizesGiven(source: Call, file: PythonFile): readonly Expr[] {
  if (!isGivenSizes(source, file)) return [];
  const [first, ...more] = source.args.filter(({ name }) => name === null).map(({ value }) => value);
  if (more.length === 0 && (first?.kind === "Tuple" || first?.kind === "List")) return first.items;
  return first ? [first, ...more] : [];
}

export function isOne(expr: Expr | undefined): boolean {
  return expr?.kind === "Num" && expr.text === "1";
}

/**
 * Which of the dimensions of a tensor that has `rank` of them are one long by how it was made, each by a step of its own:
 * `x.unsqueeze(1).unsqueeze(1)`, `x.mean(2, keepdim=True).mean(3, keepdim=True)`.
 */
export function onesOf(expr: Expr, rank: number, file: PythonFile, depth = 0): ReadonlySet<number> {
  if (depth > 8 || rank < 1) return NONE;
  if (expr.kind === "Name") {
    const made = file.scopes.onlyValue(expr);
    return made ? onesOf(made, rank, file, depth + 1) : NONE;
  }
  if (expr.kind === "Subscript")
    return newIn(expr.index.kind === "Tuple" ? expr.index.items : [expr.index], rank, file);
  if (expr.kind !== "Call") return NONE;
  if (isPooledToOne(expr, file)) return new Set([rank - 1, rank - 2]);
  const sizes = sizesGiven(expr, file);
  if (sizes.length > 0)
    return new Set(sizes.length === rank ? sizes.flatMap((one, at) => (isOne(one) ? [at] : [])) : []);
  const name = file.dotted(expr.func);
  const word = lastWord(expr.func);
  const shift = name === `torch.${word}` ? 1 : 0;
  if (expr.func.kind !== "Attribute" || (shift === 0 && name !== null)) return NONE;
  const source = shift === 1 ? positional(expr, 0) : expr.func.value;
  if (!source) return NONE;
  if (shift === 0 && SAME_SHAPE.test(word)) return onesOf(source, rank, file, depth + 1);
  const dim = argument(expr, "dim", shift);
  const dims = (dim?.kind === "Tuple" || dim?.kind === "List" ? dim.items : dim ? [dim] : []).map((one) =>
    placeOf(one, rank, file),
  );
  if (dims.length === 0 || dims.some((one) => one === null)) return NONE;
  if (isTrue(keyword(expr, "keepdim")?.value ?? null))
    return new Set([...onesOf(source, rank, file, depth + 1), ...(dims as number[])]);
  const [at] = dims as number[];
  return word === "unsqueeze"
    ? new Set([
        at!,
        ...[...onesOf(source, rank - 1, file, depth + 1)].map((one) => (one < at! ? one : one + 1)),
      ])
    : NONE;
}

const NONE: ReadonlySet<number> = new Set();

/** A dimension as it is counted from the first one. */
function placeOf(dim: Expr, rank: number, file: PythonFile): number | null {
  const at = /^-?\d+$/.test(file.textOf(dim)) ? Number(file.textOf(dim)) : null;
  return at === null ? null : at < 0 ? at + rank : at;
}

/** `x[:, None, None]`, `x[..., None, None]` */
function newIn(items: readonly Expr[], rank: number, file: PythonFile): ReadonlySet<number> {
  const rest = items.findIndex((one) => file.textOf(one) === "...");
  if (items.some((one, at) => at !== rest && one.kind !== "Slice" && !isNone(one))) return NONE;
  return new Set(
    items.flatMap((one, at) => (isNone(one) ? [rest >= 0 && at > rest ? rank - items.length + at : at] : [])),
  );
}

/** `F.adaptive_avg_pool2d(x, 1)`, or by the layer of that kind. */
function isPooledToOne(call: Call, file: PythonFile): boolean {
  const isToOne = (size: Expr | null): boolean =>
    size?.kind === "Tuple" ? size.items.length === 2 && size.items.every(isOne) : isOne(size ?? undefined);
  if (/^torch\.nn\.functional\.adaptive_(?:avg|max)_pool2d$/.test(file.dotted(call.func) ?? ""))
    return isToOne(argument(call, "output_size", 1));
  return isOnlyMadeBy(
    call.func,
    file,
    (made) =>
      /^torch\.nn\.Adaptive(?:Avg|Max)Pool2d$/.test(file.dotted(made.func) ?? "") &&
      isToOne(argument(made, "output_size", 0)),
  );
}
