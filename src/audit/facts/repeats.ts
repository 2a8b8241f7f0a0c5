import { argument, isNone, isTrue, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, lastWord, walk } from "../../python/nodes.ts";
import type { Attribute, Binary, Call, Expr } from "../../python/tree.ts";
import { attributesOf, isOnlyMadeBy, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { areCopiesWanted, isReadAsView } from "./expanded.ts";
import { placeOfOneRow } from "./looked-up-rows.ts";
import { SAME_SHAPE, isGivenSizes, isOne, onesOf, sizesGiven } from "./one-long.ts";
import { returnsByName } from "./returns.ts";
import { isMadeByLayers, isOfSameShape, sizeRead, withoutGraph } from "./same-sizes.ts";
import { callTarget } from "./summary.ts";

/** A call that writes out copies of what a view would show as often. */
export interface Repeat {
  readonly call: Call & { readonly func: Attribute };
  /** `x.repeat(n, 1, 1)`, each number by itself, as many as `expand` takes, and all that reads it takes what `expand` gives. */
  readonly viewable: boolean;
}

/** `x.repeat(n, 1, 1)` along a dimension of one, in code that runs every step. */
export function* needlessRepeats(facts: Facts): Generator<Repeat> {
  const { file } = facts;
  for (const call of file.callsNamed("repeat_interleave"))
    if (
      isOfAttribute(call) &&
      (isOneInterleaved(call, facts) || isMaskInterleaved(call, file)) &&
      facts.everyStep(call) &&
      !areCopiesWanted(call, file)
    )
      yield { call, viewable: false };
  for (const call of file.callsNamed("cat", "stack"))
    if (isOfAttribute(call) && isJoinedWithItself(call, facts) && facts.everyStep(call))
      yield { call, viewable: false };
  for (const call of file.callsNamed("repeat", "tile")) {
    if (!isOfAttribute(call) || !/^(?:repeat|tile)$/.test(call.func.attr)) continue;
    // `torch.tile(x, (n, 1))`
    const named = file.dotted(call.func) === "torch.tile";
    if (file.dotted(call.func) !== null && !named) continue;
    const source = named ? call.args[0]?.value : call.func.value;
    const [first, ...more] = (named ? call.args.slice(1) : call.args).map(({ value }) => value);
    const listed = (first?.kind === "Tuple" || first?.kind === "List") && more.length === 0;
    const times = listed ? first.items : first ? [first, ...more] : [];
    if (!source || times.length === 0 || areCopiesWanted(call, file) || !facts.everyStep(call)) continue;
    const once = times.length > 1 && times.filter(isOne).length >= times.length - 1 - stars(call);
    const made = shapedBy(source, file);
    if (
      isGrayToColour(call, times) ||
      isOneWhereRepeated(times, made, facts) ||
      isOneUnderStar(call, made, facts) ||
      isBelowItsRank(times, source, facts) ||
      (once && times.findIndex((one) => !isOne(one)) === placeOfOneRow(made, times.length, file)) ||
      isOneBySteps(call, source, times, file) ||
      isRepeatedToFit(call, times, facts) ||
      isMaskRepeated(call, source, times, file) ||
      isPaired(call, times, file) ||
      (once &&
        ((hasDimensionOfOne(source, facts, 0) &&
          !(stars(call) === 0 && isOneElsewhere(source, times, file))) ||
          isReduced(source, times, facts)))
    )
      yield {
        call,
        viewable:
          call.func.attr === "repeat" &&
          stars(call) === 0 &&
          !listed &&
          // Of a dimension that it had not, `-1` says nothing.
          !times
            .slice(0, Math.max(0, times.length - (rankOf(source, file, 0) || times.length)))
            .some(isOne) &&
          isReadAsView(call, file),
      };
  }
}

/** `mask[:, None, :].repeat(heads, 1, 1)`: what is one long is another dimension than the one that is repeated. */
function isOneElsewhere(source: Expr, times: readonly Expr[], file: PythonFile): boolean {
  const along = times.findIndex((one) => !isOne(one));
  const ones = onesOf(source, times.length, file);
  return along >= 0 && ones.size > 0 && !ones.has(along);
}

/** `mask.unsqueeze(1).unsqueeze(1).repeat(1, heads, n, 1)`, and nothing writes into the copies or lays them out in another shape. */
function isOneBySteps(call: Call, source: Expr, times: readonly Expr[], file: PythonFile): boolean {
  if (stars(call) > 0 || times.every(isOne) || times.some(({ kind }) => kind === "Starred")) return false;
  const ones = onesOf(source, times.length, file);
  const target = call.parent?.kind === "Assign" ? call.parent.targets[0] : undefined;
  const named = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  return (
    times.every((value, at) => isOne(value) || ones.has(at)) &&
    ![call, ...(named ? file.scopes.uses(named) : [])].some(
      ({ parent }) =>
        parent?.kind === "Attribute" && /^(?:view|reshape|flatten|contiguous)$/.test(parent.attr),
    )
  );
}

/** `torch.stack([bias] * n)`, `torch.cat([bias.unsqueeze(0)] * n)` for arithmetic, which broadcasts one row as well. */
function isJoinedWithItself(call: Call, { file }: Facts): boolean {
  const name = file.dotted(call.func);
  const parts = /^torch\.(?:cat|stack)$/.test(name ?? "") ? positional(call, 0) : null;
  const [one, ...more] =
    parts?.kind === "Binary" && parts.op === "*" && parts.left.kind === "List" ? parts.left.items : [];
  if (!one || more.length > 0 || areCopiesWanted(call, file)) return false;
  const made = shapedBy(one, file);
  const along = argument(call, "dim", 1);
  const isRow =
    name === "torch.stack" ||
    (made.kind === "Call" &&
      made.func.kind === "Attribute" &&
      made.func.attr === "unsqueeze" &&
      file.textOf(positional(made, 0) ?? made) === (along ? file.textOf(along) : "0"));
  const target = call.parent?.kind === "Assign" ? call.parent.targets[0] : undefined;
  const named = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  const uses = named ? file.scopes.uses(named) : [call];
  return isRow && uses.length > 0 && uses.every((use) => isInArithmetic(use) || isMaskOfAnother(use, file));
}

/**
 * `mask.repeat(1, heads, 1, 1)` for `scores.masked_fill(mask == 0, low)`, which broadcasts it: whoever made the mask, it is one
 * long where it is written out for each head or each query. Along the first dimension, `mask.repeat(heads, 1, 1)`, rows are
 * laid one after another.
 */
function isMaskRepeated(call: Call, source: Expr, times: readonly Expr[], file: PythonFile): boolean {
  return (
    times.length > 2 &&
    stars(call) === 0 &&
    isOne(times[0]) &&
    !times.every(isOne) &&
    NAMES_MASK.test(file.textOf(source)) &&
    isOnlyMask(call, file)
  );
}

const NAMES_MASK = /mask|pad|valid/i;

/** `mask.repeat_interleave(heads, dim=1)`, for the same. */
function isMaskInterleaved(call: Call, file: PythonFile): boolean {
  const shift = file.dotted(call.func) === "torch.repeat_interleave" ? 1 : 0;
  if (call.func.kind !== "Attribute" || (shift === 0 && file.dotted(call.func) !== null)) return false;
  const source = shift === 1 ? positional(call, 0) : call.func.value;
  const dim = argument(call, "dim", shift + 1);
  return (
    source !== null &&
    NAMES_MASK.test(file.textOf(source)) &&
    dim?.kind === "Num" &&
    dim.text === "1" &&
    isOnlyMask(call, file)
  );
}

/** To tell which numbers of another tensor are filled is all that it is for. */
function isOnlyMask(call: Call, file: PythonFile): boolean {
  const target = call.parent?.kind === "Assign" ? call.parent.targets[0] : undefined;
  const named = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  const uses = named ? file.scopes.uses(named) : [call];
  return uses.length > 0 && uses.every((use) => isMaskOfAnother(use, file));
}

/** `scores.masked_fill(mask, low)`, `torch.where(mask, x, y)`, also of `mask == 0`, `~mask` and `mask.bool()`. */
function isMaskOfAnother(mask: Expr, file: PythonFile): boolean {
  const { parent } = mask;
  if (parent?.kind === "Compare" || parent?.kind === "Unary") return isMaskOfAnother(parent, file);
  if (parent?.kind === "Attribute")
    return (
      parent.parent?.kind === "Call" &&
      (SAME_SHAPE.test(parent.attr) || /^(?:eq|ne|logical_not)$/.test(parent.attr)) &&
      isMaskOfAnother(parent.parent, file)
    );
  const asked = parent?.kind === "Arg" ? parent.parent : null;
  if (asked?.kind !== "Call") return false;
  const name = file.dotted(asked.func);
  if (name === "torch.where") return asked.args[0]?.value === mask && asked.args.length === 3;
  if (name === "torch.masked_fill") return positional(asked, 1) === mask;
  return (
    name === null &&
    asked.func.kind === "Attribute" &&
    /^masked_fill_?$/.test(asked.func.attr) &&
    argument(asked, "mask", 0) === mask
  );
}

/** `torch.repeat_interleave(x.unsqueeze(1), n, dim=1)`, `self.token.repeat_interleave(n, 0)`: of one row there is nothing to interleave. */
function isOneInterleaved(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const shift = file.dotted(call.func) === "torch.repeat_interleave" ? 1 : 0;
  if (shift === 0 && (file.dotted(call.func) !== null || call.func.kind !== "Attribute")) return false;
  const source = shift === 1 ? positional(call, 0) : (call.func as Attribute).value;
  const dim = argument(call, "dim", shift + 1);
  if (!source || !dim) return false;
  const made = shapedBy(source, file);
  // `x.unsqueeze(1)`, `x.mean(1, keepdim=True)`
  if (made.kind === "Call" && made.func.kind === "Attribute") {
    const along = argument(made, "dim", 0);
    const isOneThere = made.func.attr === "unsqueeze" || isTrue(keyword(made, "keepdim")?.value ?? null);
    if (isOneThere && along) return file.textOf(along) === file.textOf(dim);
  }
  // A parameter written with a leading one, `torch.zeros(1, n, d)`, `x.view(1, n, d)`, `x[None]`.
  const isLeading =
    selfAttribute(made) !== null ||
    isNone(
      made.kind === "Subscript" ? (made.index.kind === "Tuple" ? made.index.items[0] : made.index) : null,
    ) ||
    (made.kind === "Call" && isOne(sizesGiven(made, file)[0]));
  return file.textOf(dim) === "0" && isLeading && hasDimensionOfOne(made, facts, 0);
}

function isOfAttribute(call: Call): call is Repeat["call"] {
  return call.func.kind === "Attribute";
}

/** What gave it its dimensions: `torch.rand(n, 1)` of `scale`, by that name and of `torch.rand(n, 1).to(device)`. */
function shapedBy(expr: Expr, { scopes }: PythonFile): Expr {
  let made = expr;
  for (let depth = 0; depth < 8; depth++) {
    const before: Expr | null =
      made.kind === "Name"
        ? scopes.onlyValue(made)
        : made.kind === "Call" && made.func.kind === "Attribute" && SAME_SHAPE.test(made.func.attr)
          ? made.func.value
          : null;
    if (!before) return made;
    made = before;
  }
  return made;
}

/** `masks.repeat(1, 3, 1, 1) * images`: one channel, which arithmetic broadcasts over three. */
function isGrayToColour({ parent }: Call, times: readonly Expr[]): boolean {
  return (
    parent?.kind === "Binary" &&
    /^[-+*/]$/.test(parent.op) &&
    times.length === 4 &&
    times.every((one, at) => one.kind === "Num" && one.text === (at === 1 ? "3" : "1"))
  );
}

/** `x.mean(0)` in rows: the new first dimension is the one that is repeated. */
function isReduced(expr: Expr, times: readonly Expr[], facts: Facts): boolean {
  return (
    expr.kind === "Call" &&
    expr.func.kind === "Attribute" &&
    /^(?:mean|sum|std|var|amax|amin)$/.test(expr.func.attr) &&
    expr.args.length === 1 &&
    positional(expr, 0)?.kind === "Num" &&
    facts.value(expr).what === "tensor" &&
    !(times[0]?.kind === "Num")
  );
}

/** `x.view(1, 1, h, 1).repeat(b, 1, 1, w)`, `torch.rand(n, 1).repeat(1, m)` */
function isOneWhereRepeated(times: readonly Expr[], source: Expr, { file }: Facts): boolean {
  // `x[:, :, None, None].repeat(1, 1, h, w)`
  if (source.kind === "Subscript" && source.index.kind === "Tuple") {
    const { items } = source.index;
    const isNew = (one: Expr | undefined): boolean =>
      isNone(one) || (one?.kind === "Slice" && /^0?:1$/.test(file.textOf(one)));
    // `x[..., :1].repeat(1, 1, n)`: counted from the end.
    const from = items.length - times.length;
    return (
      (from === 0 || file.textOf(items[0]!) === "...") &&
      times.every((value, at) => (value.kind === "Num" && value.text === "1") || isNew(items[at + from]))
    );
  }
  if (source.kind !== "Call" || source.func.kind !== "Attribute") return false;
  // `x.mean(dim=(2, 3), keepdim=True).repeat(1, 1, h, w)`
  const dims = isTrue(keyword(source, "keepdim")?.value ?? null) ? argument(source, "dim", 0) : null;
  if (dims?.kind === "Tuple" || dims?.kind === "List") {
    const ones = new Set(dims.items.map((one) => Number(file.textOf(one))));
    return times.every(
      (value, at) =>
        (value.kind === "Num" && value.text === "1") || ones.has(at) || ones.has(at - times.length),
    );
  }
  const sizes = sizesGiven(source, file);
  return sizes.length === times.length && times.every((value, at) => isOne(value) || isOne(sizes[at]!));
}

/** `x.view(n, 1, 1, 1).repeat(1, 1, *size)`, `x.view([n] + [1] * rest).repeat(1, *size)`: what the star repeats is one. */
function isOneUnderStar(call: Call, source: Expr, { file }: Facts): boolean {
  const given = call.args.slice(0, -1);
  if (call.args.at(-1)?.star !== 1 || stars(call) !== 1) return false;
  if (source.kind !== "Call" || !isGivenSizes(source, file)) return false;
  const whole = positional(source, 0);
  const begun = whole?.kind === "Binary" && whole.op === "+" && isRowOfOnes(whole.right) ? whole.left : null;
  const sizes =
    begun?.kind === "List" || begun?.kind === "Tuple"
      ? begun.items
      : begun || stars(source) > 0
        ? []
        : sizesGiven(source, file);
  return (
    sizes.length >= given.length &&
    (begun !== null || sizes.length > given.length) &&
    given.every(({ value }, at) => isOne(value) || isOne(sizes[at])) &&
    sizes.slice(given.length).every(isOne)
  );
}

/** `torch.empty(b, d).bernoulli_(p).repeat(n, 1, 1)`: more dimensions than it has, and those it has are left as they are. */
function isBelowItsRank(times: readonly Expr[], expr: Expr, { file }: Facts): boolean {
  const rank = rankOf(expr, file, 0);
  return rank > 0 && times.length > rank && times.slice(-rank).every(isOne);
}

/** What leaves the number of dimensions as it is. */
const SAME_RANK =
  /^(?:bernoulli_|uniform_|normal_|fill_|to|float|half|bool|long|type_as|cuda|detach|div_|mul_|tril|triu|t)$/;

/** How many dimensions a tensor has, as it was made; 0 where that is not known. */
function rankOf(expr: Expr, file: PythonFile, depth: number): number {
  if (depth > 8) return 0;
  const again = (inner: Expr): number => rankOf(inner, file, depth + 1);
  if (expr.kind === "Name") {
    const made = file.scopes.reaching(expr)[0];
    return made?.value && made.how === "assign" ? again(made.value) : 0;
  }
  if (expr.kind === "Unary") return again(expr.operand);
  if (expr.kind === "Binary") return isScalar(expr.right) ? again(expr.left) : 0;
  // `self.mask[:n, :n]` has as many as before.
  if (expr.kind === "Subscript") {
    const cuts = expr.index.kind === "Tuple" ? expr.index.items : [expr.index];
    return cuts.every(({ kind }) => kind === "Slice") ? again(expr.value) : 0;
  }
  if (expr.kind === "Attribute") {
    const written = writtenOnce(expr, file);
    if (written) return again(written);
    // `self.labels.weight`, of `nn.Embedding(n, d)`
    return expr.attr === "weight" && isOnlyMadeBy(expr.value, file, (made) => isOfRows(made, file)) ? 2 : 0;
  }
  if (expr.kind !== "Call") return 0;
  const name = file.dotted(expr.func);
  const [first, ...more] = expr.args.filter((arg) => arg.name === null);
  // `self.places(torch.arange(n))`, of `nn.Embedding(n, d)`
  if (
    name === null &&
    first &&
    more.length === 0 &&
    isOnlyMadeBy(expr.func, file, (made) => isTable(made, file))
  ) {
    const rank = again(first.value);
    return rank > 0 ? rank + 1 : 0;
  }
  if (name === null)
    return expr.func.kind === "Attribute" && SAME_RANK.test(expr.func.attr) ? again(expr.func.value) : 0;
  if (name === "torch.arange") return 1;
  if (/^torch\.(?:tril|triu|nn\.Parameter)$/.test(name)) return first ? again(first.value) : 0;
  if (!/^torch\.(?:rand|randn|zeros|ones|empty)$/.test(name) || !first) return 0;
  const { value } = first;
  if (more.length === 0 && (value.kind === "Tuple" || value.kind === "List"))
    return value.items.some(({ kind }) => kind === "Starred") ? 0 : value.items.length;
  if (stars(expr) > 0) return 0;
  // `torch.ones(width)`; of `torch.ones(shape)` the sizes are in a tuple.
  return more.length > 0 || isNumberOfFeatures(value) ? more.length + 1 : 0;
}

function isNumberOfFeatures(expr: Expr): boolean {
  return (
    expr.kind === "Num" ||
    /^(?:d|n|num|in|out|hidden|embed|model)_|dim$|width|features$|channels$/.test(lastWord(expr))
  );
}

/** `nn.Embedding(n, d)`, `nn.Linear(n, d)`: a weight of rows. */
function isOfRows({ func }: Call, file: PythonFile): boolean {
  return /^torch\.nn\.(?:Embedding|Linear)$/.test(file.dotted(func) ?? "");
}

function isTable({ func }: Call, file: PythonFile): boolean {
  return file.dotted(func) === "torch.nn.Embedding";
}

/** What an attribute of self is, where the class says it once. */
function writtenOnce(expr: Expr, file: PythonFile): Expr | null {
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const [write, ...more] = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  return write && more.length === 0 && write.how !== "augment" ? write.value : null;
}

/** No tensor is in it. */
function isScalar(expr: Expr): boolean {
  let tensors = false;
  walk(expr, (node) => {
    if (node.kind === "Attribute" || node.kind === "Call") tensors = true;
  });
  return !tensors;
}

/**
 * `images * scale.repeat(1, *images.shape[1:])`: what meets a tensor in arithmetic, and was repeated as often as that one is
 * long, is one long there, whoever made it.
 */
function isRepeatedToFit(call: Call, times: readonly Expr[], { file }: Facts): boolean {
  const repeats = times.flatMap((one, at) =>
    isOne(one) ? [] : [sizeRead(one, at, times.length, call, file)],
  );
  const [size, ...more] = repeats;
  if (!size || more.some((one) => one === null || file.textOf(one) !== file.textOf(size))) return false;
  // Along the first dimension it is as long as what a layer makes of it.
  const ofRows = times.length > 1 && times.slice(1).every(isOne);
  // `x * scale + shift`: what comes of arithmetic with it is as long.
  const isIt = (one: Expr): boolean =>
    one.kind === "Binary" && /^[-+*/]$/.test(one.op)
      ? isIt(one.left) || isIt(one.right)
      : isOfSameShape(withoutGraph(one), size, file) ||
        (ofRows && isMadeByLayers(withoutGraph(one), size, file));
  // The last two dimensions of matrices are multiplied, those before them go along.
  const ofBatch = times.length > 2 && times.slice(-2).every(isOne);
  const isMet = (repeated: Expr): boolean => {
    if (operandsBeside(repeated, ofBatch, file).some(isIt)) return true;
    let at: Expr = repeated;
    while (at.parent?.kind === "Binary" && /^[-+*/]$/.test(at.parent.op)) {
      const { left, right }: Binary = at.parent;
      if (isIt(left === at ? right : left)) return true;
      at = at.parent;
    }
    return false;
  };
  const target = call.parent?.kind === "Assign" ? call.parent.targets[0] : undefined;
  const named = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  const uses = named ? file.scopes.uses(named) : [];
  if (isMet(call)) return true;
  // Met by it once, it is one long for the others in arithmetic as well: `eps * x + (1 - eps) * y`.
  return uses.some(isMet) && uses.every((use) => isMet(use) || isInArithmetic(use));
}

/**
 * `source.repeat(1, 1, n) + target.repeat(1, n, 1)`: what each is repeated along the other one has, so that a column meets a
 * row, which arithmetic broadcasts by itself.
 */
function isPaired(call: Call, times: readonly Expr[], file: PythonFile): boolean {
  const along = placeRepeated(times);
  if (along === null || times.length < 2) return false;
  const isOther = (expr: Expr): boolean => {
    const made = (expr.kind === "Name" ? file.scopes.onlyValue(expr) : null) ?? expr;
    const others = made.kind === "Call" && /^(?:repeat|tile)$/.test(lastWord(made.func)) ? made.args : [];
    const place = placeRepeated(others.map(({ value }) => value));
    return others.length === times.length && place !== null && place !== along;
  };
  const meets = (use: Expr): boolean => {
    const { parent } = use;
    return (
      parent?.kind === "Binary" &&
      /^[-+*/]$/.test(parent.op) &&
      isOther(parent.left === use ? parent.right : parent.left)
    );
  };
  const target = call.parent?.kind === "Assign" ? call.parent.targets[0] : undefined;
  const named = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  const uses = named ? file.scopes.uses(named) : [call];
  return uses.length > 0 && uses.every(meets);
}

/** The only place that is repeated, and by a number that is not written down; null where it is none or several. */
function placeRepeated(times: readonly Expr[]): number | null {
  const places = times.flatMap((one, at) => (isOne(one) ? [] : [at]));
  const [place] = places;
  return places.length === 1 && times[place!]!.kind !== "Num" ? place! : null;
}

function isInArithmetic({ parent }: Expr): boolean {
  return parent?.kind === "Binary" && /^[-+*/]$/.test(parent.op);
}

const PRODUCTS = /^(?:matmul|bmm)$/;
const ARITHMETIC = /^(?:add|sub|mul|div|multiply|divide|subtract|maximum|minimum)$/;

/** What `a @ b`, `torch.matmul(a, b)`, `a.bmm(b)`, `torch.mul(a, b)` compute with beside the one of the two. */
function operandsBeside(operand: Expr, ofBatch: boolean, file: PythonFile): readonly Expr[] {
  const { parent } = operand;
  if (parent?.kind === "Binary")
    return parent.op === "@" && ofBatch ? [parent.left === operand ? parent.right : parent.left] : [];
  const asked = parent?.kind === "Arg" || parent?.kind === "Attribute" ? parent.parent : null;
  if (asked?.kind !== "Call" || asked.func.kind !== "Attribute") return [];
  const name = file.dotted(asked.func);
  const word = asked.func.attr;
  if (!(ofBatch && PRODUCTS.test(word)) && !ARITHMETIC.test(word)) return [];
  if (name !== null && name !== `torch.${word}`) return [];
  const all = [...(name === null ? [asked.func.value] : []), ...asked.args.map(({ value }) => value)];
  return all.includes(operand) ? all.filter((one) => one !== operand) : [];
}

function stars(call: Call): number {
  return call.args.filter((arg) => arg.star !== 0).length;
}

/** Made by `keepdim=True`, `unsqueeze`, `[:, None]`, or a parameter written with a leading one. */
function hasDimensionOfOne(expr: Expr, facts: Facts, depth: number): boolean {
  if (depth > 4) return false;
  const own = selfAttribute(expr);
  if (own !== null) {
    const cls = classOf(expr);
    const writes = cls ? (attributesOf(cls, facts.file).get(own)?.writes ?? []) : [];
    return (
      writes.length === 1 &&
      writes[0]!.value !== null &&
      /\(\s*\(?1\s*,/.test(facts.file.textOf(writes[0]!.value))
    );
  }
  if (expr.kind === "Name") {
    const value = facts.file.scopes.onlyValue(expr);
    return value !== null && hasDimensionOfOne(value, facts, depth + 1);
  }
  // `x[:, None]`, and the values of `x.max(-1, keepdim=True)[0]`.
  if (expr.kind === "Subscript")
    return expr.index.kind === "Num" && expr.value.kind === "Call"
      ? isTrue(keyword(expr.value, "keepdim")?.value ?? null)
      : /\bNone\b/.test(facts.file.textOf(expr.index));
  if (expr.kind === "Attribute" && expr.attr === "values" && expr.value.kind === "Call")
    return isTrue(keyword(expr.value, "keepdim")?.value ?? null);
  // `unsqueeze3x(t)`, where that is `lambda x: x[..., None, None, None]`.
  if (expr.kind === "Call" && expr.func.kind === "Name") {
    const helper = facts.file.scopes.onlyValue(expr.func);
    const made = helper?.kind === "Lambda" ? helper.body : returnedBy(expr, facts.file);
    return made !== null && hasDimensionOfOne(made, facts, depth + 1);
  }
  if (expr.kind !== "Call" || expr.func.kind !== "Attribute") return false;
  const name = facts.file.dotted(expr.func) ?? "";
  const first = positional(expr, 0);
  // A row, or a vector that gets a new first dimension.
  if (/^torch\.(?:zeros|ones|full|empty|randn|rand)$/.test(name) || /^(?:view|reshape)$/.test(expr.func.attr))
    return (
      (first?.kind === "Num" && first.text === "1") ||
      (first?.kind === "Tuple" && first.items[0]?.kind === "Num" && first.items[0].text === "1") ||
      expr.args.some(({ star, value }) => star === 1 && isRowOfOnes(value))
    );
  if (/^torch\.(?:arange|linspace)$/.test(name)) return true;
  if (/^(?:to|float|cuda|type_as|long)$/.test(expr.func.attr) && name === "")
    return hasDimensionOfOne(expr.func.value, facts, depth + 1);
  return expr.func.attr === "unsqueeze" || isTrue(keyword(expr, "keepdim")?.value ?? null);
}

/** `(1,) * (x.dim() - 1)`, `(1 for _ in range(n))`, as sizes */
function isRowOfOnes(expr: Expr): boolean {
  if (expr.kind === "Comp") return isOne(expr.element);
  if (expr.kind !== "Binary" || expr.op !== "*") return false;
  const [one, ...more] = expr.left.kind === "Tuple" || expr.left.kind === "List" ? expr.left.items : [];
  return more.length === 0 && one?.kind === "Num" && one.text === "1";
}

/** What a function of this file returns, where it does so once. */
function returnedBy(call: Call, file: PythonFile): Expr | null {
  const name = callTarget(call, file);
  const [only, ...more] = name === null ? [] : (file.once(returnsByName).get(name) ?? []);
  return more.length === 0 ? (only ?? null) : null;
}
