import { walk } from "../../python/nodes.ts";
import type { Expr, Name, Node } from "../../python/tree.ts";
import type { Script } from "./program.ts";
import type { Survey } from "./survey.ts";

/** From an optimizer's argument through the table it is built from to the function that fills it. */
const MAX_DEPTH = 4;

/** The text of the function that an expression names; null when it names none. */
export function functionNamedIn(expr: Expr, script: Script, { program }: Survey): string | null {
  const dotted = script.file.dotted(expr);
  const local =
    expr.kind === "Name" ? script.file.all("FunctionDef").find(({ name }) => name === expr.id) : undefined;
  if (local) return script.file.textOf(local);
  const found = dotted === null ? null : program.functionNamed(dotted);
  return found ? found.script.file.textOf(found.node) : null;
}

/** Whether an expression, what its names stand for, or a function called there has a pattern in its text. */
export function mentions(
  expr: Expr,
  script: Script,
  survey: Survey,
  wanted: RegExp,
  not = /(?!)/,
  depth = MAX_DEPTH,
): boolean {
  const text = script.file.textOf(expr);
  if (not.test(text)) return false;
  if (wanted.test(text)) return true;
  const names: Name[] = [];
  walk(expr, (node: Node) => {
    if (node.kind === "Name") names.push(node);
  });
  return names.some((name) => {
    const body = functionNamedIn(name, script, survey);
    if (body !== null) return wanted.test(body);
    return (
      depth > 0 &&
      script.file.scopes
        .reaching(name)
        .some(
          ({ value }) => value && value !== expr && mentions(value, script, survey, wanted, not, depth - 1),
        )
    );
  });
}
