import { contains, functionOf, lastWord } from "../../python/nodes.ts";
import type { Call, Expr, Name, Node } from "../../python/tree.ts";
import { works, isWorked } from "./example-work.ts";
import type { Facts } from "./facts.ts";
import { isDataLoader } from "./loaders.ts";
import { returnsByName } from "./returns.ts";
import { loopsAround } from "./training.ts";

/** As classes are called; which of them is a dataset or a loader, its binding says. */
const CLASSES = /^[A-Z]/;

/** What makes one tensor or array of many. */
const JOINS = /^(?:stack|cat|concatenate|array|tensor)$/;

/** Functions that go through a few examples, or through what is no training set. */
const ASIDE = /infer|predict|demo|eval|valid|test|visual|sampl|generat|preview|plot/i;

/** Examples that are all read or made before a dataset or a loader is given them: `clips.append(load(path))`, then `Clips(clips[:n])`. */
export function gathered(facts: Facts): ReadonlySet<Node> {
  const { file } = facts;
  const found = new Set<Node>();
  for (const call of file.calls.matching(CLASSES)) {
    if (!call.args.some(({ value }) => listOf(value) !== null) || !isReader(call, facts)) continue;
    const fn = functionOf(call);
    if (fn?.kind === "FunctionDef" && ASIDE.test(fn.name)) continue;
    for (const { value } of call.args) {
      const list = listOf(value);
      const at = list && whereMade(list, facts, 0);
      // `labels.append(label)` beside `images.append(image)` is of the same examples.
      const isOfSame = (one: Node): boolean => at !== null && loopsAround(one)[0] === loopsAround(at)[0];
      if (!at || loopsAround(at).some((loop) => contains(loop, call))) continue;
      if (loopsAround(at).length === 0 || ![...found].some(isOfSame)) found.add(at);
    }
  }
  return found;
}

/** `clips`, a part of it, `clips[:n]`, or all as one: `torch.stack(clips)`. */
function listOf(expr: Expr): Name | null {
  if (expr.kind === "Call") {
    const [only, ...more] = expr.args;
    return only && more.length === 0 && JOINS.test(lastWord(expr.func)) ? listOf(only.value) : null;
  }
  if (expr.kind === "Subscript") return expr.index.kind === "Slice" ? listOf(expr.value) : null;
  return expr.kind === "Name" ? expr : null;
}

function isReader(call: Call, facts: Facts): boolean {
  const name = facts.file.dotted(call.func);
  if (name === "torch.utils.data.TensorDataset") return true;
  return (
    name !== null &&
    (isDataLoader(name) || (!name.startsWith("torch.") && facts.roleOfName(name) === "dataset"))
  );
}

/** By its name, or as it was made, another dataset that reads each example when it is asked for it. */
export function isDataset(expr: Expr, facts: Facts): boolean {
  return expr.kind === "Name" && (/data_?set$/i.test(expr.id) || isMadeDataset(expr, facts));
}

/** `ImageFolder(root, transform)`, under a name; a TensorDataset has them all in memory as it is. */
function isMadeDataset(expr: Expr, facts: Facts): boolean {
  const made = expr.kind === "Name" ? facts.file.scopes.onlyValue(expr) : null;
  const name = made?.kind === "Call" ? facts.file.dotted(made.func) : null;
  return (
    name !== null &&
    (/^torchvision\.datasets\.(?!CIFAR|\w*MNIST|USPS)/.test(name) ||
      (!name.startsWith("torch.") && facts.roleOfName(name) === "dataset"))
  );
}

/** Where a list of examples is made: a comprehension, what is appended to it, or a call of what reads many files. */
function whereMade(list: Name, facts: Facts, depth: number): Node | null {
  const { scopes } = facts.file;
  const [one, ...more] = scopes.reaching(list);
  const made = one?.how === "assign" || one?.how === "unpack" ? one.value : null;
  if (!one || !made || more.length > 0 || depth > 2) return null;
  if (made.kind === "Comp") return works(made.element, facts) ? made : null;
  if (made.kind === "Call")
    return facts.callee(made)?.opens === "many" || isOfHelper(made, facts, depth) ? made : null;
  // `train = clips[:n]`
  const whole = listOf(made);
  if (whole) return whereMade(whole, facts, depth + 1);
  if (made.kind !== "List" || made.items.length > 0) return null;
  for (const { parent } of scopes.uses(one)) {
    const call = parent?.kind === "Attribute" && parent.attr === "append" ? parent.parent : null;
    const [loop] = call ? loopsAround(call) : [];
    const [added] = call?.kind === "Call" ? call.args : [];
    if (!call || !loop || !added) continue;
    // `for image, label in folder: images.append(image)`
    if (isWorked(added.value, loop, facts) || (loop.kind === "For" && isMadeDataset(loop.iter, facts)))
      return call;
  }
  return null;
}

/** `encoded = encode_all(rows, tokenizer)`, of a function of this file that hands back a list of what it made of each. */
function isOfHelper(call: Call, facts: Facts, depth: number): boolean {
  const { file } = facts;
  const returned = file.once(returnsByName).get(file.dotted(call.func) ?? "") ?? [];
  return returned.some((value) =>
    value.kind === "Comp"
      ? works(value.element, facts)
      : value.kind === "Name" && whereMade(value, facts, depth + 1) !== null,
  );
}
