import { contains, functionOf, walk } from "../../python/nodes.ts";
import type { ClassDef, Expr, Name } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import type { PythonFile } from "../../python/file.ts";

/** The trainers that add what their `training_step` returns to a sum of their own, as it comes. */
const SUMS = /^(?:transformers|trl|sentence_transformers|adapters|optimum)\.(?:\w+\.)*\w*Trainer$/;

/** What runs the steps itself takes care of what they return. */
const RUNS = /^(?:train|_?inner_training_loop)$/;

/**
 * `return loss` of a `training_step` that has differentiated it, of a class that extends the Trainer of transformers: each
 * step's loss is added to that trainer's running sum, and the graph nodes of all of them stay.
 */
export function* returnedToTrainer(facts: Facts): Generator<Name> {
  const { file } = facts;
  for (const fn of file.all("FunctionDef")) {
    const cls = fn.parent;
    if (fn.name !== "training_step" || cls?.kind !== "ClassDef" || facts.role(cls) !== "trainer") continue;
    if (!extendsTrainer(cls, file) && !facts.guesses) continue;
    if (cls.body.some((one) => one.kind === "FunctionDef" && RUNS.test(one.name))) continue;
    const losses = facts.backwards.filter(({ call, loss }) => loss !== null && functionOf(call) === fn);
    for (const statement of file.all("Return")) {
      const value = statement.value;
      if (functionOf(statement) !== fn || value?.kind !== "Name") continue;
      const { scopes } = file;
      const reaching = new Set(scopes.reaching(value));
      const same = (expr: Expr): boolean => {
        let found = false;
        walk(expr, (node) => {
          if (node.kind === "Name" && scopes.reaching(node).some((one) => reaching.has(one))) found = true;
          return !found;
        });
        return found;
      };
      // Of whichever of its values was cut off, nobody knows which is returned.
      const made = [...reaching].flatMap((one) => (one.value ? [file.textOf(one.value)] : []));
      if (made.some((text) => CUTS_OFF.test(text))) continue;
      if (losses.some(({ call, loss }) => !contains(statement, call) && same(loss!))) yield value;
    }
  }
}

const CUTS_OFF = /\b(?:detach\w*|item|no_grad|numpy|tolist)\(|\.data\b/;

function extendsTrainer(cls: ClassDef, file: PythonFile): boolean {
  return cls.args.some(({ value }) => SUMS.test(file.dotted(value) ?? ""));
}
