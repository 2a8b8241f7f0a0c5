import { keyword, positional } from "../../python/file.ts";
import { functionOf, walk } from "../../python/nodes.ts";
import type { Call, ClassDef, Expr, Node } from "../../python/tree.ts";
import { methodsOf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { isDataLoader } from "../facts/loaders.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM041",
    name: "python-objects-in-workers",
    summary: "A Dataset holds its examples as Python objects, and worker processes read them",
    severity: "note",
    fix: "none",
    patterns: [41],
  },
  *check(facts) {
    if (facts.file.calls.given(["num_workers"]).length === 0) return;
    const shared = sharedClasses(facts);
    for (const cls of facts.file.all("ClassDef")) {
      if (!shared.has(facts.file.qualified(cls)) || facts.role(cls) !== "dataset") continue;
      const held = heldObjects(cls, facts);
      if (held)
        yield {
          at: held,
          message:
            "Each worker is a copy of this process that shares its pages until they are written to, and reading a Python object writes its reference count: after an epoch every worker has a copy of all examples; keep them in an array, a tensor or an Arrow table",
        };
    }
  },
};

/** Classes of this file that a DataLoader with worker processes is given an instance of. */
function sharedClasses({ file }: Facts): Set<string> {
  const found = new Set<string>();
  for (const call of file.all("Call")) {
    const workers = isDataLoader(file.dotted(call.func)) ? keyword(call, "num_workers") : null;
    if (!workers || (workers.value.kind === "Num" && workers.value.text === "0")) continue;
    const given = keyword(call, "dataset")?.value ?? positional(call, 0);
    const made = given?.kind === "Name" ? file.scopes.reaching(given).map(({ value }) => value) : [given];
    for (const one of made)
      if (one?.kind === "Call") {
        const name = file.dotted(one.func);
        if (name !== null) found.add(name);
      }
  }
  return found;
}

/** Where the constructor keeps a list or dict of Python objects, one for each example. */
function heldObjects(cls: ClassDef, facts: Facts): Node | null {
  const init = methodsOf(cls).find((method) => method.name === "__init__");
  if (!init) return null;
  let found: Node | null = null;
  walk(init, (node) => {
    if (found) return false;
    if (node.kind === "Assign" && node.targets.some((target) => selfAttribute(target) !== null)) {
      if (isObjects(node.value, facts)) found = node;
    } else if (
      node.kind === "Call" &&
      node.func.kind === "Attribute" &&
      node.func.attr === "append" &&
      selfAttribute(node.func.value) !== null &&
      functionOf(node) === init &&
      node.args.length === 1 &&
      isObject(node.args[0]!.value, facts)
    )
      found = node;
    return true;
  });
  return found;
}

const READERS = /^(?:json|pickle|cPickle|yaml|orjson|ujson)\.loads?$|^csv\.(?:reader|DictReader)$/;

/** `[json.loads(line) for line in file]`, `file.readlines()`, `pickle.load(file)`, `list(csv.reader(file))`. */
function isObjects(expr: Expr, facts: Facts): boolean {
  if (expr.kind === "Comp") return expr.value !== null || isObject(expr.element, facts);
  if (expr.kind !== "Call") return false;
  const name = facts.file.dotted(expr.func) ?? "";
  if (READERS.test(name)) return true;
  if (name === "builtins.list" || name === "builtins.sorted")
    return expr.args.some(({ value }) => isObjects(value, facts) || isRead(value, facts));
  return expr.func.kind === "Attribute" && /^(?:readlines|splitlines|to_dict)$/.test(expr.func.attr);
}

function isRead(expr: Expr, facts: Facts): boolean {
  return expr.kind === "Call" && READERS.test(facts.file.dotted(expr.func) ?? "");
}

/** A dict, a tuple, a string or what a reader made: anything with a reference count of its own. */
function isObject(expr: Expr, facts: Facts): boolean {
  if (expr.kind === "Dict" || expr.kind === "Tuple" || expr.kind === "List" || expr.kind === "Str")
    return true;
  if (expr.kind !== "Call") return false;
  return (
    READERS.test(facts.file.dotted(expr.func) ?? "") ||
    (expr.func.kind === "Attribute" &&
      /^(?:strip|rstrip|split|lower|decode)$/.test(expr.func.attr) &&
      !isTensorWork(expr))
  );
}

function isTensorWork(call: Call): boolean {
  return (
    call.func.kind === "Attribute" &&
    call.func.attr === "split" &&
    call.args.some((arg) => arg.value.kind === "Num")
  );
}
