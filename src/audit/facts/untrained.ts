import { classOf, contains, lastWord, statementOf } from "../../python/nodes.ts";
import type { Attribute, Call, Expr, Name, Node } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { isCallee } from "./invariants.ts";
import { isNetwork, ranNetwork } from "./networks.ts";
import { teaches } from "./teachers.ts";
import type { Loop } from "./training.ts";

/** What gives another result each time. */
export const DRAWS =
  /^(?:r?sample\w*|act|(?:get|select|choose|take)_\w*actions?|generate\w*|explore|bernoulli_?|multinomial|(?:normal|uniform|exponential|random)_)$/;

/** Done to a network, or with its weights. */
export const CHANGES =
  /^(?:reset\w*|update\w*|set_\w+|train|eval|to|cuda|cpu|\w*parameters|\w*state_dict|zero_grad|apply|modules|children)$/;

/** Run without gradients alone, wherever this file runs it, and given to nothing that would train it. */
export function isNeverTrained(call: Call, loop: Loop, facts: Facts): boolean {
  const { file } = facts;
  if (call.args.length === 0 || facts.gradMode(call) !== "off") return false;
  const byMethod = !isRun(call.func, facts);
  const net = byMethod ? ranByItsMethod(call, facts) : call.func;
  if (!net) return false;
  const isLeft = (use: Expr): boolean =>
    leavesUntrained(use, loop, facts) && (!byMethod || isOnlyAskedQuietly(use, facts));
  if (net.kind === "Name") {
    const definitions = file.scopes.lookup(net)?.definitions ?? [];
    return (
      definitions.length > 0 &&
      definitions.every((one) => !contains(loop, one.node)) &&
      definitions.flatMap((one) => file.scopes.uses(one)).every(isLeft)
    );
  }
  if (net.kind === "Attribute" && net.value.kind === "Name" && selfAttribute(net) === null)
    return isUntrainedPart(net, net.value, loop, facts);
  const own = selfAttribute(net);
  const cls = own === null ? null : classOf(call);
  const writes = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  return (
    writes.length > 0 &&
    writes.every(({ in: method, value }) => {
      const from = value && bare(value);
      const handed = from?.kind === "Name" ? file.scopes.reaching(from) : [];
      return (
        (method.name === "__init__" ||
          (contains(method, loop) && value !== null && value.end < loop.start)) &&
        handed.flatMap((one) => file.scopes.uses(one)).every((use) => use === from || isLeft(use))
      );
    }) &&
    file.all("Attribute").every(
      (one) =>
        one.attr !== own ||
        // Of another object that has one of that name, who knows.
        (selfAttribute(one) !== null && (classOf(one) !== cls || isLeft(one))),
    )
  );
}

/**
 * `pipe.text_encoder`, of a whole that is made before the loop: run without gradients wherever this file runs one of that name, and
 * neither it nor the whole is asked for what would train it.
 */
function isUntrainedPart(net: Attribute, whole: Name, loop: Loop, facts: Facts): boolean {
  const { file } = facts;
  const definitions = file.scopes.lookup(whole)?.definitions ?? [];
  const isLeft = (use: Expr): boolean =>
    leavesUntrained(use, loop, facts) || isSwitchedOff(use, facts) || isForSaving(use);
  return (
    definitions.length > 0 &&
    definitions.every((one) => !contains(loop, one.node)) &&
    definitions
      .flatMap((one) => file.scopes.uses(one))
      .every(
        (use) =>
          isOfOtherPart(use, net.attr) ||
          (use.parent?.kind === "Attribute" && use.parent.attr === net.attr) ||
          isLeft(use),
      ) &&
    file.all("Attribute").every((one) => one.attr !== net.attr || isLeft(one))
  );
}

