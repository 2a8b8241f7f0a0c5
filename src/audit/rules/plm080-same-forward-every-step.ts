import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, isStatement, lastWord, walk } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr, FunctionDef, Name, Node, NodeOf } from "../../python/tree.ts";
import { attributesOf, isModuleRole, isSelf, methodsOf, selfAttribute } from "../facts/classes.ts";
import { DRAWS, EVALUATED, isOfEvaluation } from "../facts/evaluations.ts";
import { everyUpdate, ownUpdate } from "../facts/facts.ts";
import type { Facts } from "../facts/facts.ts";
import { decoratedGrad, lexicalGrad } from "../facts/gradmode.ts";
import { isBlank, isCallee, isChanged, isInvariant, isOptimised, softened } from "../facts/invariants.ts";
import { comesAgain } from "../facts/nests.ts";
import { isNetwork, ranNetwork } from "../facts/networks.ts";
import { holdsOptions } from "../facts/options.ts";
import { callsOf } from "../facts/returns.ts";
import { callTarget, instanceType } from "../facts/summary.ts";
import { METHODS, last } from "../facts/torch-names.ts";
import { isTrainedApart } from "../facts/trained-apart.ts";
import { loopsAround } from "../facts/training.ts";
import type { Loop } from "../facts/training.ts";
import { CHANGES, bare, isNeverTrained, isSettled, methodOf } from "../facts/untrained.ts";
import type { Finding, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM080",
    name: "same-forward-every-step",
    summary: "A network that does not change is run on the same input in every turn of a loop",
    severity: "warning",
    fix: "none",
    patterns: [80],
  },
  *check(facts) {
    const { file } = facts;
    const trains =
      facts.stepLoops.size > 0 || file.all("ClassDef").some((cls) => facts.role(cls) === "trainer");
    const calls = trains
      ? file.all("Call")
      : [...file.callsNamed("softmax", "log_softmax"), ...file.calls.matching(EVALUATED)];
    yield* ofSelf(facts);
    if (!trains) yield* pickedElsewhere(facts);
    for (const call of calls) {
      const [inner] = loopsAround(call);
      const around = isSoftmax(call, facts) ? compAround(call) : null;
      if (around && isInvariant(call, around, facts)) {
        yield { at: call, severity: "note", message: SAME_SOFTMAX };
        continue;
      }
      if (isNested(call, facts)) {
        yield { at: call, severity: "note", message: NESTED_SOFTMAX };
        continue;
      }
      if (!inner) {
        if (isOfScript(call, facts)) yield { at: call, message: ofSame(call, facts) };
        continue;
      }
      const loop = facts.stepLoop(call);
      // What nothing here puts into eval mode or freezes may be trained by whoever it came from.
      if (isForSeveral(call, inner, facts)) {
        yield { at: call, severity: "note", message: ofTurns(call, facts) };
        continue;
      }
      if (loop && isApart(call, loop, facts)) {
        yield { at: call, severity: "note", message: ofTurns(call, facts) };
        continue;
      }
      if (isPickedFrom(call, inner, facts)) {
        yield { at: call, severity: "note", message: ofPicks(call, facts) };
        continue;
      }
      if (loop && (isOfConstantText(call, loop, facts) || isLeftUntrained(call, loop, facts))) {
        yield { at: call, severity: "note", message: ofSame(call, facts) };
        continue;
      }
      if (!loop && isOfEvaluation(call, inner, facts)) {
        yield { at: call, severity: "note", message: ofTurns(call, facts) };
        continue;
      }
      if (loop ? isLoadedHelper(call, loop, facts) : isAboveSteps(call, inner, facts)) {
        yield { at: call, severity: "note", message: loop ? ofSame(call, facts) : ofTurns(call, facts) };
        continue;
      }
      if (
        loop &&
        (isFixed(call, facts) || isLeftAlone(call, loop, facts) || isOnlyRun(call, facts)) &&
        isInvariant(call, loop, facts)
      ) {
        // What is differentiated right away has something to train.
        if (facts.backwards.some(({ loss }) => loss !== null && contains(loss, call))) continue;
        if (facts.frequency(call, loop) === "every" || everyUpdate(call, facts) || ownUpdate(call, facts))
          yield {
            at: call,
            // Of another size it may be another in each step.
            ...(call.args.some(({ value }) => isBlank(value, facts)) ? { severity: "note" as const } : {}),
            message: ofSame(call, facts),
          };
      } else if (isSoftmax(call, facts) && isInvariant(call, inner, facts) && !lookedAtOnce(call, inner))
        yield {
          at: call,
          severity: "note",
          message: SAME_SOFTMAX,
        };
    }
  },
};

