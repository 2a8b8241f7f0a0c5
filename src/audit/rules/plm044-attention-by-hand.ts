import { positional } from "../../python/file.ts";
import { ancestors, classOf, functionOf, lastWord } from "../../python/nodes.ts";
import type { Attribute, Call, Expr } from "../../python/tree.ts";
import { attentions, isFallback } from "../facts/attention.ts";
import { selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { lexicalGrad } from "../facts/gradmode.ts";
import { returnsByName } from "../facts/returns.ts";
import { callTarget } from "../facts/summary.ts";
import type { Finding, Rule } from "../rule.ts";

const MESSAGE =
  "Softmax(QKᵀ) is built in full and kept for backward; `scaled_dot_product_attention` computes the same without ever holding it";

export const rule: Rule = {
  meta: {
    code: "PLM044",
    name: "attention-by-hand",
    summary: "Attention is written out: the matrix of length × length is built and kept for backward",
    severity: "note",
    fix: "none",
    patterns: [44],
  },
  *check(facts) {
    yield* masks(facts);
    for (const { at } of facts.once(attentions)) yield { at, message: MESSAGE };
    if (facts.guesses) yield* likelyWritten(facts);
  },
};

/** A softmax of what some product gave, by whatever names and helpers, that goes into another product. */
function* likelyWritten(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const call of new Set([
    ...file.callsNamed("softmax"),
    ...(file.callsNamed("Softmax").length > 0 ? file.calls.matching(/softmax|attn_?fn|^act$/i) : []),
  ])) {
    const name = file.dotted(call.func);
    const given =
      name === null &&
      call.func.kind === "Attribute" &&
      call.func.attr === "softmax" &&
      selfAttribute(call.func) === null
        ? call.func.value
        : positional(call, 0);
    if (!given || facts.hot(call) === null || lexicalGrad(call, file) === "off") continue;
    const fn = functionOf(call);
    if (fn && ASKS_MATRIX.test(file.codeOf(fn)) && !isFallback(call, facts)) continue;
    if (isFallback(call, facts) || !isOfProduct(given, facts, 0) || !meetsProduct(call, facts, 0)) continue;
    yield { at: call, message: MESSAGE };
  }
}