/** `for p in net.parameters(): p.requires_grad = False` */
function isSwitchedOff(use: Expr, { file }: Facts): boolean {
  const around = statementOf(use);
  return (
    around?.kind === "For" &&
    contains(around.iter, use) &&
    around.body.length === 1 &&
    /\.requires_grad(?:_\(\s*| ?= ?)False/.test(file.textOf(around.body[0]!))
  );
}

/** `save_checkpoint(net, step)`, `accelerator.unwrap_model(net)` */
function isForSaving({ parent }: Expr): boolean {
  const taken = parent?.kind === "Arg" && parent.parent?.kind === "Call" ? parent.parent : null;
  return taken !== null && /^_?(?:save|unwrap)(?:_|$)/.test(lastWord(taken.func));
}

/** Methods of language models and policies that score what they are given. */
const SCORES = /^(?:(?:get|compute|calc)_)?(?:batch_)?(?:log_?p(?:s|robs?)|logits|scores?)$/;

/**
 * `self.reference` of `self.reference.forward_pass(**given)`, whatever holds the layers: of what is put into eval mode, itself or
 * a part of it, or is called a teacher; others drop something else each time.
 */
function ranByItsMethod(call: Call, facts: Facts): Expr | null {
  const { func } = call;
  if (func.kind !== "Attribute" || DRAWS.test(func.attr) || CHANGES.test(func.attr)) return null;
  const net =
    ranNetwork(call, facts) ?? (SCORES.test(func.attr) && isNetwork(func.value, facts) ? func.value : null);
  if (net !== func.value) return null;
  const text = facts.file.textOf(net);
  const isIt = (expr: Expr): boolean =>
    facts.file.textOf(expr) === text || (expr.kind === "Attribute" && isIt(expr.value));
  const isJudged = facts.file
    .callsNamed("eval")
    .some((one) => one.func.kind === "Attribute" && isIt(one.func.value));
  return isJudged || teaches(net, facts) ? net : null;
}

/** Run without gradients, also by a part; nothing else is known of a method, or of who is handed a part, than that it may train it. */
function isOnlyAskedQuietly(use: Expr, facts: Facts): boolean {
  if (use.parent?.kind !== "Attribute" || use.parent.value !== use) return true;
  const of = lastPart(use.parent);
  if (/\.(?:tokenizer|config|device|dtype)\b/.test(facts.file.textOf(of))) return true;
  if (isCallee(of)) return CHANGES.test(of.attr) || facts.gradMode(use) === "off";
  const taken = of.parent?.kind === "Arg" && of.parent.parent?.kind === "Call" ? of.parent.parent : null;
  return taken !== null && facts.gradMode(use) === "off" && !TAKES_TO_TRAIN.test(lastWord(taken.func));
}

/** `self.net.model.train` of its `self.net.model`: what is asked of a part. */
function lastPart(part: Attribute): Attribute {
  let at = part;
  while (at.parent?.kind === "Attribute" && at.parent.value === at) at = at.parent;
  return at;
}

/** `trained_layers(x)`: layers that are called run one after the other. */
function isRun(func: Expr, facts: Facts): boolean {
  return (
    isNetwork(func, facts) ||
    (func.kind === "Name" &&
      facts.file.dotted(func) === null &&
      /(?:^|_)(?:layers|blocks|stages|trunk)$/.test(func.id))
  );
}

/** What takes networks to train them, or to give them other weights. */
const TAKES_TO_TRAIN = /^[A-Z]|optim|train|prepare|wrap|parallel|update|ema|sync|copy|learn|loss|step/;

function leavesUntrained(use: Expr, loop: Loop, facts: Facts): boolean {
  const { parent } = use;
  if (parent?.kind === "Assign" && parent.targets.includes(use)) return true;
  if (parent?.kind === "Attribute" && parent.value === use) {
    const { attr } = lastPart(parent);
    // `sum(p.numel() for p in net.parameters())`
    if (attr.endsWith("parameters"))
      return !contains(loop, use) && /\.(?:numel|dtype|device)\b/.test(facts.file.textOf(statementOf(use)!));
    if (CHANGES.test(attr)) return /^(?:eval|to|cuda)$/.test(attr) && !contains(loop, use);
    return methodOf(parent) === null || facts.gradMode(use) === "off";
  }
  if (isCallee(use)) return facts.gradMode(use) === "off";
  const taken = parent?.kind === "Arg" && parent.parent?.kind === "Call" ? parent.parent : null;
  return taken !== null && !contains(loop, use) && !TAKES_TO_TRAIN.test(lastWord(taken.func));
}

/** Neither made in the loop, nor given other weights there: `update_ema(teacher, net)`, `zip(teacher.parameters(), …)`. */
export function isSettled(expr: Expr, loop: Loop, facts: Facts): boolean {
  const { file } = facts;
  let root = expr;
  let part: string | null = null;
  while (root.kind === "Attribute" || root.kind === "Subscript") {
    part = root.kind === "Attribute" ? root.attr : null;
    root = root.value;
  }
  // `tokenizer(prompts, return_tensors="pt").input_ids`: the same words are the same numbers.
  const words = bare(root);
  if (words.kind === "Call" && /tokenizer$/i.test(lastWord(words.func)))
    return words.args.every(
      ({ name, value }) =>
        name !== null ||
        (value.kind === "List" && value.items.every(({ kind }) => kind === "Str")) ||
        isSettled(value, loop, facts),
    );
  if (root.kind !== "Name") return root.kind === "Str" || root.kind === "Num" || root.kind === "Const";
  const own = ownAttribute(expr);
  if (own !== null)
    return file
      .all("Attribute")
      .every((one) => selfAttribute(one) !== own || !contains(loop, one) || isLeftAsIs(one));
  const definitions = file.scopes.lookup(root)?.definitions ?? [];
  if (definitions.length === 0 || definitions.some(({ node }) => contains(loop, node))) return false;
  return definitions
    .flatMap((one) => file.scopes.uses(one))
    .every((use) => !contains(loop, use) || isOfOtherPart(use, part) || isLeftAsIs(use));
}

/** `pipe.unet.parameters()` says nothing of `pipe.text_encoder`. */
function isOfOtherPart({ parent }: Expr, part: string | null): boolean {
  return (
    part !== null &&
    parent?.kind === "Attribute" &&
    parent.attr !== part &&
    parent.attr !== "module" &&
    parent.parent?.kind === "Attribute"
  );
}

/** Read, run, or handed to what does not give it other weights. */
function isLeftAsIs(use: Expr): boolean {
  if (use.parent?.kind === "Assign" && use.parent.targets.includes(use)) return false;
  let of: Node = use;
  while (of.parent?.kind === "Attribute") of = of.parent;
  if (of !== use && of.kind === "Attribute" && CHANGES.test(of.attr))
    return /^(?:eval|to|cuda)$/.test(of.attr);
  const taken = use.parent?.kind === "Arg" ? use.parent.parent : null;
  return taken?.kind !== "Call" || !/update|ema|copy|sync|load|reset/i.test(lastWord(taken.func));
}

/** `net` of `self.net.encode`: what else is kept on self is another's. */
function ownAttribute(expr: Expr): string | null {
  for (let at = expr; at.kind === "Attribute" || at.kind === "Subscript"; at = at.value) {
    const own = selfAttribute(at);
    if (own !== null) return own;
  }
  return null;
}

/** `images` of `images.expand(-1, 3, -1, -1)`: another shape of the same. */
export function bare(expr: Expr): Expr {
  let at = expr;
  while (
    at.kind === "Call" &&
    at.func.kind === "Attribute" &&
    /^(?:expand|view|reshape|repeat|unsqueeze|to|float|cuda|eval)$/.test(at.func.attr)
  )
    at = at.func.value;
  return at;
}

export function methodOf(func: Expr): Expr | null {
  return func.kind === "Attribute" &&
    /^(?:forward|encode|decode|encode_\w+|get_\w*(?:features|embeds|embeddings)|forward_features|extract_features)$/.test(
      func.attr,
    )
    ? func.value
    : null;
}
