import { argument, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf } from "../../python/nodes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { methodsOf, selfAttribute } from "./classes.ts";

/** `x` of `x.shape[i]` and `x.size(i)` at place i, counted from either end, and of `*x.shape[i:]` from there on. */
export function sizeRead(given: Expr, at: number, places: number, call: Call, file: PythonFile): Expr | null {
  const isStarred = call.args.some(({ star, value }) => star === 1 && value === given);
  const [made, ...others] = given.kind === "Name" ? file.scopes.reaching(given) : [];
  // `batch, length, _ = x.shape`, `height, width = x.shape[-2:]`
  if (made?.how === "unpack" && others.length === 0) {
    const cut = made.value?.kind === "Subscript" ? made.value : null;
    const [, back] = (cut && /^-(\d):$/.exec(file.textOf(cut.index))) ?? [];
    const first = back === undefined ? 0 : places - Number(back);
    return made.index !== null && made.index + first === at && !isStarred && made.value
      ? measured(back === undefined ? made.value : cut!.value)
      : null;
  }
  // `batch = x.size(0)`
  const time = made?.how === "assign" && others.length === 0 && made.value ? made.value : given;
  const sizes = time.kind === "Subscript" ? time.value : time;
  const asked =
    time.kind === "Subscript"
      ? time.index
      : time.kind === "Call" && time.func.kind === "Attribute" && time.func.attr === "size"
        ? positional(time, 0)
        : null;
  const from = asked?.kind === "Slice" && !asked.upper && !asked.step ? asked.lower : asked;
  const place =
    from?.kind === "Num"
      ? Number(from.text)
      : from?.kind === "Unary" && from.op === "-" && from.operand.kind === "Num"
        ? places - Number(from.operand.text)
        : null;
  const isSlice = asked?.kind === "Slice";
  if (place !== at || isSlice !== isStarred || (isStarred && at !== places - 1)) return null;
  if (isSlice && from?.kind !== "Num") return null;
  return sizes === time && sizes.kind === "Call" && sizes.func.kind === "Attribute"
    ? sizes.func.attr === "size"
      ? sizes.func.value
      : null
    : measured((sizes.kind === "Name" ? file.scopes.onlyValue(sizes) : null) ?? sizes);
}

/** The `x` of `x.shape` and `x.size()`. */
function measured(sizes: Expr): Expr | null {
  if (sizes.kind === "Attribute") return sizes.attr === "shape" ? sizes.value : null;
  return sizes.kind === "Call" &&
    sizes.func.kind === "Attribute" &&
    sizes.func.attr === "size" &&
    sizes.args.length === 0
    ? sizes.func.value
    : null;
}

/** `x` of `x.data` and `x.detach()`. */
export function withoutGraph(expr: Expr): Expr {
  const read = expr.kind === "Call" ? expr.func : expr;
  return read.kind === "Attribute" && read.attr === (read === expr ? "data" : "detach")
    ? withoutGraph(read.value)
    : expr;
}

/** Written alike, and given nothing else between the two places. */
function isSameValue(one: Expr, other: Expr, file: PythonFile): boolean {
  const { scopes } = file;
  if (file.textOf(one) !== file.textOf(other)) return false;
  if (one.kind !== "Name" || other.kind !== "Name") return true;
  const before = scopes.reaching(other);
  const after = scopes.reaching(one);
  return before.length === after.length && before.every((made) => after.includes(made));
}

/** Functions and methods that compute each number by itself, or along a dimension that stays as long as it was. */
const ELEMENTWISE =
  /^(?:(?:log_?)?softmax|softmin|(?:log_?)?sigmoid|hardsigmoid|tanh|relu6?|leaky_relu|elu|selu|celu|gelu|silu|mish|softplus|softsign|hardtanh|dropout|normalize|layer_norm|exp|expm1|log|log1p|log2|sqrt|rsqrt|abs|neg|square|pow|sin|cos|sign|clamp|clip|nan_to_num|reciprocal|clone|contiguous|detach|to|cuda|float|half|bfloat16|double|type_as)$/;

/**
 * `F.log_softmax(x, dim=1)`, `x.sigmoid()`, `-x` and `x / heat`, and names of these, as long as `x` in all its dimensions.
 */
export function isOfSameShape(one: Expr, other: Expr, file: PythonFile, depth = 0): boolean {
  if (isSameValue(one, other, file)) return true;
  if (depth > 6) return false;
  const again = (inner: Expr): boolean => isOfSameShape(inner, other, file, depth + 1);
  if (one.kind === "Name") {
    const made = file.scopes.onlyValue(one);
    return made !== null && again(made);
  }
  if (one.kind === "Unary") return one.op === "-" && again(one.operand);
  if (one.kind === "Binary") return /^[-+*/]$/.test(one.op) && (again(one.left) || again(one.right));
  if (one.kind !== "Call" || one.func.kind !== "Attribute" || !ELEMENTWISE.test(one.func.attr)) return false;
  const name = file.dotted(one.func);
  if (name === null) return again(one.func.value);
  const given = /^torch\.(?:nn\.functional\.)?\w+$/.test(name) ? argument(one, "input", 0) : null;
  return given !== null && again(given);
}

/** `self.embed`, and no method of the class. */
function isLayer(func: Expr): boolean {
  const [own, cls] = [selfAttribute(func), classOf(func)];
  return own !== null && cls !== null && methodsOf(cls).every(({ name }) => name !== own);
}

/**
 * `x` below `x = self.embed(x)`, of the `x` above it: a layer leaves a batch as many rows as it has, and so does what is joined
 * to it along another dimension.
 */
export function isMadeByLayers(one: Expr, other: Expr, file: PythonFile): boolean {
  let at: Expr | null = one;
  for (let layers = 0; at?.kind === "Name" && layers < 4; layers++) {
    const made: Expr | null = file.scopes.onlyValue(at);
    at = made?.kind === "Call" ? ofAsManyRows(made, at.id, file) : null;
    if (at && isSameValue(at, other, file)) return true;
  }
  return false;
}

function ofAsManyRows(made: Call, name: string, file: PythonFile): Expr | null {
  const [given, ...more] = made.args;
  if (isLayer(made.func)) return given && more.length === 0 ? given.value : null;
  const along = argument(made, "dim", 1);
  const isBeside = file.dotted(made.func) === "torch.cat" && along?.kind === "Num" && along.text !== "0";
  const parts = isBeside ? given?.value : null;
  const items = parts?.kind === "Tuple" || parts?.kind === "List" ? parts.items : [];
  return items.find((item) => item.kind === "Name" && item.id === name) ?? null;
}
