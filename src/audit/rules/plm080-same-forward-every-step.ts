import { keyword, positional } from "../../python/file.ts";
import { classOf, contains, functionOf, isStatement, lastWord, namesIn, walk } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr, FunctionDef, Name, Node, NodeOf } from "../../python/tree.ts";
import { isSelf, methodsOf, selfAttribute } from "../facts/classes.ts";
import { EVALUATED, isOfEvaluation } from "../facts/evaluations.ts";
import type { Facts } from "../facts/facts.ts";
import { decoratedGrad } from "../facts/gradmode.ts";
import { isBlank, isChanged, isInvariant, isScaling, repeated, softened } from "../facts/invariants.ts";
import { restsInLoop } from "../facts/anothers-steps.ts";
import { isUnderTurning, likelyRepeat } from "../facts/likely-repeats.ts";
import { comesAgain } from "../facts/nests.ts";
import { isNetwork } from "../facts/networks.ts";
import { holdsOptions } from "../facts/options.ts";
import { callsOf } from "../facts/returns.ts";
import { askedInRollout } from "../facts/rolled-out.ts";
import { callTarget } from "../facts/summary.ts";
import { isPickedFrom } from "../facts/picked-parts.ts";
import { isTrainedApart } from "../facts/trained-apart.ts";
import { loopsAround } from "../facts/training.ts";
import type { Loop } from "../facts/training.ts";
import { isOnlyRunIn, turnedArgument, turnedBy } from "../facts/turned-functions.ts";
import { bare, isNeverTrained, isSettled, methodOf } from "../facts/untrained.ts";
import type { Finding, Rule } from "../rule.ts";
import {
  ENCODES,
  isFixed,
  isGivenFrozen,
  isLeftAlone,
  isLeftUntrained,
  isLoadedHelper,
  isOnlyRun,
  runsWithoutGradients,
} from "../facts/fixed-networks.ts";
import { isKeptInput, isLiteral } from "../facts/kept-inputs.ts";
import { everyUpdate, ownUpdate } from "../facts/updates.ts";

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
    if (facts.guesses) yield* byNames(facts);
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
        else if (isInTurned(call, facts)) yield { at: call, severity: "note", message: ofSame(call, facts) };
        continue;
      }
      if (facts.guesses && isUnderTurning(call, inner, facts)) continue;
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
      if (
        loop &&
        (isOfConstantText(call, loop, facts) ||
          isLeftUntrained(call, loop, facts) ||
          isUnasked(call, loop, facts) ||
          (!isFixed(call, facts) && isGivenFrozen(call, loop, facts)))
      ) {
        yield { at: call, severity: "note", message: ofSame(call, facts) };
        continue;
      }
      if (!loop && isOfEvaluation(call, inner, facts)) {
        yield { at: call, severity: "note", message: ofTurns(call, facts) };
        continue;
      }
      if (loop && isInvariant(call, loop, facts) && restsInLoop(call, loop, facts)) {
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
            ...(call.args.some(
              ({ value }) => isBlank(value, facts) || isScaled(value) || isCounted(value, facts),
            ) || isOfHelper(call, facts)
              ? { severity: "note" as const }
              : {}),
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

/** Where nothing but names and the loop say that both are the same. */
function* byNames(facts: Facts): Generator<Finding> {
  for (const call of facts.file.all("Call")) {
    const often = likelyRepeat(call, facts);
    if (often !== null)
      yield {
        at: call,
        severity: "note",
        message: often === "step" ? ofSame(call, facts) : ofTurns(call, facts),
      };
  }
  for (const call of askedInRollout(facts))
    yield {
      at: call,
      severity: "note",
      message: `\`${facts.file.textOf(call.func)}\` does not change, and has been asked the same for the rollout; keep what it gave there, and read that in the steps`,
    };
}

/** Of a network that is frozen in a plain run, and learns only where somebody asks for that: then it is to be run anew. */
function isUnasked(call: Call, loop: Loop, facts: Facts): boolean {
  return (
    call.args.length > 0 &&
    facts.networks.isFrozenUnlessAsked(call.func) &&
    isInvariant(call, loop, facts) &&
    facts.frequency(call, loop) === "every"
  );
}

/** What the function makes of its input is told by its name alone. */
function isScaled(value: Expr): boolean {
  let found = false;
  walk(value, (node) => {
    found ||= node.kind === "Call" && isScaling(node);
    return !found;
  });
  return found;
}

/** `ids` of `ids = tokenizer([""] * len(images)).input_ids`: as many of the same as the batch has examples. */
function isCounted(value: Expr, { file }: Facts): boolean {
  let found = false;
  walk(value, (node) => {
    const made = node.kind === "Name" ? file.scopes.onlyValue(node) : null;
    found ||= repeated(node) !== null || (made !== null && holdsRepeated(made));
    return !found;
  });
  return found;
}

function holdsRepeated(made: Expr): boolean {
  let found = false;
  walk(made, (node) => {
    found ||= repeated(node) !== null;
    return !found;
  });
  return found;
}

/** By a function of another file, or one that switches recording off by itself, of which not all is read. */
function isOfHelper(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const name = file.dotted(call.func);
  if (name === null) return false;
  const fn = file.functionNamed(name);
  return fn === undefined || (facts.gradMode(call) !== "off" && decoratedGrad(fn, file) !== "off");
}

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
  const { file } = facts;
  const turned = new Set(file.all("For").flatMap(({ target }) => namesIn(target).map(({ id }) => id)));
  if (turned.size === 0) return;
  const seen = new Set<Call>();
  for (const { value, index } of file.all("Subscript")) {
    if (value.kind !== "Call" && value.kind !== "Name") continue;
    if (index.kind === "Num" || index.kind === "Str") continue;
    // Of most a single name is asked, and what they are of is handed in.
    if (index.kind === "Name" && !turned.has(index.id)) continue;
    if (value.kind === "Name" && !file.scopes.lookup(value)?.definitions.some(isOfCall)) continue;
    if (!namesIn(index).some(({ id }) => turned.has(id))) continue;
    const made = value.kind === "Call" ? [value] : file.scopes.reaching(value).map((one) => one.value);
    for (const call of made) {
      if (call?.kind !== "Call" || seen.has(call) || call.args.length === 0) continue;
      seen.add(call);
      if (isOfLibrary(call, facts)) continue;
      const [inner] = loopsAround(call);
      if (inner && !isSoftmax(call, facts) && isPickedFrom(call, inner, facts))
        yield { at: call, severity: "note", message: ofPicks(call, facts) };
    }
  }
}

