import { classOf, contains, functionOf, lastWord, walk } from "../../python/nodes.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Call, Expr, FunctionDef, Name } from "../../python/tree.ts";
import { isModuleRole, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";

/** What a forward hands back for the next one, with its graph. */
export interface HandedMemory {
  readonly at: Call;
  /** What the forward is handed. */
  readonly memory: string;
}

/** The keys and values of generation are carried without gradients. */
const OF_GENERATION = /past|kv|(?:^|_)[kv](?:$|_)|key|value|layer_past|mask|pos(?:ition)?s?(?:$|_)/i;

/** By its name, what is remembered of the parts of a text before. */
const MEMORY = /mem|cache|state|hist|prev/i;

/**
 * `next.append(torch.cat([memory[layer][:, n:], h], dim=1))` in a forward that is handed `memory` and returns `next`: what the
 * step before has computed is joined with what this one has, and the chain of their graphs grows by one with every step.
 */
export function* handedMemories(facts: Facts): Generator<HandedMemory> {
  const { file } = facts;
  for (const call of file.callsNamed("cat", "concat", "concatenate")) {
    const fn = functionOf(call);
    if (fn?.kind !== "FunctionDef" || fn.name !== "forward" || facts.gradMode(call) === "off") continue;
    const cls = classOf(fn);
    if (!cls || !isModuleRole(facts.role(cls))) continue;
    if (!/^torch\.\w+$/.test(file.dotted(call.func) ?? "")) continue;
    const list = call.args[0]?.value;
    const parts = list?.kind === "List" || list?.kind === "Tuple" ? list.items : [];
    const [old, added, ...more] = parts;
    if (!old || !added || more.length > 0) continue;
    // Of what is cut down to a length, the rest of its graph stays all the same.
    const memory = old.kind === "Subscript" ? rootOf(old) : null;
    if (!memory || !MEMORY.test(memory.id) || OF_GENERATION.test(memory.id)) continue;
    if (!isParam(memory, fn, file) || isDetached(call) || !isComputed(added, fn, facts)) continue;
    const next = heldBy(call, fn, file);
    if (next !== null && isReturned(next, fn, file) && !isCutByCaller(memory.id, file))
      yield { at: call, memory: memory.id };
  }
}

/** `memory` of `memory[layer][:, n:]`. */
function rootOf(expr: Expr): Name | null {
  let at = expr;
  while (at.kind === "Subscript") at = at.value;
  return at.kind === "Name" ? at : null;
}

function isParam(name: Name, fn: FunctionDef, file: PythonFile): boolean {
  const reaching = file.scopes.reaching(name);
  return reaching.length > 0 && reaching.every(({ how, node }) => how === "param" && contains(fn, node));
}

/** `torch.cat(…).detach()`, also behind a slice of it. */
function isDetached(call: Call): boolean {
  for (let at = call.parent; at && at.kind !== "Assign" && at.kind !== "FunctionDef"; at = at.parent)
    if (at.kind === "Attribute" && /^(?:detach_?|data)$/.test(at.attr)) return true;
  return false;
}

/** By a layer of the network. */
function isComputed(expr: Expr, fn: FunctionDef, { file }: Facts): boolean {
  if (expr.kind !== "Name" || OF_GENERATION.test(expr.id)) return false;
  const reaching = file.scopes.reaching(expr);
  return (
    reaching.every(({ node, value }) => contains(fn, node) && value?.kind === "Call") &&
    reaching.some(({ value }) => value?.kind === "Call" && selfAttribute(value.func) !== null) &&
    reaching.every(({ value }) => lastWord((value as Call).func) !== "detach")
  );
}

/** The list that a value is appended to, or assigned and then appended to; nothing where any of that is cut off. */
function heldBy(call: Call, fn: FunctionDef, file: PythonFile): string | null {
  let at: Expr = call;
  while (at.parent?.kind === "Subscript" && at.parent.value === at) at = at.parent;
  const { parent } = at;
  if (parent?.kind === "Arg") return listOf(parent.parent);
  const [target] = parent?.kind === "Assign" ? parent.targets : [];
  if (target?.kind !== "Name") return null;
  const code = file.codeOf(fn);
  if (new RegExp(`\\b${target.id}\\.(?:detach|data)`).test(code)) return null;
  const definition = file.scopes.definitionAt(target);
  const uses = definition ? file.scopes.uses(definition) : [];
  for (const use of uses) {
    let used: Expr = use;
    while (used.parent?.kind === "Subscript" && used.parent.value === used) used = used.parent;
    const into = used.parent?.kind === "Arg" ? listOf(used.parent.parent) : null;
    if (into !== null) return into;
  }
  return null;
}

/** `next` of `next.append(…)` */
function listOf(call: Expr | { readonly kind: string } | null): string | null {
  const one = call?.kind === "Call" ? (call as Call) : null;
  return one?.func.kind === "Attribute" && one.func.attr === "append" && one.func.value.kind === "Name"
    ? one.func.value.id
    : null;
}

/** Handed back as it is: not `[m.detach() for m in next]`. */
function isReturned(list: string, fn: FunctionDef, file: PythonFile): boolean {
  if (new RegExp(`\\bfor\\s+\\w+\\s+in\\s+${list}\\b`).test(file.codeOf(fn))) return false;
  let found = false;
  walk(fn, (node) => {
    if (node.kind !== "Return" || !node.value) return !found;
    const items = node.value.kind === "Tuple" ? node.value.items : [node.value];
    found ||= items.some((item) => item.kind === "Name" && item.id === list);
    return !found;
  });
  return found;
}

/** `net(x, [one.detach() for one in memory])`, `memory = detached(memory)` of whoever carries it. */
function isCutByCaller(memory: string, file: PythonFile): boolean {
  return file.says(
    new RegExp(
      `detach_?\\(\\)\\s+for\\s+\\w+\\s+in\\s+${memory}\\b|(?:detach|repackag)\\w*\\(\\s*${memory}\\b`,
    ),
  );
}
