import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf } from "../../python/nodes.ts";
import type { Call, Expr, Node } from "../../python/tree.ts";
import { inAnothersStep, isPartOf, networksOptimised, steppedBy } from "./anothers-steps.ts";
import type { Unwanted } from "./anothers-steps.ts";
import { comesFromNetwork, runsBehind } from "./behind-loss.ts";
import { isDetached } from "./detached.ts";
import type { Facts } from "./facts.ts";
import { freezes } from "./freezing.ts";
import { lexicalGrad } from "./gradmode.ts";
import { ranNetwork } from "./networks.ts";
import { inStepOfCaller } from "./stepped-by-caller.ts";
import { loopsAround, optimizerSteps } from "./training.ts";

/** Of networks that learn in turns: those that a loss goes through and that another optimizer has. */
export function* unwantedGradients(facts: Facts): Generator<Unwanted> {
  yield* adversaries(facts);
  yield* acrossMethods(facts);
  yield* inAnothersStep(facts);
  yield* inStepOfCaller(facts);
}

/**
 * `def calc_policy_loss(self, batch)` that runs `self.critic`, of a class that gives each an optimizer: whoever takes the step,
 * in a class that this one extends or in another file, the loss is named after the one that learns from it.
 */
export function* inLossOfAnother(facts: Facts): Generator<Unwanted> {
  const { file } = facts;
  for (const fn of file.all("FunctionDef")) {
    if (fn.parent?.kind !== "ClassDef" || !fn.name.includes("loss")) continue;
    const words = new Set(fn.name.split("_").filter((word) => word.length > 2));
    if (!words.has("loss")) continue;
    const networks = [...networksOptimised(file, fn.parent).values()].map((all) => [...all]);
    const known = networks.flat().filter((one) => one.startsWith("self."));
    if (networks.length < 2 || known.length < 2) continue;
    const learning = known.filter((one) => one.split(/[._]/).some((word) => words.has(word.toLowerCase())));
    // Differentiated there, it is plain which optimizer takes the step.
    if (learning.length === 0 || facts.backwards.some(({ call }) => contains(fn, call))) continue;
    const code = file.codeOf(fn);
    if (!/\breturn\b/.test(code)) continue;
    // Around the call of this, in the step as a rule.
    const whole = file.codeOf(fn.parent);
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
      if (isDetached(run, file) || isCutOff(run, file) || freezes(whole, name)) continue;
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
