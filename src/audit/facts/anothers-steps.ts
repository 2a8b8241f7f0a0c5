import { argument } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord, walk } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef, Node, Param } from "../../python/tree.ts";
import { callsBehind, comesFromNetwork } from "./behind-loss.ts";
import { selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { isDetached } from "./detached.ts";
import { freezes } from "./freezing.ts";
import { lexicalGrad } from "./gradmode.ts";
import { moved } from "./naming.ts";
import { ranNetwork } from "./networks.ts";
import { makesOptimizer } from "./optimised.ts";
import { networksByName } from "./optimizers-by-name.ts";
import { callsOf, paramGiven, returnsByName } from "./returns.ts";
import { callTarget } from "./summary.ts";
import { optimizerSteps } from "./training.ts";

/** A run of a network that learns from another loss than the one it is behind. */
export interface Unwanted {
  readonly run: Call;
  /** As it is written. */
  readonly network: string;
}

/** What is differentiated, and by their names the optimizers that take a step for it. */
interface Step {
  readonly at: Call;
  readonly loss: Expr;
  readonly taken: readonly string[];
}

/** `optimizer` of `optimizer.step()` and of `scaler.step(optimizer)`. */
export function steppedBy({ func, args: [given] }: Call): Expr {
  return given?.name === null ? given.value : func.kind === "Attribute" ? func.value : func;
}

/** The networks whose parameters each optimizer of this file, or of a class of it, was given, by the name it has. */
export function networksOptimised(
  file: PythonFile,
  within: Node = file.tree.module,
): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const made of file.all("Call")) {
    if (!/^(?:Assign|Dict|Return)$/.test(made.parent?.kind ?? "") || !makesOptimizer(made, file)) continue;
    const networks = networksOf(made, file);
    // `optimizer = make_optimizer(net)`, of a function that returns one.
    const sites = made.parent?.kind === "Return" ? sitesOf(made, networks, file) : [{ site: made, networks }];
    for (const one of sites)
      for (const name of contains(within, one.site) ? namesOf(one.site, one.networks, file) : [])
        found.set(name.optimizer, new Set([...(found.get(name.optimizer) ?? []), ...name.networks]));
  }
  return found;
}

/** `G(z).detach()` in a loop in which only the optimizer of a critic steps: it comes to learn when that is through. */
export function restsInLoop(run: Call, loop: Node, facts: Facts): boolean {
  const { file } = facts;
  if (facts.gradMode(run) !== "off" && !isDetached(run, file)) return false;
  const stepped = optimizerSteps(file)
    .filter((step) => contains(loop, step))
    .map((step) => file.textOf(steppedBy(step)));
  if (stepped.length === 0) return false;
  const network = file.textOf(ranNetwork(run, facts) ?? run.func);
  const optimised = networksOptimised(file, classOf(run) ?? file.tree.module);
  const own = [...optimised].filter(([, networks]) => networks.has(network));
  return (
    own.length > 0 &&
    stepped.every((optimizer) => optimised.has(optimizer) && !own.some(([name]) => name === optimizer))
  );
}

/** The calls of the function that returns an optimizer, and what they give for the networks whose parameters it has. */
function sitesOf(
  made: Call,
  networks: readonly Expr[],
  file: PythonFile,
): readonly { readonly site: Call; readonly networks: readonly Expr[] }[] {
  const fn = functionOf(made);
  if (fn?.kind !== "FunctionDef" || networks.length === 0) return [];
  return callsOf(fn, file).flatMap((site) => {
    const given = networks.flatMap((network) => {
      const param = network.kind === "Name" ? file.scopes.reaching(network)[0]?.node : undefined;
      const arg = site.args.find((one) => paramGiven(site, one, file) === param);
      return arg && param ? [arg.value] : [];
    });
    return given.length === networks.length ? [{ site, networks: given }] : [];
  });
}

/** What an optimizer that is made here is called, and the networks it has. */
function namesOf(
  made: Call,
  networks: readonly Expr[],
  file: PythonFile,
): readonly { readonly optimizer: string; readonly networks: readonly string[] }[] {
  const { parent } = made;
  const texts = networks.map((one) => file.textOf(one));
  // `self.optims = {"G": Adam(…), "D": Adam(…)}`
  if (parent?.kind === "Dict") {
    const key = parent.keys[parent.values.indexOf(made)];
    const [target] = parent.parent?.kind === "Assign" ? parent.parent.targets : [];
    return key?.kind === "Str" && target
      ? [{ optimizer: `${file.textOf(target)}[${file.textOf(key)}]`, networks: texts }]
      : [];
  }
  const [target] = parent?.kind === "Assign" ? parent.targets : [];
  if (!target) return [];
  const all =
    target.kind === "Subscript" && target.index.kind === "Name"
      ? keyed(networks, target.index.id, file)
      : null;
  if (target.kind !== "Subscript" || all === null)
    return [{ optimizer: file.textOf(target), networks: texts }];
  // `for name, net in self.nets.items(): self.optims[name] = Adam(net.parameters())`: each has the network of its own key.
  const each = file.textOf(target.value);
  return file
    .all("Subscript")
    .filter(({ value, index }) => index.kind === "Str" && file.textOf(value) === each)
    .map((one) => ({ optimizer: file.textOf(one), networks: [`${all}[${file.textOf(one.index)}]`] }));
}