/** Graphs and slots, whose scores are over few things, and what is normalised over another axis. */
const ASKS_MATRIX = /adj|edge_index|slot|routing|gumbel|top_?k\(/i;

const PRODUCT = /^(?:matmul|bmm|mm|einsum|baddbmm|contract)$/;

/** `scores`, of `scores = q @ k.mT` and all that was masked, scaled or moved on the way. */
function isOfProduct(expr: Expr, facts: Facts, depth: number): boolean {
  if (depth > 8) return false;
  const again = (inner: Expr | null): boolean => inner !== null && isOfProduct(inner, facts, depth + 1);
  const { file } = facts;
  if (expr.kind === "Binary")
    return expr.op === "@"
      ? selfAttribute(expr.left) === null && selfAttribute(expr.right) === null
      : again(expr.left) || (expr.op !== "/" && again(expr.right));
  if (expr.kind === "Name")
    return file.scopes
      .reaching(expr)
      .some(({ how, value }) => (how === "assign" || how === "augment") && again(value));
  if (expr.kind === "Subscript") return again(expr.value);
  if (expr.kind === "IfExp") return again(expr.body) || again(expr.orelse);
  if (expr.kind !== "Call") return false;
  const word = lastWord(expr.func);
  if (PRODUCT.test(word))
    return !expr.args.some(({ value }) => selfAttribute(value) !== null) && !isOwnMatrix(expr.func);
  if (/^(?:sum|mean|norm|max|min|Linear|cosine_similarity|topk)$/.test(word)) return false;
  const own = (file.once(returnsByName).get(callTarget(expr, file) ?? "") ?? []).some(again);
  if (own) return true;
  const isMethod =
    expr.func.kind === "Attribute" && file.dotted(expr.func) === null && selfAttribute(expr.func) === null;
  return isMethod
    ? again((expr.func as Attribute).value)
    : SHAPES.test(word) && expr.args.slice(0, 2).some(({ value }) => again(value));
}

const SHAPES =
  /^(?:where|masked_fill|add|mul|div|clamp|tanh|\w*(?:drop|mask|bias|scale|rel)\w*|rearrange|float|reshape)$/;

/** `self.experts.matmul(x)`: a layer, and not each place with each. */
function isOwnMatrix(func: Expr): boolean {
  return func.kind === "Attribute" && selfAttribute(func.value) !== null;
}

/** Into a product, as it is, under a name, dropped out or reshaped. */
function meetsProduct(expr: Expr, facts: Facts, depth: number): boolean {
  if (depth > 8) return false;
  const { parent } = expr;
  const { scopes } = facts.file;
  // `(weights - k * others) @ values` is of two attentions, which no call computes.
  if (parent?.kind === "Binary")
    return parent.op === "@" || (!/^[+-]$/.test(parent.op) && meetsProduct(parent, facts, depth + 1));
  if (parent?.kind === "Attribute" && parent.parent?.kind === "Call" && parent.parent.func === parent)
    return PRODUCT.test(parent.attr) || meetsProduct(parent.parent, facts, depth + 1);
  if (parent?.kind === "Arg" && parent.parent?.kind === "Call")
    return (
      PRODUCT.test(lastWord(parent.parent.func)) ||
      (/drop|rearrange|^where$|^mul$|weights?$/i.test(lastWord(parent.parent.func)) &&
        meetsProduct(parent.parent, facts, depth + 1))
    );
  const [target] = parent?.kind === "Assign" ? parent.targets : [];
  const made = target?.kind === "Name" ? scopes.definitionAt(target) : null;
  return made !== null && scopes.uses(made).some((use) => meetsProduct(use, facts, depth + 1));
}

/** `torch.tril(torch.ones(T, T))` sized by the input, in a forward. */
function* masks(facts: Facts): Generator<Finding> {
  for (const call of facts.file.callsNamed(
    "tril",
    "triu",
    "generate_square_subsequent_mask",
    "_generate_square_subsequent_mask",
  )) {
    const fn = functionOf(call);
    const cls = classOf(call);
    const source = (call.func.kind === "Attribute" ? call.func.attr : "").endsWith("_mask")
      ? call
      : maskSource(call, facts);
    if (
      !source ||
      fn?.kind !== "FunctionDef" ||
      (facts.guesses
        ? fn.name === "__init__" || isKeptBehindTest(call, facts)
        : fn.name !== "forward" || !cls || facts.role(cls) !== "module")
    )
      continue;
    // Of a size the module knows it is another rule's matter.
    if (!source.args.some((arg) => derivesFromShape(arg.value)) || !facts.everyStep(call)) continue;
    if (facts.guesses && (facts.gradMode(call) === "off" || OF_DATA.test(facts.file.path))) continue;
    yield {
      at: call,
      message:
        "The causal mask is built again in every forward; `scaled_dot_product_attention` with `is_causal=True` needs none, and a buffer holds one for good",
    };
  }
}

/** Where batches are laid out, on the host. */
const OF_DATA = /collat|dataset|tokeniz/i;

/** `if self.mask is None or self.mask.size(0) < n: self.mask = …`: once for each length. */
function isKeptBehindTest(call: Call, { file }: Facts): boolean {
  return ancestors(call).some(
    (at) =>
      at.kind === "If" && /\bNone\b|hasattr|\bnot in\b|\.(?:size|shape)\b|cache/.test(file.textOf(at.test)),
  );
}

/** The `torch.ones(…)` or `torch.full(…)` that a triangle is cut from. */
function maskSource(call: Call, facts: Facts): Call | null {
  const name = facts.file.dotted(call.func);
  const base =
    name === "torch.tril" || name === "torch.triu"
      ? positional(call, 0)
      : name === null && call.func.kind === "Attribute" && /^tri[lu]$/.test(call.func.attr)
        ? call.func.value
        : null;
  return base?.kind === "Call" && /^torch\.(?:ones|full)$/.test(facts.file.dotted(base.func) ?? "")
    ? base
    : null;
}

function derivesFromShape(expr: Expr): boolean {
  if (expr.kind === "Name") return /^[A-Z]$|len|size|seq|^[tn]$/i.test(expr.id);
  if (expr.kind === "Tuple" || expr.kind === "List") return expr.items.some(derivesFromShape);
  if (expr.kind === "Subscript") return derivesFromShape(expr.value);
  if (expr.kind === "Attribute") return expr.attr === "shape";
  if (expr.kind !== "Call") return false;
  return expr.func.kind === "Attribute"
    ? expr.func.attr === "size"
    : expr.func.kind === "Name" && expr.func.id === "len";
}
