import { argument } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord, walk } from "../../python/nodes.ts";
import type { Call, Expr, Node } from "../../python/tree.ts";
import { comesFromNetwork, runsBehind } from "./behind-loss.ts";
import { isDetached } from "./detached.ts";
import type { Facts } from "./facts.ts";
import { freezes } from "./freezing.ts";
import { lexicalGrad } from "./gradmode.ts";
import { ranNetwork } from "./networks.ts";
import { makesOptimizer } from "./optimised.ts";
import { loopsAround, optimizerSteps } from "./training.ts";

/** A run of a network that learns from another loss than the one it is behind. */
export interface Unwanted {
  readonly run: Call;
  /** As it is written. */
  readonly network: string;
}

/** Of networks that learn in turns: those that a loss goes through and that another optimizer has. */
export function* unwantedGradients(facts: Facts): Generator<Unwanted> {
  yield* adversaries(facts);
  yield* acrossMethods(facts);
  yield* inAnothersStep(facts);
}

/**
 * `def calc_policy_loss(self, batch)` that runs `self.critic`, of a class that gives each an optimizer: whoever takes the step,
 * in a class that this one extends or in another file, the loss is named after the one that learns from it.
 */
export function* inLossOfAnother(facts: Facts): Generator<Unwanted> {
  const { file } = facts;
  for (const fn of file.all("FunctionDef")) {
    const words = new Set(fn.name.split("_").filter((word) => word.length > 2));
    if (fn.parent?.kind !== "ClassDef" || !words.has("loss")) continue;
    const networks = [...networksOptimised(file, fn.parent).values()].map((all) => [...all]);
    const known = networks.flat().filter((one) => one.startsWith("self."));
    if (networks.length < 2 || known.length < 2) continue;
    const learning = known.filter((one) => one.split(/[._]/).some((word) => words.has(word)));
    // Differentiated there, it is plain which optimizer takes the step.
    if (learning.length === 0 || facts.backwards.some(({ call }) => contains(fn, call))) continue;
    const code = file.codeOf(fn);
    if (!/\breturn\b/.test(code)) continue;
    for (const run of file.all("Call")) {
      const network = functionOf(run) === fn ? ranNetwork(run, facts) : null;
      const name = network ? file.textOf(network) : "";
      if (!known.some((one) => isPartOf(one, name)) || learning.some((one) => isPartOf(one, name))) continue;
      // Of those that one optimizer has, all learn from the loss.
      if (
        networks.some((all) => [name, ...learning].every((one) => all.some((other) => isPartOf(one, other))))
      )
        continue;
      if (lexicalGrad(run, file) !== null || facts.gradMode(run) === "off") continue;
      if (isDetached(run, file) || isCutOff(run, file) || freezes(code, name)) continue;
      yield { run, network: name };
      break;
    }
  }
}

/** `values.detach()`, of `values = self.critic(states)`, somewhere below. */
function isCutOff(run: Call, file: PythonFile): boolean {
  const [target] = run.parent?.kind === "Assign" ? run.parent.targets : [];
  const made = target?.kind === "Tuple" ? target.items : target ? [target] : [];
  return made.some((name) => {
    const definition = name.kind === "Name" ? file.scopes.definitionAt(name) : null;
    return (
      definition !== null &&
      definition !== undefined &&
      file.scopes
        .uses(definition)
        .some(({ parent }) => parent?.kind === "Attribute" && /^(?:detach|data|item)$/.test(parent.attr))
    );
  });
}

/** `engine.step()`, of what differentiates by `engine.backward(loss)`. */
function engineSteps({ file, backwards }: Facts): Call[] {
  const engines = new Set(
    backwards.flatMap(({ call }) =>
      call.func.kind === "Attribute" && call.args.some(({ name }) => name === null)
        ? [file.textOf(call.func.value)]
        : [],
    ),
  );
  return engines.size === 0
    ? []
    : file
        .callsNamed("step")
        .filter(({ func }) => func.kind === "Attribute" && engines.has(file.textOf(func.value)));
}

/** Two networks, two optimizers: what one's loss goes through gets gradients too. */
function* adversaries(facts: Facts): Generator<Unwanted> {
  const { file } = facts;
  const steps = [...optimizerSteps(file), ...engineSteps(facts)];
  if (steps.length < 2) return;
  // A turn of the loop, or a function that takes both steps: an agent's update, a training_step of one's own.
  const turns = new Set<Node>(facts.stepLoops);
  for (const step of steps) {
    const fn = functionOf(step);
    if (fn && loopsAround(step).length === 0) turns.add(fn);
  }
  for (const turn of turns) {
    const receivers = new Set(
      steps.filter((call) => contains(turn, call)).map((call) => file.textOf(steppedBy(call))),
    );
    if (receivers.size < 2) continue;
    const code = file.codeOf(turn);
    const losses = facts.backwards.flatMap(({ call, loss }) =>
      loss && contains(turn, call) ? [runsBehind(loss, facts)] : [],
    );
    const found = losses.flatMap((runs) => judges(runs, losses, facts));
    for (const node of new Set(found))
      if (!freezes(code, file.textOf(node.func))) yield { run: node, network: file.textOf(node.func) };
  }
}