const SAME_SOFTMAX =
  "The same softmax is computed again in every turn, and kept for backward each time; compute it once before the loop";

const NESTED_SOFTMAX =
  "The same softmax is computed again for each that it is paired with, and kept for backward each time; compute each once before the loops";

/** `for q in teachers: for s in students: -(q * F.log_softmax(s, -1))`: each student's once for every teacher. */
function isNested(call: Call, facts: Facts): boolean {
  return (
    isSoftmax(call, facts) &&
    facts.gradMode(call) !== "off" &&
    comesAgain(call, facts, (name, within) => isChanged(name, within, facts))
  );
}

/** `[scores.log_softmax(-1)[i] for i in range(n)]`: computed anew for each. */
function compAround(call: Call): NodeOf<"Comp"> | null {
  for (let at: Node | null = call; at && !isStatement(at); at = at.parent)
    if (at.kind === "Comp" && !at.clauses.some(({ iter }) => contains(iter, call))) return at;
  return null;
}

function ofSame(call: Call, { file }: Facts): string {
  return `\`${file.textOf(call.func)}\` and its input are the same in every step, and so is what it returns; run it once before the loop`;
}

function ofTurns(call: Call, { file }: Facts): string {
  return `\`${file.textOf(call.func)}\` and its input are the same in every turn of this loop, and so is what it returns; run it once before the loop`;
}

/** In a loss or a network of its own file, which others train with. */
function* pickedElsewhere(facts: Facts): Generator<Finding> {
  for (const call of facts.file.all("Call")) {
    if (call.parent?.kind !== "Subscript" && call.parent?.kind !== "Assign") continue;
    const [inner] = loopsAround(call);
    if (inner && !isSoftmax(call, facts) && isPickedFrom(call, inner, facts))
      yield { at: call, severity: "note", message: ofPicks(call, facts) };
  }
}

function ofPicks(call: Call, { file }: Facts): string {
  return `\`${file.textOf(call.func)}\` is run on the same input in every turn of this loop, which takes one part of the result each time; run it once before the loop`;
}

/**
 * `for name in layers: loss = loss + gap(self.vgg(x)[name], self.vgg(y)[name])`: all that a turn takes of the result is what
 * it is turned to, so that one run would do for all. Nothing is trained in between.
 */
function isPickedFrom(call: Call, loop: Loop, facts: Facts): boolean {
  const { file } = facts;
  if (loop.kind !== "For" || call.args.length === 0) return false;
  const turned = new Set<string>();
  walk(loop.target, (node) => {
    if (node.kind === "Name") turned.add(node.id);
    return true;
  });
  const isTurned = (index: Expr): boolean => {
    let found = false;
    walk(index, (node) => {
      found ||= node.kind === "Name" && turned.has(node.id);
      return !found;
    });
    return found;
  };
  const isPick = ({ parent }: Expr): boolean => parent?.kind === "Subscript" && isTurned(parent.index);
  const [target] = call.parent?.kind === "Assign" ? call.parent.targets : [];
  const named = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  const uses = named ? file.scopes.uses(named) : [];
  return (
    (named ? uses.length > 0 && uses.every(isPick) : isPick(call)) &&
    (ranNetwork(call, facts) !== null || isScored(call, facts)) &&
    isInvariant(call, loop, facts) &&
    facts.frequency(call, loop) === "every" &&
    [call.func, ...call.args.map(({ value }) => bare(value))].every((one) => isSettled(one, loop, facts)) &&
    !file
      .all("Call")
      .some(
        (one) =>
          contains(loop, one) &&
          (/^(?:backward|step|train)$/.test(lastWord(one.func)) ||
            facts.callee(one)?.reachesBackward === true),
      )
  );
}

