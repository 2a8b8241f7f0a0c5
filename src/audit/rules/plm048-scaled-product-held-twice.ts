import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { contains, lastWord, statementOf, walk } from "../../python/nodes.ts";
import type { Definition, Scopes } from "../../python/scopes.ts";
import type { Binary, Call, Expr, Name, NodeOf } from "../../python/tree.ts";
import { rearrangedOf } from "../facts/attention.ts";
import { isOnlyMadeBy } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { isOnOtherWay, isOtherBranch } from "../facts/guards.ts";
import { PICTURE, isOfPixels, isOfSounds } from "../facts/large-outputs.ts";
import { networkCall } from "../facts/networks.ts";
import { loopsAround } from "../facts/training.ts";
import type { Finding, Rule } from "../rule.ts";
import { isOfKind, isParameter, isScalar } from "../facts/products.ts";
import {
  PRODUCTS,
  factors,
  heldValue,
  isChangedOrDropped,
  isForSoftmax,
  isKeptByOutputs,
  isLarge,
  isLogits,
  isWidenedLogits,
  isOfBatches,
  isOfScores,
  isTokenLogits,
  maskedBy,
  methodOf,
} from "../facts/scores.ts";

const MESSAGE =
  "The unscaled product is alive while the scaled one is made; scale the smaller operand, or rebind the result step by step";

const KEPT =
  "What the model returned still holds the unscaled logits beside the scaled ones; scale them in place, or take them out of it and drop it first";

export const rule: Rule = {
  meta: {
    code: "PLM048",
    name: "scaled-product-held-twice",
    summary: "A matrix product is scaled in the expression that makes it, so both results are held at once",
    severity: "note",
    fix: "none",
    patterns: [48],
    hotOnly: true,
  },
  *check(facts) {
    yield* scaledTwice(facts);
    for (const { targets, value } of facts.file.all("Assign")) {
      // Most assignments are of other calls, or of none.
      if (targets.length !== 1 || targets[0]!.kind !== "Name" || !mayScale(value)) continue;
      if (!facts.mayBeHot(value)) continue;
      yield* coveredScores(targets[0], value, facts);
      yield* weightedErrors(targets[0], value, facts);
      yield* scaledVolume(targets[0], value, facts);
      yield* scaledPixels(targets[0], value, facts);
    }
    for (const call of facts.file.callsNamed("mul", "div", "multiply")) {
      const { func } = call;
      const [large, factor] =
        func.kind === "Attribute" && facts.file.dotted(func) === null
          ? [func.value, positional(call, 0)]
          : [positional(call, 0), positional(call, 1)];
      if (large && factor && isLarge(large, facts) && isScalar(factor, facts) && isOften(call, large, facts))
        yield { at: call, message: MESSAGE };
    }
    for (const product of facts.file.all("Binary")) {
      if ((product.op !== "*" && product.op !== "/") || !facts.mayBeHot(product)) continue;
      const large = isOfLarge(product.left, product.right, facts)
        ? product.left
        : product.op === "*" && isOfLarge(product.right, product.left, facts)
          ? product.right
          : null;
      if (large && isOften(product, unsigned(large), facts))
        yield { at: product, message: isOfOutputs(unsigned(large), facts) ? KEPT : MESSAGE };
    }
    if (facts.guesses) yield* likelyTwice(facts);
  },
};

/**
 * `scaled = product * factor`, `torch.exp(torch.div(product, temperature))`, of a matrix product that has a name and that nothing
 * reads again: nobody knows how large it is, but each of its places is there twice.
 */
function* likelyTwice(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const binary of file.all("Binary")) {
    const { op, left, right } = binary;
    if (op !== "*" && op !== "/") continue;
    const isTwice = (one: Expr, other: Expr): boolean =>
      isScaledLast(one, other, binary, facts) || isScaledAtOnce(one, other, binary, facts);
    if ((isTwice(left, right) || (op === "*" && isTwice(right, left))) && isOftenAtAll(binary, facts))
      yield { at: binary, message: MESSAGE };
  }
  for (const call of file.callsNamed("mul", "div", "multiply", "divide", "true_divide")) {
    const { func } = call;
    const [large, factor] =
      func.kind === "Attribute" && file.dotted(func) === null
        ? [func.value, positional(call, 0)]
        : [positional(call, 0), positional(call, 1)];
    if (large && factor && isScaledLast(large, factor, call, facts) && isOftenAtAll(call, facts))
      yield { at: call, message: MESSAGE };
  }
}

