import { positional } from "../../python/file.ts";
import { classOf, functionOf } from "../../python/nodes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { attentions } from "../facts/attention.ts";
import type { Facts } from "../facts/facts.ts";
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
  },
};

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
      fn.name !== "forward" ||
      !cls ||
      facts.role(cls) !== "module"
    )
      continue;
    // Of a size the module knows it is another rule's matter.
    if (!source.args.some((arg) => derivesFromShape(arg.value)) || !facts.everyStep(call)) continue;
    yield {
      at: call,
      message:
        "The causal mask is built again in every forward; `scaled_dot_product_attention` with `is_causal=True` needs none, and a buffer holds one for good",
    };
  }
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
