import { argument, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { lastWord, statementOf } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Attribute, Binary, Call, Comp, Expr, Name, Node, Subscript } from "../../python/tree.ts";
import { attentions, equationOf, isFallback, rearrangedOf } from "./attention.ts";
import { isOnlyMadeBy, isSelf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { isOnOtherWay } from "./guards.ts";
import { isNetwork } from "./networks.ts";
import { returnsByName } from "./returns.ts";
import { callTarget } from "./summary.ts";
import { isTensorLike } from "./value.ts";
import { MULTIPLIES, isMatmul, isOfKind, isProduct, isScalar } from "./products.ts";

export function isLarge(expr: Expr, facts: Facts): boolean {
  return (
    isProduct(expr, facts) ||
    isScores(expr, facts) ||
    isOfBatches(expr, facts) ||
    (expr.kind === "Name" && isHeld(expr, facts)) ||
    isScaledBranch(expr, facts) ||
    isLogits(expr, facts) ||
    isWidenedLogits(expr, facts)
  );
}
import { isHandedBackForNothing } from "./turned-functions.ts";

/** `q @ k.transpose(-2, -1)` of an attention that is written out: of length × length, each of the two. */
function isScores(expr: Expr, facts: Facts): boolean {
  return (
    (expr.kind === "Call" || (expr.kind === "Binary" && expr.op === "@")) &&
    facts.once(attentions).some(({ products }) => products.includes(expr))
  );
}

/** `torch.bmm(a, b)`, `x @ y.transpose(1, 2)`: a matrix for each example; `self.weight.mm(x)`: a layer that is written out. */
export function isOfBatches(expr: Expr, facts: Facts): boolean {
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

/** How what multiplies matrices is called. */
export const PRODUCTS = /mul$|mm$|einsum$|linear$/;

/** What a matrix product is of. */
export function factors(expr: Expr, facts: Facts): readonly Expr[] {
  if (expr.kind === "Binary") return expr.op === "@" ? [expr.left, expr.right] : [];
  // Asked of every value that is given a name: most are of other calls.
  if (expr.kind !== "Call" || !PRODUCTS.test(lastWord(expr.func))) return [];
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
export function isLogits(expr: Expr, { file }: Facts): boolean {
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

/** `model(**batch).logits.float()`, `model(tokens).logits.to(torch.float32)`: of a language model, and nothing else holds them. */
export function isWidenedLogits(expr: Expr, facts: Facts): boolean {
  const cast =
    expr.kind === "Call" && expr.func.kind === "Attribute" && /^(?:float|to|type)$/.test(expr.func.attr)
      ? expr.func.value
      : expr;
  return cast.kind === "Attribute" && cast.attr === "logits" && cast.value.kind === "Call"
    ? isTokenLogits(cast, facts)
    : false;
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
  // `-distances / temperature`
  const signed = name.parent?.kind === "Unary" && name.parent.op === "-" ? name.parent : name;
  const scaled = signed.parent?.kind === "Binary" ? signed.parent : methodOf(name);
  if (!scaled) return false;
  const scaledWhole = wholeOf(scaled, facts);
  const many = eachOf(name);
  const whole = many && scaledWhole.parent === many.list ? many.list : scaledWhole;
  const target = targetOf(whole);
  const old = many ? many.over.id : name.id;
  if (target ? target.kind !== "Name" : !isConsumed(whole)) return false;
  const one = heldValue(name, facts);
  if (!one) return false;
  const { value } = one;
  // `logits = logits / t` frees the first one, unless `outputs.logits` is the same; `logits = cap * torch.tanh(logits / cap)` does,
  // but not before the last of its steps is done.
  const kept = isKeptByOutputs(value, facts);
  const isFreedLate = (): boolean =>
    facts.guesses &&
    (isLogits(value, facts) || isTokenLogits(value, facts)) &&
    isGoneOnWith(scaled, scaledWhole);
  if (target?.kind === "Name" && target.id === old && !kept && !isFreedLate()) return false;
  const made =
    value.kind === "Binary"
      ? value.op === "@" ||
        (value.op === "*" && value.left.kind === "Name" && isScalar(value.right, facts)) ||
        (/^[+-]$/.test(value.op) &&
          isShifted(value, facts) &&
          target?.kind === "Name" &&
          isForSoftmax(target, facts))
      : kept ||
        isTokenLogits(value, facts) ||
        (value.kind === "Call" &&
          (RESIZES.test(facts.file.dotted(value.func) ?? "") ||
            facts.file.dotted(value.func) === "torch.cdist" ||
            MULTIPLIES.test(facts.file.dotted(value.func) ?? "") ||
            isMatmul(value, facts) ||
            isJoined(value, facts) ||
            isHelped(value, facts) ||
            (selfAttribute(value.func) !== null && isLayer(value.func, facts)))) ||
        (target?.kind === "Name" && isTurnedCopy(one.made.value) && isForSoftmax(target, facts));
  if (!made) return false;
  const reads = facts.file.scopes
    .uses(one.made)
    .filter((use) => !isChangedOrDropped(use) && !isOfKind(use) && maskedBy(use) === null)
    // `if t > 0: logits = logits / t`: what is below reads the scaled ones where there are some.
    .filter((use) => use === name || !target || !isOneOf(target, use, facts))
    // `if self.memory: attn = self.memory(query, scores)`, `else: scaled = scores / 8`
    .filter((use) => use === name || !isOnOtherWay(use, name))
    .filter((use) => !isHandedBackForNothing(use, facts.file));
  // Scores that are handed out as well may be the scaled ones.
  const inside = isLogits(value, facts) ? reads.filter((use) => statementOf(use)?.kind !== "Return") : reads;
  return inside.length === 1;
}

/** Whether a name may stand for what a target was given. */
function isOneOf(target: Expr, use: Name, { file: { scopes } }: Facts): boolean {
  return (
    target.kind === "Name" && target.id === use.id && scopes.reaching(use).some(({ node }) => node === target)
  );
}

/**
 * `outputs.logits` and `outputs.logits[:, :-1]`, of what a language model handed back and still has a name: read for this alone, and
 * not dropped below.
 */
export function isKeptByOutputs(expr: Expr, facts: Facts): boolean {
  const part = expr.kind === "Subscript" ? expr : null;
  const logits = part ? unshaped(part.value, facts) : expr;
  if (logits.kind !== "Attribute" || logits.attr !== "logits" || logits.value.kind !== "Name") return false;
  const [made, ...more] = facts.file.scopes.reaching(logits.value);
  if (made?.how !== "assign" || more.length > 0 || made.value?.kind !== "Call") return false;
  return (
    facts.file.once(speaksOfTokens) &&
    isNetwork(made.value.func, facts) &&
    (part === null || isTokenLogits(part, facts)) &&
    !(facts.file.scopes.lookup(logits.value)?.definitions ?? []).some(({ how }) => how === "delete") &&
    // Whatever else is read of it, it may be there for that; and what is handed on may be emptied.
    facts.file.scopes.uses(made).every((use) => use === logits.value || isShapeOf(use))
  );
}

/** `outputs.logits.shape` */
function isShapeOf({ parent }: Name): boolean {
  return (
    parent?.kind === "Attribute" &&
    parent.parent?.kind === "Attribute" &&
    /^(?:shape|size|dtype|device)$/.test(parent.parent.attr)
  );
}

/** `scores.permute(0, 2, 3, 1).contiguous().view(-1, classes)`, `scores.permute(0, 2, 3, 1).reshape(-1, classes)`: a row for each pixel, and no view. */
function isTurnedCopy(made: Expr | null): boolean {
  let copies = false;
  for (let at = made; at?.kind === "Call" && at.func.kind === "Attribute"; at = at.func.value) {
    if (at.func.attr === "permute" && at.args.length > 3) return copies;
    copies ||= /^(?:contiguous|reshape|flatten|clone)$/.test(at.func.attr);
  }
  return false;
}

/** `out` of `[out / temperature for out in outputs]`: the list that is made, and what it is made of, one by one. */
function eachOf(name: Name): { readonly list: Comp; readonly over: Name } | null {
  const list = name.scope?.kind === "Comp" ? name.scope : null;
  const clause = list?.value === null && list.clauses.length === 1 ? list.clauses[0] : null;
  return list && clause?.target.kind === "Name" && clause.target.id === name.id && clause.iter.kind === "Name"
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

const MASKS = /^(?:masked_fill|where)$/;

/**
 * The new `scores` of `scores = scores.masked_fill(mask, -1e9)`, `scores = torch.where(mask, scores, low)` and
 * `scores = scores + mask`: the same places, of which some are covered.
 */
export function maskedBy(use: Name): Name | null {
  const call = methodOf(use);
  const covered =
    use.parent?.kind === "Binary" && /^[+-]$/.test(use.parent.op) && use.parent.left === use
      ? use.parent
      : call && MASKS.test(lastWord(call.func))
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

/** `cap * torch.tanh(logits / cap)`: what is scaled is gone on with, and no view, before the result has a name. */
function isGoneOnWith(scaled: Expr, whole: Expr): boolean {
  for (let at: Node | null = scaled; at && at !== whole; at = at.parent) {
    const { parent } = at;
    if (parent?.kind === "Binary") return true;
    if (parent?.kind === "Call" && !LAYS_OUT.test(lastWord(parent.func))) return true;
  }
  return false;
}

const LAYS_OUT = /^(?:view|reshape|flatten|transpose|contiguous|float)$/;

const AS_LARGE =
  /^(?:tanh|exp|float|sigmoid|clamp|neg|mul|div|(?:log_)?softmax|view|reshape|flatten|transpose|contiguous)$/;

/** `x.tanh()`, `torch.tanh(x)` of `x`. */
export function methodOf({ parent }: Expr): Call | null {
  const call = parent?.kind === "Arg" || parent?.kind === "Attribute" ? parent.parent : null;
  return call?.kind === "Call" ? call : null;
}

/** `centred = teacher_output - self.center`: of two tensors, so as large as its first. */
function isShifted({ left, right }: Binary, facts: Facts): boolean {
  return isTensorLike(facts.value(left)) && !isScalar(right, facts);
}

/** `chances = softmax(scaled, dim=-1)`: what a softmax is taken of is a row for each example, or for each place. */
export function isForSoftmax(target: Name, facts: Facts, depth = 0): boolean {
  const { scopes } = facts.file;
  const scaled = scopes.definitionAt(target);
  const uses = scaled ? scopes.uses(scaled).filter((use) => !isChangedOrDropped(use) && !isOfKind(use)) : [];
  return (
    uses.length > 0 &&
    uses.every((use) => {
      // Masked, shifted or scaled on its way there.
      const next = goneOnAs(use);
      if (next) return depth < 4 && isForSoftmax(next, facts, depth + 1);
      if (SOFTMAX.test(lastWord(methodOf(use)?.func ?? use))) return true;
      // `logits[pairs]`, beside the sum over all of them.
      return isPicked(use) && uses.some((other) => SOFTMAX.test(lastWord(methodOf(other)?.func ?? other)));
    })
  );
}

const SOFTMAX = /^(?:(?:log_)?softmax|logsumexp)$/;

/** `logits[rows, labels]`, `logits.diagonal()`: a few of them. */
function isPicked({ parent }: Name): boolean {
  return (
    parent?.kind === "Subscript" || (parent?.kind === "Attribute" && /^diag(?:onal)?$/.test(parent.attr))
  );
}

/** What scores are called after a step that leaves them as large, and needs them no longer: `masked = scores.masked_fill(mask, low)`, `kept = scores`. */
function goneOnAs(use: Name): Name | null {
  const call = methodOf(use);
  const step =
    use.parent?.kind === "Binary" && /^[-+*/]$/.test(use.parent.op) && use.parent.left === use
      ? use.parent
      : call && /^(?:masked_fill|where|add|sub|mul|div)$/.test(lastWord(call.func))
        ? call
        : use;
  const target = targetOf(step);
  return target?.kind === "Name" ? target : null;
}

/**
 * A product of pairs, or what it became under whatever name without being needed again: covered, shifted or scaled. Each of these is
 * as large, and none is what a backward keeps.
 */
export function isOfScores(expr: Expr, facts: Facts, depth = 0): boolean {
  if (depth > 5) return false;
  const again = (inner: Expr | null): boolean => inner !== null && isOfScores(inner, facts, depth + 1);
  if (expr.kind === "Name") {
    const made = facts.file.scopes.reaching(expr);
    return made.length > 0 && made.every(({ how, value }) => how === "assign" && again(value));
  }
  if (expr.kind === "IfExp") return again(expr.body) && again(expr.orelse);
  if (isProduct(expr, facts) || isScores(expr, facts) || isOfBatches(expr, facts) || isOfPairs(expr, facts))
    return true;
  if (expr.kind === "Binary")
    return /^[+-]$/.test(expr.op)
      ? again(expr.left) || again(expr.right)
      : /^[*/]$/.test(expr.op) && again(expr.left) && isScalar(expr.right, facts);
  if (expr.kind !== "Call" || expr.func.kind !== "Attribute") return false;
  const name = facts.file.dotted(expr.func);
  if (name !== null) return name === "torch.where" && again(positional(expr, 1));
  return /^(?:masked_fill|add|sub)$/.test(expr.func.attr) && again(expr.func.value);
}

/** `torch.cdist(a, b)`, `F.cosine_similarity(x[:, None], x[None])`: a number for each pair of examples. */
function isOfPairs(expr: Expr, facts: Facts): boolean {
  const name = expr.kind === "Call" ? facts.file.dotted(expr.func) : null;
  if (expr.kind !== "Call" || name === null) return false;
  if (name === "torch.cdist") return true;
  const both = [positional(expr, 0), positional(expr, 1)];
  return (
    name === "torch.nn.functional.cosine_similarity" &&
    both.every((one) => one !== null && /\bNone\b|unsqueeze\(/.test(facts.file.textOf(one)))
  );
}

const RESIZES = /^torch\.nn\.functional\.(?:interpolate|upsample)$/;

/** What gave a name its value, alone: an assignment, or `output, hidden = model(data, hidden)`. */
export function heldValue(
  name: Name,
  facts: Facts,
): { readonly value: Expr; readonly made: Definition } | null {
  const many = eachOf(name);
  if (many) return heldValue(many.over, facts);
  const all = facts.file.scopes.reaching(name);
  const last = all.length === 1 ? all[0]! : null;
  const source = last && maskedOf(last);
  // Masked whatever happens: as large as what was masked.
  if (source) {
    const first = heldValue(source, facts);
    return first && { value: first.value, made: last };
  }
  const unmasked = last ? all : all.filter((one) => maskedOf(one) === null);
  const made = unmasked.length === 1 ? unmasked[0]! : null;
  if (!made?.value) return null;
  const { how, value, index } = made;
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
  if (expr.kind !== "Call") return expr;
  const inner = rearrangedOf(expr, facts.file);
  if (inner) return unshaped(inner, facts);
  return expr.func.kind === "Attribute" &&
    facts.file.dotted(expr.func) === null &&
    /^(?:contiguous|view|reshape|transpose|permute|squeeze|unsqueeze|flatten)$/.test(expr.func.attr)
    ? unshaped(expr.func.value, facts)
    : expr;
}

/** The old `scores` of `scores = scores.masked_fill(mask, -1e9)`, which perhaps happens only where there is a mask. */
function maskedOf({ how, node, value }: Definition): Name | null {
  if (how !== "assign" || !value) return null;
  const isMasked = (one: Expr): one is Name => one.kind === "Name" && maskedBy(one) === node;
  if (value.kind === "Binary") return isMasked(value.left) ? value.left : null;
  if (value.kind !== "Call" || !MASKS.test(lastWord(value.func))) return null;
  if (value.func.kind === "Attribute" && isMasked(value.func.value)) return value.func.value;
  for (const arg of value.args) if (isMasked(arg.value)) return arg.value;
  return null;
}

/** `model(**batch).logits`, `model(tokens)`, `model(images)` with a class for each pixel, or those of a run of places, `logits[:, -kept:, :]`, of a language model. */
export function isTokenLogits(expr: Expr, facts: Facts): boolean {
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
export function isChangedOrDropped({ parent }: Name): boolean {
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
    (isLayer(expr.func, facts) || (beside && facts.value(expr.func).what === "module"))
  );
}

function isLayer(expr: Expr, facts: Facts): boolean {
  return isOnlyMadeBy(expr, facts.file, (made) =>
    /^torch\.nn\.(?:Linear|Conv\w+|Sequential|Bilinear)$/.test(facts.file.dotted(made.func) ?? ""),
  );
}
