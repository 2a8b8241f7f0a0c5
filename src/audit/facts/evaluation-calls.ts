import { isFalse, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { blockOf, classOf, contains, functionOf, lastWord, statementOf, walk } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef } from "../../python/tree.ts";
import { callsBehind } from "./behind-loss.ts";
import { methodsOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { decoratedGrad } from "./gradmode.ts";
import { isNetwork, ranNetwork } from "./networks.ts";
import { isParameterless } from "./optimised.ts";
import { GRAD_OFF_CONTEXTS } from "./torch-names.ts";
import { loopsAround } from "./training.ts";

/** `self._eval_model_update()`, `test_loader(…)`: what is done to a model or made for it, and runs none. */
const OTHERWISE =
  /(?<!_and)_(?:update|sync|copy|reset|init|setup|load|save|loader|dataloader|dataset|config|args|params|transforms?|name|path|dir)$/;

const NAMED =
  /(?:^|[._])(?:(?:eval|evaluate|evaluation|valid|validate|validation|test|run_validation|estimate_loss)(?:_\w+)?|val_(?:one_)?(?:epoch|step|loop|model))$/;

/** What a function does that wants numbers of a network, and nothing to differentiate. */
export const MEASURES = /\.(?:item|numpy|tolist|detach)\(|argmax/;

/** What asks for derivatives. `torch.autograd.Variable(x)`, as tensors were called once, and the profiler ask for none. */
export const DIFFERENTIATES = /requires_grad(?!\s*=\s*False)|autograd(?!\.(?:profiler|Variable)\b)|\.grad\b/;

/** An evaluation by its name, which leaves it to who calls it whether anything is recorded. */
export function leavesRecording({ body, decorators, name }: FunctionDef, file: PythonFile): boolean {
  if (decorators.length > 0 || !NAMED.test(name) || OTHERWISE.test(name)) return false;
  const code = body.map((one) => file.codeOf(one)).join("\n");
  return (
    MEASURES.test(code) &&
    !/_grad\b|inference_mode|set_grad_enabled|backward|autograd(?!\.(?:profiler|Variable)\b)|\.grad\b/.test(
      code,
    )
  );
}

/** `evaluate(model, …)`, `validate(…)`, `model.eval()`, or what by its doings looks at the model: now and then, or after an epoch. */
export function isEvaluation(call: Call, facts: Facts): boolean {
  const text = facts.file.textOf(call.func).slice(-60);
  return (
    (NAMED.test(text) &&
      !OTHERWISE.test(text) &&
      (call.args.length > 0 || text.startsWith("self.") || /estimate_loss/.test(text)) &&
      facts.callee(call)?.reachesBackward !== true &&
      !isOfNumbers(call, facts) &&
      !isForward(call, facts)) ||
    (isEvalMode(call) && !isForSaving(call, facts)) ||
    // `callback_verification(step, backbone)`
    (text.endsWith("verification") && call.args.some(({ value }) => isNetwork(value, facts))) ||
    evaluatorCalled(call, facts) !== null ||
    facts.callee(call)?.evaluates === true ||
    ((runsUnrecorded(call, facts) || isGeneration(call, facts) || isLook(call, facts)) &&
      !isOfStep(call, facts))
  );
}

/** `get_evaluation(y.cpu().numpy(), scores.numpy())`, `evaluator.eval({"y_true": y, "y_pred": scores})`: a metric of what is there. */
function isOfNumbers({ args, func }: Call, { file }: Facts): boolean {
  const [first] = args;
  const given = first?.value.kind === "Name" ? file.scopes.onlyValue(first.value) : first?.value;
  if (given?.kind === "Dict") return func.kind === "Attribute";
  const isArray = (one: Expr): boolean =>
    one.kind === "Call" && one.func.kind === "Attribute" && one.func.attr === "numpy";
  return (
    first !== undefined &&
    isArray(first.value) &&
    args.every(({ name, value }) => name !== null || isArray(value))
  );
}

/** `net.eval().cpu()`, `copy.deepcopy(net).eval()`, or with nothing below it that runs the network before it is saved. */
function isForSaving(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const { func, parent } = call;
  const of = func.kind === "Attribute" ? func.value : func;
  if (of.kind === "Call" && /\bdeepcopy$/.test(file.textOf(of.func))) return true;
  const chained = parent?.kind === "Attribute" && parent.parent?.kind === "Call" ? parent : null;
  const leaves = chained !== null && chained.attr === "cpu";
  const statement = statementOf(call);
  const block = statement ? (blockOf(statement) ?? []) : [];
  const rest = block.slice(block.indexOf(statement!) + 1);
  const saves = file.callsNamed("save").filter((one) => rest.some((at) => contains(at, one)));
  if (saves.length === 0) return false;
  if (leaves) return true;
  const until = rest.findIndex((at) => saves.some((one) => contains(at, one)));
  // What else is called on the way there may well run it.
  let runs = false;
  for (const at of rest.slice(0, until + 1))
    walk(at, (node) => {
      runs ||= node.kind === "For" || node.kind === "While";
      runs ||= node.kind === "Call" && !OF_SAVING.test(lastWord(node.func));
      return !runs;
    });
  const after = rest.slice(until + 1);
  return !runs && (after.length === 0 || after.some((at) => /\.train\(/.test(file.textOf(at))));
}

const OF_SAVING =
  /^(?:save|open|print|join|format|str|cpu|to|state_dict|info|makedirs|mkdir|exists|isdir|dirname|ctime|replace|time)$/;

/** `model.eval()`, `model.train(False)` */
function isEvalMode(call: Call): boolean {
  const { func, args } = call;
  if (func.kind !== "Attribute") return false;
  return func.attr === "eval" ? args.length === 0 : func.attr === "train" && isFalse(positional(call, 0));
}

/** A part of a step: what each of them does, as a queue that is filled, and what one does for its backward, as a teacher that is asked. */
function isOfStep(call: Call, facts: Facts): boolean {
  const loop = facts.stepLoop(call);
  if (loop !== null && facts.frequency(call, loop) === "every") return true;
  const statement = statementOf(call);
  const below = statement ? (blockOf(statement) ?? []).filter(({ start }) => start > statement.start) : [];
  return below.some((one) => facts.backwards.some((backward) => contains(one, backward.call)));
}

/** `with torch.no_grad():` around a run of a network, by itself or by a function of this file that does nothing to differentiate it. */
function runsUnrecorded(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const block = call.parent?.kind === "WithItem" ? call.parent.parent : null;
  if (block?.kind !== "With" || !GRAD_OFF_CONTEXTS.has(file.dotted(call.func) ?? "")) return false;
  let runs = false;
  for (const statement of block.body)
    walk(statement, (node) => {
      if (node.kind === "Call" && (ranNetwork(node, facts) !== null || callsRunner(node, facts))) runs = true;
      return !runs;
    });
  return runs;
}

/** `score(net, batch)` of this file, which runs the network that it is given. */
function callsRunner(call: Call, facts: Facts): boolean {
  const fn = functionCalled(call, facts.file);
  return (
    fn !== null &&
    call.args.some(({ value }) => isNetwork(value, facts)) &&
    facts.callee(call)?.reachesBackward !== true &&
    facts.once(runners).has(fn) &&
    // Told of where it stands.
    !isLook(call, facts)
  );
}

/** `model.generate(prompts)` of a network, `pipeline(prompt)` of diffusers, which samples with one. */
function isGeneration({ func }: Call, facts: Facts): boolean {
  if (func.kind === "Attribute") return func.attr === "generate" && isNetwork(func.value, facts);
  if (func.kind !== "Name") return false;
  const definitions = facts.file.scopes.reaching(func);
  return (
    definitions.length > 0 &&
    definitions.every(({ value }) => value?.kind === "Call" && isPipeline(value, facts.file))
  );
}

/** `DDPMPipeline(unet=unet, …)`, `StableDiffusionPipeline.from_pretrained(…)`, also as `pipeline = pipeline.to(device)`. */
function isPipeline({ func }: Call, file: PythonFile): boolean {
  const name = file.dotted(func);
  if (name !== null) return /^diffusers\.(?:\w+\.)*\w*Pipeline(?:\.from_pretrained)?$/.test(name);
  const [one, ...more] =
    func.kind === "Attribute" && func.attr === "to" && func.value.kind === "Name"
      ? file.scopes.reaching(func.value)
      : [];
  return one?.value?.kind === "Call" && more.length === 0 && isPipeline(one.value, file);
}

/** `actions, log_probs = self.actor.evaluate(states)`: what comes of it carries a graph. */
function isForward(call: Call, facts: Facts): boolean {
  const statement = call.parent?.kind === "Assign" ? call.parent : null;
  return (
    statement?.targets
      .flatMap((target) => (target.kind === "Tuple" ? target.items : [target]))
      .some((name) => {
        const definition = facts.file.scopes.definitionAt(name);
        return definition !== null && facts.valueOfDefinition(definition).graph === "yes";
      }) ?? false
  );
}

/** `sample(model, prompt)` of this file, or `self.probe(loader)`, which looks at what it is given. */
export function evaluatorCalled(call: Call, facts: Facts): FunctionDef | null {
  const fn = functionCalled(call, facts.file);
  return fn !== null && facts.file.once(evaluators).has(fn) && facts.callee(call)?.reachesBackward !== true
    ? fn
    : null;
}

/**
 * `self.draw_samples()` of this file, again and again, which runs a network for what that gives, and differentiates nothing.
 * Where the result of a single run is wanted, training goes on with it.
 */
function isLook(call: Call, facts: Facts): boolean {
  const fn = functionCalled(call, facts.file);
  return (
    fn !== null &&
    loopsAround(call).length > 0 &&
    (call.parent?.kind === "ExprStmt" || looksThrough(fn, facts.file)) &&
    facts.callee(call)?.reachesBackward === false &&
    facts.once(runners).has(fn) &&
    !isForward(call, facts)
  );
}

/** Functions of a file that run a network themselves, and not only `nn.Sigmoid()`, or call one that is differentiated elsewhere. */
function runners(facts: Facts): ReadonlySet<FunctionDef> {
  const { file } = facts;
  const differentiated = ranForLosses(facts);
  const found = new Set<FunctionDef>();
  for (const call of file.all("Call")) {
    const fn = functionOf(call);
    if (fn?.kind !== "FunctionDef" || found.has(fn)) continue;
    const run = ranNetwork(call, facts);
    const called = run === null ? functionCalled(call, file) : null;
    const runs = run !== null && !facts.networks.isLoss(run) && !isParameterless(run, file);
    if (runs || (called !== null && differentiated.has(called))) found.add(fn);
  }
  return found;
}

/** `render(rays, **nets)` behind a loss for which no network is seen to run: the functions of this file that must run it. */
function ranForLosses(facts: Facts): ReadonlySet<FunctionDef> {
  const { backwards, file } = facts;
  const runs = backwards.flatMap(({ call: backward, loss }) => {
    const turn = loopsAround(backward)[0];
    const behind = loss && turn ? callsBehind(loss, facts) : [];
    if (behind.some((call) => ranNetwork(call, facts) !== null)) return [];
    const ofTurn = behind.filter((call) => contains(turn!, call) && functionCalled(call, file) !== null);
    // What is given what another of them made compares it.
    return ofTurn.filter(
      ({ args }) =>
        !args.some(({ value }) => callsBehind(value, facts).some((inner) => ofTurn.includes(inner))),
    );
  });
  return new Set(runs.flatMap((call) => functionCalled(call, file) ?? []));
}

/** The function of this file, or the method of the class around, that a call goes to. */
function functionCalled(call: Call, file: PythonFile): FunctionDef | null {
  const own = selfAttribute(call.func);
  const cls = own === null ? null : classOf(call);
  const [one, ...more] = call.func.kind === "Name" ? (file.scopes.lookup(call.func)?.definitions ?? []) : [];
  const fn = cls ? methodsOf(cls).find(({ name }) => name === own) : more.length === 0 ? one?.node : null;
  return fn?.kind === "FunctionDef" ? fn : null;
}

/** Functions of a file that put what they are given into eval mode to look at it: not to save it, nor to make it. */
export function evaluators(file: PythonFile): ReadonlySet<FunctionDef> {
  const found = new Set<FunctionDef>();
  for (const call of file.callsNamed("eval", "train")) {
    const fn = isEvalMode(call) ? functionOf(call) : null;
    if (fn?.kind === "FunctionDef" && !onlySaves(fn, file)) found.add(fn);
  }
  return found;
}

/** Whether a function goes through examples, or runs something without recording. */
export function looksThrough(fn: FunctionDef, file: PythonFile): boolean {
  return (
    decoratedGrad(fn, file) === "off" ||
    file.callsNamed("no_grad", "inference_mode").some((off) => functionOf(off) === fn) ||
    file.all("For").some((loop) => functionOf(loop) === fn)
  );
}

function onlySaves(fn: FunctionDef, file: PythonFile): boolean {
  return (
    file.callsNamed("save").some((save) => contains(fn, save) && file.dotted(save.func) === "torch.save") &&
    !looksThrough(fn, file)
  );
}
