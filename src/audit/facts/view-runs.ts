import { argument, isNone, positional } from "../../python/file.ts";
import { contains } from "../../python/nodes.ts";
import type { Call, Expr, Node } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { KEEPS_SIZE, isNetwork, networkCall, unwrapped } from "./networks.ts";

/** Brings what several views gave to the size of one: `torch.stack([a, b]).mean(0)`. */
const AVERAGES = /^(?:mean|sum)$/;
const METHODS_OF_SIZE =
  /^(?:detach|float|half|clone|squeeze|sigmoid|(?:log_)?softmax|t|transpose|div|div_|mul|add|add_)$/;

/** `torch.matmul(features, classes.t())`, `F.linear(features, weight)`, and as a method. */
const MULTIPLIES = /^(?:matmul|mm|bmm|linear)$/;

/** `torch.einsum("nd,cd->nc", …)`: a row for each example, and no number. */
function givesRows({ args: [how] }: Call): boolean {
  return how?.value.kind === "Str" && /->\s*(?:\w\s*){2,}$/.test(how.value.value ?? "");
}

/**
 * `(net(x) + net(x.flip(3))) / 2`, `out += net(x.flip(3))`, `torch.stack([a, b]).mean(0)`: what a network gave for several
 * views of a batch, together as large as for one. So are the scores by `model.encode_image(x) @ classes.t()`, a row for each
 * example. The first of its runs in the loop.
 */
export function runOfViews(expr: Expr, loop: Node, facts: Facts, depth = 0): Call | null {
  if (depth > 8) return null;
  const { file } = facts;
  const run = depth > 0 ? (networkCall(expr, facts) ?? methodRun(expr, facts)) : null;
  if (run) return facts.networks.isLoss(run.func) || !contains(loop, run) ? null : run;
  const again = (inner: Expr | null): Call | null =>
    inner ? runOfViews(inner, loop, facts, depth + 1) : null;
  const firstOf = (all: readonly Expr[]): Call | null =>
    all.map((one) => again(one)).find((one) => one !== null) ?? null;
  if (expr.kind === "Binary") return /^[-+*/@]$/.test(expr.op) ? firstOf([expr.left, expr.right]) : null;
  // `net(x).sigmoid() > 0.5`: a mask, an entry for each of the network's.
  if (expr.kind === "Compare") return expr.rights.every(isPlainNumber) ? again(expr.left) : null;
  // `features.T`
  if (expr.kind === "Attribute") return /^m?T$/.test(expr.attr) ? again(expr.value) : null;
  if (expr.kind === "Name") {
    const definitions = file.scopes.reaching(expr);
    const runs = definitions.map(({ how, value, node }) =>
      how === "augment"
        ? (again(value) ?? (node.kind === "Name" && node !== expr ? again(node) : null))
        : how === "assign" && !isPlainNumber(value)
          ? again(value)
          : null,
    );
    const known = definitions.every(
      ({ how, value }, at) => runs[at] !== null || (how === "assign" && isPlainNumber(value)),
    );
    return known ? (runs.find((one) => one !== null) ?? null) : null;
  }
  if (expr.kind !== "Call" || expr.func.kind !== "Attribute") return null;
  const { attr, value } = expr.func;
  const given = expr.args.map((arg) => arg.value);
  const name = file.dotted(expr.func);
  if (name !== null) {
    const word = /^torch\.(?:nn\.functional\.)?(\w+)$/.exec(name)?.[1] ?? "";
    if (MULTIPLIES.test(word) || (word === "einsum" && givesRows(expr))) return firstOf(given);
    // `torch.cat([net(x), net(x.flip(3))], 1)`
    const [joined] = given;
    if (/^(?:cat|concat|concatenate|stack|hstack)$/.test(word))
      return joined?.kind === "List" || joined?.kind === "Tuple" ? firstOf(joined.items) : null;
    return KEEPS_SIZE.test(name) ? again(positional(expr, 0)) : null;
  }
  if (MULTIPLIES.test(attr)) return firstOf([value, ...given]);
  return AVERAGES.test(attr)
    ? stackedRun(value, argument(expr, "dim", 0), loop, facts, depth)
    : METHODS_OF_SIZE.test(attr)
      ? again(value)
      : null;
}

/** The first run in `torch.stack([net(x), net(x.flip(3))])`, whose average along the new dimension is as large as each. */
function stackedRun(expr: Expr, along: Expr | null, loop: Node, facts: Facts, depth: number): Call | null {
  const { file } = facts;
  if (expr.kind !== "Call" || file.dotted(expr.func) !== "torch.stack" || !along) return null;
  const dimension = argument(expr, "dim", 1);
  if (file.textOf(along) !== (dimension ? file.textOf(dimension) : "0")) return null;
  const views = positional(expr, 0);
  const first = views?.kind === "List" || views?.kind === "Tuple" ? views.items[0] : undefined;
  return first ? runOfViews(first, loop, facts, depth + 1) : null;
}

/** `out = 0` before the views are gone through. */
function isPlainNumber(value: Expr | null): boolean {
  return value?.kind === "Num" || isNone(value);
}

/** `model.encode(x)`, also under a name or cut off: a method that runs the network, whatever it makes of its outputs. */
export function methodRun(expr: Expr, facts: Facts, depth = 0): Call | null {
  if (depth > 4) return null;
  const again = (inner: Expr | null | undefined): Call | null =>
    inner ? methodRun(inner, facts, depth + 1) : null;
  if (expr.kind === "Name") {
    const [one, ...more] = facts.file.scopes.reaching(expr);
    return one?.how === "assign" && more.length === 0 ? again(one.value) : null;
  }
  if (expr.kind !== "Call" || expr.func.kind !== "Attribute") return null;
  const { attr, value } = expr.func;
  if (/^(?:detach|float|squeeze|unsqueeze|view|flatten)$/.test(attr)) return again(value);
  return /^(?:encode(?:_\w+)?|forward_\w+|extract_\w*features?|get_\w*(?:features|embeddings?|logits)|embed(?:_\w+)?|\w*representations?)$/.test(
    attr,
  ) && isNetwork(unwrapped(value), facts)
    ? expr
    : null;
}