/** `self.nets`, of which the loop around has one network after the other under the key of this name. */
function keyed([network, ...more]: readonly Expr[], key: string, file: PythonFile): string | null {
  if (!network || more.length > 0) return null;
  if (network.kind === "Subscript")
    return network.index.kind === "Name" && network.index.id === key ? file.textOf(network.value) : null;
  const [one, ...others] = network.kind === "Name" ? file.scopes.reaching(network) : [];
  const pairs = one?.how === "iterate" && others.length === 0 ? one.value : null;
  const names = one?.node.parent?.kind === "Tuple" ? one.node.parent.items : [];
  return pairs?.kind === "Call" &&
    pairs.func.kind === "Attribute" &&
    pairs.func.attr === "items" &&
    names[0]?.kind === "Name" &&
    names[0].id === key
    ? file.textOf(pairs.func.value)
    : null;
}

/** The networks whose parameters an optimizer is given. */
function networksOf(made: Call, file: PythonFile): readonly Expr[] {
  const given = argument(made, "params", 0);
  const listed = given?.kind === "Name" ? file.scopes.onlyValue(given) : given;
  const found: Expr[] = [];
  if (listed)
    walk(listed, (node) => {
      if (node.kind === "Attribute" && /^(?:trainable_|named_)?parameters$/.test(node.attr)) {
        const network = moved(node.value);
        found.push(network, ...keptAs(network, file));
      }
      return true;
    });
  return found;
}

/** `self.net` of a `net` that the class was handed: `self.net = net.to(device)`. */
function keptAs(network: Expr, file: PythonFile): readonly Expr[] {
  if (network.kind !== "Name") return [];
  const fn = functionOf(network);
  return file
    .all("Assign")
    .filter((one) => functionOf(one) === fn)
    .flatMap(({ targets: [target], value }) => {
      const to = target?.kind === "Tuple" ? target.items : target ? [target] : [];
      const from = target?.kind === "Tuple" && value.kind === "Tuple" ? value.items : [value];
      return to.filter((one, at) => {
        const given = from[at] ? moved(from[at]) : null;
        return selfAttribute(one) !== null && given?.kind === "Name" && given.id === network.id;
      });
    });
}

/** `self.actor_optimizer`, that the class was handed together with `self.actor`: by their names. */
function namedAfter(file: PythonFile): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, ReadonlySet<string>>();
  for (const step of optimizerSteps(file)) {
    const name = file.textOf(steppedBy(step));
    const of = /^(self\.)(\w+?)_opt(?:im(?:izer)?)?$/.exec(name);
    if (of) found.set(name, new Set([`${of[1]}${of[2]}`]));
  }
  return found;
}

/** The optimizers that take the step after a backward: the next ones below it, up to the backward that follows them. */
function steppedAfter(backward: Call, facts: Facts): readonly Call[] {
  const { file } = facts;
  const fn = functionOf(backward);
  // Whatever it is called, what takes a step may have parameters.
  const steps = new Set([
    ...optimizerSteps(file),
    ...file
      .callsNamed("step")
      .filter(
        ({ func, args }) =>
          func.kind === "Attribute" &&
          args.length === 0 &&
          !/sched|prof|bar$|timer|lr$/i.test(lastWord(func.value)),
      ),
  ]);
  const below = [...steps].filter((step) => functionOf(step) === fn && step.start > backward.start);
  const first = Math.min(...below.map(({ start }) => start));
  const next = facts.backwards
    .filter(({ call }) => functionOf(call) === fn && call.start > first)
    .map(({ call }) => call.start);
  return below.filter(({ start }) => start < Math.min(...next));
}

/** The steps of this file: where a loss is differentiated, and where it is handed to a function that does, with its optimizer. */
function* stepsOf(facts: Facts): Generator<Step> {
  const { file } = facts;
  for (const { call, loss } of facts.backwards) {
    const steps = steppedAfter(call, facts).map(steppedBy);
    if (!loss || steps.length === 0) continue;
    yield { at: call, loss, taken: steps.map((one) => file.textOf(one)) };
    const fn = functionOf(call);
    if (fn?.kind !== "FunctionDef" || !steps.every((one) => paramOf(one, fn, file))) continue;
    const lost = paramOf(loss, fn, file);
    // `def descend(self, loss, optimizer)`, for whoever calls it.
    for (const site of lost ? callsOf(fn, file) : []) {
      const given = (param: Param | null): Expr | null =>
        site.args.find((arg) => paramGiven(site, arg, file) === param)?.value ?? null;
      const values = steps.map((one) => given(paramOf(one, fn, file)));
      const value = given(lost);
      if (value && !values.includes(null))
        yield { at: site, loss: value, taken: values.map((one) => file.textOf(one!)) };
    }
  }
}

