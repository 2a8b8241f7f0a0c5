import type { Arg, Call, Expr, FunctionDef, Node } from "../../python/tree.ts";
import { ancestors, classOf, lastWord, walk } from "../../python/nodes.ts";
import { feedsBackward } from "./behind-loss.ts";
import { selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { isNetwork, ranNetwork } from "./networks.ts";
import { stepsByWord } from "./project-words.ts";
import { callTarget } from "./summary.ts";
import { isRepeated, waitsBelow } from "./waiting.ts";

const RUNS = /loss|forward|predict|sample|train_step|denoise/;

/** Device work that is only queued: a run of a network, a backward, or either in a function of this file that does not wait for it. */
export function isWork(call: Call, timed: Node | null, facts: Facts): boolean {
  if (isNetwork(call.func, facts) || facts.backwards.some((one) => one.call === call)) return true;
  if (facts.networks.isHanded(call.func)) return true;
  if (call.func.kind === "Attribute" && call.func.attr === "forward" && isNetwork(call.func.value, facts))
    return true;
  if (runsGiven(call.func, call.args[0], facts) || isOfFramework(call, facts)) return true;
  // `losses = partial(diffusion.training_losses, model, x, t)`, called by that name.
  const prepared = call.func.kind === "Name" ? facts.file.scopes.onlyValue(call.func) : null;
  if (
    prepared?.kind === "Call" &&
    prepared.args[0] &&
    facts.file.dotted(prepared.func) === "functools.partial" &&
    runsGiven(prepared.args[0].value, prepared.args[1], facts)
  )
    return true;
  if (learns(call, facts) || runsForLoss(call, facts) || isForwardElsewhere(call, facts)) return true;
  if (facts.guesses && isLikelyWork(call, facts)) return true;
  if (timed !== null && !isRepeated(call, timed) && stepsElsewhere(call, facts)) return true;
  if (call.func.kind !== "Name" && selfAttribute(call.func) === null) return false;
  const fn = facts.file.functionNamed(callTarget(call, facts.file));
  return (
    fn !== undefined &&
    ((facts.callee(call)?.reachesBackward === true && facts.functionFacts(fn.body[0]!).loose) ||
      runsBelow(fn, facts)) &&
    !waitsBelow(fn, timed !== null && !isRepeated(call, timed), facts.file)
  );
}

/** `model.sample(16)`: not `generate`, which asks after each token whether it was the last. */
const OF_NETWORKS =
  /^(?:sample|encode|decode|reconstruct|infer|inference|synthesi[sz]e|denoise|(?:extract|get)_features|forward_\w+)$/;

/** By what is known of the function, or else by its name: `self.train_step(batch)`, `agent.update(batch)`. */
function isLikelyWork(call: Call, facts: Facts): boolean {
  if (facts.backwards.length > 0 && ranNetwork(call, facts) !== null) return true;
  const callee = facts.callee(call);
  const { func } = call;
  if (func.kind === "Attribute" && OF_NETWORKS.test(func.attr) && isNetwork(func.value, facts))
    return callee?.reads !== true;
  if (callee) return (callee.reachesBackward || callee.forwards) && !callee.reads && callee.queues;
  return (
    facts.file.functionNamed(callTarget(call, facts.file)) === undefined &&
    /^_?(?:train|update|learn|optimi[sz]e|forward|run)_(?:step|batch|critic|actor|policy|parameters|network|generator|discriminator)$/.test(
      lastWord(call.func),
    )
  );
}

/** `def log_probs(model, ids): return model(ids).log_softmax(-1)`, or by a function of this file that it calls. */
function runsBelow(fn: FunctionDef, facts: Facts, depth = 0): boolean {
  let runs = false;
  for (const statement of fn.body)
    walk(statement, (node) => {
      if (runs || node.kind !== "Call") return !runs;
      const called = depth < 2 ? facts.file.functionNamed(callTarget(node, facts.file)) : undefined;
      runs =
        (isNetwork(node.func, facts) && !facts.networks.isLoss(node.func)) ||
        (called !== undefined && called !== fn && runsBelow(called, facts, depth + 1));
      return !runs;
    });
  return runs;
}

/**
 * A step that stands in another file: `train_step(net, batch)`, or `self.algo.update_critic(batch)` of an object of whatever
 * class, where no method of the tree that has this name and takes a step waits for it.
 */
function stepsElsewhere(call: Call, facts: Facts): boolean {
  const { file, project } = facts;
  const { func, args } = call;
  const target = callTarget(call, file);
  if (file.functionNamed(target)) return false;
  const callee = facts.callee(call);
  if (callee) return callee.queues;
  if (func.kind !== "Attribute" || file.dotted(func) !== null || facts.networks.is(func.value)) return false;
  const isPlain = PLAIN.test(func.attr);
  if (isPlain && (args.length === 0 || !LEARNER.test(lastWord(func.value)))) return false;
  const steps = stepsByWord(project).get(func.attr) ?? [];
  return steps.length > 0 && steps.every(({ queues }) => queues);
}

/** What meters, optimizers and files have methods of, too. */
const PLAIN =
  /^(?:update|step|train|run|fit|learn|optimi[sz]e|forward|backward|log|save|load|reset|add|call|apply|eval|close)$/;

const LEARNER = /(?:^|_)(?:policy|agent|learner|algo(?:rithm)?|trainer|solver)$/;

/** `super().training_step(*args)` of a Trainer, or of a module of Lightning: the framework's own work, which it only queues. */
function isOfFramework({ func }: Call, facts: Facts): boolean {
  if (func.kind !== "Attribute" || !/^(?:training_step|compute_loss)$/.test(func.attr)) return false;
  const { value } = func;
  const cls = value.kind === "Call" && lastWord(value.func) === "super" ? classOf(func) : null;
  return cls !== null && /^(?:trainer|lightning)$/.test(facts.role(cls));
}

/**
 * `with autocast(): result = task(images, labels)` and `result["loss"]`, of an object that was handed in or made elsewhere: what
 * gives a loss under autocast, or one that is differentiated here, has run a network. A function of this tree is read for what
 * it does.
 */
function runsForLoss(call: Call, facts: Facts): boolean {
  const { func, args, parent } = call;
  const { file } = facts;
  if (func.kind !== "Name" && selfAttribute(func) === null) return false;
  if (args.length === 0 || file.dotted(func) !== null || file.functionNamed(callTarget(call, file)))
    return false;
  const [target] = parent?.kind === "Assign" ? parent.targets : [];
  const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  const givesLoss = made
    ? LOSS.test(made.name) || file.scopes.uses(made).some(isLossOf)
    : isLossOf(call) || (target?.kind === "Tuple" && target.items.some((one) => LOSS.test(lastWord(one))));
  return (
    givesLoss && (isUnderAutocast(call) || feedsBackward(call, facts)) && facts.callee(call)?.reads !== true
  );
}

/**
 * `errors = alignment_loss(net, generator, images)`, of another file, which runs the network that it is handed and waits for nothing:
 * what is differentiated here was computed on the device.
 */
function isForwardElsewhere(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const name = file.dotted(call.func);
  if (name === null || OF_LIBRARIES.test(name) || file.functionNamed(callTarget(call, file))) return false;
  return (
    call.args.some(({ value }) => isNetwork(value, facts) && !facts.networks.isLoss(value)) &&
    facts.callee(call)?.forwards === true &&
    feedsBackward(call, facts)
  );
}

const OF_LIBRARIES = /^(?:builtins|torch|torchvision|numpy|time|os|math)\./;

const LOSS = /(?:^|_)loss(?:es)?$/;

/** `result["loss"]`, `result.loss` */
function isLossOf({ parent }: Node): boolean {
  return (
    (parent?.kind === "Attribute" && LOSS.test(parent.attr)) ||
    (parent?.kind === "Subscript" && parent.index.kind === "Str" && LOSS.test(parent.index.value ?? ""))
  );
}

/** `with torch.autocast("cuda"):`, `with amp_autocast():` */
function isUnderAutocast(node: Node): boolean {
  return ancestors(node).some(
    (at) =>
      at.kind === "With" &&
      at.items.some(
        ({ context }) => context.kind === "Call" && /autocast|(?:^|_)amp(?:_|$)/.test(lastWord(context.func)),
      ),
  );
}

/** `policy.train(replay_buffer, batch_size)`, by whichever of several agents was chosen above. */
function learns({ func, args }: Call, { file }: Facts): boolean {
  const [first] = args;
  return (
    func.kind === "Attribute" &&
    /^(?:train|update|learn|train_step)$/.test(func.attr) &&
    /^(?:\w+_)?(?:policy|agent|learner)$/.test(lastWord(func.value)) &&
    first !== undefined &&
    /^(?:self\.)?(?:\w+_)?(?:replay|buffer|memory|batch)\b/.test(file.textOf(first.value))
  );
}

/** `diffusion.training_losses(model, x, t)` runs the network it is given. */
function runsGiven(func: Expr, first: Arg | undefined, facts: Facts): boolean {
  return (
    func.kind === "Attribute" &&
    RUNS.test(func.attr) &&
    (first?.value.kind === "Name" || first?.value.kind === "Attribute") &&
    isNetwork(first.value, facts)
  );
}
