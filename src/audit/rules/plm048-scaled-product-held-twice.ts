import { argument, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { contains, lastWord, statementOf, walk } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Assign, Attribute, Binary, Call, Comp, Expr, Name, Subscript } from "../../python/tree.ts";
import { attentions, equationOf, isFallback } from "../facts/attention.ts";
import { isOnlyMadeBy, isSelf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { isOtherBranch } from "../facts/guards.ts";
import { isOfPixels, isOfSounds } from "../facts/large-outputs.ts";
import { isNetwork, networkCall } from "../facts/networks.ts";
import { returnsByName } from "../facts/returns.ts";
import { callTarget } from "../facts/summary.ts";
import { isTensorLike } from "../facts/value.ts";
import type { Finding, Rule } from "../rule.ts";
import { MULTIPLIES, isMatmul, isOfKind, isProduct, isScalar } from "../facts/products.ts";

const MESSAGE =
  "The unscaled product is alive while the scaled one is made; scale the smaller operand, or rebind the result step by step";

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
    for (const statement of facts.file.all("Assign")) {
      yield* coveredScores(statement, facts);
      yield* weightedErrors(statement, facts);
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
      if (product.op !== "*" && product.op !== "/") continue;
      const [large, factor] =
        product.op === "/" || isLarge(product.left, facts)
          ? [product.left, product.right]
          : [product.right, product.left];
      if (!isLarge(large, facts) || !isScalar(factor, facts)) continue;
      if (isOften(product, large, facts)) yield { at: product, message: MESSAGE };
    }
  },
};

/**
 * `image_logits = scale * similarity`, and `text_logits = scale * similarity.T` beside it: three matrices of one size, where
 * scaled features give one, and its transpose is a view.
 */
