import { isTrue } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, classOf, contains } from "../../python/nodes.ts";
import type { Expr, Node } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import { isFlag } from "./switches.ts";
import { isThrottle } from "./turns.ts";

/**
 * `if should_log:`, which by its name may hold now and then, after `should_log = rank == 0` above all the loops around, or after
 * `self.should_log = rank == 0` in the making of the object: it holds in every turn of the process that it holds in at all.
 */
export function isSettled(test: Expr, file: PythonFile): boolean {
  if (test.kind === "Bool") return test.op === "and" && test.values.every((one) => isSettledPart(one, file));
  const value = settledValue(test, test, file);
  return value !== null && holdsForRun(value, test, file);
}

/** One of `if should_log and rank == 0:`, that is settled, or says nothing of turns. */
function isSettledPart(part: Expr, file: PythonFile): boolean {
  return isThrottle(part) ? isSettled(part, file) : isFlag(part);
}

/** Of which process it is, or whether there is a log at all. */
const OF_RUN =
  /(?:^|[._])(?:\w*rank|is_(?:local_)?(?:main|master|primary)\w*|world_size|dist(?:ributed)?|ddp|(?:use_|with_|has_|no_)?(?:wandb|tensorboard|tb|mlflow|tracking|logging|logger|writer))\b/i;

/** Whether what was written above the loops asks for nothing but ranks and settings. `at`: where it is asked. */
function holdsForRun(value: Expr, at: Node, file: PythonFile, depth = 0): boolean {
  if (depth > 4) return false;
  if (value.kind === "Const") return isTrue(value);
  if (value.kind === "Bool") return value.values.every((one) => holdsForRun(one, at, file, depth + 1));
  const behind = settledValue(value, at, file);
  if (behind) return holdsForRun(behind, at, file, depth + 1);
  // `debug = args.debug` is off unless somebody asks for it, and `is_test = args.mode == "test"` is of another run.
  return value.kind !== "Name" && isFlag(value) && !isThrottle(value) && OF_RUN.test(file.textOf(value));
}

/** The only value of a name or of an attribute of self, that no loop around writes anew. */
function settledValue(expr: Expr, at: Node, file: PythonFile): Expr | null {
  if (expr.kind === "Name") {
    const [only, ...more] = file.scopes.lookup(expr)?.definitions ?? [];
    if (!only || more.length > 0 || only.how !== "assign" || !only.value) return null;
    const loop = ancestors(at).findLast(({ kind }) => kind === "For" || kind === "While");
    return loop && contains(loop, only.node) ? null : only.value;
  }
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const [write, ...more] = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  if (write?.how !== "assign" || more.length > 0 || !write.value) return null;
  return ancestors(write.value).some((one) => one.kind === "FunctionDef" && one.name === "__init__")
    ? write.value
    : null;
}
