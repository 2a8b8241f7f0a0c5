import { positional } from "../../python/file.ts";
import { contains, functionOf } from "../../python/nodes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import type { Facts } from "../facts/facts.ts";
import type { Rule } from "../rule.ts";

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
    if (!/softmax/.test(facts.file.text)) return;
    const { file } = facts;
    for (const call of file.all("Call")) {
      const name = file.dotted(call.func) ?? "";
      const scores =
        name === "torch.nn.functional.softmax" || name === "torch.softmax"
          ? positional(call, 0)
          : call.func.kind === "Attribute" && call.func.attr === "softmax" && name === ""
            ? call.func.value
            : null;
      if (!scores || !isScores(scores, facts) || !meetsValues(call, facts)) continue;
      // A file that has the fused one too keeps this as its fallback.
      if (/scaled_dot_product_attention|flash_attn|xformers/.test(file.text) || !facts.hot(call)) continue;
      yield {
        at: call,
        message:
          "Softmax(QKᵀ) is built in full and kept for backward; `scaled_dot_product_attention` computes the same without ever holding it",
      };
    }
  },
};

/** `q @ k.transpose(-2, -1)`, scaled or masked, directly or through names of the function. */
function isScores(expr: Expr, facts: Facts, depth = 0): boolean {
  if (depth > 8) return false;
  const again = (inner: Expr): boolean => isScores(inner, facts, depth + 1);
  if (expr.kind === "Binary")
    return expr.op === "@"
      ? isTransposed(expr.right, facts)
      : /^[*/+-]$/.test(expr.op) && (again(expr.left) || again(expr.right));
  if (expr.kind === "Name")
    return facts.file.scopes
      .reaching(expr)
      .some(
        (one) => one.value !== null && (one.how === "assign" || one.how === "augment") && again(one.value),
      );
  if (expr.kind !== "Call") return false;
  const name = facts.file.dotted(expr.func) ?? "";
  if (/^torch\.(?:matmul|bmm)$/.test(name)) {
    const right = positional(expr, 1);
    return right !== null && isTransposed(right, facts);
  }
  return (
    expr.func.kind === "Attribute" &&
    name === "" &&
    /^(?:masked_fill|masked_fill_|float|div|div_|mul)$/.test(expr.func.attr) &&
    again(expr.func.value)
  );
}

function isTransposed(expr: Expr, facts: Facts): boolean {
  if (expr.kind === "Attribute") return expr.attr === "mT" || expr.attr === "T";
  return (
    expr.kind === "Call" &&
    expr.func.kind === "Attribute" &&
    /^(?:transpose|permute|mT|swapaxes)$/.test(expr.func.attr) &&
    facts.file.textOf(expr).length < 200
  );
}

/** The weights are then multiplied with values in the same function. */
function meetsValues(weights: Call, facts: Facts): boolean {
  const fn = functionOf(weights);
  if (!fn) return false;
  const products = [
    ...facts.file
      .all("Binary")
      .filter((node) => node.op === "@")
      .map((node) => node.left),
    ...facts.file
      .all("Call")
      .filter((node) => /^torch\.(?:matmul|bmm)$/.test(facts.file.dotted(node.func) ?? ""))
      .flatMap((node) => positional(node, 0) ?? []),
  ];
  return products.some(
    (left) => contains(fn, left) && left.start > weights.start && comesFrom(left, weights, facts, 0),
  );
}

function comesFrom(expr: Expr, source: Call, facts: Facts, depth: number): boolean {
  if (expr === source) return true;
  if (depth > 5) return false;
  if (expr.kind === "Name")
    return facts.file.scopes
      .reaching(expr)
      .some((one) => one.value !== null && comesFrom(one.value, source, facts, depth + 1));
  return (
    expr.kind === "Call" &&
    expr.args.length > 0 &&
    (comesFrom(expr.args[0]!.value, source, facts, depth + 1) ||
      (expr.func.kind === "Attribute" && comesFrom(expr.func.value, source, facts, depth + 1)))
  );
}
