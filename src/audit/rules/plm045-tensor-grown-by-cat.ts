import { argument, isTrue, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, walk } from "../../python/nodes.ts";
import type { Binary, Call, Expr, Node } from "../../python/tree.ts";
import { attributesOf, isOnlyMadeBy, selfAttribute } from "../facts/classes.ts";
import { validationStep } from "../facts/facts.ts";
import type { Facts } from "../facts/facts.ts";
import { isOtherBranch } from "../facts/guards.ts";
import { isNetwork } from "../facts/networks.ts";
import { returnsByName } from "../facts/returns.ts";
import { callTarget } from "../facts/summary.ts";
import { isBoundBy, loopsAround } from "../facts/training.ts";
import type { Loop } from "../facts/training.ts";
import type { Finding, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM045",
    name: "tensor-grown-by-cat",
    summary: "A tensor grows by one `cat` a turn, or is repeated where a view would do: everything is copied",
    severity: "warning",
    fix: "unsafe",
    patterns: [45, 81],
    onDevice: "program",
  },
  *check(facts) {
    yield* grown(facts);
    yield* repeated(facts);
  },
};

function* grown(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const value of file.callsNamed("cat", "concat", "concatenate", "hstack", "vstack")) {
    const { parent } = value;
    const statement =
      (parent?.kind === "IfExp" && parent.orelse === value) || parent?.kind === "Tuple"
        ? parent.parent
        : parent;
    if (statement?.kind !== "Assign") continue;
    // `a, b = cat([a, x]), cat([b, y])`
    const [left] = statement.targets;
    const target =
      parent?.kind === "Tuple"
        ? left?.kind === "Tuple"
          ? left.items[parent.items.indexOf(value)]
          : undefined
        : left;
    const own = target ? selfAttribute(target) : null;
    const [around] = loopsAround(statement);
    const often = (): boolean =>
      facts.everyStep(value) !== null ||
      (around !== undefined && overBatches(around, facts) && facts.frequency(statement, around) === "every");
    const repeated = (): boolean =>
      facts.functionFacts(value).repeated &&
      isOnlyBegun(statement, own!, facts) &&
      facts.frequency(statement, functionOf(statement)!) === "every";
    // Lightning calls it for every batch of a validation.
    const measured = (): boolean => {
      const step = validationStep(statement, facts);
      return step !== null && facts.frequency(statement, step) === "every";
    };
    if (
      own !== null &&
      isTorchCat(value, facts) &&
      joins(value, own) &&
      (often() || repeated() || measured())
    ) {
      yield {
        at: statement,
        ...(often() ? {} : { severity: "note" as const }),
        message: `Every step allocates \`self.${own}\` anew and copies all of it${measured() ? "" : ", and it never ends to grow"}; collect the parts in a list, or write into a tensor made once`,
      };
      continue;
    }
    const parts = positional(value, 0);
    // `feats["a"] = cat([feats["a"], a])`
    if (
      target?.kind === "Subscript" &&
      target.index.kind === "Str" &&
      target.value.kind === "Name" &&
      (parts?.kind === "Tuple" || parts?.kind === "List") &&
      parts.items.some((item) => file.textOf(item) === file.textOf(target)) &&
      isTorchCat(value, facts) &&
      often()
    ) {
      yield {
        at: statement,
        message: `Every turn allocates \`${file.textOf(target)}\` anew and copies all of it; collect the parts in a list and \`cat\` once after the loop`,
      };
      continue;
    }
    if (statement.targets.length !== 1 || target?.kind !== "Name" || !isTorchCat(value, facts)) continue;
    const loop = loopsAround(statement)[0];
    const items = parts ? itemsOf(parts) : [];
    if (!loop || items.length < 2) continue;
    const same = items.find((item) => item.kind === "Name" && item.id === target.id);
    if (same?.kind !== "Name") continue;
    const before = file.scopes.reaching(same);
    // Begun in this turn: two parts joined once.
    if (
      before.some(
        (one) =>
          contains(loop, one.node) &&
          !contains(statement, one.node) &&
          one.node.start < statement.start &&
          !isOtherBranch(one.node, statement),
      ) ||
      !before.some((one) => !contains(loop, one.node) || isBegunFirst(one.node, statement, loop, facts)) ||
      before.some((one) => one.how === "param")
    )
      continue;
    // Read by the loop itself, as in generation, each turn needs the whole.
    const fn = functionOf(statement);
    const reads = file
      .all("Name")
      .filter(
        (name) =>
          name.id === target.id &&
          name !== same &&
          contains(loop, name) &&
          functionOf(name) === fn &&
          !file.scopes.binds(name) &&
          !isNoneTest(name) &&
          !isLast(name, file),
      );
    if (reads.length > 0) continue;
    yield {
      at: statement,
      // Over a handful of parts nobody notices; over batches, or in the step, it is quadratic.
      severity:
        ((runsOften(loop, facts) && !overSettings(loop, facts)) || overBatches(loop, facts)) &&
        !isPicture(target.id, loop, facts)
          ? "warning"
          : "note",
      message: `Every turn allocates \`${target.id}\` anew and copies all of it; collect the parts in a list and \`cat\` once after the loop`,
    };
  }
}