/** The parameter of a function that a name means there. */
function paramOf(name: Expr, fn: FunctionDef, file: PythonFile): Param | null {
  const [one, ...more] = name.kind === "Name" ? file.scopes.reaching(name) : [];
  return one?.how === "param" && more.length === 0
    ? (fn.params.find((param) => param.name === one.name) ?? null)
    : null;
}

/**
 * `fake = G(z)` behind the loss that only the optimizer of D takes a step for: G has an optimizer of its own, and learns from
 * another loss. Of an optimizer that is made elsewhere, nobody here knows what it has.
 */
export function* inAnothersStep(facts: Facts): Generator<Unwanted> {
  const { file } = facts;
  const made = networksOptimised(file);
  const named = [...(facts.guesses ? networksByName(file, steppedBy) : []), ...namedAfter(file)];
  const optimised = new Map(named.filter(([name]) => (made.get(name)?.size ?? 0) === 0));
  for (const [name, networks] of made) if (!optimised.has(name)) optimised.set(name, networks);
  if (optimised.size < 2) return;
  const known = new Set([...optimised.values()].flatMap((networks) => [...networks]));
  const seen = new Set<string>();
  for (const { at, loss, taken } of stepsOf(facts)) {
    if (!taken.every((one) => (optimised.get(one)?.size ?? 0) > 0)) continue;
    const learning = taken.flatMap((one) => [...optimised.get(one)!]);
    const fn = functionOf(at);
    const runs = [...unwantedBehind(loss, known, learning, facts)];
    // By its name alone an optimizer may have another than the loss speaks of.
    const isKnown = taken.every((one) => (made.get(one)?.size ?? 0) > 0);
    if (
      !isKnown &&
      !callsBehind(loss, facts, true, true).some((call) => learning.includes(networkOf(call, facts)))
    )
      continue;
    for (const { run, network } of runs) {
      const told = `${fn?.start} ${learning.join()} ${network}`;
      if (seen.has(told) || facts.gradMode(run) === "off") continue;
      // `with torch.set_grad_enabled(args.train_encoder):`, around what may learn together with the other.
      if (!isKnown && lexicalGrad(run, file) !== null) continue;
      const around = [fn, functionOf(run)].map((one) => file.codeOf(one ?? file.tree.module));
      if (around.some((code) => freezes(code, network))) continue;
      seen.add(told);
      yield { run, network };
    }
  }
}

function networkOf(run: Call, facts: Facts): string {
  return facts.file.textOf(ranNetwork(run, facts) ?? run.func);
}

/** Behind a loss, the runs of known networks that do not learn from it: here, by a method of the class, or by a function that is handed one. */
function* unwantedBehind(
  loss: Expr,
  known: ReadonlySet<string>,
  learning: readonly string[],
  facts: Facts,
  depth = 0,
): Generator<Unwanted> {
  const { file } = facts;
  const isUnwanted = (name: string): boolean =>
    known.has(name) && !learning.some((one) => isPartOf(one, name));
  const fn = functionOf(loss);
  for (const call of callsBehind(loss, facts, true, true)) {
    const network = networkOf(call, facts);
    // In another method than the step's, only what is kept on self is the same.
    if (isUnwanted(network) && functionOf(call) === fn && (depth === 0 || network.startsWith("self.")))
      yield { run: call, network };
    if (lexicalGrad(call, file) !== null) continue;
    const returned =
      depth < 2 && selfAttribute(call.func) !== null && classOf(call)
        ? (file.once(returnsByName).get(callTarget(call, file) ?? "") ?? [])
        : [];
    for (const value of returned) yield* unwantedBehind(value, known, learning, facts, depth + 1);
    const handed = call.args.find(({ value }) => isUnwanted(file.textOf(value)))?.value;
    if (handed && isGivenMade(call, handed, learning, facts))
      yield { run: call, network: file.textOf(handed) };
  }
}

/** `judged(critic, fake)`: with the network a helper is given what one that learns has made, to send it through. */
function isGivenMade(call: Call, network: Expr, learning: readonly string[], facts: Facts): boolean {
  return call.args.some(
    ({ value }) =>
      value !== network &&
      !learning.includes(facts.file.textOf(value)) &&
      comesFromNetwork(value, network, facts),
  );
}

/** `net.head` and `net`, either way: the same, or one within the other. */
export function isPartOf(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`);
}