/** On every step, or for each batch that a network without gradients is judged by: what it gives, against a bank of all others. */
function isOftenAtAll(at: Binary | Call, facts: Facts): boolean {
  if (facts.everyStep(at) !== null) return true;
  const [loop] = loopsAround(at);
  return (
    loop?.kind === "For" &&
    facts.gradMode(at) === "off" &&
    facts.frequency(at, loop) === "every" &&
    facts.file.all("Call").some((call) => contains(loop, call) && networkCall(call, facts) !== null)
  );
}

/** `product * factor`, of what a matrix product gave under another name than the result has, where nothing else reads it. */
function isScaledLast(side: Expr, factor: Expr, at: Binary | Call, facts: Facts): boolean {
  const large = unsigned(side);
  if (large.kind !== "Name" || !isLikelyFactor(factor, facts)) return false;
  const { scopes } = facts.file;
  const [made, ...more] = scopes.reaching(large);
  if (made?.how !== "assign" || !made.value || more.length > 0 || !isMatrixProduct(made.value, facts))
    return false;
  // Class scores are a row for each example.
  if (isOperand(at) || (OF_CLASSES.test(large.id) && !multiplies(made.value, facts))) return false;
  const target = statementOf(at);
  if (target?.kind === "Assign" && target.targets.some((one) => one.kind === "Name" && one.id === large.id))
    return false;
  const reads = scopes
    .uses(made)
    .filter((use) => !isChangedOrDropped(use) && !isOfKind(use) && !isOnOtherWay(use, at));
  return (
    reads.length === 1 && !isReducedLater(at) && loopsAround(at).length === loopsAround(made.node).length
  );
}

/** Scaling what goes into a product is what to do about it. */
function isOperand({ parent }: Binary | Call): boolean {
  return (
    (parent?.kind === "Arg" &&
      parent.parent?.kind === "Call" &&
      PRODUCTS.test(lastWord(parent.parent.func))) ||
    (parent?.kind === "Binary" && parent.op === "@")
  );
}

/** `(a.T @ b) / n`: features by features, however few the examples are that it sums over; pairs of these are few. */
function isScaledAtOnce(side: Expr, factor: Expr, at: Binary, facts: Facts): boolean {
  const product = laidOutOf(unsigned(side), facts) ?? unsigned(side);
  const [first] = factors(product, facts);
  return (
    first !== undefined &&
    isTurnedAtOnce(first) &&
    isLikelyFactor(factor, facts) &&
    !isOperand(at) &&
    !isReducedLater(at)
  );
}

/** `x.T`, `x.t()` */
function isTurnedAtOnce(expr: Expr): boolean {
  const turned = expr.kind === "Call" ? expr.func : expr;
  return turned.kind === "Attribute" && /^(?:T|t)$/.test(turned.attr);
}

/** `a @ b`, `torch.bmm(a, b) + bias`, also laid out anew: no layer, whose output may be called the same. */
function multiplies(value: Expr, facts: Facts, depth = 0): boolean {
  const again = (inner: Expr): boolean => depth < 5 && multiplies(inner, facts, depth + 1);
  if (value.kind === "Binary" && /^[+-]$/.test(value.op)) return again(value.left) || again(value.right);
  if (value.kind === "Name")
    return facts.file.scopes
      .reaching(value)
      .every(({ how, value: made }) => how === "assign" && made !== null && again(made));
  const laidOut = laidOutOf(value, facts);
  return laidOut ? again(laidOut) : factors(value, facts).length > 0;
}

/** `product` of `product.view(n, k, -1)`. */
function laidOutOf(value: Expr, { file }: Facts): Expr | null {
  return value.kind === "Call" &&
    value.func.kind === "Attribute" &&
    RESHAPES.test(value.func.attr) &&
    file.dotted(value.func) === null
    ? value.func.value
    : null;
}

const OF_CLASSES = /logits?|pred|prob|score|(?:^|_)(?:iou|cost|giou|eta|weight)(?:_|$)/;

