import { positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors } from "../../python/nodes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { OF_LOSSES } from "./naming.ts";

/** A loss of the file goes on with what it is given on the host: `logits = logits.cpu()`, and so does whoever reads its result. */
export function hasHostLoss(file: PythonFile): boolean {
  return file.callsNamed("cpu", "to", "type").some((call) => {
    if (call.func.kind !== "Attribute" || !isToHost(call, file) || isCutOff(call.func.value)) return false;
    // `out.cpu().numpy()` is for another library, to match or to count with.
    if (call.parent?.kind === "Attribute") return false;
    return ancestors(call).some(
      (at) => (at.kind === "ClassDef" || at.kind === "FunctionDef") && OF_LOSSES.test(at.name),
    );
  });
}

function isToHost(call: Call, file: PythonFile): boolean {
  const { attr } = call.func as Expr & { kind: "Attribute" };
  const to = positional(call, 0);
  if (attr === "cpu") return call.args.length === 0;
  if (attr === "to") return to?.kind === "Str" && to.value === "cpu";
  return to !== null && /^torch\.[A-Z]\w+Tensor$/.test(file.dotted(to) ?? "");
}

/** `out.detach()`, `out.data`: not what the loss is computed from. */
function isCutOff(expr: Expr): boolean {
  let at = expr.kind === "Call" ? expr.func : expr;
  while (at.kind === "Attribute") {
    if (at.attr === "detach" || at.attr === "data") return true;
    at = at.value.kind === "Call" ? at.value.func : at.value;
  }
  return false;
}