function* scaledTwice(facts: Facts): Generator<Finding> {
  const { scopes } = facts.file;
  for (const { targets, value } of facts.file.all("Assign")) {
    const [target, ...more] = targets;
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
function* coveredScores({ targets: [target, ...more], value }: Assign, facts: Facts): Generator<Finding> {
  if (target?.kind !== "Name" || more.length > 0) return;
  const old = coveredBy(value, facts);
  if (!old || old.id === target.id || !facts.everyStep(value)) return;
  const held = heldValue(old, facts);
  if (
    !held ||
    !(isProduct(held.value, facts) || isScores(held.value, facts) || isOfBatches(held.value, facts))
  )
    return;
  const reads = facts.file.scopes
    .uses(held.made)
    .filter((use) => !isChangedOrDropped(use) && !isOfKind(use) && maskedBy(use) === null);
  if (reads.every((use) => contains(value, use)) && isForSoftmax(target, facts))
    yield {
      at: value,
      message: `\`${old.id}\` is alive beside \`${target.id}\`, which is as large, and nothing reads it again; give the result the same name`,
    };
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
function* weightedErrors({ targets: [target, ...more], value }: Assign, facts: Facts): Generator<Finding> {
  if (target?.kind !== "Name" || more.length > 0) return;
  const scaled = value.kind === "Binary" && value.op === "*" ? [value.left, value.right] : productOf(value);
  const errors = scaled.find((one): one is Name => one.kind === "Name" && isHeldError(one, target, facts));
  if (!errors || !(isOfPixels(facts) || isOfSounds(facts)) || !facts.everyStep(value)) return;
  const weight = scaled.find((one) => one !== errors);
  if (facts.gradMode(value) === "off" || !weight || mayLearn(weight, facts)) return;
  yield {
    at: value,
    message: `\`${errors.id}\`, an error for each place, is alive beside \`${target.id}\`, which is as large; weight it under the same name, or in the expression that sums it up`,
  };
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
  return reads.length === 1 && isError(made.value, file);
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

/** In a forward; the scores of a vocabulary, and a product that is named, are as large where a trainer makes them. */
function isOften(expr: Expr, large: Expr, facts: Facts): boolean {
  const why = facts.everyStep(expr)?.why ?? "";
  const made = large.kind === "Name" ? (heldValue(large, facts)?.value ?? null) : null;
  return (
    why.includes("forward of") ||
    why.includes("training loop of") ||
    (why !== "" &&
      (isLogits(large, facts) ||
        isOfBatches(large, facts) ||
        (made !== null && (factors(made, facts).length > 0 || isTokenLogits(made, facts)))))
  );
}

function isLarge(expr: Expr, facts: Facts): boolean {
  return (
    isProduct(expr, facts) ||
    isScores(expr, facts) ||
    isOfBatches(expr, facts) ||
    (expr.kind === "Name" && isHeld(expr, facts)) ||
    isScaledBranch(expr, facts) ||
    isLogits(expr, facts)
  );
}

/** `q @ k.transpose(-2, -1)` of an attention that is written out: of length × length, each of the two. */
function isScores(expr: Expr, facts: Facts): boolean {
  return (
    (expr.kind === "Call" || (expr.kind === "Binary" && expr.op === "@")) &&
    facts.once(attentions).some(({ products }) => products.includes(expr))
  );
}

/** `torch.bmm(a, b)`, `x @ y.transpose(1, 2)`: a matrix for each example; `self.weight.mm(x)`: a layer that is written out. */
function isOfBatches(expr: Expr, facts: Facts): boolean {
  const operands = factors(expr, facts);
  return (
    operands.length > 0 &&
    ((expr.kind === "Call" && lastWord(expr.func) === "bmm") ||
      operands.some(
        (one) =>
          isManyAxes(one, facts) || isTurned(madeAs(one, facts)) || isLearnt(one, facts) || isBank(one),
      )) &&
    !isFallback(expr, facts)
  );
}

/** What a name was given, above in the function: `q = self.q(x).flatten(2).transpose(1, 2)`. */
function madeAs(expr: Expr, { file }: Facts): Expr {
  return (expr.kind === "Name" ? file.scopes.onlyValue(expr) : null) ?? expr;
}

/** What a matrix product is of. */
function factors(expr: Expr, facts: Facts): readonly Expr[] {
  if (expr.kind === "Binary") return expr.op === "@" ? [expr.left, expr.right] : [];
  // Asked of every value that is given a name: most are of other calls.
  if (expr.kind !== "Call" || !/mul$|mm$|einsum$|linear$/.test(lastWord(expr.func))) return [];
  const given = expr.args.map(({ value }) => value);
  if (MULTIPLIES.test(facts.file.dotted(expr.func) ?? "")) return given;
  return isMatmul(expr, facts) ? [(expr.func as Attribute).value, ...given] : [];
}

/** `"b h i d, b h j d -> b h i j"` of an einsum. */
function isManyAxes(form: Expr, { file }: Facts): boolean {
  const [, axes = ""] = /->\s*([a-z. ]+)$/i.exec(equationOf(form, file)) ?? [];
  return (axes.includes(" ") ? axes.trim().split(/\s+/) : [...axes]).length > 2;
}

/** What is kept of many batches. */
function isBank(expr: Expr): boolean {
  return expr.kind === "Name" && /(?:^|_)(?:queue|bank|memory)$/.test(expr.id);
}

function isTurned(expr: Expr): boolean {
  if (expr.kind !== "Call" || expr.func.kind !== "Attribute") return false;
  return /^(?:transpose|swapaxes)$/.test(expr.func.attr)
    ? expr.args.every(({ value }) => !isFirst(value))
    : expr.func.attr === "permute" && expr.args.length > 2;
}

/** A parameter, or `self.codebook.weight.t()`: a product with that is a row of all codes for each place. */
function isLearnt(expr: Expr, { file }: Facts): boolean {
  const turned =
    expr.kind === "Call" && expr.func.kind === "Attribute" && expr.func.attr === "t"
      ? expr.func.value
      : expr.kind === "Attribute" && expr.attr === "T"
        ? expr.value
        : null;
  if (turned?.kind === "Attribute" && turned.attr === "weight")
    return isOnlyMadeBy(
      turned.value,
      file,
      (made) =>
        file.dotted(made.func) === "torch.nn.Embedding" &&
        /num_emb|n_emb|codes?\b|codebook|\bn_e\b|\bK\b/i.test(file.textOf(positional(made, 0) ?? made)),
    );
  return isOnlyMadeBy(expr, file, (made) => lastWord(made.func) === "Parameter");
}

/** The axis of the examples. */
function isFirst(axis: Expr): boolean {
  return axis.kind === "Num" && axis.text === "0";
}

/** `self.lm_head(x)`, made as `nn.Linear(width, vocab_size)`, or the product with its weights: nothing else is as large. */
function isLogits(expr: Expr, { file }: Facts): boolean {
  if (expr.kind !== "Call" && expr.kind !== "Binary") return false;
  const weight = weightOf(expr, file);
  const layer = weight ?? (expr.kind === "Call" && expr.args.length === 1 ? expr.func : null);
  // Of a model made elsewhere, by the name that language models give it.
  if (layer?.kind === "Attribute" && layer.attr === "lm_head" && !isSelf(layer.value))
    // Those of one place, `h[:, -1]`, are few.
    return !/\[:, ?-?\d/.test(file.textOf(expr));
  return (
    layer !== null &&
    isOnlyMadeBy(layer, file, (made) => {
      const name = file.dotted(made.func);
      const count =
        name === "torch.nn.Linear"
          ? argument(made, "out_features", 1)
          : // `x @ self.embed.weight.t()`: the weights of the tokens, used again.
            name === "torch.nn.Embedding" && weight
            ? argument(made, "num_embeddings", 0)
            : null;
      return (
        count !== null &&
        /voc(?:ab)?|n_?tok|num_(?:tok|words|items|entit)|n_?(?:words|items)/i.test(file.textOf(count))
      );
    })
  );
}

/** The layer of `x @ self.head.weight.t()`, `F.linear(x, self.head.weight)`; the other way round it gives a token's width. */
function weightOf(expr: Call | Binary, file: PythonFile): Expr | null {
  const name = expr.kind === "Call" ? (file.dotted(expr.func) ?? "") : "";
  let right: Expr | null = null;
  if (name === "torch.nn.functional.linear") right = positional(expr as Call, 1);
  else {
    const turned =
      expr.kind === "Binary"
        ? expr.op === "@"
          ? expr.right
          : null
        : /^torch\.(?:matmul|mm)$/.test(name)
          ? positional(expr, 1)
          : null;
    if (
      turned?.kind === "Call" &&
      turned.func.kind === "Attribute" &&
      /^(?:t|transpose)$/.test(turned.func.attr)
    )
      right = turned.func.value;
    else if (turned?.kind === "Attribute" && /^m?T$/.test(turned.attr)) right = turned.value;
  }
  return right?.kind === "Attribute" && right.attr === "weight" ? right.value : null;
}

/** A layer's output, a product or a scaled one that keeps its name, and so its memory, beside its scaled double. */
function isHeld(name: Name, facts: Facts): boolean {
  const one = heldValue(name, facts);
  const scaled = name.parent?.kind === "Binary" ? name.parent : methodOf(name);
  if (!one || !scaled) return false;
  const scaledWhole = wholeOf(scaled, facts);
  const many = eachOf(name);
  const whole = many && scaledWhole.parent === many.list ? many.list : scaledWhole;
  const target = targetOf(whole);
  const old = many ? many.over.id : name.id;
  if (target ? target.kind !== "Name" || target.id === old : !isConsumed(whole)) return false;
  const { value } = one;
  const made =
    value.kind === "Binary"
      ? value.op === "@" ||
        (value.op === "*" && value.left.kind === "Name" && isScalar(value.right, facts)) ||
        (/^[+-]$/.test(value.op) &&
          isShifted(value, facts) &&
          target?.kind === "Name" &&
          isForSoftmax(target, facts))
      : isTokenLogits(value, facts) ||
        (value.kind === "Call" &&
          (RESIZES.test(facts.file.dotted(value.func) ?? "") ||
            MULTIPLIES.test(facts.file.dotted(value.func) ?? "") ||
            isMatmul(value, facts) ||
            isJoined(value, facts) ||
            isHelped(value, facts) ||
            (selfAttribute(value.func) !== null && isLayer(value.func, facts))));
  const reads = facts.file.scopes
    .uses(one.made)
    .filter((use) => !isChangedOrDropped(use) && !isOfKind(use) && maskedBy(use) === null);
  // Scores that are handed out as well may be the scaled ones.
  const inside = isLogits(value, facts) ? reads.filter((use) => statementOf(use)?.kind !== "Return") : reads;
  return made && inside.length === 1;
}

/** `out` of `[out / temperature for out in outputs]`: the list that is made, and what it is made of, one by one. */
function eachOf(name: Name): { readonly list: Comp; readonly over: Name } | null {
  const list = name.scope?.kind === "Comp" ? name.scope : null;
  const [clause, ...more] = list?.value === null ? list.clauses : [];
  return list &&
    clause?.target.kind === "Name" &&
    clause.target.id === name.id &&
    more.length === 0 &&
    clause.iter.kind === "Name"
    ? { list, over: clause.iter }
    : null;
}

/** What a value is named by: alone, or as one of a tuple, `left, right = scores / 8, others / 8`. */
function targetOf(value: Expr): Expr | null {
  const { parent } = value;
  const many = parent?.kind === "Tuple" ? parent : null;
  const statement = many ? many.parent : parent;
  const [target, ...more] = statement?.kind === "Assign" ? statement.targets : [];
  if (!target || more.length > 0) return null;
  if (!many) return target;
  return target.kind === "Tuple" ? (target.items[many.items.indexOf(value)] ?? null) : null;
}

/** `torch.cat([positive, negatives], dim=1)`: as large as the products it is made of. */
function isJoined(call: Call, facts: Facts): boolean {
  const all = /^torch\.(?:cat|concat|hstack)$/.test(facts.file.dotted(call.func) ?? "")
    ? positional(call, 0)
    : null;
  // `torch.cat([out.logits for out in segments], dim=1)`
  if (all?.kind === "Comp")
    return (
      all.element.kind === "Attribute" &&
      all.element.attr === "logits" &&
      (facts.file.once(speaksOfTokens) || facts.file.once(speaksOfTexts))
    );
  const items = all?.kind === "List" || all?.kind === "Tuple" ? all.items : [];
  return items.some((item) => factors(madeAs(item, facts), facts).length > 0);
}

/** `self.similarity(a, b)`, `compare(a, b)`: a function of this file that hands back the product it makes. */
function isHelped(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const name = callTarget(call, file);
  const given = name === null ? [] : (file.once(returnsByName).get(name) ?? []);
  return given.length > 0 && given.every((value) => factors(madeAs(value, facts), facts).length > 0);
}

/** `return scores / 8`, `cross_entropy(scores / temperature, labels)`: without a name of its own, while the first one has its. */
function isConsumed(whole: Expr): boolean {
  const call = whole.parent?.kind === "Arg" ? whole.parent.parent : null;
  return (
    whole.parent?.kind === "Return" ||
    (call?.kind === "Call" && /^(?:cross_entropy|nll_loss|kl_div)$/.test(lastWord(call.func)))
  );
}

/**
 * The new `scores` of `scores = scores.masked_fill(mask, -1e9)`, `scores = torch.where(mask, scores, low)` and
 * `scores = scores + mask`: the same places, of which some are covered.
 */
function maskedBy(use: Name): Name | null {
  const call = methodOf(use);
  const covered =
    use.parent?.kind === "Binary" && /^[+-]$/.test(use.parent.op) && use.parent.left === use
      ? use.parent
      : call && /^(?:masked_fill|where)$/.test(lastWord(call.func))
        ? call
        : null;
  const target = covered && targetOf(covered);
  return target?.kind === "Name" && target.id === use.id ? target : null;
}

/** `cap * torch.tanh(logits / cap)` of `logits / cap`, and `(logits / cap).tanh() * cap`: as large, place by place. */
function wholeOf(scaled: Expr, facts: Facts): Expr {
  const { parent } = scaled;
  const isFactor =
    parent?.kind === "Binary" &&
    /^[*/]$/.test(parent.op) &&
    isScalar(parent.left === scaled ? parent.right : parent.left, facts);
  if (isFactor) return wholeOf(parent, facts);
  const call = methodOf(scaled);
  return call && AS_LARGE.test(lastWord(call.func)) ? wholeOf(call, facts) : scaled;
}

const AS_LARGE =
  /^(?:tanh|float|sigmoid|clamp|neg|mul|div|(?:log_)?softmax|view|reshape|flatten|transpose|contiguous)$/;

/** `x.tanh()`, `torch.tanh(x)` of `x`. */
function methodOf({ parent }: Expr): Call | null {
  const call = parent?.kind === "Arg" || parent?.kind === "Attribute" ? parent.parent : null;
  return call?.kind === "Call" ? call : null;
}

/** `centred = teacher_output - self.center`: of two tensors, so as large as its first. */
function isShifted({ left, right }: Binary, facts: Facts): boolean {
  return isTensorLike(facts.value(left)) && !isScalar(right, facts);
}

/** `chances = softmax(scaled, dim=-1)`: what a softmax is taken of is a row for each example, or for each place. */
function isForSoftmax(target: Name, facts: Facts, depth = 0): boolean {
  const { scopes } = facts.file;
  const scaled = scopes.definitionAt(target);
  const uses = scaled ? scopes.uses(scaled).filter((use) => !isChangedOrDropped(use) && !isOfKind(use)) : [];
  return (
    uses.length > 0 &&
    uses.every((use) => {
      // Masked on its way there.
      const masked = maskedBy(use);
      if (masked) return depth < 4 && isForSoftmax(masked, facts, depth + 1);
      return /^(?:log_)?softmax$/.test(lastWord(methodOf(use)?.func ?? use));
    })
  );
}

const RESIZES = /^torch\.nn\.functional\.(?:interpolate|upsample)$/;

/** What gave a name its value, alone: an assignment, or `output, hidden = model(data, hidden)`. */
function heldValue(name: Name, facts: Facts): { readonly value: Expr; readonly made: Definition } | null {
  const many = eachOf(name);
  if (many) return heldValue(many.over, facts);
  const all = facts.file.scopes.reaching(name);
  const [last, ...before] = all;
  const source = last && before.length === 0 ? maskedOf(last) : null;
  // Masked whatever happens: as large as what was masked.
  if (source) {
    const first = heldValue(source, facts);
    return first && { value: first.value, made: last! };
  }
  const [made, ...more] = all.filter((one) => maskedOf(one) === null);
  const { how, value, index } = made ?? { how: null, value: null, index: null };
  if (!made || more.length > 0 || !value) return null;
  // `ours, theirs = a @ b, c @ d`
  if (how === "unpack" && value.kind === "Tuple" && index !== null) {
    const item = value.items[index];
    return item ? { value: item, made } : null;
  }
  const first = how === "unpack" && index === 0 && isTokenLogits(value, facts);
  return how === "assign" || first ? { value: unshaped(value, facts), made } : null;
}

/** `torch.einsum(…)` of `torch.einsum(…).contiguous()`, and `a @ b` of `(a @ b).view(n, -1)`: the same places in another order. */
function unshaped(expr: Expr, facts: Facts): Expr {
  return expr.kind === "Call" &&
    expr.func.kind === "Attribute" &&
    facts.file.dotted(expr.func) === null &&
    /^(?:contiguous|view|reshape|transpose|permute|squeeze|unsqueeze|flatten)$/.test(expr.func.attr)
    ? unshaped(expr.func.value, facts)
    : expr;
}

/** The old `scores` of `scores = scores.masked_fill(mask, -1e9)`, which perhaps happens only where there is a mask. */
function maskedOf({ how, node, value }: Definition): Name | null {
  if (how !== "assign" || !value) return null;
  const operands =
    value.kind === "Binary"
      ? [value.left]
      : value.kind === "Call"
        ? [
            ...(value.func.kind === "Attribute" ? [value.func.value] : []),
            ...value.args.map((arg) => arg.value),
          ]
        : [];
  return operands.find((one): one is Name => one.kind === "Name" && maskedBy(one) === node) ?? null;
}

/** `model(**batch).logits`, `model(tokens)`, `model(images)` with a class for each pixel, or those of a run of places, `logits[:, -kept:, :]`, of a language model. */
function isTokenLogits(expr: Expr, facts: Facts): boolean {
  if (expr.kind === "Subscript")
    return (
      lastWord(expr.value).endsWith("logits") &&
      (expr.index.kind === "Tuple" ? expr.index.items : [expr.index]).some(isPartOfMany) &&
      (facts.file.once(speaksOfTokens) || (isOfPlaces(expr) && facts.file.once(speaksOfTexts)))
    );
  const run = expr.kind === "Attribute" && expr.attr === "logits" ? expr.value : expr;
  return (
    run.kind === "Call" &&
    isNetwork(run.func, facts) &&
    (facts.file.once(speaksOfTokens) || facts.file.once(speaksOfPixels))
  );
}

/** `logits[:, start:]`: of the second axis, which are places, and not examples. */
function isOfPlaces({ index }: Subscript): boolean {
  return index.kind === "Tuple" && index.items.slice(1).some(isPartOfMany);
}

/** `:-1`, `-kept:`, `start:end`; `-1` is one place, and `:` says nothing. */
function isPartOfMany(index: Expr): boolean {
  return index.kind === "Slice" && (index.lower !== null || index.upper !== null);
}

const speaksOfTokens = ({ text }: PythonFile): boolean =>
  /CausalLM|LMHead|vocab|ntokens?\b|\[:, ?:-1/.test(text);

/** Each pixel has its class: a row of all classes for each. */
const speaksOfPixels = ({ text }: PythonFile): boolean =>
  /segmentation|\bm_?iou\b|mean_?iou|pix(?:el)?_?acc/i.test(text);

/** Texts are read, and perhaps only sorted into classes: what has a run of places is a row of the vocabulary for each. */
const speaksOfTexts = ({ text }: PythonFile): boolean =>
  /pad_token|eos_token|input_ids|tokenizer/i.test(text);

/** `scores.masked_fill_(mask, -inf)`, `del scores` */
function isChangedOrDropped({ parent }: Name): boolean {
  return (
    parent?.kind === "Delete" ||
    (parent?.kind === "Tuple" && parent.parent?.kind === "Delete") ||
    (parent?.kind === "Attribute" &&
      /[a-z]_$/.test(parent.attr) &&
      parent.parent?.kind === "Call" &&
      parent.parent.parent?.kind === "ExprStmt")
  );
}

/** `x + self.body(x) * self.scale`, `self.body(x).mul(self.res_scale)`: the branch beside a residual. */
function isScaledBranch(expr: Expr, facts: Facts): boolean {
  if (expr.kind !== "Call" || selfAttribute(expr.func) === null) return false;
  const scaled =
    expr.parent?.kind === "Arg" || expr.parent?.kind === "Attribute" ? expr.parent.parent : expr.parent;
  const product = scaled?.kind === "Attribute" ? scaled.parent : scaled;
  if (product?.kind !== "Binary" && product?.kind !== "Call") return false;
  const beside = product.parent?.kind === "Binary" && product.parent.op === "+";
  return (
    (beside ? /self\.\w*scal/ : /self\.\w*(?:res\w*scal|scal\w*res)/).test(facts.file.textOf(product)) &&
    isLayer(expr.func, facts)
  );
}

function isLayer(expr: Expr, facts: Facts): boolean {
  return isOnlyMadeBy(expr, facts.file, (made) =>
    /^torch\.nn\.(?:Linear|Conv\w+|Sequential|Bilinear)$/.test(facts.file.dotted(made.func) ?? ""),
  );
}