/** `[all] + parts` too. */
function itemsOf(parts: Expr): readonly Expr[] {
  if (parts.kind === "Binary")
    return parts.op === "+"
      ? [...itemsOf(parts.left), ...(parts.right.kind === "List" ? parts.right.items : [parts.right])]
      : [];
  return parts.kind === "Tuple" || parts.kind === "List" ? parts.items : [];
}

/** Nothing but the constructor, or a method that empties it, writes the attribute beside this. */
function isOnlyBegun(statement: Node, attribute: string, facts: Facts): boolean {
  const cls = classOf(statement);
  const writes = cls ? (attributesOf(cls, facts.file).get(attribute)?.writes ?? []) : [];
  return writes.every(
    ({ in: method, target }) =>
      contains(statement, target) || /^(?:__init__|_?(?:reset|clear|init|empty)\w*)$/.test(method.name),
  );
}

function isTorchCat(call: Call, facts: Facts): boolean {
  return /^torch\.(?:cat|concat|concatenate|hstack|vstack)$/.test(facts.file.dotted(call.func) ?? "");
}

/** `cat([self.bank, …])` */
function joins(call: Call, attribute: string): boolean {
  const parts = positional(call, 0);
  return (
    (parts?.kind === "Tuple" || parts?.kind === "List") &&
    parts.items.some((item) => selfAttribute(item) === attribute)
  );
}

/** `if i == 0: all = part`, `else: all = cat(…)`: the first turn begins it. */
function isBegunFirst(before: Node, statement: Node, loop: Loop, { file }: Facts): boolean {
  const test = isOtherBranch(before, statement) ? testAround(before, statement) : null;
  if (test?.kind !== "Compare" || test.left.kind !== "Name") return false;
  const [right] = test.rights;
  return right?.kind === "Num" && right.text === "0" && isBoundBy(loop, test.left, file);
}

/** The test that decides between the two. */
function testAround(before: Node, statement: Node): Expr | null {
  for (let at = statement.parent; at; at = at.parent)
    if (at.kind === "If" && contains(at, before)) return at.test;
  return null;
}

/** The loop goes over a loader, or runs a network each turn. */
function overBatches(loop: Loop, facts: Facts): boolean {
  // One batch in parts, or a look at what was exported.
  if (isInParts(loop, facts) || nameOf(functionOf(loop)).startsWith("test_")) return false;
  if (loop.kind === "For" && /load|batch|data/i.test(facts.file.textOf(loop.iter))) return true;
  return facts.file.all("Call").some((call) => contains(loop, call) && isNetwork(call.func, facts));
}