/** A scale, or a number that was read: `temperature = self.params[1].item()`. */
function isLikelyFactor(factor: Expr, facts: Facts): boolean {
  if (isParameter(factor, facts.file)) return false;
  if (isScalar(factor, facts) || isScale(factor, facts)) return true;
  const made = factor.kind === "Name" ? facts.file.scopes.onlyValue(factor) : null;
  return made?.kind === "Call" && lastWord(made.func) === "item";
}

/**
 * `queries @ keys`, `torch.bmm(a, b)`, also under another name, and what is as large as that: `content + places`, where one of them
 * is such a product. What only weighs or normalises what is there is none.
 */
function isMatrixProduct(value: Expr, facts: Facts, depth = 0): boolean {
  if (depth > 5) return false;
  const again = (inner: Expr): boolean => isMatrixProduct(inner, facts, depth + 1);
  if (value.kind === "Name") {
    const made = facts.file.scopes.reaching(value);
    // `rows = rows.view(n, k, -1)`
    const isOwn = made.some((one) => one.value?.kind === "Name" || contains(one.value ?? one.node, value));
    if (isOwn || made.some(({ how }) => how !== "assign")) return false;
    const product = made.find((one) => again(one.value!));
    // `rows = places(x)` in one branch, and in the other `rows = x @ y`: there it is.
    return (
      product !== undefined && made.every((one) => one === product || isOtherBranch(one.node, product.node))
    );
  }
  if (value.kind === "Binary")
    return value.op === "@" || (/^[+-]$/.test(value.op) && (again(value.left) || again(value.right)));
  if (value.kind !== "Call") return false;
  const rearranged = rearrangedOf(value, facts.file);
  if (rearranged) return again(rearranged);
  const laidOut = laidOutOf(value, facts);
  if (laidOut) return again(laidOut);
  const word = lastWord(value.func);
  return word !== "mul" && PRODUCTS.test(word);
}

const RESHAPES =
  /^(?:contiguous|view|reshape|transpose|permute|squeeze|unsqueeze|flatten|detach|float|type_as)$/;

/** `(scaled).sum()`, `torch.sum(scaled)`: gone with the expression. */
function isReducedLater(at: Binary | Call): boolean {
  const call = methodOf(at);
  return call !== null && /^(?:sum|mean|backward|item)$/.test(lastWord(call.func));
}

/** Asked in the order of what most are not: something with a name or a call, and a scale beside it. */
function isOfLarge(side: Expr, other: Expr, facts: Facts): boolean {
  const large = unsigned(side);
  return (
    (large.kind === "Name" ||
      large.kind === "Call" ||
      large.kind === "Attribute" ||
      large.kind === "Subscript" ||
      (large.kind === "Binary" && large.op === "@")) &&
    (isScalar(other, facts) || isHandedScale(other, facts)) &&
    (isLarge(large, facts) || isKeptByOutputs(large, facts))
  );
}

/**
 * `image_logits = scale * similarity`, and `text_logits = scale * similarity.T` beside it: three matrices of one size, where
 * scaled features give one, and its transpose is a view.
 */
function* scaledTwice(facts: Facts): Generator<Finding> {
  const { scopes } = facts.file;
  // Of all that a file computes, few are products.
  const products = [
    ...facts.file.calls.matching(PRODUCTS),
    ...facts.file.all("Binary").filter(({ op }) => op === "@"),
  ];
  for (const value of products) {
    const at = value.parent;
    const [target, ...more] = at?.kind === "Assign" && at.value === value ? at.targets : [];
    if (target?.kind !== "Name" || more.length > 0 || factors(value, facts).length === 0) continue;
    const made = scopes.definitionAt(target);
    const reads = made ? scopes.uses(made).filter((use) => !isChangedOrDropped(use) && !isOfKind(use)) : [];
    const scaled = reads.map(scalingOf);
    const [first, ...others] = scaled;
    if (!first || others.length === 0 || !isScale(first.factor, facts)) continue;
    const isSame = (one: Scaling | null): boolean =>
      one !== null &&
      one.divides === first.divides &&
      facts.file.textOf(one.factor) === facts.file.textOf(first.factor) &&
      !isOtherBranch(one.at, first.at);
    if (others.every(isSame) && scaled.some((one) => one?.turned === true) && facts.everyStep(first.at))
      yield {
        at: first.at,
        message:
          "The unscaled product is alive beside two scaled ones, of which one is the other's transpose; scale the smaller operand before the product",
      };
  }
}

