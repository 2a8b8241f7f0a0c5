import { positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, walk } from "../../python/nodes.ts";
import type { Attribute, Call, Expr, FunctionDef, Name } from "../../python/tree.ts";
import { OF_LOSSES } from "./naming.ts";

/** A loss of the file goes on with what it is given on the host, `logits = logits.cpu()`, and hands back what it computes there. */
export function hasHostLoss(file: PythonFile): boolean {
  return file.callsNamed("cpu", "to", "type").some((call) => {
    if (call.func.kind !== "Attribute" || !isToHost(call, call.func, file)) return false;
    // `out.detach().cpu()`, `out.cpu().numpy()`: for another library, to match or to count with.
    if (isCutOff(call.func.value) || call.parent?.kind === "Attribute") return false;
    const fn = functionOf(call);
    return (
      fn?.kind === "FunctionDef" &&
      OF_LOSSES.test(classOf(fn)?.name ?? "") &&
      (isRebound(call, call.func.value) || isHandedBack(call, fn, file))
    );
  });
}

/** `output = output.cpu()`: all that follows is computed there. */
function isRebound({ parent }: Call, of: Expr): boolean {
  const [target] = parent?.kind === "Assign" ? parent.targets : [];
  return target?.kind === "Name" && of.kind === "Name" && target.id === of.id;
}

function isToHost(call: Call, { attr }: Attribute, file: PythonFile): boolean {
  const to = positional(call, 0);
  if (attr === "cpu") return call.args.length === 0;
  if (attr === "to") return to?.kind === "Str" && to.value === "cpu";
  return to !== null && /^torch\.(?:Float|Double|Half)?Tensor$/.test(file.dotted(to) ?? "");
}

function isCutOff(expr: Expr): boolean {
  let at = expr.kind === "Call" ? expr.func : expr;
  while (at.kind === "Attribute") {
    if (at.attr === "detach" || at.attr === "data") return true;
    at = at.value.kind === "Call" ? at.value.func : at.value;
  }
  return false;
}

/** More names than this are no loss that anybody reads. */
const MOST = 60;

/** Whether what a function returns is computed from this. */
function isHandedBack(call: Call, fn: FunctionDef, file: PythonFile): boolean {
  const names = new Set<Name>();
  const add = (expr: Expr): boolean => {
    if (contains(expr, call)) return true;
    walk(expr, (node) => {
      if (node.kind === "Name") names.add(node);
      // Nothing is computed from a size.
      return node.kind !== "Attribute" || !/^(?:shape|size|device)$/.test(node.attr);
    });
    return false;
  };
  for (const { value } of file.all("Return"))
    if (value && functionOf(value) === fn && add(value)) return true;
  for (const name of names) {
    if (names.size > MOST) return false;
    for (const { value } of file.scopes.reaching(name)) if (value && add(value)) return true;
  }
  return false;
}