/** `def step_generator(self)` and `def step_discriminator(self)` of one class, each with the step of an optimizer of its own. */
function* acrossMethods(facts: Facts): Generator<Unwanted> {
  const { file } = facts;
  const steps = optimizerSteps(file);
  for (const cls of new Set(steps.flatMap((step) => classOf(step) ?? []))) {
    const taken = new Map<Node, Set<string>>();
    for (const step of steps) {
      const fn = classOf(step) === cls ? functionOf(step) : null;
      if (fn) taken.set(fn, (taken.get(fn) ?? new Set()).add(file.textOf(steppedBy(step))));
    }
    const alone = [...taken].filter(([, receivers]) => receivers.size === 1);
    if (new Set(alone.flatMap(([, receivers]) => [...receivers])).size < 2) continue;
    const methods = new Set(alone.map(([fn]) => fn));
    const losses = facts.backwards.flatMap(({ call, loss }) =>
      loss && methods.has(functionOf(call)!) ? [runsBehind(loss, facts)] : [],
    );
    for (const run of new Set(losses.flatMap((runs) => judges(runs, losses, facts)))) {
      const network = file.textOf(run.func);
      const fn = functionOf(run)!;
      // Where it is shown what is real, by a backward of its own, it is the one that learns.
      const learns = losses
        .flat()
        .some(
          (other) =>
            functionOf(other) === fn &&
            file.textOf(other.func) === network &&
            !other.args.some(({ value }) => comesFromNetwork(value, other.func, facts)),
        );
      if (!learns && !freezes(file.codeOf(fn), network)) yield { run, network };
    }
  }
}

/** `optimizer` of `optimizer.step()` and of `scaler.step(optimizer)`. */
function steppedBy({ func, args: [given] }: Call): Expr {
  return given?.name === null ? given.value : func.kind === "Attribute" ? func.value : func;
}

/** The networks whose parameters each optimizer of this file, or of a class of it, was given, by the name it has. */
function networksOptimised(
  file: PythonFile,
  within: Node = file.tree.module,
): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const made of file.all("Call")) {
    const [target] = made.parent?.kind === "Assign" ? made.parent.targets : [];
    if (!target || !makesOptimizer(made, file) || !contains(within, made)) continue;
    const given = argument(made, "params", 0);
    const listed = given?.kind === "Name" ? file.scopes.onlyValue(given) : given;
    const networks = found.get(file.textOf(target)) ?? new Set<string>();
    found.set(file.textOf(target), networks);
    if (listed)
      walk(listed, (node) => {
        if (node.kind === "Attribute" && /^(?:trainable_|named_)?parameters$/.test(node.attr))
          networks.add(file.textOf(node.value));
        return true;
      });
  }
  return found;
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
function steppedAfter(backward: Call, facts: Facts): readonly string[] {
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
  return below.filter(({ start }) => start < Math.min(...next)).map((step) => file.textOf(steppedBy(step)));
}

/**
 * `fake = G(z)` behind the loss that only the optimizer of D takes a step for: G has an optimizer of its own, and learns from
 * another loss. Of an optimizer that is made elsewhere, nobody here knows what it has.
 */
function* inAnothersStep(facts: Facts): Generator<Unwanted> {
  const { file } = facts;
  const made = networksOptimised(file);
  const optimised = new Map([...namedAfter(file)].filter(([name]) => !made.has(name)).concat([...made]));
  if (optimised.size < 2) return;
  const known = new Set([...optimised.values()].flatMap((networks) => [...networks]));
  const seen = new Set<string>();
  for (const { call, loss } of facts.backwards) {
    const taken = steppedAfter(call, facts);
    if (!loss || taken.length === 0 || !taken.every((one) => (optimised.get(one)?.size ?? 0) > 0)) continue;
    const learning = taken.flatMap((one) => [...optimised.get(one)!]);
    const fn = functionOf(call);
    const code = file.codeOf(fn ?? file.tree.module);
    const runs = runsBehind(loss, facts, true, true);
    const networkOf = (run: Call): string => file.textOf(ranNetwork(run, facts) ?? run.func);
    // By its name alone an optimizer may have another than the loss speaks of.
    if (!taken.every((one) => made.has(one)) && !runs.some((run) => learning.includes(networkOf(run))))
      continue;
    for (const run of runs) {
      const other = networkOf(run);
      const told = `${fn?.start} ${learning.join()} ${other}`;
      if (!known.has(other) || seen.has(told) || learning.some((one) => isPartOf(one, other))) continue;
      if (functionOf(run) !== fn || facts.gradMode(run) === "off" || freezes(code, other)) continue;
      seen.add(told);
      yield { run, network: other };
    }
  }
}

/** `net.head` and `net`, either way: the same, or one within the other. */
function isPartOf(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`);
}

/** Of the runs behind one loss, those of a network that judges what another made, and learns from another loss: from what is real or detached. */
function judges(runs: readonly Call[], losses: readonly (readonly Call[])[], facts: Facts): Call[] {
  const { file } = facts;
  const judgesOthers = (call: Call): boolean =>
    call.args.some((arg) => comesFromNetwork(arg.value, networkOf(call), facts));
  const networkOf = (call: Call): Expr => ranNetwork(call, facts) ?? call.func;
  const isOwnLoss = (own: readonly Call[]): boolean =>
    own.length > 1 &&
    !own.some(judgesOthers) &&
    own.some(({ args }) => args.some(({ value }) => /\.detach\(\)/.test(file.textOf(value))));
  return runs.filter((run) => {
    const judge = file.textOf(networkOf(run));
    const same = (other: Call): boolean => file.textOf(networkOf(other)) === judge;
    return (
      judgesOthers(run) &&
      // Its own loss looks at both: this is it, unless another one does, with what was made detached.
      (!runs.some((other) => same(other) && !judgesOthers(other)) ||
        losses.some((others) => others !== runs && isOwnLoss(others.filter(same)))) &&
      losses.some((others) => others !== runs && others.some((other) => same(other) && !judgesOthers(other)))
    );
  });
}