/**
 * `shifted = scores - scores.amax(-1, keepdim=True)`, `biased = scores + bias`, `masked = scores.masked_fill(mask, low)` on the way
 * to a softmax: none of these needs what it was made of for its backward, so that under the same name one of the two would go.
 */
function* coveredScores(target: Name, value: Expr, facts: Facts): Generator<Finding> {
  const old = coveredBy(value, facts);
  if (!old || old.id === target.id || !facts.everyStep(value)) return;
  if (!isOfScores(heldValue(old, facts)?.value ?? old, facts)) return;
  const { scopes } = facts.file;
  const reads = scopes
    .reaching(old)
    .flatMap((made) => scopes.uses(made))
    .filter((use) => !isChangedOrDropped(use) && !isOfKind(use) && maskedBy(use) === null);
  const isLast = reads.every(
    (use) => contains(value, use) || isOtherBranch(use, value) || (use.end < value.start && isReduced(use)),
  );
  if (isLast && isForSoftmax(target, facts))
    yield {
      at: value,
      message: `\`${old.id}\` is alive beside \`${target.id}\`, which is as large, and nothing reads it again; give the result the same name`,
    };
}

/** `peak, _ = scores.max(1, keepdim=True)`, `torch.max(scores, dim=1)`: asked before, and its backward keeps the places alone. */
function isReduced(use: Name): boolean {
  const call = methodOf(use);
  return call !== null && /^(?:max|min|mean|sum)$/.test(lastWord(call.func));
}

function mayScale(value: Expr): boolean {
  return (
    value.kind === "Binary" ||
    (value.kind === "Call" && /^(?:where|masked_fill|add|sub|mul|multiply)$/.test(lastWord(value.func)))
  );
}

/** The `scores` of `scores + bias`, `scores - peak`, `scores.masked_fill(mask, low)` and `torch.where(mask, scores, low)`. */
function coveredBy(value: Expr, { file }: Facts): Name | null {
  const isName = (one: Expr | null): one is Name => one?.kind === "Name";
  if (value.kind === "Binary")
    return /^[+-]$/.test(value.op) && isName(value.left)
      ? value.left
      : value.op === "+" && isName(value.right)
        ? value.right
        : null;
  if (value.kind !== "Call" || value.func.kind !== "Attribute") return null;
  const covered =
    file.dotted(value.func) === "torch.where"
      ? positional(value, 1)
      : /^(?:masked_fill|add|sub)$/.test(value.func.attr)
        ? value.func.value
        : null;
  return isName(covered) ? covered : null;
}

/**
 * `weighted = weights * squared`, of `squared = (pred - target) ** 2`: two pictures, clips or sounds for each example, which are
 * there through the backward, that needs neither.
 */
function* weightedErrors(target: Name, value: Expr, facts: Facts): Generator<Finding> {
  const scaled = value.kind === "Binary" && value.op === "*" ? [value.left, value.right] : productOf(value);
  const errors = scaled.find((one): one is Name => one.kind === "Name" && isHeldError(one, target, facts));
  const weight = errors && scaled.find((one) => one !== errors);
  if (!weight || !(isOfPixels(facts) || isOfSounds(facts)) || !facts.everyStep(value)) return;
  if (facts.gradMode(value) === "off" || mayLearn(weight, facts)) return;
  // Of what only was made of errors it must be plain that nothing else keeps it.
  const made = facts.file.scopes.onlyValue(errors);
  if (made && !isError(made, facts.file) && !isGiven(weight, facts)) return;
  yield {
    at: value,
    message: `\`${errors.id}\`, an error for each place, is alive beside \`${target.id}\`, which is as large; weight it under the same name, or in the expression that sums it up`,
  };
}

/**
 * `mean = total / views`, of a volume that was summed up over the views and that nothing reads again: the sum has a name until the
 * function is done, and no backward needs it.
 */
