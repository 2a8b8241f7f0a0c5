import { ancestors, classOf, contains, functionOf, lastWord } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Assign, Call, ClassDef, Expr, FunctionDef, Node } from "../../python/tree.ts";
import { STATE, ownState } from "./carried-states.ts";
import { attributesOf, isModuleRole, methodsOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { derivesFromInput } from "./flow.ts";
import { callsOf, paramGiven } from "./returns.ts";
import { assignsBeyondNames } from "./assigns.ts";

/** What a network remembers of the forwards before, with their graphs. */
export interface JoinedMemory {
  readonly at: Expr;
  readonly own: string;
}

/** Caches of generation are carried without gradients, and a queue of keys is no state. */
const NO_STATE = /cache|past|kv|mask|shape|size|bank|queue|buffer/i;

/**
 * `self.memory[i] = torch.cat((self.memory[i], x), dim=1)[:, -n:]` in a forward, or in a method that it calls with what it
 * has computed: the next forward reads it, and so runs on top of the graph of this one.
 */
export function* joinedMemories(facts: Facts): Generator<JoinedMemory> {
  const { file } = facts;
  for (const statement of file.callsNamed("cat", "concat", "concatenate").length > 0
    ? assignsBeyondNames(file)
    : []) {
    const [target] = statement.targets;
    const own = target ? ownState(target) : null;
    if (own === null || !STATE.test(own) || NO_STATE.test(own)) continue;
    const cls = classOf(statement);
    const fn = functionOf(statement);
    if (!cls || fn?.kind !== "FunctionDef" || fn.name === "__init__" || !isModuleRole(facts.role(cls)))
      continue;
    if (facts.gradMode(statement) === "off" || isCutOffAnywhere(own, facts)) continue;
    const added = addedTo(own, statement.value, facts);
    if (
      added.some((part) => isComputed(part, facts)) &&
      isReadBeside(own, statement, facts) &&
      !isBegunByForward(own, cls, statement, facts)
    )
      yield { at: target!, own };
  }
}

function isCutOffAnywhere(own: string, { file }: Facts): boolean {
  return file.says(new RegExp(`\\b${own}\\b[^\\n]*detach|\\.detach_?\\(\\)[^\\n]*\\b${own}\\b`));
}

/** The others of what an expression joins the memory with. */
function addedTo(own: string, expr: Expr, facts: Facts, depth = 0): readonly Expr[] {
  if (depth > 4) return [];
  const again = (inner: Expr): readonly Expr[] => addedTo(own, inner, facts, depth + 1);
  if (expr.kind === "Subscript") return again(expr.value);
  if (expr.kind === "IfExp") return [...again(expr.body), ...again(expr.orelse)];
  if (expr.kind === "Comp") return again(expr.element);
  if (expr.kind === "Name")
    return facts.file.scopes
      .reaching(expr)
      .flatMap(({ how, value }) => (how === "assign" && value ? again(value) : []));
  if (expr.kind !== "Call") return [];
  if (expr.func.kind === "Attribute" && expr.func.attr === "contiguous") return again(expr.func.value);
  const parts = /^torch\.(?:cat|concat|concatenate)$/.test(facts.file.dotted(expr.func) ?? "")
    ? expr.args[0]?.value
    : null;
  if (parts?.kind !== "List" && parts?.kind !== "Tuple") return [];
  const others = parts.items.filter((part) => !isOwn(own, part, facts));
  return others.length < parts.items.length ? others : [];
}

/** `self.memory`, `self.memory[i]`, and `m` of `for m, h in zip(self.memory, hiddens)`. */
function isOwn(own: string, part: Expr, { file }: Facts): boolean {
  if (ownState(part) === own) return true;
  const from = part.kind === "Name" ? file.scopes.reaching(part) : [];
  return from.some((one) => {
    const iterated = handedOut(one);
    return iterated !== null && ownState(iterated) === own;
  });
}

/** The list that a loop's variable goes through. */
function handedOut({ how, value, index }: Definition): Expr | null {
  if (how !== "iterate" || value === null) return null;
  if (index === null) return value;
  return value.kind === "Call" && lastWord(value.func) === "zip" ? (value.args[index]?.value ?? null) : null;
}

/** Made by the network of its input: not the input itself, which has no graph. */
function isComputed(expr: Expr, facts: Facts, depth = 0): boolean {
  const { file } = facts;
  const [one, ...more] = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  if (depth > 4 || !one || expr.kind !== "Name") return one === undefined && derivesFromInput(expr, facts);
  if (one.how === "param" && more.length === 0) return isGivenComputed(one, facts, depth);
  const list = handedOut(one);
  if (list !== null) return list.kind === "Name" && isFilledWithComputed(list.id, expr, facts, depth);
  return [one, ...more].every(({ how }) => how !== "param") && derivesFromInput(expr, facts);
}

function isGivenComputed({ node, name }: Definition, facts: Facts, depth: number): boolean {
  const fn = node.parent;
  if (fn?.kind !== "FunctionDef" || fn.name === "forward") return false;
  return callsOf(fn, facts.file).some((call) =>
    call.args.some(
      (arg) =>
        paramGiven(call, arg, facts.file)?.name === name &&
        facts.gradMode(call) !== "off" &&
        isComputed(arg.value, facts, depth + 1),
    ),
  );
}

/** `hiddens.append(x)` */
function isFilledWithComputed(list: string, where: Node, facts: Facts, depth: number): boolean {
  return facts.file.callsNamed("append").some(({ func, args: [added] }) => {
    const into = func.kind === "Attribute" ? func.value : null;
    return (
      into?.kind === "Name" &&
      into.id === list &&
      functionOf(into) === functionOf(where) &&
      added !== undefined &&
      isComputed(added.value, facts, depth + 1)
    );
  });
}

/** By more than what asks whether it is there, and what joins it: then the next forward runs on it. */
function isReadBeside(own: string, statement: Assign, { file }: Facts): boolean {
  return file
    .all("Attribute")
    .some(
      (one) =>
        selfAttribute(one) === own &&
        classOf(one) === classOf(statement) &&
        !contains(statement, one) &&
        one.parent?.kind !== "Compare" &&
        !isWritten(one),
    );
}

function isWritten(attribute: Expr): boolean {
  const whole = attribute.parent?.kind === "Subscript" ? attribute.parent : attribute;
  return whole.parent?.kind === "Assign" && whole.parent.targets.some((target) => target === whole);
}

/** Anew in every forward, with no test around it: then it carries nothing into the next. */
function isBegunByForward(own: string, cls: ClassDef, statement: Assign, facts: Facts): boolean {
  const forward = methodsOf(cls).find(({ name }) => name === "forward");
  const writers = (attributesOf(cls, facts.file).get(own)?.writes ?? []).filter(
    ({ how, target }) => how === "assign" && !contains(statement, target),
  );
  if (!forward) return false;
  const isPlain = (node: Node): boolean =>
    contains(forward, node) && !ancestors(node).some((at) => at.kind === "If" && contains(forward, at));
  return writers.some(({ in: method, target }) =>
    method === forward ? isPlain(target) : calls(method, facts).some(isPlain),
  );
}

function calls(method: FunctionDef, { file }: Facts): readonly Call[] {
  return method.name === "__init__" ? [] : callsOf(method, file);
}