/** `policy_ref.log_prob(ids)`, of a network that scores what it is given. */
function isScored({ func, args }: Call, facts: Facts): boolean {
  return (
    func.kind === "Attribute" &&
    /^(?:log_?probs?|get_(?:batch_)?log_?p(?:s|robs?)|logits|scores?)$/.test(func.attr) &&
    args.length > 0 &&
    isNetwork(func.value, facts)
  );
}

/** `encode([""] * len(images))` by a function of this file, without gradients: what is said never changes, and who says it does not learn here. */
function isOfConstantText(call: Call, loop: Loop, facts: Facts): boolean {
  const { file } = facts;
  const { func } = call;
  const isText = (expr: Expr): boolean =>
    expr.kind === "Str" ||
    isTextOption(expr) ||
    (expr.kind === "List" && expr.items.length > 0 && expr.items.every(isText)) ||
    (expr.kind === "Binary" && expr.op === "*" && isText(expr.left));
  if (!ENCODES.test(lastWord(func)) || !call.args.some(({ value }) => isText(value))) return false;
  const [made, ...more] = func.kind === "Name" ? file.scopes.reaching(func) : [];
  const own = selfAttribute(func);
  const isOwn =
    (made?.how === "function" && more.length === 0) ||
    (own !== null && methodsOf(classOf(call)!).some(({ name }) => name === own));
  return (
    isOwn &&
    (facts.gradMode(call) === "off" || (made !== undefined && runsWithoutGradients(made.node, file))) &&
    call.args.every(({ value }) => isText(value) || isLiteral(value) || isSettled(value, loop, facts)) &&
    (facts.frequency(call, loop) === "every" ||
      everyUpdate(call, facts) ||
      isUnderSettings(call, loop, facts))
  );
}

/** `args.instance_prompt`: said once for the whole training. */
function isTextOption(expr: Expr): boolean {
  return (
    expr.kind === "Attribute" &&
    /prompt|caption|_text$/.test(expr.attr) &&
    !isSelf(expr.value) &&
    holdsOptions(expr.value)
  );
}

/** All that a function of the file returns is made under `with torch.no_grad():`, or it is decorated so. */
function runsWithoutGradients(node: Node, file: PythonFile): boolean {
  if (node.kind !== "FunctionDef") return false;
  if (decoratedGrad(node, file) === "off") return true;
  const calls = file
    .all("Call")
    .filter(
      (one) => functionOf(one) === node && one.func.kind === "Attribute" && ENCODES.test(one.func.attr),
    );
  return calls.length > 0 && calls.every((one) => lexicalGrad(one, file) === "off");
}

/** `else:` of `if dataset.custom_prompts:`, which is the same in every turn. */
function isUnderSettings(call: Call, loop: Loop, facts: Facts): boolean {
  for (let at: Node | null = call.parent; at && at !== loop; at = at.parent) {
    if (at.kind === "For" || at.kind === "While" || at.kind === "IfExp" || at.kind === "FunctionDef")
      return false;
    if (at.kind === "If" && !isSettledTest(at.test, loop, facts)) return false;
  }
  return true;
}

/** `args.cached`, `dataset.custom_prompts`, `not use_cache`; a count or what a batch says is another in each turn. */
function isSettledTest(test: Expr, loop: Loop, facts: Facts): boolean {
  const asked = test.kind === "Unary" ? test.operand : test;
  return (asked.kind === "Name" || asked.kind === "Attribute") && isSettled(asked, loop, facts);
}

/** Without gradients, of a network that nothing in this file trains, made once or handed in, on what the loop leaves as it is. */
function isLeftUntrained(call: Call, loop: Loop, facts: Facts): boolean {
  return (
    isNeverTrained(call, loop, facts) &&
    isInvariant(call, loop, facts) &&
    facts.frequency(call, loop) === "every" &&
    [call.func, ...call.args.map(({ value }) => bare(value))].every((one) => isSettled(one, loop, facts)) &&
    facts.backwards.some((one) => contains(loop, one.call))
  );
}

/**
 * In a loop around that of the steps, as where each batch is learnt from several times: `for batch in batches:`, then
 * `for _ in range(rounds): update(batch)`, then `reference(probe)`.
 */
function isAboveSteps(call: Call, loop: Loop, facts: Facts): boolean {
  return (
    [...facts.stepLoops].some((inner) => inner !== loop && contains(loop, inner)) &&
    facts.gradMode(call) === "off" &&
    isRunAlike(call, loop, facts)
  );
}