function* scaledVolume(target: Name, value: Expr, facts: Facts): Generator<Finding> {
  if (value.kind !== "Binary") return;
  const [total, factor] =
    value.op === "/" || value.left.kind === "Name" ? [value.left, value.right] : [value.right, value.left];
  if (!/^[*/]$/.test(value.op) || total.kind !== "Name" || total.id === target.id) return;
  if (!isSummedVolume(total, facts) || !isScalar(factor, facts)) return;
  const { scopes } = facts.file;
  const reads = scopes.reaching(total).flatMap((made) => scopes.uses(made));
  if (facts.file.all("Delete").some((one) => one.start > value.end && drops(one, total))) return;
  // Below, or in the next turn of a loop that is gone through around both.
  const loops = loopsAround(value);
  const isRead = (use: Name): boolean =>
    !contains(value, use) &&
    !isOfKind(use) &&
    (use.start > value.end || loops.some((loop) => contains(loop, use)));
  if (!reads.some(isRead) && facts.everyStep(value))
    yield {
      at: value,
      message: `\`${total.id}\`, a whole volume, is alive beside \`${target.id}\`, which is as large, and nothing reads it again; scale it under the same name`,
    };
}

/**
 * `centred = scaled - 0.5`, of `scaled = frames / 255.0` that nothing reads again: two copies of a batch of pictures, in floats, while
 * the network runs.
 */
function* scaledPixels(target: Name, value: Expr, facts: Facts): Generator<Finding> {
  if (value.kind !== "Binary" || !/^[-+*/]$/.test(value.op)) return;
  const [scaled, factor] = value.left.kind === "Name" ? [value.left, value.right] : [value.right, value.left];
  if (scaled.kind !== "Name" || scaled.id === target.id || !isScalar(factor, facts)) return;
  const { scopes } = facts.file;
  const [made, ...others] = scopes.reaching(scaled);
  if (!made?.value || others.length > 0 || !isOfBytes(made.value, facts)) return;
  const reads = scopes.uses(made).filter((use) => !isOfKind(use));
  if (reads.length === 1 && facts.gradMode(value) !== "off" && facts.everyStep(value))
    yield {
      at: value,
      message: `\`${scaled.id}\` is alive beside \`${target.id}\`, which is as large, and nothing reads it again; give the result the same name`,
    };
}

/** `frames / 255.0`, `frames.float() / 255`, `frames.div(255.0)`: bytes that become floats. */
function isOfBytes(value: Expr, facts: Facts): boolean {
  const by =
    value.kind === "Binary" && value.op === "/"
      ? value.right
      : value.kind === "Call" && /^(?:div|true_divide)$/.test(lastWord(value.func))
        ? positional(value, facts.file.dotted(value.func)?.startsWith("torch.") ? 1 : 0)
        : null;
  return by !== null && by.kind === "Num" && /^(?:255|256|127\.5)\.?0*$/.test(facts.file.textOf(by));
}

function drops({ targets }: NodeOf<"Delete">, { id }: Name): boolean {
  return targets.some((one) => one.kind === "Name" && one.id === id);
}

/** `total = total + warped` in a loop, of what began as `maps.unsqueeze(2).repeat(1, 1, depths, 1, 1)`. */
function isSummedVolume(total: Name, { file: { scopes } }: Facts): boolean {
  const isAdded = ({ how, value }: Definition): boolean =>
    how === "augment" ||
    (value?.kind === "Binary" &&
      value.op === "+" &&
      [value.left, value.right].some((one) => one.kind === "Name" && one.id === total.id));
  const made = scopes.reaching(total);
  const begun = made.filter((one) => !isAdded(one));
  return (
    begun.length < made.length &&
    begun.length > 0 &&
    begun.every(({ how, value }) => how === "assign" && value !== null && isVolume(value, scopes))
  );
}

/** Of five axes, by what it was repeated or laid out to, or the power of that. */
function isVolume(expr: Expr, scopes: Scopes, depth = 0): boolean {
  if (depth > 3) return false;
  if (expr.kind === "Name") {
    const made = scopes.onlyValue(expr);
    return made !== null && isVolume(made, scopes, depth + 1);
  }
  if (expr.kind === "Binary") return expr.op === "**" && isVolume(expr.left, scopes, depth + 1);
  if (expr.kind !== "Call" || expr.func.kind !== "Attribute") return false;
  if (/^(?:pow|square|clone)$/.test(expr.func.attr)) return isVolume(expr.func.value, scopes, depth + 1);
  return /^(?:repeat|expand)$/.test(expr.func.attr) && expr.args.length === 5;
}

