import { isFalse, isTrue, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, blockOf, isStatement, lastWord } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Expr, FunctionDef, Name, Node } from "../../python/tree.ts";
import { GRAD_OFF_CONTEXTS, GRAD_ON_CONTEXTS } from "./torch-names.ts";

/** What a context manager or decorator does to gradient recording; null for all others. */
function gradEffect(expr: Expr, file: PythonFile): "on" | "off" | null {
  if (expr.kind === "Call") {
    const name = file.dotted(expr.func);
    if (name === null) return null;
    if (name === "torch.set_grad_enabled" || name === "torch.autograd.set_grad_enabled") {
      const mode = positional(expr, 0);
      return isFalse(mode) ? "off" : isTrue(mode) ? "on" : null;
    }
    if (GRAD_OFF_CONTEXTS.has(name)) return isFalse(positional(expr, 0)) ? null : "off";
    return GRAD_ON_CONTEXTS.has(name) ? "on" : null;
  }
  const name = file.dotted(expr);
  if (name === null) return null;
  return GRAD_OFF_CONTEXTS.has(name) ? "off" : GRAD_ON_CONTEXTS.has(name) ? "on" : null;
}

export function decoratedGrad(fn: FunctionDef, file: PythonFile): "on" | "off" | null {
  for (const decorator of fn.decorators) {
    const effect = gradEffect(decorator, file);
    if (effect) return effect;
  }
  return null;
}

/** A context or decorator of the project's own that, by its name, may well switch recording: `@smart_inference_mode()`. */
function maySetGrad(expr: Expr): boolean {
  const callee = expr.kind === "Call" ? expr.func : expr;
  const name = callee.kind === "Attribute" ? callee.attr : callee.kind === "Name" ? callee.id : "";
  return /grad|inference|evaluating|eval_mode/i.test(name);
}

/** `ctx = nullcontext() if cpu else torch.autocast("cuda")`, by that or by its name: gradients are recorded as before. */
function isForCasting(context: Name, file: PythonFile): boolean {
  if (/autocast|(?:^|_)amp(?:_|$)|precision/i.test(context.id)) return true;
  const definitions = file.scopes.lookup(context)?.definitions ?? [];
  // `def estimate_loss(model, ctx)`, where a file has but one `ctx`, and that is one.
  const [given, ...more] = definitions;
  if (given?.node.kind === "Param" && more.length === 0) {
    // `def evaluate(model, ctx=nullcontext())`: who leaves it out has everything recorded, so that it is there for a cast.
    const left = given.node.default;
    if (left?.kind === "Call" && CASTS.test(file.dotted(left.func) ?? "")) return true;
    const others = file.all("Name").filter(({ id, scope }) => id === context.id && scope !== context.scope);
    const made = others.flatMap((other) => file.scopes.definitionAt(other) ?? []);
    return made.length > 0 && made.every((one) => isCast(one, file));
  }
  return definitions.length > 0 && definitions.every((one) => isCast(one, file));
}

function isCast({ how, value }: Definition, file: PythonFile): boolean {
  const either = value?.kind === "IfExp" ? [value.body, value.orelse] : value ? [value] : [];
  return (
    how === "assign" &&
    either.length > 0 &&
    either.every((one) => one.kind === "Call" && CASTS.test(file.dotted(one.func) ?? ""))
  );
}

const CASTS = /^contextlib\.nullcontext$|^torch\.(?:cuda\.amp\.|amp\.|cpu\.amp\.)?autocast$/;

/** What the code around the node says, up to its function: "on" and "off" are certain, null leaves it to the callers. */
export function lexicalGrad(node: Node, file: PythonFile): "on" | "off" | "unknown" | null {
  const sets = file.once(setsGrad);
  for (let child = node, at = node.parent; at; child = at, at = at.parent) {
    if (at.kind === "With" && isStatement(child)) {
      for (let n = at.items.length - 1; n >= 0; n--) {
        const given = at.items[n]!.context;
        // Of `with accumulate(model) and no_grad():` only the last is entered.
        const context = given.kind === "Bool" && given.op === "and" ? given.values.at(-1)! : given;
        const effect = gradEffect(context, file);
        if (effect) return effect;
        if (context.kind === "Call" && (file.dotted(context.func) ?? "").endsWith("set_grad_enabled"))
          return "unknown";
        // `with no_grad() if frozen else nullcontext():` decides at run time.
        if (context.kind === "IfExp" && (gradEffect(context.body, file) || gradEffect(context.orelse, file)))
          return "unknown";
        if (maySetGrad(context)) return "unknown";
        // A name bound to a context of unknown make may well be one.
        if (context.kind === "Name" && file.dotted(context) === null && !isForCasting(context, file))
          return "unknown";
      }
    } else if (at.kind === "FunctionDef" && isStatement(child)) {
      const effect = decoratedGrad(at, file);
      if (effect) return effect;
      if (at.decorators.some((decorator) => maySetGrad(decorator))) return "unknown";
      return sets ? statementSetsGrad(at.body, child, file) : null;
    } else if (at.kind === "Lambda") return null;
    else if (at.kind === "Module") return sets ? statementSetsGrad(at.body, child, file) : null;
    const earlier = sets && isStatement(child) ? statementSetsGrad(blockOf(child) ?? [], child, file) : null;
    if (earlier) return earlier;
  }
  return null;
}

/** `torch.set_grad_enabled(False)` as a statement before this one. */
const setsGrad = (file: PythonFile): boolean => file.callsNamed("set_grad_enabled").length > 0;

function statementSetsGrad(
  block: readonly Node[],
  before: Node,
  file: PythonFile,
): "on" | "off" | "unknown" | null {
  let result: "on" | "off" | "unknown" | null = null;
  for (const statement of block) {
    if (statement === before) break;
    if (
      statement.kind === "ExprStmt" &&
      statement.value.kind === "Call" &&
      file.dotted(statement.value.func) === "torch.set_grad_enabled"
    )
      result = gradEffect(statement.value, file) ?? "unknown";
  }
  return result;
}

/** Under `with torch.set_grad_enabled(args.learn):` */
export function isGradAsked(node: Node): boolean {
  return ancestors(node).some(
    (at) =>
      at.kind === "With" &&
      at.items.some(
        ({ context }) => context.kind === "Call" && lastWord(context.func) === "set_grad_enabled",
      ),
  );
}