/**
 * `for probe in probes: hidden = base(batch)`, and each probe learns from that: one run of the base would do for all. What
 * `for _ in range(n)` runs again may be drawn anew each time, by dropout.
 */
function isForSeveral(call: Call, loop: Loop, facts: Facts): boolean {
  const { file } = facts;
  return (
    facts.gradMode(call) === "off" &&
    (facts.stepLoop(call) === loop ? loopsAround(loop).length > 0 : facts.stepLoop(call) !== null) &&
    (facts.backwards.some((one) => contains(loop, one.call)) ||
      (loop.kind === "For" && !/^(?:range|trange)\(/.test(file.textOf(loop.iter)))) &&
    isRunAlike(call, loop, facts) &&
    !facts.backwards.some(({ loss }) => loss !== null && contains(loss, call))
  );
}

/** `baseline = self.critic(states)` in each of the actor's updates on one rollout, without gradients, where the critic is trained after them. */
function isApart(call: Call, loop: Loop, facts: Facts): boolean {
  return (
    facts.gradMode(call) === "off" &&
    call.args.length > 0 &&
    isNetwork(call.func, facts) &&
    isInvariant(call, loop, facts) &&
    facts.frequency(call, loop) === "every" &&
    isTrainedApart(call.func, loop, facts)
  );
}

/** A network that learns nothing here, on what the loop leaves as it is, in each of its turns. */
function isRunAlike(call: Call, loop: Loop, facts: Facts): boolean {
  return (
    (isFixed(call, facts) || isNeverTrained(call, loop, facts)) &&
    isInvariant(call, loop, facts) &&
    facts.frequency(call, loop) === "every" &&
    [call.func, ...call.args.map(({ value }) => bare(value))].every((one) => isSettled(one, loop, facts))
  );
}

/**
 * `encode_prompt([""], text_encoder, tokenizer)`, of a network that others trained: loaded here, in eval mode therefore, run
 * without gradients by functions like this one, and asked for nothing that would train it.
 */
function isLoadedHelper(call: Call, loop: Loop, facts: Facts): boolean {
  const { file } = facts;
  const name = file.dotted(call.func);
  const fn = name !== null && ENCODES.test(last(name)) ? file.functionNamed(name) : undefined;
  if (!fn || !call.args.some(({ value }) => value.kind === "Name" && isOnlyLoaded(value, facts)))
    return false;
  return (
    (facts.gradMode(call) === "off" || decoratedGrad(fn, file) === "off") &&
    !isHelper(call, facts) &&
    isInvariant(call, loop, facts) &&
    (facts.frequency(call, loop) === "every" || everyUpdate(call, facts))
  );
}

function isOnlyLoaded(name: Name, facts: Facts): boolean {
  const { file } = facts;
  const definitions = file.scopes.lookup(name)?.definitions ?? [];
  const isOfItself = ({ how, value }: Definition): boolean =>
    how === "assign" &&
    value?.kind === "Call" &&
    value.args.some((arg) => arg.value.kind === "Name" && arg.value.id === name.id);
  const isLoaded = ({ how, value }: Definition): boolean =>
    how === "assign" && value?.kind === "Call" && /\.from_pretrained\(/.test(file.textOf(value));
  return (
    definitions.some(isLoaded) &&
    definitions.every((one) => isLoaded(one) || isOfItself(one)) &&
    definitions.flatMap((one) => file.scopes.uses(one)).every((use) => isOnlyAsked(use, facts))
  );
}

/** `encoder.config`, `type(encoder)`, `encoder = shard(encoder)`, and the functions of this file that run it without gradients. */
function isOnlyAsked(use: Name, facts: Facts): boolean {
  const { parent } = use;
  if (parent?.kind === "Attribute")
    return !/^(?:train|\w*parameters|\w*state_dict|add_adapter)$/.test(parent.attr);
  const call = parent?.kind === "Arg" ? parent.parent : null;
  if (call?.kind !== "Call") return isCallee(use) && facts.gradMode(use) === "off";
  const name = facts.file.dotted(call.func) ?? "";
  if (name.startsWith("builtins.")) return true;
  const [target] = call.parent?.kind === "Assign" ? call.parent.targets : [];
  if (target?.kind === "Name" && target.id === use.id) return !/peft|lora|adapter/i.test(name);
  const fn = facts.file.functionNamed(name);
  return fn !== undefined && (facts.gradMode(call) === "off" || decoratedGrad(fn, facts.file) === "off");
}

/** In a function that a script calls in its loop: a frozen network and its input are made once, above. */
function isOfScript(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const fn = functionOf(call);
  if (call.func.kind !== "Name" || fn?.kind !== "FunctionDef") return false;
  // `def compute_loss(self, model, inputs)` of a Trainer is called by it.
  const ofTrainer = fn.parent?.kind === "ClassDef" && facts.role(fn.parent) === "trainer";
  if (fn.parent?.kind !== "Module" && !ofTrainer) return false;
  const isMadeOnce = (expr: Expr): boolean => {
    const name = bare(expr);
    const definitions = name.kind === "Name" ? (file.scopes.lookup(name)?.definitions ?? []) : [];
    return (
      definitions.length > 0 &&
      definitions.every(
        (one) =>
          isGivenSame(one, fn, facts) ||
          ((one.how === "assign" || one.how === "unpack") &&
            functionOf(one.node) === null &&
            loopsAround(one.node).length === 0),
      )
    );
  };
  return (
    call.args.length > 0 &&
    call.args.every(({ value }) => isMadeOnce(value) && !isChanged(bare(value) as Name, fn, facts)) &&
    isMadeOnce(call.func) &&
    isFixed(call, facts) &&
    (facts.gradMode(call) === "off" || facts.networks.isFrozenByFlags(call.func)) &&
    // In the function that the loop calls, or in one that this calls.
    facts.everyStep(call)?.why.includes(ofTrainer ? "" : "the training loop of") === true
  );
}

/** `for epoch in range(n): train(model, teacher, graph)`: the loop gives the function the same thing in every turn. */
function isGivenSame({ how, node, name }: Definition, fn: FunctionDef, facts: Facts): boolean {
  const { file } = facts;
  const at = fn.params.findIndex((param) => param.name === name);
  const sites = how === "param" && node.parent === fn ? callsOf(fn, file) : [];
  return (
    sites.length > 0 &&
    sites.every((site) => {
      const [loop] = loopsAround(site);
      const given = keyword(site, name)?.value ?? positional(site, at);
      return (
        loop !== undefined &&
        given?.kind === "Name" &&
        (file.scopes.lookup(given)?.definitions ?? []).every((one) => !contains(loop, one.node)) &&
        !isChanged(given, loop, facts)
      );
    })
  );
}

const OFTEN_FROZEN = /^(?:text_encoder\w*|vae|teacher\w*|ref\w*)$/;

/** `self.reference(self.anchors)` in a step of a class: both are what `__init__` made of them, and the network is frozen. */
function* ofSelf(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const isKept = (expr: Expr): boolean => {
    const own = selfAttribute(expr);
    const cls = own === null ? null : classOf(expr);
    const writes = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
    return (
      writes.length > 0 &&
      writes.every(({ in: method, how }) => method.name === "__init__" && how !== "augment") &&
      !isFilledLater(own!, file) &&
      !isOptimised(expr, facts)
    );
  };
  // `self.model.text_encoder`, which others froze.
  const encodes = ({ func }: Call): boolean =>
    func.kind === "Attribute" &&
    selfAttribute(func.value) !== null &&
    /^(?:text_encoder\w*|vae|teacher\w*|ref(?:erence)?_model)$/.test(func.attr);
  const froze =
    file.callsNamed("requires_grad_", "eval").length > 0 || file.says(/\.requires_grad\s*=\s*False/);
  for (const call of froze ? file.all("Call") : file.calls.matching(OFTEN_FROZEN)) {
    const run = selfAttribute(call.func) === null ? methodOf(call.func) : call.func;
    const isOwn = run !== null && selfAttribute(run) !== null;
    const blank = call.args.some(({ value }) => isBlank(value, facts));
    if (
      (isOwn || encodes(call)) &&
      call.args.length > 0 &&
      // `mode="val"` beside them is the same too.
      call.args.every(({ value }) => isKept(value) || isBlank(value, facts) || isLiteral(value)) &&
      !call.args.every(({ value }) => isLiteral(value)) &&
      loopsAround(call).length === 0 &&
      ((isOwn && facts.networks.isFrozen(run)) || encodes(call)) &&
      (facts.gradMode(call) === "off" || (blank && isOwn && facts.networks.isFrozenByFlags(run))) &&
      (functionOf(call)?.params.length !== 1 || encodes(call) || isAskedEveryStep(call, facts)) &&
      facts.everyStep(call)
    )
      yield {
        at: call,
        ...(blank ? { severity: "note" as const } : {}),
        message: `\`${file.textOf(call.func)}\` and its input are the same in every step, and so is what it returns; run it once, and keep that`,
      };
  }
}

function isLiteral({ kind }: Expr): boolean {
  return kind === "Str" || kind === "Num" || kind === "Const";
}

/** `self.bank[i] = x`, `self.bank.copy_(x)` */
function isFilledLater(own: string, file: PythonFile): boolean {
  const isIt = (expr: Expr): boolean =>
    selfAttribute(expr) === own || (expr.kind === "Subscript" && isIt(expr.value));
  return (
    file
      .all("Assign")
      .some(({ targets }) => targets.some((target) => target.kind === "Subscript" && isIt(target))) ||
    file.all("AugAssign").some(({ target }) => isIt(target)) ||
    file
      .all("Call")
      .some(
        ({ func }) =>
          func.kind === "Attribute" &&
          /[^_]_$/.test(func.attr) &&
          func.attr !== "requires_grad_" &&
          isIt(func.value),
      )
  );
}

/** In a method without arguments that a step calls on every turn: others are for pictures and logs. */
function isAskedEveryStep(call: Call, facts: Facts): boolean {
  const fn = functionOf(call);
  return (
    fn?.kind === "FunctionDef" &&
    facts.file
      .callsNamed(fn.name)
      .some(
        (one) =>
          callTarget(one, facts.file) === facts.file.qualified(fn) &&
          functionOf(one) !== fn &&
          facts.functionFacts(one).reachesBackward &&
          facts.everyStep(one) !== null,
      )
  );
}

/** A network that learns nothing in the loop: run without gradients while in eval mode or frozen. */
function isFixed(call: Call, facts: Facts): boolean {
  if ((call.func.kind !== "Name" && call.func.kind !== "Attribute") || call.args.length === 0) return false;
  if (facts.file.dotted(call.func) !== null) return isHelper(call, facts);
  // `criterion.vgg(reference)`: what a loss keeps to judge with does not learn.
  if (
    call.func.kind === "Attribute" &&
    (facts.networks.isLoss(call.func.value) ||
      /(?:^|_)(?:loss|criterion)$|^loss[A-Z_]/.test(lastWord(call.func.value))) &&
    /feature|extract|vgg|net$|model$|encoder/i.test(call.func.attr) &&
    (facts.gradMode(call) === "off" || /^vgg\d*$/.test(call.func.attr))
  )
    return true;
  if (isFrozenPart(call.func, facts)) return true;
  const run = forwardOf(call.func, facts);
  if (run === null) return isHandedFrozen(call, facts) || isOwnHelper(call, facts);
  return (
    facts.networks.isFrozen(run) &&
    (facts.gradMode(call) === "off" ||
      facts.networks.isFrozenByFlags(run) ||
      facts.networks.isOnlyEvaluated(run))
  );
}

/** `rnd.target(states)`, of a class of this file that freezes its `self.target`. */
function isFrozenPart(func: Expr, facts: Facts): boolean {
  const { file, networks } = facts;
  if (func.kind !== "Attribute") return false;
  const type = instanceType(func.value, file);
  return (
    type !== null &&
    file
      .all("Attribute")
      .some(
        (one) =>
          one.attr === func.attr &&
          selfAttribute(one) !== null &&
          networks.isFrozenByFlags(one) &&
          file.qualified(classOf(one)!) === type,
      )
  );
}

/** `train(student, teacher)` by one that has frozen the teacher: here it is only run, without gradients. */
function isHandedFrozen(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const [given, ...more] =
    call.func.kind === "Name" ? (file.scopes.lookup(call.func)?.definitions ?? []) : [];
  const fn = given?.how === "param" && more.length === 0 ? given.node.parent : null;
  if (fn?.kind !== "FunctionDef" || facts.gradMode(call) !== "off") return false;
  const at = fn.params.findIndex(({ name }) => name === given!.name);
  const shift = fn.params[0]?.name === "self" ? 1 : 0;
  const handed = callsOf(fn, file).map(
    (one) => keyword(one, given!.name)?.value ?? positional(one, at - shift),
  );
  if (handed.length === 0 || !handed.every((one) => one && facts.networks.isFrozen(one))) return false;
  // In eval mode alone, it may still be trained by whoever is given it.
  const byFlags = handed.every((one) => facts.networks.isFrozenByFlags(one!));
  return file.scopes.uses(given!).every((use) => {
    const { parent } = use;
    if (isCallee(use)) return byFlags || facts.gradMode(use) === "off";
    if (parent?.kind === "Attribute")
      return isCallee(parent) && /^(?:eval|to|cuda|forward)$/.test(parent.attr);
    if (parent?.kind !== "Arg" || parent.parent?.kind !== "Call") return false;
    return byFlags || facts.networks.isLoss(parent.parent.func);
  });
}

/**
 * `self.old.value(states)` among the epochs over one rollout: without gradients, of a network that only ever gets the weights
 * of another, and gets none in the loop.
 */
function isLeftAlone(call: Call, loop: Loop, facts: Facts): boolean {
  const { file } = facts;
  const { func } = call;
  if (func.kind !== "Attribute" || call.args.length === 0) return false;
  if (DRAWS.test(func.attr) || CHANGES.test(func.attr)) return false;
  const own = selfAttribute(func) !== null ? func : func.value;
  const cls = own.kind === "Attribute" && selfAttribute(own) !== null ? classOf(call) : null;
  if (!cls || own.kind !== "Attribute" || loopsAround(loop).length > 0) return false;
  // `self.old.load_state_dict(self.policy.state_dict())`
  const copies = ({ func: into, args: [from] }: Call): boolean =>
    into.kind === "Attribute" &&
    selfAttribute(into.value) === own.attr &&
    classOf(into) === cls &&
    from?.value.kind === "Call" &&
    lastWord(from.value.func) === "state_dict";
  if (!file.callsNamed("load_state_dict").some(copies)) return false;
  if (isModuleRole(facts.role(cls)) || facts.gradMode(call) !== "off") return false;
  const writes = attributesOf(cls, file).get(own.attr)?.writes ?? [];
  return (
    writes.every(({ in: method, value }) => method.name === "__init__" && value?.kind === "Call") &&
    file.all("Attribute").every((one) => {
      if (one.attr !== own.attr || one === own) return true;
      // Of another object that has one of that name, who knows.
      if (selfAttribute(one) === null || classOf(one) !== cls) return false;
      const asked = one.parent?.kind === "Attribute" && one.parent.value === one ? one.parent : one;
      if (contains(loop, one)) return isCallee(asked) && (asked === one || !CHANGES.test(asked.attr));
      if (isCalledIn(loop, one, facts)) return false;
      // What is handed to an optimizer, or to anyone, may be trained.
      return asked === one ? isWritten(one) : isCallee(asked) && !asked.attr.endsWith("parameters");
    })
  );
}

/** `clip_model.encode_text(prompts)`: without gradients, of a network that was loaded here and that is only ever run. */
function isOnlyRun(call: Call, facts: Facts): boolean {
  const run = methodOf(call.func);
  if (run?.kind !== "Name" || call.args.length === 0 || facts.gradMode(call) !== "off") return false;
  const [made, ...more] = facts.file.scopes.reaching(run);
  if (more.length > 0 || (made?.how !== "assign" && made?.how !== "unpack")) return false;
  let loaded = made.value;
  // `load(…).to(device).eval()`
  while (
    loaded?.kind === "Call" &&
    loaded.func.kind === "Attribute" &&
    /^(?:to|cuda|eval|half)$/.test(loaded.func.attr)
  )
    loaded = loaded.func.value;
  return (
    loaded?.kind === "Call" &&
    /^(?:load\w*|from_pretrained|create_model\w*)$/.test(lastWord(loaded.func)) &&
    facts.networks.is(run) &&
    facts.file.scopes.uses(made).every(({ parent: asked }) => {
      if (asked?.kind !== "Attribute" || !isCallee(asked)) return false;
      return !/^(?:train|\w*parameters|\w*state_dict|update\w*)$/.test(asked.attr);
    })
  );
}

function isWritten(expr: Expr): boolean {
  return isCallee(expr) || (expr.parent?.kind === "Assign" && expr.parent.targets.includes(expr));
}

/** Whether the method around is one that the loop calls, or is handed to something there. */
function isCalledIn(loop: Loop, node: Node, { file }: Facts): boolean {
  const fn = functionOf(node);
  if (fn?.kind !== "FunctionDef") return true;
  return (
    !contains(fn, loop) && file.all("Attribute").some((one) => one.attr === fn.name && contains(loop, one))
  );
}

const ENCODES = /^\w*(?:encode|embed|feature|forward)\w*$/;

/** `encode_prompt(text_encoder, ids)`: a function of this file that runs the frozen network it is given. */
function isHelper(call: Call, facts: Facts): boolean {
  const name = facts.file.dotted(call.func)!;
  const says = ENCODES.test(last(name));
  // Before it is looked for: most functions are given no network that does not learn.
  if (!says && !call.args.some(({ value }) => value.kind === "Name" && facts.networks.isFrozen(value)))
    return false;
  const fn = facts.file.functionNamed(name);
  if (
    !fn ||
    !(says || onlyRuns(fn)) ||
    (facts.gradMode(call) !== "off" && decoratedGrad(fn, facts.file) !== "off")
  )
    return false;
  const networks = call.args.filter(({ value }) => value.kind === "Name" && facts.networks.isFrozen(value));
  return networks.length > 0 && networks.length < call.args.length;
}

/** `self.score(self.reference, probe)`: a method that runs the frozen network it is given. */
function isOwnHelper(call: Call, facts: Facts): boolean {
  const own = selfAttribute(call.func);
  const cls = own === null ? null : classOf(call);
  const fn = cls && methodsOf(cls).find(({ name }) => name === own);
  if (!fn || facts.gradMode(call) !== "off") return false;
  const isRun = (at: number): boolean => {
    const param = fn.params[at + 1]?.name;
    return facts.file
      .callsNamed(param ?? "")
      .some(({ func }) => func.kind === "Name" && func.id === param && functionOf(func) === fn);
  };
  const networks = call.args.filter(
    ({ value, name, star }, at) => name === null && star === 0 && facts.networks.isFrozen(value) && isRun(at),
  );
  return networks.length > 0 && networks.length < call.args.length;
}

/** It returns what a network it is given makes of the rest, and does nothing else: `return net(image).mean()`. */
function onlyRuns(fn: FunctionDef): boolean {
  const [first, second, ...more] = fn.body;
  const asked = second && first?.kind === "ExprStmt" && first.value.kind === "Str" ? second : first;
  if (more.length > 0 || asked?.kind !== "Return" || !asked.value || (second && asked !== second))
    return false;
  let plain = true;
  walk(asked.value, (node) => {
    if (node.kind !== "Call") return plain;
    const word = lastWord(node.func);
    let root: Expr = node.func;
    while (root.kind === "Attribute") root = root.value;
    const isGiven = root.kind === "Name" && fn.params.some(({ name }) => name === (root as Name).id);
    const computes = METHODS.has(word) ? node.func.kind === "Attribute" : isGiven && !CHANGES.test(word);
    plain &&= computes && !DRAWS.test(word);
    return plain;
  });
  return plain;
}

/** The network that a call runs: `net(x)`, `clip.encode_text(x)`. */
function forwardOf(func: Expr, facts: Facts): Expr | null {
  if (
    isNetwork(func, facts) ||
    /encoder|reference|teacher|vae|clip/i.test(facts.file.textOf(func).slice(-40))
  )
    return facts.networks.isFrozen(func) ? func : methodOf(func);
  return methodOf(func);
}

function isSoftmax(call: Call, facts: Facts): boolean {
  return (
    /^torch\.(?:nn\.functional\.)?(?:log_softmax|softmax)$/.test(facts.file.dotted(call.func) ?? "") ||
    softened(call, facts) !== null
  );
}

/** Left again at once: `for …: … break`. */
function lookedAtOnce(call: Call, loop: Loop): boolean {
  return loop.body[loop.body.length - 1]?.kind === "Break" && contains(loop, call);
}
