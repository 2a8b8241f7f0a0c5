import { isFalse } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { contains, functionOf, lastWord } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr, If, Name, Node } from "../../python/tree.ts";
import { feedsBackward } from "./behind-loss.ts";
import type { Facts } from "./facts.ts";
import { handedIn } from "./handed-in.ts";
import { unrecorded } from "./looks.ts";
import { ranNetwork } from "./networks.ts";
import { EVALUATES, PHASE } from "./switches.ts";
import { loopsAround } from "./training.ts";

/** What a function is told by that differentiates or does not. */
const LEARNS = /^(?:is_|do_|in_)?(?:train|training|backward|learn)$/;

const TRAINS = /^(?:train|training|trn|tr|fit)$/;

/** A run that is differentiated on some turns, and the test by which it is not on others. */
interface Judged {
  readonly run: Call;
  readonly test: Expr;
}

/**
 * `for phase in ["train", "val"]: … out = model(x); loss = …; if phase == "train": loss.backward()`, and the same of a function
 * that is told by an argument whether to learn: the network's run is one, and on the turns that judge nobody differentiates it.
 */
export function* judgedTurns(facts: Facts): Generator<Judged> {
  const { backwards, file } = facts;
  const seen = new Set<Call>();
  for (const { call: backward } of backwards) {
    const branch = branchOfLearning(backward, facts);
    if (!branch) continue;
    const fn = functionOf(branch);
    const text = file.textOf(branch.test);
    // Forces are the derivatives of an energy, in a validation too.
    if (/autograd\.grad|create_graph|requires_grad_?\b/.test(file.codeOf(fn ?? file.tree.module))) continue;
    // Everything else that is differentiated is so in these turns as well.
    if (!backwards.every(({ call }) => functionOf(call) !== fn || isUnder(call, text, file))) continue;
    const [around] = loopsAround(branch);
    const run = file
      .all("Call")
      .find(
        (call) =>
          call.end < branch.start &&
          functionOf(call) === fn &&
          (around === undefined || contains(around, call)) &&
          !isUnder(call, text, file) &&
          isRun(call, facts),
      );
    if (!run || seen.has(run)) continue;
    seen.add(run);
    yield { run, test: branch.test };
  }
}

function isRun(call: Call, facts: Facts): boolean {
  const net = ranNetwork(call, facts);
  return (
    net !== null &&
    !facts.networks.isLoss(net) &&
    !facts.networks.isFrozen(net) &&
    // Where some callers switch recording off, it is those that judge.
    facts.functionFacts(call).callersGradOff !== "sometimes" &&
    !unrecorded(call, facts) &&
    feedsBackward(call, facts)
  );
}

/** The branch around a backward that only some turns take, where others are known to come by. */
function branchOfLearning(backward: Call, facts: Facts): If | null {
  for (let child: Node = backward, at = backward.parent; at; child = at, at = at.parent) {
    if (at.kind === "FunctionDef" || at.kind === "Lambda" || at.kind === "ClassDef") return null;
    if (at.kind === "If" && at.body.includes(child as never) && isOfSome(at.test, facts)) return at;
  }
  return null;
}

/** Below the same test, in either branch. */
function isUnder(node: Node, text: string, file: PythonFile): boolean {
  for (let at = node.parent; at && at.kind !== "FunctionDef"; at = at.parent)
    if (at.kind === "If" && !contains(at.test, node) && file.textOf(at.test) === text) return true;
  return false;
}

/** Whether a test holds on the turns that learn, and others are there that do not. */
function isOfSome(test: Expr, facts: Facts): boolean {
  const { file } = facts;
  const [right, ...more] = test.kind === "Compare" ? test.rights : [];
  if (test.kind === "Compare" && right && more.length === 0) {
    const isPhase = test.left.kind === "Name" && PHASE.test(test.left.id);
    if (!isPhase || right.kind !== "Str" || test.left.kind !== "Name") return false;
    const learns = test.ops[0] === "==" ? TRAINS : test.ops[0] === "!=" ? EVALUATES : null;
    return (
      learns?.test(right.value ?? "") === true &&
      hasOther(test.left, (value) => isPhaseOfJudging(value), file)
    );
  }
  if (test.kind !== "Name" || !LEARNS.test(test.id)) return false;
  // `train = phase == "train"` above.
  const [made, ...others] = file.scopes.reaching(test);
  if (made?.how === "assign" && made.value?.kind === "Compare" && others.length === 0)
    return isOfSome(made.value, facts);
  return hasOther(test, isFalse, file);
}

const isPhaseOfJudging = (value: Expr): boolean => value.kind === "Str" && EVALUATES.test(value.value ?? "");

/** Whether a name, of a loop's or a function's that is told it, is one by which nothing is learnt. */
function hasOther(name: Name, judges: (value: Expr) => boolean, file: PythonFile): boolean {
  return file.scopes.reaching(name).some((one) => {
    if (one.how === "iterate") return listed(one, file).some(judges);
    const given = handedIn(one, file, true);
    const left = one.node.kind === "Param" ? one.node.default : null;
    return (
      given.some((value) => (value.kind === "Name" ? hasOtherNamed(value, judges, file) : judges(value))) ||
      (left !== null && left !== undefined && judges(left) && calledWithout(one, file))
    );
  });
}

/** `run_batch(x, train)` of a function that is told the same itself. */
function hasOtherNamed(name: Name, judges: (value: Expr) => boolean, file: PythonFile): boolean {
  return file.scopes
    .reaching(name)
    .some((one) =>
      one.how === "iterate" ? listed(one, file).some(judges) : handedIn(one, file, true).some(judges),
    );
}

/** `run_epoch(loader)` of `def run_epoch(loader, train=False)` */
function calledWithout({ name, node }: Definition, file: PythonFile): boolean {
  const fn = node.parent;
  if (fn?.kind !== "FunctionDef") return false;
  const at = fn.params.findIndex((param) => param.name === name) - (fn.parent?.kind === "ClassDef" ? 1 : 0);
  return file
    .callsNamed(fn.name)
    .some(
      ({ args, func }) =>
        lastWord(func) === fn.name &&
        args.length <= at &&
        args.every((arg) => arg.star === 0 && arg.name !== name),
    );
}

/** "train" and "val" of `for phase in ["train", "val"]:`, also where the list has a name. */
function listed({ node, value }: Definition, { scopes }: PythonFile): readonly Expr[] {
  const over = value?.kind === "Name" ? scopes.onlyValue(value) : value;
  return over?.kind === "List" || (over?.kind === "Tuple" && node.kind === "Name") ? over.items : [];
}
