import { contains, functionOf } from "../../python/nodes.ts";
import type { Call, Expr, Node } from "../../python/tree.ts";
import { comesFromNetwork, runsBehind } from "./behind-loss.ts";
import type { Facts } from "./facts.ts";
import { freezes } from "./freezing.ts";
import { ranNetwork } from "./networks.ts";
import { parametersOf } from "./optimised.ts";
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
  yield* inAnothersStep(facts);
}

const CLASSES = /^[A-Z]/;

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
      steps
        .filter((call) => contains(turn, call))
        // `scaler.step(optimizer)`
        .map((call) => {
          const stepped = call.args[0]?.name === null ? call.args[0].value : null;
          return call.func.kind === "Attribute" ? file.textOf(stepped ?? call.func.value) : "";
        }),
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

/** `fake = G(z)` in the function that takes the step of D alone: G has an optimizer of its own, and learns in another function. */
function* inAnothersStep(facts: Facts): Generator<Unwanted> {
  const { file } = facts;
  const optimised = new Map<string, string>();
  for (const made of file.calls.matching(CLASSES)) {
    const [target] = made.parent?.kind === "Assign" ? made.parent.targets : [];
    if (!target || !/^torch\.optim\.(?!lr_scheduler)(?:\w+\.)*[A-Z]/.test(file.dotted(made.func) ?? ""))
      continue;
    const source = parametersOf(made.args[0]?.value ?? null, file);
    if (source) optimised.set(file.textOf(target), file.textOf(source));
  }
  if (optimised.size < 2) return;
  const steps = optimizerSteps(file);
  for (const { call, loss } of facts.backwards) {
    const fn = functionOf(call);
    if (!fn || !loss || loopsAround(call).length > 0) continue;
    const taken = steps
      .filter((step) => functionOf(step) === fn)
      .map(({ func }) => optimised.get(func.kind === "Attribute" ? file.textOf(func.value) : ""));
    const [learns] = taken;
    if (learns === undefined || taken.some((one) => one !== learns)) continue;
    const code = file.codeOf(fn);
    const seen = new Set<string>();
    for (const run of runsBehind(loss, facts)) {
      const other = file.textOf(ranNetwork(run, facts) ?? run.func);
      if (other === learns || seen.has(other) || ![...optimised.values()].includes(other)) continue;
      seen.add(other);
      if (functionOf(run) === fn && facts.gradMode(run) !== "off" && !freezes(code, other))
        yield { run, network: other };
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