/** `self.log_sigma.exp()`, `mask` that a network gave: what learns needs the errors for its own gradient. */
function mayLearn(weight: Expr, facts: Facts): boolean {
  if (facts.value(weight).graph === "yes" || networkCall(weight, facts) !== null) return true;
  let learns = false;
  walk(weight, (node) => {
    learns ||=
      (node.kind === "Name" || node.kind === "Attribute") &&
      (isOnlyMadeBy(node, facts.file, (made) => lastWord(made.func) === "Parameter") ||
        /log_?(?:var|sigma|std)|uncertain|learn/i.test(lastWord(node)));
    return !learns;
  });
  return learns;
}

/** The two of `errors.mul(weight)` and `torch.mul(errors, weight)`. */
function productOf(value: Expr): readonly Expr[] {
  if (value.kind !== "Call" || !/^(?:mul|multiply)$/.test(lastWord(value.func))) return [];
  const given = value.args.map((arg) => arg.value);
  return given.length === 1 && value.func.kind === "Attribute" ? [value.func.value, ...given] : given;
}

/** Bound once to an error for each place, and read here alone, for something of another name. */
function isHeldError(name: Name, target: Name, { file }: Facts): boolean {
  const [made, ...more] = file.scopes.reaching(name);
  if (made?.how !== "assign" || more.length > 0 || !made.value || name.id === target.id) return false;
  const reads = file.scopes.uses(made).filter((use) => !isChangedOrDropped(use) && !isOfKind(use));
  return (
    reads.length === 1 &&
    (isError(made.value, file) ||
      (made.value.kind === "Binary" && /^[-+*]$/.test(made.value.op) && isForEachPlace(made.value, file)))
  );
}

/** Computed place by place of an error, or of the chances of each class there: `(1 - p) ** gamma * log_p`. */
function isForEachPlace(expr: Expr, file: PythonFile, depth = 0): boolean {
  if (depth > 5) return false;
  const again = (inner: Expr | null): boolean => inner !== null && isForEachPlace(inner, file, depth + 1);
  if (isError(expr, file)) return true;
  if (expr.kind === "Name") return again(file.scopes.onlyValue(expr));
  if (expr.kind === "Unary") return again(expr.operand);
  if (expr.kind === "Binary") return /^[-+*]$/.test(expr.op) && (again(expr.left) || again(expr.right));
  if (expr.kind !== "Call" || !/^(?:(?:log_?)?(?:softmax|sigmoid)|exp|log|neg)$/.test(lastWord(expr.func)))
    return false;
  const of =
    expr.func.kind === "Attribute" && file.dotted(expr.func) === null ? expr.func.value : positional(expr, 0);
  return of !== null && (PICTURE.test(lastWord(of)) || again(of));
}

/** A number, or what the function was given to compare with, or to weigh by: it needs no gradient. */
function isGiven(weight: Expr, facts: Facts): boolean {
  if (isScalar(weight, facts) || facts.value(weight).graph === "no") return true;
  const [one, ...more] = weight.kind === "Name" ? facts.file.scopes.reaching(weight) : [];
  return (
    one?.how === "param" &&
    more.length === 0 &&
    /target|label|mask|one_?hot|valid|truth|(?:^|_)gt(?:_|$)/i.test(one.name)
  );
}

/** `(a - b) ** 2`, `(a - b).abs()`, `torch.square(a - b)`, `F.mse_loss(a, b, reduction="none")` */
function isError(expr: Expr, file: PythonFile): boolean {
  const isDifference = (one: Expr | null | undefined): boolean => {
    const made = one?.kind === "Name" ? file.scopes.onlyValue(one) : one;
    return made?.kind === "Binary" && made.op === "-";
  };
  if (expr.kind === "Binary") return expr.op === "**" && isDifference(expr.left);
  if (expr.kind !== "Call") return false;
  const name = file.dotted(expr.func);
  if (/^torch\.nn\.functional\.(?:mse|(?:smooth_)?l1|huber)_loss$/.test(name ?? "")) {
    const reduction = keyword(expr, "reduction")?.value;
    return reduction?.kind === "Str" && reduction.value === "none";
  }
  if (!/^(?:pow|square|abs)$/.test(lastWord(expr.func))) return false;
  if (name !== null) return name.startsWith("torch.") && isDifference(positional(expr, 0));
  return expr.func.kind === "Attribute" && isDifference(expr.func.value);
}