/** Saved as an image, or shown: as many parts as someone looks at. */
function isPicture(name: string, loop: Loop, { file }: Facts): boolean {
  return file
    .callsNamed("save_image", "make_grid", "imshow", "imsave", "add_image")
    .some((call) => call.start > loop.end && new RegExp(`\\b${name}\\b`).test(file.textOf(call)));
}

/** `states[-1:]`, `images.shape[0]`: of all that has been joined only the last part is read, or how much it is. */
function isLast({ parent }: Node, file: PythonFile): boolean {
  if (parent?.kind === "Attribute") return /^(?:shape|size|ndim|numel)$/.test(parent.attr);
  if (parent?.kind === "Arg" && parent.parent?.kind === "Call")
    return file.dotted(parent.parent.func) === "builtins.len";
  return parent?.kind === "Subscript" && /^(?::, *)?(?:-1:?|0)$/.test(file.textOf(parent.index).trim());
}

/** `for part in torch.chunk(x, n)` */
function isInParts(loop: Loop, { file }: Facts): boolean {
  if (loop.kind !== "For") return false;
  const over = loop.iter.kind === "Name" ? file.scopes.onlyValue(loop.iter) : loop.iter;
  return (
    over?.kind === "Call" && over.func.kind === "Attribute" && /^(?:chunk|split|unbind)$/.test(over.func.attr)
  );
}

function nameOf(fn: Node | null): string {
  return fn?.kind === "FunctionDef" ? fn.name : "";
}

function isNoneTest(name: Node): boolean {
  return name.parent?.kind === "Compare" && name.parent.ops[0]!.startsWith("is");
}

/** `for kind in self.config.kinds`: a handful. */
function overSettings(loop: Loop, { file }: Facts): boolean {
  return (
    loop.kind === "For" &&
    /^(?:self\.)?_?(?:config|cfg|args|opts?|hparams)\.\w+$|^kwargs\.(?:items|values)\(\)$/.test(
      file.textOf(loop.iter),
    )
  );
}

/** `x.repeat(n, 1, 1)` along a dimension of one, in code that runs every step. */
function* repeated(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const call of file.callsNamed("repeat", "tile")) {
    if (call.func.kind !== "Attribute" || !/^(?:repeat|tile)$/.test(call.func.attr)) continue;
    // `torch.tile(x, (n, 1))`
    const named = file.dotted(call.func) === "torch.tile";
    if (file.dotted(call.func) !== null && !named) continue;
    const source = named ? call.args[0]?.value : call.func.value;
    const [first, ...more] = (named ? call.args.slice(1) : call.args).map(({ value }) => value);
    const times = first?.kind === "Tuple" && more.length === 0 ? first.items : first ? [first, ...more] : [];
    const keeps = times.filter((value) => value.kind === "Num" && value.text === "1").length;
    if (!source || times.length === 0 || !facts.everyStep(call)) continue;
    const once = times.length > 1 && keeps >= times.length - 1 - stars(call);
    if (
      !isGrayToColour(call, times) &&
      !isOneWhereRepeated(times, source, facts) &&
      !isOneUnderStar(call, source, facts) &&
      !(isBelowItsRank(times, source, facts) && !isWrittenInto(call, file)) &&
      !isRepeatedToFit(call, times, facts) &&
      !(once && (hasDimensionOfOne(source, facts, 0) || isReduced(source, times, facts)))
    )
      continue;
    yield {
      at: call,
      severity: "note",
      message: `\`${call.func.attr}\` writes out every copy; \`expand\` gives the same values as a view, and arithmetic broadcasts by itself`,
      ...(call.func.attr === "repeat" && stars(call) === 0 && first?.kind !== "Tuple"
        ? {
            fix: {
              grade: "unsafe" as const,
              title: "Expand instead",
              edits: [
                { start: call.func.attrStart, end: call.func.attrStart + "repeat".length, text: "expand" },
                ...call.args.flatMap(({ value }) =>
                  value.kind === "Num" && value.text === "1"
                    ? [{ start: value.start, end: value.end, text: "-1" }]
                    : [],
                ),
              ],
            },
          }
        : {}),
    };
  }
}

