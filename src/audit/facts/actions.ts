import type { PythonFile } from "../../python/file.ts";
import { ancestors, functionOf, statementOf } from "../../python/nodes.ts";
import type { Call, Node } from "../../python/tree.ts";

/**
 * Whether what is read becomes an environment's action, which is wanted on the host: `act = q.argmax(1).cpu().numpy()`,
 * then `envs.step(act)`, or in a function that chooses one.
 */
export function isAction(call: Call, file: PythonFile): boolean {
  const fn = functionOf(call);
  if (fn?.kind === "FunctionDef" && /(?:^|_)act(?:ions?)?$/.test(fn.name)) return true;
  const takes = (at: Node | null): boolean =>
    at?.kind === "Call" &&
    at.func.kind === "Attribute" &&
    at.func.attr === "step" &&
    /env/i.test(file.textOf(at.func.value));
  if (ancestors(call).some(takes)) return true;
  const statement = statementOf(call);
  const target = statement?.kind === "Assign" ? statement.targets[0] : null;
  const definition = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  return (
    definition !== null &&
    file.scopes.uses(definition).some(({ parent }) => parent?.kind === "Arg" && takes(parent.parent))
  );
}