/** `scale * product`, `product.T / temperature`: what a product is multiplied with or divided by, as it is or turned. */
interface Scaling {
  readonly at: Binary | Call;
  readonly factor: Expr;
  readonly divides: boolean;
  readonly turned: boolean;
}

function scalingOf(use: Name): Scaling | null {
  const turned = turnedOf(use);
  const operand = turned ?? use;
  const { parent } = operand;
  if (parent?.kind === "Binary" && (parent.op === "*" || (parent.op === "/" && parent.left === operand)))
    return {
      at: parent,
      factor: parent.left === operand ? parent.right : parent.left,
      divides: parent.op === "/",
      turned: turned !== null,
    };
  const call = parent?.kind === "Attribute" ? methodOf(operand) : null;
  const factor = call && /^(?:mul|div)$/.test(lastWord(call.func)) ? positional(call, 0) : null;
  return call && factor
    ? { at: call, factor, divides: lastWord(call.func) === "div", turned: turned !== null }
    : null;
}

/** `product.T`, `product.t()`, `product.transpose(0, 1)` of a product. */
function turnedOf({ parent }: Name): Expr | null {
  if (parent?.kind !== "Attribute") return null;
  if (/^m?T$/.test(parent.attr)) return parent;
  const call = parent.parent;
  return /^(?:t|transpose|swapaxes|permute)$/.test(parent.attr) &&
    call?.kind === "Call" &&
    call.func === parent
    ? call
    : null;
}

/** A number, or a temperature that may well learn: `self.logit_scale.exp()`. */
function isScale(expr: Expr, facts: Facts): boolean {
  if (expr.kind === "Call" && expr.func.kind === "Attribute" && expr.args.length === 0)
    return /^(?:exp|reciprocal|abs)$/.test(expr.func.attr) && isScale(expr.func.value, facts);
  const made = expr.kind === "Name" ? facts.file.scopes.onlyValue(expr) : null;
  return (
    isScalar(expr, facts) ||
    /^(?:\w+_)?(?:scale|temp(?:erature)?|tau)$/.test(lastWord(expr)) ||
    (made?.kind === "Call" && isScale(made, facts))
  );
}

/** `distances` of `-distances / temperature`. */
function unsigned(expr: Expr): Expr {
  return expr.kind === "Unary" && expr.op === "-" ? expr.operand : expr;
}

/** `outputs["logit_scale"]`, `pictures, texts, logit_scale = model(batch)`: of a network that hands it out beside the features. */
function isHandedScale(factor: Expr, { file }: Facts): boolean {
  if (factor.kind !== "Name" || !/^(?:\w+_)?(?:scale|temp(?:erature)?|tau)$/.test(factor.id)) return false;
  const made = file.scopes.reaching(factor);
  return (
    made.length > 0 &&
    made.every(
      ({ how, value }) =>
        (how === "assign" && value?.kind === "Subscript" && value.index.kind === "Str") ||
        (how === "unpack" && value?.kind === "Call"),
    )
  );
}

/** `outputs.logits`, or a name for it. */
function isOfOutputs(large: Expr, facts: Facts): boolean {
  const made = large.kind === "Name" ? (heldValue(large, facts)?.value ?? null) : null;
  return isKeptByOutputs(made ?? large, facts);
}

/** In a forward; the scores of a vocabulary, and a product that is named, are as large where a trainer makes them. */
function isOften(expr: Expr, large: Expr, facts: Facts): boolean {
  const why = facts.everyStep(expr)?.why ?? "";
  const made = large.kind === "Name" ? (heldValue(large, facts)?.value ?? null) : null;
  return (
    why.includes("forward of") ||
    why.includes("training loop of") ||
    (why !== "" &&
      (isLogits(large, facts) ||
        isWidenedLogits(large, facts) ||
        isKeptByOutputs(made ?? large, facts) ||
        isOfBatches(large, facts) ||
        (made !== null && (factors(made, facts).length > 0 || isTokenLogits(made, facts)))))
  );
}