const isOfCall = ({ value }: Definition): boolean => value?.kind === "Call";

const isOfLibrary = ({ func }: Call, { file }: Facts): boolean =>
  /^(?:builtins|torch|numpy|math)\./.test(file.dotted(func) ?? "");

function ofPicks(call: Call, { file }: Facts): string {
  return `\`${file.textOf(call.func)}\` is run on the same input in every turn of this loop, which takes one part of the result each time; run it once before the loop`;
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
    !call.args.some(({ value }) => value.kind === "Name" && isAskedToLearn(value, facts)) &&
    (facts.gradMode(call) === "off" ||
      (made?.node.kind === "FunctionDef" && runsWithoutGradients(made.node, file))) &&
    call.args.every(({ value }) => isText(value) || isLiteral(value) || isSettled(value, loop, facts)) &&
    (facts.frequency(call, loop) === "every" ||
      everyUpdate(call, facts) ||
      isUnderSettings(call, loop, facts))
  );
}

/** `encoder.parameters()`, `encoder.train()` */
function isAskedToLearn({ id }: Name, { file }: Facts): boolean {
  return file
    .callsNamed("parameters", "named_parameters", "train")
    .some(({ func }) => func.kind === "Attribute" && func.value.kind === "Name" && func.value.id === id);
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

/** `else:` of `if dataset.custom_prompts:`, which is the same in every turn. */
function isUnderSettings(call: Call, loop: Loop, facts: Facts): boolean {
  for (let at: Node | null = call.parent; at && at !== loop; at = at.parent) {
    if (at.kind === "For" || at.kind === "While" || at.kind === "IfExp" || at.kind === "FunctionDef")
      return false;
    if (at.kind === "If" && !isSettledTest(at.test, loop, facts)) return false;
  }
  return true;
}

/** `args.cached and not dataset.custom_prompts`; a count or what a batch says is another in each turn. */
function isSettledTest(test: Expr, loop: Loop, facts: Facts): boolean {
  if (test.kind === "Bool") return test.values.every((one) => isSettledTest(one, loop, facts));
  const asked = test.kind === "Unary" ? test.operand : test;
  return (asked.kind === "Name" || asked.kind === "Attribute") && isSettled(asked, loop, facts);
}

/**
 * In a loop around that of the steps, as where each batch is learnt from several times: `for batch in batches:`, then
 * `for _ in range(rounds): update(batch)`, then `reference(probe)`.
 */
function isAboveSteps(call: Call, loop: Loop, facts: Facts): boolean {
  return (
    [...facts.stepLoops].some((inner) => inner !== loop && contains(loop, inner)) &&
    // What is frozen records nothing of an input that nobody learns.
    (facts.gradMode(call) === "off" || facts.networks.isFrozenByFlags(call.func)) &&
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
function isApart(call: Call, loop: Loop, facts: Facts, turn: Node = loop): boolean {
  return (
    facts.gradMode(call) === "off" &&
    call.args.length > 0 &&
    isNetwork(call.func, facts) &&
    isInvariant(call, loop, facts) &&
    facts.frequency(call, turn) === "every" &&
    isTrainedApart(call.func, loop, facts)
  );
}

/**
 * In a function that the training loop runs in each turn, without gradients: of a frozen network and an input that it is
 * handed, which are none of the loop's making; or by a method, of what is kept on self.
 */
function isInTurned(call: Call, facts: Facts): boolean {
  const { file, networks } = facts;
  const fn = functionOf(call);
  if (fn?.kind !== "FunctionDef" || call.args.length === 0) return false;
  const turned = turnedBy(fn, file);
  if (!turned || !facts.stepLoops.has(turned.loop) || facts.gradMode(call) !== "off") return false;
  if (facts.frequency(call, fn) !== "every") return false;
  // It is the turn itself, and no helper of one.
  if (!facts.backwards.some((one) => functionOf(one.call) === fn)) return false;
  const names = namesIn(call).filter((name) => !isSelf(name));
  if (names.length === 0) return isApart(call, turned.loop, facts, fn);
  const isHanded = (name: Name): boolean => {
    const given = turnedArgument(name, fn, turned, file);
    return (
      given?.kind === "Name" &&
      isSettled(given, turned.loop, facts) &&
      !isChanged(name, fn, facts) &&
      !isChanged(given, turned.loop, facts)
    );
  };
  if (!names.every(isHanded) || !call.args.every(({ value }) => isKeptPart(bare(value)))) return false;
  let root = methodOf(call.func) ?? call.func;
  while (root.kind === "Attribute") root = root.value;
  if (root.kind !== "Name" || (root !== call.func && methodOf(call.func) === null)) return false;
  const net = turnedArgument(root, fn, turned, file);
  return net !== null && networks.isFrozen(net) && isOnlyRunIn(fn, root, facts);
}

/** `probe`, `data.x` */
function isKeptPart(expr: Expr): boolean {
  return expr.kind === "Name" || (expr.kind === "Attribute" && isKeptPart(expr.value));
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

/** `data` of `data.x`, as of `data.x.to(device)`. */
function holderOf(expr: Expr): Expr {
  const at = bare(expr);
  return at.kind === "Attribute" && at.value.kind === "Name" && !isSelf(at.value) ? at.value : at;
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
    const name = holderOf(expr);
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
    call.args.every(({ value }) => isMadeOnce(value) && !isChanged(holderOf(value) as Name, fn, facts)) &&
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

/** Networks that are frozen more often than not, and the methods that run a part of one. */
const MAY_BE_FROZEN =
  /^(?:text_encoder\w*|vae|teacher\w*|ref\w*|vgg\w*|lpips\w*|perceptual\w*|encode|encode_\w+|get_\w*features|extract_features)$/;

/** What others trained and a project only makes use of, by its name. */
const BORROWED = /^(?:text_encoder\w*|vae|clip(?:_model)?|first_stage_model)$/;

/** What a loss judges with: it hands gradients on, and learns nothing. */
const JUDGES = /^(?:vgg\w*|lpips\w*)$/;

/** `self.vae`, `self.vgg`, where nothing in the file trains it. */
function isBorrowed(run: Expr, { file }: Facts): boolean {
  const own = selfAttribute(run) ?? "";
  return (
    (BORROWED.test(own) || JUDGES.test(own)) &&
    // `next(self.vae.parameters()).dtype` only looks.
    !file.says(
      new RegExp(
        `\\b${own}\\.(?:\\w*parameters\\(\\)(?!\\)?\\.(?:__next__|dtype|device))|train\\(|requires_grad_\\((?!False))`,
      ),
    )
  );
}

/** `self.reference(self.anchors)` in a step of a class: both are what `__init__` made of them, and the network is frozen. */
function* ofSelf(facts: Facts): Generator<Finding> {
  const { file } = facts;
  // `self.model.text_encoder`, which others froze.
  const encodes = ({ func }: Call): boolean =>
    func.kind === "Attribute" &&
    selfAttribute(func.value) !== null &&
    /^(?:text_encoder\w*|vae|teacher\w*|ref(?:erence)?_model)$/.test(func.attr);
  const froze =
    file.callsNamed("requires_grad_", "eval").length > 0 || file.says(/\.requires_grad\s*=\s*False/);
  for (const call of froze ? file.all("Call") : file.calls.matching(MAY_BE_FROZEN)) {
    if (call.args.length === 0 || !facts.mayBeHot(call)) continue;
    const run = selfAttribute(call.func) === null ? methodOf(call.func) : call.func;
    const isOwn = run !== null && selfAttribute(run) !== null;
    if (!isOwn && !encodes(call)) continue;
    const blank = call.args.some(({ value }) => isBlank(value, facts));
    const borrowed = isOwn && isBorrowed(run, facts);
    if (
      // `mode="val"` beside them is the same too.
      call.args.every(
        ({ value }) => isKeptInput(value, facts) || isBlank(value, facts) || isLiteral(value),
      ) &&
      !call.args.every(({ value }) => isLiteral(value)) &&
      loopsAround(call).length === 0 &&
      ((isOwn && facts.networks.isFrozen(run)) || encodes(call) || borrowed) &&
      (facts.gradMode(call) === "off" ||
        (isOwn && facts.networks.isFrozenByFlags(run)) ||
        (borrowed && JUDGES.test(lastWord(run)))) &&
      (functionOf(call)?.params.length !== 1 || encodes(call) || isAskedEveryStep(call, facts)) &&
      (facts.everyStep(call) || ownUpdate(call, facts, facts.hot(call)?.within))
    )
      yield {
        at: call,
        // With gradients recorded, whoever made the input may want some of it.
        ...(blank || borrowed || facts.gradMode(call) !== "off" ? { severity: "note" as const } : {}),
        message: `\`${file.textOf(call.func)}\` and its input are the same in every step, and so is what it returns; run it once, and keep that`,
      };
  }
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
