import type { PythonFile } from "../../python/file.ts";
import { ancestors, classOf, contains, functionOf, lastWord, statementOf, walk } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type {
  Attribute,
  Call,
  ClassDef,
  Expr,
  FunctionDef,
  If,
  Name,
  Node,
  Stmt,
} from "../../python/tree.ts";
import { attributesOf, methodsOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { DIFFERENTIATES } from "./evaluation-calls.ts";
import { lexicalGrad } from "./gradmode.ts";
import { ranByHelper } from "./handed-networks.ts";
import { inferringWords } from "./inferring.ts";
import { runsNetwork } from "./network-runs.ts";
import { helperRun, isNetwork, runsReturnedTo } from "./networks.ts";
import { callTarget } from "./summary.ts";
import { loopsAround } from "./training.ts";
import type { Loop } from "./training.ts";
import { isThrottle } from "./turns.ts";

/** A run of a network, in a training, whose graph nobody wants. */
export interface Look {
  readonly run: Call;
  /** The name of what is only shown or saved; null for what is cut off from its graph at once. */
  readonly shown: string | null;
}

/** Each run once. */
export function* looks(facts: Facts): Generator<Look> {
  const shown = [...shownNowAndThen(facts), ...measuredNowAndThen(facts)];
  yield* shown;
  for (const look of cutOff(facts)) if (!shown.some(({ run }) => run === look.run)) yield look;
}

/** Whether nothing is recorded where the node runs, or nobody can tell. */
export function unrecorded(node: Node, facts: Facts): boolean {
  if (lexicalGrad(node, facts.file) === "unknown") return true;
  const mode = facts.gradMode(node);
  return mode === "off" || (mode === "unknown" && facts.functionFacts(node).callersGradOff !== "unknown");
}

const ASKS = /autograd(?!\.(?:profiler|Variable)\b)|\.grad\b/;

/** `if step % 100 == 0: images = netG(noise); save_image(images)`: a look now and then, in the step's own loop, or below it. */
function* shownNowAndThen(facts: Facts): Generator<Look> {
  const { file } = facts;
  if (facts.stepLoops.size === 0 && !file.says(SHOWS)) return;
  for (const { at, call, kept } of [...named(file), ...collected(file), ...shownAtOnce(file)]) {
    if (call.func.kind === "Call") continue;
    const block = lookedAtIn(at, facts);
    const net = block.length > 0 ? networkShown(call, facts) : null;
    if (net === null || facts.networks.isLoss(net) || facts.networks.isFrozen(net)) continue;
    if (facts.gradMode(call) !== "on" || unrecorded(call, facts)) continue;
    // What is differentiated, penalised or handed back needs its graph.
    if (
      facts.backwards.some((one) => block.some((node) => contains(node, one.call))) ||
      block.some((node) => ASKS.test(file.codeOf(node)))
    )
      continue;
    const isInside = (node: Node): boolean => block.some((one) => contains(one, node));
    if (!kept) {
      yield { run: call, shown: file.textOf(call) };
      continue;
    }
    // What a list has from elsewhere it may keep for it.
    if (!kept.every(({ node }) => isInside(node))) continue;
    const uses = kept.flatMap((one) => file.scopes.uses(one));
    if (uses.length === 0 || uses.some((use) => !isInside(use) || !isLook(use, file))) continue;
    yield { run: call, shown: kept[0]!.name };
  }
}

/** `if step % 100 == 0: score = F.cross_entropy(net(held_out), labels); print(score.item())`: numbers of data that nothing learns from. */
function* measuredNowAndThen(facts: Facts): Generator<Look> {
  const { file } = facts;
  for (const at of file.all("Assign")) {
    const [target] = at.targets;
    const made = target?.kind === "Name" && at.targets.length === 1 ? file.scopes.definitionAt(target) : null;
    if (!made || at.value.kind !== "Call") continue;
    const [branch] = facts.stepLoop(at) ? lookedAtIn(at, facts) : [];
    if (branch?.kind !== "If" || ASKS.test(file.codeOf(branch))) continue;
    if (facts.backwards.some(({ call }) => contains(branch, call))) continue;
    const uses = file.scopes.uses(made);
    if (uses.length === 0 || !uses.every((use) => contains(branch, use) && isRead(use))) continue;
    const run = networkIn(at.value, facts);
    if (run && facts.gradMode(run) === "on" && !unrecorded(run, facts)) yield { run, shown: made.name };
  }
}

/** The run of a network that learns, among what an expression is computed from. */
function networkIn(value: Expr, facts: Facts): Call | null {
  let found: Call | null = null;
  walk(value, (node) => {
    if (
      node.kind === "Call" &&
      node !== uncut(value) &&
      isNetwork(node.func, facts) &&
      !facts.networks.isLoss(node.func) &&
      !facts.networks.isFrozen(node.func)
    )
      found ??= node;
    return found === null && node.kind !== "Lambda";
  });
  return found;
}

/** `score.item()`, `print(score)`, `f"{score:.3f}"`: nobody differentiates what is read. */
function isRead(use: Name): boolean {
  for (const at of ancestors(use)) {
    if (at.kind === "Str") return true;
    if (at.kind === "Attribute" && /^(?:item|tolist|detach|cpu|numpy)$/.test(at.attr)) return true;
    if (
      at.kind === "Call" &&
      /^(?:print|log|info|debug|write|add_scalars?|format|float)$/.test(lastWord(at.func))
    )
      return true;
    if (!/^(?:Arg|Call|Attribute|Tuple|Dict|Binary)$/.test(at.kind)) return false;
  }
  return false;
}

/** A run that may be for a look, with the names that keep what comes of it; null where it is shown at once. */
interface Shown {
  readonly at: Stmt;
  readonly call: Call;
  readonly kept: readonly Definition[] | null;
}

/** `images = netG(z)`, `images, _ = netG(z)`, `rows = [netG(z) for z in noise]` */
function* named(file: PythonFile): Generator<Shown> {
  for (const at of file.all("Assign")) {
    const { value } = at;
    const call = uncut(value.kind === "Comp" && value.flavour === "list" ? value.element : value);
    const [target] = at.targets;
    const names = target && call.kind === "Call" ? boundBy(target) : [];
    const kept = names.flatMap((name) => file.scopes.definitionAt(name) ?? []);
    if (call.kind === "Call" && kept.length > 0) yield { at, call, kept };
  }
}

/** `rows.append(netG(z))` */
function* collected(file: PythonFile): Generator<Shown> {
  for (const { func, args, parent } of file.callsNamed("append")) {
    const into = func.kind === "Attribute" && func.value.kind === "Name" ? func.value : null;
    const call = args.length === 1 ? uncut(args[0]!.value) : null;
    const kept = into ? file.scopes.reaching(into) : [];
    if (parent?.kind === "ExprStmt" && call?.kind === "Call" && kept.length > 0)
      yield { at: parent, call, kept };
  }
}

/** `save_image(netG(z), path)` */
function* shownAtOnce(file: PythonFile): Generator<Shown> {
  for (const { args, parent } of file.calls.matching(SHOWN_BY)) {
    const call = args.length > 0 ? uncut(args[0]!.value) : null;
    if (parent?.kind === "ExprStmt" && call?.kind === "Call") yield { at: parent, call, kept: null };
  }
}

const SHOWN_BY = /^(?:save_images?|save_grid|imsave)$/;

/** `net` of `net(z)`, of `sample(net, z)`, which differentiates nothing, and, likely, of `net.sample(z)`. */
function networkShown(call: Call, facts: Facts): Expr | null {
  const { file, project } = facts;
  const { func } = call;
  if (isNetwork(func, facts)) return func;
  const fn = file.functionNamed(callTarget(call, file));
  if (fn)
    return facts.callee(call)?.reachesBackward === true || DIFFERENTIATES.test(file.codeOf(fn))
      ? null
      : ranByHelper(call, (value) => isNetwork(value, facts), file);
  const of = func.kind === "Attribute" ? func.value : null;
  const net = of?.kind === "Attribute" && of.attr === "module" ? of.value : of;
  return facts.guesses &&
    net !== null &&
    inferringWords(project).get((func as Attribute).attr) === true &&
    isNetwork(net, facts)
    ? net
    : null;
}

/** `net(z)` of `net(z).detach().cpu()` and of `net(z).data[:25]` */
function uncut(value: Expr): Expr {
  let at = value;
  for (;;)
    if (at.kind === "Call" && at.func.kind === "Attribute" && /^(?:detach|cpu)$/.test(at.func.attr))
      at = at.func.value;
    else if (at.kind === "Subscript" || (at.kind === "Attribute" && at.attr === "data")) at = at.value;
    else return at;
}

/** `images` of `images = net(z)` and of `images, _ = net(z)`. */
function boundBy(target: Expr): readonly Name[] {
  const items = target.kind === "Tuple" ? target.items : [target];
  return items.every((item) => item.kind === "Name") ? items.filter(({ id }) => id !== "_") : [];
}

/** The branch that lets a statement run once in a while, or what stands below the steps of an epoch and shows something. */
function lookedAtIn(statement: Stmt, facts: Facts): readonly Node[] {
  const step = facts.stepLoop(statement) ?? trainingStep(statement, facts);
  const loop = step ?? aroundSteps(statement, facts);
  const branch = loop ? throttled(statement, loop) : null;
  const fn = functionOf(statement);
  if (!loop) return fn?.kind === "FunctionDef" && onlyDraws(fn, facts) ? [fn] : [];
  if (branch || loop === step || loop.kind === "FunctionDef") return branch ? [branch] : [];
  const at = loop.body.findIndex((one) => contains(one, statement));
  const isBelow = stepsIn(loop, facts).every((steps) => steps.end < statement.start);
  const rest = isBelow && at >= 0 ? loop.body.slice(at) : [];
  return rest.some((one) => SHOWS.test(facts.file.codeOf(one))) ? rest : [];
}

/** The method of a Lightning module that is a step. */
function trainingStep(node: Node, facts: Facts): FunctionDef | null {
  const fn = functionOf(node);
  const cls = fn?.kind === "FunctionDef" && fn.name === "training_step" ? fn.parent : null;
  return cls?.kind === "ClassDef" && facts.role(cls) === "lightning" ? (fn as FunctionDef) : null;
}

/** What draws something, by its name. */
const DRAWS = /(?:^|_)(?:save|show|plot|draw|log|write|dump|visuali[sz]e|sample|preview|display)(?:_|$)/;

/** `def save_samples(self, step): images = self.G(self.noise); save_image(images, path)`, called with gradients recorded, and handing back nothing. */
function onlyDraws(fn: FunctionDef, facts: Facts): boolean {
  if (!DRAWS.test(fn.name) || facts.functionFacts(fn.body[0] ?? fn).callersGradOff !== "never") return false;
  const code = facts.file.codeOf(fn);
  let handsBack = false;
  walk(fn, (node) => {
    handsBack ||= (node.kind === "Return" && node.value !== null) || node.kind === "Yield";
    return !handsBack;
  });
  return !handsBack && SHOWS.test(code) && !/backward\(|_grad\b|inference_mode/.test(code);
}

/** What shows or saves pictures. */
export const SHOWS =
  /\b(?:save_image|imshow|imsave|savefig|add_images?|make_grid|add_figure)\(|wandb\.Image\(/;

/** The loop over epochs whose body has the loop over steps, or calls who has. */
function aroundSteps(node: Node, facts: Facts): Loop | null {
  const [loop] = loopsAround(node);
  return loop && stepsIn(loop, facts).length > 0 ? loop : null;
}

/** The loops over steps in the loop over epochs, and calls in it of functions of this file that have one. */
function stepsIn(loop: Loop, { file, stepLoops }: Facts): readonly Node[] {
  return [...stepLoops].flatMap((steps): readonly Node[] => {
    if (contains(loop, steps)) return [steps];
    const fn = functionOf(steps);
    return fn?.kind === "FunctionDef"
      ? file
          .callsNamed(fn.name)
          .filter((call) => contains(loop, call) && file.functionNamed(callTarget(call, file)) === fn)
      : [];
  });
}

/** `action = actor(obs)` of a step, of which only `action.detach()` is ever used. */
function* cutOff(facts: Facts): Generator<Look> {
  const { file } = facts;
  for (const statement of file.all("Assign")) {
    const [target] = statement.targets;
    const cut = statement.value.kind === "Call" && isDetach(statement.value);
    const call = cut ? ((statement.value as Call).func as Attribute).value : statement.value;
    if (call.kind !== "Call" || statement.targets.length !== 1 || !target || call.args.length === 0) continue;
    const names = target.kind === "Name" ? [target] : target.kind === "Tuple" ? target.items : [];
    // A file of networks alone may leave it to another to freeze them.
    const runs = facts.backwards.length > 0 && runsNetwork(call, facts);
    if (names.length === 0 || !(runs || isRunByOwn(call, names, facts))) continue;
    if (!facts.hot(statement)) continue;
    if (facts.gradMode(call) !== "on" || unrecorded(call, facts)) continue;
    const uses = names.flatMap((name) => {
      const definition = name.kind === "Name" ? file.scopes.definitionAt(name) : null;
      return definition ? file.scopes.uses(definition) : [];
    });
    if (uses.length === 0 || !names.every((name) => name.kind === "Name")) continue;
    if (!cut && !uses.every((use) => isCut(use))) continue;
    yield { run: call, shown: null };
  }
}

/** `fake, _ = self.generate(x)`, a method of the class that hands back what a network makes, and leaves nothing of it on self. */
function isRunByOwn(call: Call, names: readonly Expr[], facts: Facts): boolean {
  const { file } = facts;
  const own = selfAttribute(call.func);
  const cls = own === null ? null : classOf(call);
  const method = cls && methodsOf(cls).find(({ name }) => name === own);
  if (!method || leavesOnSelf(method, cls, file)) return false;
  const runs = runsReturnedTo(call, facts).filter(
    (run) => !facts.networks.isLoss(run.func) && !facts.networks.isFrozen(run.func),
  );
  return (
    runs.some((run) => lexicalGrad(run, file) === null && facts.gradMode(run) !== "off") &&
    names.some((_, at) => helperRun(call, names.length > 1 ? at : null, facts) !== null)
  );
}

/** `self.fake = net(x)`: who reads it there may want its graph. */
function leavesOnSelf(method: FunctionDef, cls: ClassDef, file: PythonFile): boolean {
  return [...attributesOf(cls, file).values()].some(({ writes }) => writes.some((one) => one.in === method));
}

function isDetach({ func }: Call): boolean {
  return func.kind === "Attribute" && func.attr === "detach";
}

function isCut({ parent }: Node): boolean {
  return (
    parent?.kind === "Attribute" &&
    (/^(?:detach|data|argmax|shape|size)$/.test(parent.attr) || isOfPlaces(parent))
  );
}

/** `q.max` of `q.max(1)[1]` and `q.max(dim=1).indices`: where it is largest has no graph. */
function isOfPlaces({ attr, parent: call }: Attribute): boolean {
  const taken = /^(?:max|min|topk|sort)$/.test(attr) && call?.kind === "Call" ? call.parent : null;
  return (
    (taken?.kind === "Subscript" && taken.index.kind === "Num" && taken.index.text === "1") ||
    (taken?.kind === "Attribute" && taken.attr === "indices")
  );
}

/** The nearest test below the loop that lets the node run once in a while. */
function throttled(node: Node, loop: Node): If | null {
  for (let at = node.parent; at && at !== loop; at = at.parent)
    if (at.kind === "If" && isThrottle(at.test)) return at;
  return null;
}

function isLook(use: Node, file: PythonFile): boolean {
  const statement = statementOf(use);
  return (
    statement !== null &&
    statement.kind !== "Return" &&
    !/loss|penalt|crit|backward|yield/i.test(file.textOf(statement))
  );
}
