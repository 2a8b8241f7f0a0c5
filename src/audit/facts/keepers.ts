import { walk } from "../../python/nodes.ts";
import type { Expr, FunctionDef } from "../../python/tree.ts";
import { selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";

/** Parameters of a method that it adds to, or lists in, an attribute of self: meters and buffers. */
export interface Keeps {
  readonly sum: readonly string[];
  readonly list: readonly string[];
}

/** What meters and buffers call their doors: every method of a large tree would be too many to walk. */
const KEEPS =
  /^_?(?:update|add|push|append|put|store|save|record|log|accumulate|track|insert|observe|collect|remember|write|step|__call__)(?:_\w+)?$/;

/** Whether a method reads a parameter on the host: `float(v)`, `v.item()`. */
export function readsParameter(fn: FunctionDef): boolean {
  if (fn.parent?.kind !== "ClassDef" || fn.params.length < 2 || !KEEPS.test(fn.name)) return false;
  const params = new Set(fn.params.slice(1).map(({ name }) => name));
  const isParam = (expr: Expr | undefined): boolean => expr?.kind === "Name" && params.has(expr.id);
  let found = false;
  for (const statement of fn.body)
    walk(statement, (node) => {
      if (node.kind === "Call") {
        if (node.func.kind === "Name" && node.func.id === "float" && isParam(node.args[0]?.value))
          found = true;
        if (node.func.kind === "Attribute" && node.func.attr === "item" && isParam(node.func.value))
          found = true;
      }
      return !found;
    });
  return found;
}

/** Reads only the shape of each statement: this runs over every method of the tree. */
export function keptParameters(fn: FunctionDef): Keeps | null {
  if (fn.parent?.kind !== "ClassDef" || fn.params.length < 2 || !KEEPS.test(fn.name)) return null;
  const sum = new Set<string>();
  const list = new Set<string>();
  for (const statement of fn.body)
    walk(statement, (node) => {
      if (node.kind === "FunctionDef" || node.kind === "Lambda") return false;
      if (node.kind === "AugAssign" && node.op === "+" && selfAttribute(node.target) !== null)
        for (const name of plainNames(node.value)) sum.add(name);
      if (
        node.kind === "Call" &&
        node.func.kind === "Attribute" &&
        /^(?:append|appendleft|extend)$/.test(node.func.attr) &&
        node.args.length === 1 &&
        selfAttribute(node.func.value) !== null
      )
        for (const name of plainNames(node.args[0]!.value)) list.add(name);
      return true;
    });
  // A name bound anew in the body is no longer what was passed.
  const params = fn.params
    .slice(1)
    .map(({ name }) => name)
    .filter((name) => (sum.has(name) || list.has(name)) && !isRebound(fn, name));
  const kept = {
    sum: params.filter((name) => sum.has(name)),
    list: params.filter((name) => list.has(name)),
  };
  return kept.sum.length + kept.list.length > 0 ? kept : null;
}

function isRebound(fn: FunctionDef, name: string): boolean {
  let found = false;
  for (const statement of fn.body)
    walk(statement, (node) => {
      if (
        node.kind === "Assign" &&
        node.targets.some((target) => target.kind === "Name" && target.id === name)
      )
        found = true;
      return !found;
    });
  return found;
}

/** Names that come through with their graph: `v`, `v * n`, `(v, n)`. */
function plainNames(expr: Expr): string[] {
  if (expr.kind === "Name") return [expr.id];
  if (expr.kind === "Binary") return [...plainNames(expr.left), ...plainNames(expr.right)];
  if (expr.kind === "Tuple" || expr.kind === "List") return expr.items.flatMap(plainNames);
  return [];
}

/** Arguments with a graph, handed on every step to a method that keeps them. */
export function* keptArguments(
  facts: Facts,
  how: "sum" | "list",
): Generator<{ readonly arg: Expr; readonly into: string }> {
  for (const call of facts.callsTo("keeps")) {
    const callee = call.func.kind === "Attribute" ? facts.callee(call) : null;
    if (!callee?.keeps || callee.keeps[how].length === 0 || !facts.hot(call)) continue;
    for (const [at, { value, name, star }] of call.args.entries()) {
      const param = name ?? callee.params[at + 1];
      if (star !== 0 || param === undefined || !callee.keeps[how].includes(param)) continue;
      if (facts.value(value).graph === "yes" && facts.gradMode(call) !== "off")
        yield { arg: value, into: facts.file.textOf(call.func) };
    }
  }
}