/** `rows = x.repeat(n, 1, 1)`, then `rows[0] = 1`: each copy is wanted. */
function isWrittenInto({ parent }: Call, { scopes }: PythonFile): boolean {
  const target = parent?.kind === "Assign" ? parent.targets[0] : undefined;
  const named = target?.kind === "Name" ? scopes.definitionAt(target) : null;
  return (
    named !== null &&
    scopes
      .uses(named)
      .some(
        ({ parent: at }) =>
          (at?.kind === "Attribute" && /[^_]_$/.test(at.attr)) ||
          at?.kind === "AugAssign" ||
          (at?.kind === "Subscript" && /^(?:Aug)?Assign$/.test(at.parent?.kind ?? "") && isTarget(at)),
      )
  );
}

function isTarget(expr: Expr): boolean {
  const { parent } = expr;
  return parent?.kind === "Assign" ? parent.targets.includes(expr) : parent?.kind === "AugAssign";
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
function isOneWhereRepeated(times: readonly Expr[], expr: Expr, { file }: Facts): boolean {
  const source = expr.kind === "Name" ? file.scopes.onlyValue(expr) : expr;
  // `x[:, :, None, None].repeat(1, 1, h, w)`
  if (source?.kind === "Subscript" && source.index.kind === "Tuple") {
    const { items } = source.index;
    const isNew = (one: Expr | undefined): boolean =>
      (one?.kind === "Const" && one.value === null) ||
      (one?.kind === "Slice" && /^0?:1$/.test(file.textOf(one)));
    // `x[..., :1].repeat(1, 1, n)`: counted from the end.
    const from = items.length - times.length;
    return (
      (from === 0 || file.textOf(items[0]!) === "...") &&
      times.every((value, at) => (value.kind === "Num" && value.text === "1") || isNew(items[at + from]))
    );
  }
  if (source?.kind !== "Call" || source.func.kind !== "Attribute") return false;
  // `x.mean(dim=(2, 3), keepdim=True).repeat(1, 1, h, w)`
  const dims = isTrue(keyword(source, "keepdim")?.value ?? null) ? argument(source, "dim", 0) : null;
  if (dims?.kind === "Tuple" || dims?.kind === "List") {
    const ones = new Set(dims.items.map((one) => Number(file.textOf(one))));
    return times.every(
      (value, at) =>
        (value.kind === "Num" && value.text === "1") || ones.has(at) || ones.has(at - times.length),
    );
  }
  const made = /^torch\.(?:rand|randn|zeros|ones|empty)$/.test(file.dotted(source.func) ?? "");
  if (!made && !/^(?:view|reshape)$/.test(source.func.attr)) return false;
  const [first, ...more] = source.args.filter(({ name }) => name === null).map(({ value }) => value);
  const sizes = first?.kind === "Tuple" && more.length === 0 ? first.items : first ? [first, ...more] : [];
  return sizes.length === times.length && times.every((value, at) => isOne(value) || isOne(sizes[at]!));
}

/** `x.view(n, 1, 1, 1).repeat(1, 1, *size)`, `x.view([n] + [1] * rest).repeat(1, *size)`: what the star repeats is one. */
function isOneUnderStar(call: Call, expr: Expr, { file }: Facts): boolean {
  const source = expr.kind === "Name" ? file.scopes.onlyValue(expr) : expr;
  const given = call.args.slice(0, -1);
  if (call.args.at(-1)?.star !== 1 || stars(call) !== 1 || source?.kind !== "Call") return false;
  if (source.func.kind !== "Attribute" || !/^(?:view|reshape)$/.test(source.func.attr)) return false;
  const whole = positional(source, 0);
  const begun = whole?.kind === "Binary" && whole.op === "+" && isRowOfOnes(whole.right) ? whole.left : null;
  const sizes =
    begun?.kind === "List" || begun?.kind === "Tuple"
      ? begun.items
      : begun || stars(source) > 0
        ? []
        : source.args.map(({ value }) => value);
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
  return rank > 1 && times.length > rank && times.slice(-rank).every(isOne);
}

/** What leaves the number of dimensions as it is. */
const SAME_RANK =
  /^(?:bernoulli_|uniform_|normal_|fill_|to|float|half|bool|long|type_as|cuda|detach|div_|mul_|tril|triu|t)$/;

/** How many dimensions a tensor has, as it was made; 0 where that is not known, and of a row, whose sizes may be in a tuple. */
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
  if (name === null)
    return expr.func.kind === "Attribute" && SAME_RANK.test(expr.func.attr) ? again(expr.func.value) : 0;
  if (/^torch\.(?:tril|triu|nn\.Parameter)$/.test(name)) return first ? again(first.value) : 0;
  if (!/^torch\.(?:rand|randn|zeros|ones|empty)$/.test(name) || !first) return 0;
  const { value } = first;
  if (more.length === 0 && (value.kind === "Tuple" || value.kind === "List"))
    return value.items.some(({ kind }) => kind === "Starred") ? 0 : value.items.length;
  return more.length > 0 && stars(expr) === 0 ? more.length + 1 : 0;
}

