import type { PythonFile } from "../../python/file.ts";
import type { Call, Expr, Name } from "../../python/tree.ts";
import { FUNCTIONS, METHODS, last } from "./torch-names.ts";

/** Whether all that is ever made of the result ends in `.detach()`. */
export function isDetached(made: Expr, file: PythonFile, depth = 0): boolean {
  const { scopes } = file;
  let at: Expr = made;
  for (let up = at.parent; up; up = at.parent) {
    // `teacher(x)[0].detach()`, `teacher(x).logits.detach()`.
    if (up.kind === "Attribute") {
      if (up.attr === "detach") return true;
      const call = up.parent?.kind === "Call" && up.parent.func === up ? up.parent : null;
      if (call && !METHODS.has(up.attr)) return false;
      at = call ?? up;
    } else if (up.kind === "Subscript" && up.value === at) at = up;
    else if (up.kind === "Binary" || up.kind === "Unary") at = up;
    // `torch.min(q1, q2)`
    else if (up.kind === "Arg" && up.parent?.kind === "Call" && isPlain(up.parent, file)) at = up.parent;
    else break;
  }
  // `out = teacher(x)`, and `out = out.detach()`
  const target = at.parent?.kind === "Assign" && at.parent.value === at ? at.parent.targets[0] : null;
  const names = target?.kind === "Tuple" ? target.items : target ? [target] : [];
  const list = listFilled(at);
  const uses = list
    ? scopes.reaching(list).flatMap((one) => scopes.uses(one).filter((use) => use !== list))
    : names.flatMap((name) => {
        const definition = name.kind === "Name" ? scopes.definitionAt(name) : null;
        return definition ? scopes.uses(definition) : [];
      });
  return (
    depth < DEEPEST &&
    uses.length > 0 &&
    names.every(({ kind }) => kind === "Name") &&
    uses.every((use) => isDetached(use, file, depth + 1))
  );
}

/** The list of `parts.append(x)`. */
function listFilled({ parent: arg }: Expr): Name | null {
  const call = arg?.kind === "Arg" && arg.parent?.kind === "Call" ? arg.parent : null;
  const func = call?.func.kind === "Attribute" && call.func.attr === "append" ? call.func : null;
  return func?.value.kind === "Name" ? func.value : null;
}

/** More names than a target has on its way. */
const DEEPEST = 4;

/** A function of torch that computes one tensor of others. */
function isPlain({ func }: Call, file: PythonFile): boolean {
  const name = file.dotted(func) ?? "";
  return name === `torch.${last(name)}` && FUNCTIONS.has(last(name));
}
