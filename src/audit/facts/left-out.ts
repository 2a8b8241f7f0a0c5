import type { PythonFile } from "../../python/file.ts";
import { contains, functionOf } from "../../python/nodes.ts";
import type { Attribute, Call, ClassDef, Expr, FunctionDef } from "../../python/tree.ts";
import { feedsBackward, isMadeOf } from "./behind-loss.ts";
import { attributesOf, methodsOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { isFrozenInTurn, namedIn } from "./freezing.ts";
import { lexicalGrad } from "./gradmode.ts";
import { handedIn } from "./handed-in.ts";
import { derivesFrom } from "./backwarded.ts";
import { ranNetwork } from "./networks.ts";
import { hasParameters, isOwnNetwork, isParameterless, makesOptimizer, parametersOf } from "./optimised.ts";

/** A run of a network that is in no optimizer, with gradients recorded. */
export interface LeftOut {
  readonly run: Call;
  /** As it is written. */
  readonly network: string;
}

/** Who others trained is made by these; what they make has parameters, which a loss of one's own need not have. */
export const TRAINED =
  /^(?:torchvision\.models\.(?:\w+\.)*[a-z]\w*|torchaudio\.pipelines\.\w+\.get_model|timm\.create_model|transformers\.\w*(?:Model|For[A-Z])\w*\.from_pretrained)$/;

const optimizersMade = (file: PythonFile): readonly Call[] =>
  file.all("Call").filter((call) => makesOptimizer(call, file));

/** Of a class that keeps its networks and its optimizers on self: what is run in a step, and none of them has. */
export function* leftOutOfClass(facts: Facts): Generator<LeftOut> {
  const { file } = facts;
  for (const cls of file.all("ClassDef")) {
    if (!/^(?:other|lightning)$/.test(facts.role(cls))) continue;
    const made = file.once(optimizersMade).filter((call) => contains(cls, call));
    const handed = made.length === 0 && isHandedOptimizer(cls);
    if (made.length === 0 && !handed) continue;
    const source = made.length === 1 ? parametersOf(made[0]!.args[0]?.value ?? null, facts.file) : null;
    const text = file.codeOf(cls);
    // `chain(self.net.parameters(), self.noise.parameters())`, by a method or a list of its own: whatever is not named there.
    const listed =
      made.length > 0 &&
      /self\.[\w.]+\.parameters\(/.test(text) &&
      !/self\.(?:named_)?parameters\(/.test(text);
    if (source ? selfAttribute(source) === null : !listed && !handed) continue;
    const optimised = source ? file.textOf(source) : "";
    for (const call of file.all("Call")) {
      const run =
        contains(cls, call) && isOfSelf(call)
          ? (ranNetwork(call, facts) ?? trainedRun(call, cls, file))
          : null;
      const own = run && selfAttribute(run);
      if (!run || own === null || /loss/i.test(own)) continue;
      if (isParameterless(run, file)) continue;
      // Several optimizers, each with a list of its own: only of what others trained it is plain that it is in none.
      if ((handed || made.length > 1) && !isOwnTrained(own, cls, file)) continue;
      const callee = file.textOf(run);
      if (callee === optimised || facts.networks.isFrozenByFlags(run)) continue;
      if (
        new RegExp(
          `\\b${own}\\b[^\\n]*(?:parameters|requires_grad|freeze)|(?:freeze|requires_grad)\\w*\\([^\\n]*\\b${own}\\b`,
        ).test(text)
      )
        continue;
      // A method that an evaluation calls without recording, too, is part of the step of who differentiates its result.
      const feedsCaller = facts.role(cls) === "other" && isDifferentiatedByCaller(call, cls, facts);
      if (!feedsCaller && (facts.gradMode(call) !== "on" || !facts.hot(call))) continue;
      // Of Lightning the loss is differentiated elsewhere.
      if (
        !feedsCaller &&
        (facts.role(cls) === "lightning"
          ? isOnlyLooked(call)
          : !(feedsBackward(call, facts) || feedsHelper(call, facts) || feedsAttribute(call, cls, facts)))
      )
        continue;
      yield { run: call, network: callee };
    }
  }
}

/** `train(backbone, head, optimizer, loader)`, of a function that differentiates: who calls it made the optimizer, without the backbone. */
export function* leftOutByCallers(facts: Facts): Generator<LeftOut> {
  const { file } = facts;
  if (file.mentions("add_param_group")) return;
  const steps = new Set(facts.backwards.map(({ call }) => functionOf(call)));
  for (const fn of steps) {
    if (fn?.kind !== "FunctionDef" || !isGivenOptimizer(fn, file)) continue;
    for (const call of file.all("Call")) {
      const ran = functionOf(call) === fn ? ranNetwork(call, facts) : null;
      // By its name it may be anything; then who calls this knows.
      const run = ran ?? (functionOf(call) === fn ? call.func : null);
      if (run?.kind !== "Name" || !facts.stepLoop(call) || facts.gradMode(call) !== "on") continue;
      if (facts.networks.isLoss(run) || facts.networks.isFrozenByFlags(run) || namedIn(run.id, facts))
        continue;
      const [param, ...more] = file.scopes.reaching(run);
      const given = param && more.length === 0 ? handedIn(param, file, true) : [];
      if (given.length === 0 || !(ran || given.every((network) => facts.networks.is(network)))) continue;
      if (!given.every((network) => isOutside(network, run, facts))) continue;
      if (feedsBackward(call, facts)) yield { run: call, network: run.id };
    }
  }
}

/** Whether all who call the function in this file give it, under one of its parameters, an optimizer that they made. */
function isGivenOptimizer(fn: FunctionDef, file: PythonFile): boolean {
  return fn.params.some((param) => {
    const definition = file.scopes.definitionAt(param);
    const given = definition ? handedIn(definition, file, true) : [];
    return given.length > 0 && given.every((value) => makersOf(value, file).length > 0);
  });
}

/** The calls that make what has this name, where all of them make an optimizer. */
function makersOf(name: Expr, file: PythonFile): readonly Call[] {
  const made = name.kind === "Name" ? file.scopes.reaching(name) : [];
  const calls = made.flatMap(({ how, value }) =>
    how === "assign" && value?.kind === "Call" && makesOptimizer(value, file) ? [value] : [],
  );
  return calls.length === made.length ? calls : [];
}

/** A network of the calling function, which is in no optimizer that is made there, and frozen nowhere. */
function isOutside(network: Expr, run: Expr, facts: Facts): boolean {
  const { file } = facts;
  if (network.kind !== "Name" || isParameterless(network, file)) return false;
  if (!hasParameters(network, facts) && !hasParameters(run, facts)) return false;
  const { id } = network;
  if (facts.networks.isFrozenByFlags(network) || namedIn(id, facts) || isFrozenInTurn(id, facts))
    return false;
  const fn = functionOf(network);
  const sources = file
    .all("Call")
    .filter((call) => functionOf(call) === fn && makesOptimizer(call, file))
    .map((call) => parametersOf(call.args[0]?.value ?? null, file));
  return (
    sources.length > 0 &&
    // A part of it, `net.head`, is chosen from the whole.
    sources.every((source) => source?.kind === "Name" && source.id !== id) &&
    isOwnNetwork(network, fn ?? file.tree.module, sources as Expr[], facts)
  );
}

/** `return rec + self.judge(out)`, of a method whose result another method of the class differentiates, or hands on to one that does. */
function isDifferentiatedByCaller(call: Call, cls: ClassDef, facts: Facts, depth = 0): boolean {
  const { file } = facts;
  const fn = functionOf(call);
  if (depth > 2 || fn?.kind !== "FunctionDef" || fn.parent !== cls || lexicalGrad(call, file) !== null)
    return false;
  const returned = file.all("Return").filter((one) => one.value !== null && functionOf(one) === fn);
  const places = returned.flatMap(({ value }) =>
    (value!.kind === "Tuple" ? value!.items : [value!]).flatMap((item, at) =>
      isMadeOf(item, call, facts) ? [value!.kind === "Tuple" ? at : null] : [],
    ),
  );
  if (places.length === 0) return false;
  return file.callsNamed(fn.name).some((run) => {
    if (selfAttribute(run.func) !== fn.name || !contains(cls, run) || lexicalGrad(run, file) !== null)
      return false;
    if (isDifferentiatedByCaller(run, cls, facts, depth + 1)) return true;
    return facts.hot(run) !== null && facts.gradMode(run) === "on" && feedsFrom(run, places, facts);
  });
}

/** Whether what a call returned at one of these places, null for all of it, is part of a loss that is differentiated there. */
function feedsFrom(run: Call, places: readonly (number | null)[], facts: Facts): boolean {
  const target = run.parent?.kind === "Assign" ? run.parent.targets[0] : null;
  if (target?.kind !== "Tuple") return feedsBackward(run, facts);
  const names = places.flatMap((at) => (at === null ? target.items : (target.items[at] ?? [])));
  const losses = new Set(names.flatMap((name) => facts.file.scopes.definitionAt(name) ?? []));
  return facts.backwards.some(
    ({ call, loss }) =>
      loss !== null && functionOf(call) === functionOf(run) && derivesFrom(loss, losses, facts),
  );
}

/** `def __init__(self, net, optimizer)`: what the class makes itself is not in that. */
function isHandedOptimizer(cls: ClassDef): boolean {
  const init = methodsOf(cls).find(({ name }) => name === "__init__");
  return init?.params.some(({ name }) => /^opt(?:im(?:izers?)?)?$/.test(name)) === true;
}

/** Made by the class itself, by what others trained, and handed to nobody. */
function isOwnTrained(own: string, cls: ClassDef, file: PythonFile): boolean {
  const writes = attributesOf(cls, file).get(own)?.writes ?? [];
  const trained = (value: Expr): boolean => {
    let at = value;
    while (at.kind === "Attribute" || at.kind === "Subscript" || at.kind === "Call") {
      if (at.kind === "Call" && TRAINED.test(file.dotted(at.func) ?? "")) return true;
      at = at.kind === "Call" ? at.func : at.value;
    }
    return false;
  };
  return (
    writes.length > 0 &&
    writes.every(({ value }) => value !== null && trained(value)) &&
    !new RegExp(
      `self\\.${own}\\b(?!\\s*(?:=|\\(|\\.(?:to|eval|cuda|train|half|float|extract_features|features|encode\\w*)\\())`,
    ).test(file.codeOf(cls))
  );
}

/** `self.judge.extract_features(x)` of what others trained and the class keeps to itself. */
function trainedRun({ func }: Call, cls: ClassDef, file: PythonFile): Expr | null {
  const own = func.kind === "Attribute" ? selfAttribute(func.value) : null;
  return own !== null && /feature|encode/.test((func as Attribute).attr) && isOwnTrained(own, cls, file)
    ? (func as Attribute).value
    : null;
}

/** `self.net(x)`, `self.net.encode(x)` */
function isOfSelf({ func }: Call): boolean {
  return selfAttribute(func) !== null || (func.kind === "Attribute" && selfAttribute(func.value) !== null);
}

/** `self.loss = self.loss + self.judge(out)`, which another method differentiates. */
function feedsAttribute(call: Call, cls: ClassDef, facts: Facts): boolean {
  const fn = functionOf(call);
  const losses = facts.backwards.flatMap(({ loss, call: backward }) =>
    loss && contains(cls, backward) && functionOf(backward) !== fn ? [facts.file.textOf(loss)] : [],
  );
  return (
    losses.length > 0 &&
    [...attributesOf(cls, facts.file)].some(
      ([name, { writes }]) =>
        losses.some((loss) => new RegExp(`\\bself\\.${name}\\b`).test(loss)) &&
        writes.some(
          ({ in: method, value }) => method === fn && value !== null && isMadeOf(value, call, facts),
        ),
    )
  );
}

/** What this call returns is part of a loss that the same function hands to one that differentiates it. */
function feedsHelper(call: Call, facts: Facts): boolean {
  return facts
    .callsTo("loose")
    .some(
      (helper) =>
        functionOf(helper) === functionOf(call) &&
        helper.start > call.start &&
        facts.callee(helper)?.reachesBackward === true &&
        helper.args.some(({ value }) => isMadeOf(value, call, facts)),
    );
}

/** Read at once, or thrown away. */
function isOnlyLooked({ parent }: Call): boolean {
  return (
    parent?.kind === "ExprStmt" ||
    (parent?.kind === "Attribute" && /^(?:detach|item|argmax|cpu|size|shape)$/.test(parent.attr))
  );
}