/** `nn.Embedding(n, d)`, `nn.Linear(n, d)`: a weight of rows. */
function isOfRows({ func }: Call, file: PythonFile): boolean {
  return /^torch\.nn\.(?:Embedding|Linear)$/.test(file.dotted(func) ?? "");
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

function isOne(expr: Expr | undefined): boolean {
  return expr?.kind === "Num" && expr.text === "1";
}

/**
 * `images * scale.repeat(1, *images.shape[1:])`: what meets a tensor in arithmetic, and was repeated as often as that one is
 * long, is one long there, whoever made it.
 */
function isRepeatedToFit(call: Call, times: readonly Expr[], { file }: Facts): boolean {
  const repeats = times.flatMap((one, at) => (isOne(one) ? [] : [sizeRead(one, at, times.length, call)]));
  const [size, ...more] = repeats;
  if (!size || more.some((one) => one === null || file.textOf(one) !== file.textOf(size))) return false;
  const beside = file.textOf(size);
  const isMet = (repeated: Expr): boolean => {
    let at: Expr = repeated;
    while (at.parent?.kind === "Binary" && /^[-+*/]$/.test(at.parent.op)) {
      const { left, right }: Binary = at.parent;
      if (file.textOf(left === at ? right : left) === beside) return true;
      at = at.parent;
    }
    return false;
  };
  const target = call.parent?.kind === "Assign" ? call.parent.targets[0] : undefined;
  const named = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  const uses = named ? file.scopes.uses(named) : [];
  return isMet(call) || (uses.length > 0 && uses.every(isMet));
}

/** `x` of `x.shape[i]` and `x.size(i)` at place i, counted from either end, and of `*x.shape[i:]` from there on. */
function sizeRead(time: Expr, at: number, places: number, call: Call): Expr | null {
  const sizes = time.kind === "Subscript" ? time.value : time;
  const isStarred = call.args.some(({ star, value }) => star === 1 && value === time);
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
  if (sizes.kind === "Attribute") return sizes.attr === "shape" ? sizes.value : null;
  return sizes.kind === "Call" &&
    sizes.func.kind === "Attribute" &&
    sizes.func.attr === "size" &&
    (sizes === time || sizes.args.length === 0)
    ? sizes.func.value
    : null;
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

/** `(1,) * (x.dim() - 1)`, as sizes */
function isRowOfOnes(expr: Expr): boolean {
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

/** In the step, and not behind an option that is off. */
function runsOften(loop: Loop, facts: Facts): boolean {
  const hot = facts.hot(loop.body[0]!);
  return hot !== null && (hot.within === loop || facts.frequency(loop, hot.within) === "every");
}
