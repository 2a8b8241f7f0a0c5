import type { PythonFile } from "../../python/file.ts";
import { classOf, contains } from "../../python/nodes.ts";
import type { Call, Expr, Node } from "../../python/tree.ts";
import { methodsOf, selfAttribute } from "./classes.ts";
import { frequency } from "./guards.ts";
import { MAIN, instanceType, isMain } from "./summary.ts";
import type { CallSite } from "./summary.ts";
import { optimizerSteps } from "./training.ts";

/** The branch of a loop or a function that all its optimizer steps are taken in, where the call is made each time: once an update. */
export function updateBranch(call: Node, loop: Node, file: PythonFile): Node | null {
  const steps = file.once(optimizerSteps).filter((step) => contains(loop, step));
  if (steps.length === 0) return null;
  for (let child: Node = call, at = call.parent; at && at !== loop; child = at, at = at.parent) {
    if (at.kind !== "If" || child === at.test) continue;
    const branch = at.body.includes(child as never) ? at.body : at.orelse;
    if (steps.every((step) => branch.some((statement) => contains(statement, step))))
      return frequency(call, at, file) === "every" ? at : null;
  }
  return null;
}

/** Where the innermost branch around a call begins, if the call runs whenever that does. */
export function branchAround(call: Node, stop: Node, file: PythonFile): number | undefined {
  for (let child: Node = call, at = call.parent; at && at !== stop; child = at, at = at.parent) {
    if (at.kind !== "If" || child === at.test) continue;
    const branch = at.body.includes(child as never) ? at.body : at.orelse;
    return frequency(call, at, file) === "every" && !fillsIn(call, stop) ? branch[0]!.start : undefined;
  }
  return undefined;
}

/** Under `if x is None`: runs when nobody passed x, or once. */
export function fillsIn(node: Node, stop: Node): boolean {
  for (let child = node, at = node.parent; at && at !== stop; child = at, at = at.parent)
    if (
      at.kind === "If" &&
      at.body.includes(child as never) &&
      at.test.kind === "Compare" &&
      at.test.ops[0] === "is" &&
      at.test.rights[0]?.kind === "Const"
    )
      return true;
  return false;
}

/** What stands before the parenthesis. */
export function isCalled(expr: Expr): boolean {
  return expr.parent?.kind === "Call" && expr.parent.func === expr;
}

/** `net.spread().item()` */
export function isReadAtOnce({ parent }: Node): boolean {
  return (
    parent?.kind === "Attribute" &&
    /^(?:item|detach|tolist)$/.test(parent.attr) &&
    parent.parent?.kind === "Call" &&
    parent.parent.func === parent
  );
}

export function isSame(a: CallSite, b: CallSite): boolean {
  return (
    a.grad === b.grad &&
    a.throttled === b.throttled &&
    a.branch === b.branch &&
    a.read === b.read &&
    a.draws === b.draws &&
    a.beside === b.beside &&
    a.lent === b.lent &&
    a.gives === b.gives &&
    a.loops?.length === b.loops?.length &&
    (a.loops?.every((loop, at) => loop === b.loops![at]) ?? true) &&
    (a.passed === b.passed || JSON.stringify(a.passed) === JSON.stringify(b.passed))
  );
}

/**
 * The classes of what a call hands on by name, in a file that runs something without recording: a network that this is done
 * to may be run with recording by who is handed it. Elsewhere nobody asks.
 */
export function lentBy({ args }: Call, file: PythonFile): string {
  if (!file.once(runsUnrecorded)) return "";
  const classes = new Set<string>();
  for (const { value } of args) {
    const type = value.kind === "Name" ? instanceType(value, file) : null;
    if (type !== null && !/^(?:torch|numpy)\./.test(type)) classes.add(type);
  }
  return [...classes].join();
}

const runsUnrecorded = (file: PythonFile): boolean =>
  file.mentions("no_grad") || file.mentions("inference_mode") || file.mentions("set_grad_enabled");

/** The function that `checkpoint(self._forward, x)` runs, of torch's or of a project's own. */
export function checkpointed(call: Call, file: PythonFile): string | null {
  const { func, args } = call;
  const word = func.kind === "Name" ? func.id : func.kind === "Attribute" ? func.attr : "";
  // Asked of every call: most end otherwise.
  const run =
    word.endsWith("checkpoint") && /^(?!save|load|write|restore)(?:\w+_)?checkpoint$/.test(word)
      ? args[0]?.value
      : undefined;
  if (!run) return null;
  const own = selfAttribute(run);
  const cls = own === null ? null : classOf(run);
  if (cls) return methodsOf(cls).some(({ name }) => name === own) ? `${file.qualified(cls)}.${own}` : null;
  const dotted = run.kind === "Name" ? file.dotted(run) : null;
  return dotted !== null && dotted.startsWith(`${file.module}.`) ? dotted : null;
}

/** The function or class at the top of the file that the node is in; "" in neither, and MAIN where the file is started. */
export function topOf(node: Node): string {
  let at = node;
  while (at.parent && at.parent.kind !== "Module") at = at.parent;
  if (isMain(at)) return MAIN;
  return at.kind === "FunctionDef" || at.kind === "ClassDef" ? at.name : "";
}
