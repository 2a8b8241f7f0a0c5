import type { PythonFile } from "../../python/file.ts";
import { ancestors, functionOf, lastWord, statementOf } from "../../python/nodes.ts";
import type { Call, Node } from "../../python/tree.ts";

/**
 * Whether what is read becomes an environment's action, which is wanted on the host: `act = q.argmax(1).cpu().numpy()`,
 * then `envs.step(act)`, or in a function that chooses one.
 */
export function isAction(call: Call, file: PythonFile): boolean {
  if (ancestors(call).some((at) => isOfPriorities(at) || endsSentence(at, file))) return true;
  const fn = functionOf(call);
  if (fn?.kind === "FunctionDef" && /(?:^|_)act(?:ions?)?$/.test(fn.name)) return true;
  const takes = (at: Node | null): boolean => isEnvironmentStep(at, file);
  if (ancestors(call).some(takes)) return true;
  return isHandedOn(call, takes, file);
}

/** `envs.step(action)` */
export function isEnvironmentStep(node: Node | null, file: PythonFile): boolean {
  return (
    node?.kind === "Call" &&
    node.func.kind === "Attribute" &&
    node.func.attr === "step" &&
    /env/i.test(file.textOf(node.func.value))
  );
}

/** By the name it is given, or by one that is computed from that: `act = act + noise.sample()`. */
function isHandedOn(expr: Node, takes: (at: Node | null) => boolean, file: PythonFile, depth = 0): boolean {
  const statement = depth < 3 ? statementOf(expr) : null;
  const target = statement?.kind === "Assign" ? statement.targets[0] : null;
  const definition = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  return (
    definition !== null &&
    file.scopes
      .uses(definition)
      .some(
        (use) =>
          (use.parent?.kind === "Arg" && takes(use.parent.parent)) ||
          (use.parent?.kind === "Binary" && isHandedOn(use, takes, file, depth + 1)),
      )
  );
}

/** `memory.update_priorities(indices, errors.cpu().numpy())`: the tree they are drawn by is on the host. */
function isOfPriorities(at: Node): boolean {
  return at.kind === "Call" && /priorit/i.test(lastWord(at.func));
}

/** `if token.item() == EOS: break` */
function endsSentence(at: Node, file: PythonFile): boolean {
  return (
    at.kind === "Compare" &&
    at.ops[0] === "==" &&
    at.parent?.kind === "If" &&
    at.parent.body.some(({ kind }) => kind === "Break") &&
    /eos|end|stop|sep/i.test(file.textOf(at.rights[0]!))
  );
}
