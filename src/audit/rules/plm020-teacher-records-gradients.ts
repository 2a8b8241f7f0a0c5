import type { Definition } from "../../python/scopes.ts";
import { isFalse, isTrue, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, classOf, contains, functionOf, lastWord, statementOf, walk } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef, Node } from "../../python/tree.ts";
import { indentAt } from "../edits.ts";
import { attributesOf, isSelf, selfAttribute } from "../facts/classes.ts";
import { besideTrained } from "../facts/beside-trained.ts";
import { runsCutOff } from "../facts/cut-off-runs.ts";
import { isDetached } from "../facts/detached.ts";
import type { Facts } from "../facts/facts.ts";
import { runsOfFollowers } from "../facts/followers.ts";
import { likelyCutOff } from "../facts/likely-runs.ts";
import { lexicalGrad } from "../facts/gradmode.ts";
import { derivesFrom } from "../facts/backwarded.ts";
import { ranByMethod } from "../facts/network-runs.ts";
import { isNetwork } from "../facts/networks.ts";
import { callsOf, paramGiven } from "../facts/returns.ts";
import { readUnrecorded } from "../facts/read-unrecorded.ts";
import { everyRound } from "../facts/rounds.ts";
import { loopsAround } from "../facts/training.ts";
import { localName } from "../imports.ts";
import type { Finding, Fix, Rule } from "../rule.ts";
import {
  TEACHER,
  isAverageOfAnother,
  isFrozenByCall,
  isFrozenByCaller,
  isNeverTrained,
  isPartOfItsKind,
  isPartThatTeaches,
  isPretrained,
  isTeacher,
  isTrainedNowhere,
  teaches,
} from "../facts/teachers.ts";

/** What reinforcement learning calls the network that its targets come from, and a GAN the average of its own. */
const CRITIC = /^(?:q|qf|critic|value|v)\d?_target\d?$|^target_(?:q|qf|critic|value|v)\d?$|^[a-z]_ema$/;

/** What a diffusion model or a vision-language model has its inputs encoded by. */
const ENCODER = /^(?:\w+_)?(?:vae|vqvae|vqgan|autoencoder|first_stage_model)$/;

export const rule: Rule = {
  meta: {
    code: "PLM020",
    name: "teacher-records-gradients",
    summary: "A network that is never trained runs in the step with gradients recorded",
    severity: "warning",
    fix: "unsafe",
    patterns: [20, 66],
  },
  *check(facts) {
    const { file } = facts;
    // Whoever calls a method of what teaches need not be seen to.
    yield* ofItsOwn(facts);
    if (!facts.anyHot) return;
    const ofMethods = [...features(facts)];
    yield* ofMethods;
    yield* forItsHooks(facts);
    const told = new Set<Call>();
    const calls = facts.networks.someOnlyEvaluated
      ? file.all("Call")
      : new Set([...file.calls.matching(TEACHER), ...runsOfFollowers(facts)]);
    for (const call of calls) {
      if (call.func.kind !== "Name" && call.func.kind !== "Attribute") continue;
      // Few callees are either: the cheap questions first.
      if (!facts.networks.isOnlyEvaluated(call.func) && !teaches(call.func, facts)) continue;
      if (!isNetwork(call.func, facts) && !CRITIC.test(lastWord(call.func))) continue;
      // `self.model_ema(self.model)`, or `(self)`, takes its weights, and computes nothing with them.
      if (
        call.args.some(
          ({ value }) => isSelf(value) || (selfAttribute(value) !== null && isNetwork(value, facts)),
        )
      )
        continue;
      const runs = isRunEveryStep(call, facts) && facts.gradMode(call) === "on";
      const loose =
        !runs &&
        (isDistillation(call, facts) ||
          isHandedTeacher(call, facts) ||
          isAverageOfAnother(call, facts) ||
          isPartThatTeaches(call, facts) ||
          isBesideLearner(call, facts) ||
          (facts.guesses && isBesideUnrecorded(call, facts)) ||
          (facts.gradMode(call) === "on" && everyRound(call, facts)));
      if (!runs && !loose) continue;
      const certain =
        isNeverTrained(call.func, facts) && !isAlone(call, facts) && hasTrainedPeer(call, facts);
      const named = !certain && isTeacher(call.func, facts) && !isPartOfItsKind(call.func, facts);
      if (!(certain || named)) continue;
      if (facts.guesses && !loose && isHandedTeacherHere(call, facts)) continue;
      const cutOff = isDetached(call, file);
      // Whatever its inputs carry, no gradient comes back to what is cut off.
      if (!takesData(call, facts) && !(cutOff && call.args.length > 0)) continue;
      // Frozen by the function that hands it to this one.
      if (certain && isFrozenByCaller(call.func, facts)) continue;
      // Gradients are wanted through it: for an image or a latent that is itself what learns.
      if (!cutOff && carriesGradient(call, facts)) continue;
      // `return self.module(*args, **kwargs)` hands on whatever its caller is about.
      if (call.parent?.kind === "Return" && call.args.every((arg) => arg.star !== 0)) continue;
      told.add(call);
      const fix = wrap(call, facts);
      const name = file.textOf(call.func);
      const isPart = (of: Call): boolean => {
        const cls = of.func.kind === "Attribute" && selfAttribute(of.func) !== null ? classOf(of) : null;
        return cls !== null && facts.role(cls) === "module";
      };
      yield {
        at: call,
        // What holds a part of a module may train it with the whole; what is cut off at once does not meet the backward.
        ...(certain && !loose && !isPart(call) && !cutOff ? {} : { severity: "note" as const }),
        message: cutOff
          ? `\`${name}\` is not trained, yet its forward records a graph and keeps every activation, only for \`.detach()\` to throw them away`
          : certain
            ? `\`${name}\` is in eval mode and no optimizer has its parameters, yet its graph and activations are kept for backward, which then computes gradients for it`
            : `\`${name}\` is a reference that nobody trains here, yet its graph and activations are kept for backward unless its parameters are frozen elsewhere`,
        ...(fix ? { fix } : {}),
      };
    }
    if (facts.anyTraining) yield* handedOn(facts);
    for (const call of besideTrained(facts))
      if (!told.has(call))
        yield {
          at: call,
          severity: "note",
          message: `The trainer optimises its own model alone, yet \`${file.textOf(call.func)}\` runs beside it with its graph and activations kept for backward, unless its parameters are frozen elsewhere; run it under \`no_grad\``,
        };
    for (const call of readUnrecorded(facts))
      if (!told.has(call) && !ofMethods.some(({ at }) => at === call))
        yield {
          at: call,
          severity: "note",
          message: `All that \`${file.textOf(call.func)}\` makes here is read where nothing is recorded, yet its forward records a graph and keeps every activation until then; run it under \`no_grad\` as well`,
        };
    if (facts.guesses)
      for (const call of likelyCutOff(facts))
        yield {
          at: call,
          message: `All that \`${file.textOf(call.func)}\` makes here is cut off further on, yet its forward records a graph and keeps every activation until then; run it under \`no_grad\``,
        };
    for (const call of runsCutOff(facts))
      if (!told.has(call))
        yield {
          at: call,
          severity: "note",
          message: `All that \`${call.func.id}\` makes here is cut off by \`.detach()\`, yet its forward records a graph and keeps every activation, unless its parameters are frozen elsewhere; run it under \`no_grad\``,
        };
  },
};

/** `with torch.no_grad(): out = actor(x)`, and below it `ref = ref_model(x)`: what acts for a step runs the others unrecorded. */
function isBesideUnrecorded(call: Call, facts: Facts): boolean {
  const fn = functionOf(call);
  if (!facts.anyTraining || fn?.kind !== "FunctionDef" || facts.gradMode(call) !== "on") return false;
  const beside = facts.file.all("Call").filter((one) => functionOf(one) === fn);
  return beside.some((one) => lexicalGrad(one, facts.file) === "off" && isNetwork(one.func, facts));
}

/** In a loss that is handed the teacher, by whom it may be frozen, or in a function that is judged where it is called. */
function isHandedTeacherHere({ func }: Call, facts: Facts): boolean {
  const fn = functionOf(func);
  const cls = classOf(func);
  if (fn?.kind !== "FunctionDef") return false;
  if (fn.name === "forward" && cls !== null && facts.role(cls) === "module") return true;
  return (
    func.kind === "Name" &&
    fn.params.some(({ name }) => name === func.id) &&
    callsOf(fn, facts.file).some((call) => functionOf(call) !== null && loopsAround(call).length > 0)
  );
}

/** Also under `if self.teacher is not None:`: on every step of whoever has one. */
function isRunEveryStep(call: Call, facts: Facts): boolean {
  if (facts.everyStep(call)) return true;
  const there = `${facts.file.textOf(call.func)} is not None`;
  for (const at of ancestors(call))
    if (at.kind === "If") return facts.file.textOf(at.test) === there && facts.everyStep(at) !== null;
  return false;
}

/** What leaves the graph behind of what a hook stores. */
const CUT = /\.detach\(\)|\.(?:numpy|item|tolist)\(|\.data\b|no_grad\(/;

/**
 * `lm(tokens)` in a step, of which nothing is kept but what hooks cut off: no gradients can come back to it, and while it
 * runs all its activations are stored.
 */
function* forItsHooks(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const registered = file.callsNamed("register_forward_hook", "register_forward_pre_hook");
  if (registered.length === 0) return;
  for (const call of file.all("Call")) {
    if (!isThrownAway(call) || !isNetwork(call.func, facts) || !facts.everyStep(call)) continue;
    if (facts.gradMode(call) !== "on" || facts.networks.isFrozenByFlags(call.func)) continue;
    if (!takesData(call, facts) || isFrozenByCall(lastWord(call.func), file.text)) continue;
    if (!registered.every((one) => hooksCutOff(one, facts))) continue;
    yield {
      at: call,
      severity: "note",
      message: `Nothing is kept of \`${file.textOf(call.func)}\` but what its hooks cut off, yet its forward records a graph and keeps every activation until it ends, unless its parameters are frozen elsewhere; run it under \`no_grad\``,
    };
  }
}

/** `lm(tokens)` as a statement, or `_ = lm(tokens)`. */
function isThrownAway({ parent }: Call): boolean {
  if (parent?.kind === "ExprStmt") return true;
  const [target, ...more] = parent?.kind === "Assign" ? parent.targets : [];
  return target?.kind === "Name" && target.id === "_" && more.length === 0;
}

/** A hook of this file, or what makes one, that stores something, and nothing with its graph. */
function hooksCutOff({ args }: Call, { file }: Facts): boolean {
  const hook = args[0]?.value;
  if (!hook) return false;
  if (hook.kind === "Lambda") return CUT.test(file.textOf(hook));
  const name = lastWord(hook.kind === "Call" ? hook.func : hook);
  const fn = file.all("FunctionDef").filter((one) => one.name === name);
  if (fn.length !== 1) return false;
  const inside = (node: Node): boolean => contains(fn[0]!, node);
  const stores = [
    ...file
      .all("Assign")
      .filter(
        (one) =>
          inside(one) &&
          one.targets.some((target) => target.kind === "Subscript" || target.kind === "Attribute"),
      ),
    ...file.callsNamed("append", "update", "setattr", "setdefault", "extend").filter(inside),
  ];
  return stores.length > 0 && stores.every((one) => isStoredCut(one, file));
}

/** `kept[name] = out.detach()`; also of a name, `out = out.detach()`, that is cut off above. */
function isStoredCut(store: Node, file: PythonFile): boolean {
  if (CUT.test(file.textOf(store)) || lexicalGrad(store, file) === "off") return true;
  const values =
    store.kind === "Assign"
      ? [store.value]
      : store.kind === "Call"
        ? store.args.map(({ value }) => value)
        : [];
  const names = values.flatMap((value) => (value.kind === "Name" ? file.scopes.reaching(value) : []));
  return names.length > 0 && names.every(({ value }) => value !== null && CUT.test(file.textOf(value)));
}

const DISTILS = /distill?|teacher|student/i;

/** What a class calls the network that it keeps. */
const KEPT = /^_?(?:net|model|network|unet|backbone|denoise_fn|teacher)_?$/;

/**
 * `def distill_loss(self, student, x)` of what teaches: all that `self.predict(x)` makes there ends in `.detach()`, and what the
 * student makes beside it does not.
 */
function* ofItsOwn(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const fn of file.all("FunctionDef")) {
    if (fn.parent?.kind !== "ClassDef" || !DISTILS.test(fn.name)) continue;
    const [self, ...params] = fn.params;
    const student = params.find(({ name }) => DISTILS.test(name));
    if (!student || self!.name !== "self" || lexicalGrad(fn, file) !== null) continue;
    const calls = file.all("Call").filter((call) => functionOf(call) === fn);
    const records = (call: Call): boolean =>
      lexicalGrad(call, file) === null && facts.gradMode(call) !== "off" && !isDetached(call, file);
    // `student(x)`, `student.net(x)`
    const learns = calls.some(({ func }, at) => {
      const of = func.kind === "Attribute" ? func.value : func;
      return of.kind === "Name" && of.id === student.name && runs(func, facts) && records(calls[at]!);
    });
    for (const call of learns ? calls : []) {
      const own = selfAttribute(call.func);
      if (own === null || !isDetached(call, file) || lexicalGrad(call, file) !== null) continue;
      if (facts.gradMode(call) === "off" || !runs(call.func, facts)) continue;
      if (facts.networks.isFrozenByFlags(call.func)) continue;
      yield {
        at: call,
        severity: "note",
        message: `All that \`${file.textOf(call.func)}\` makes here is cut off by \`.detach()\`, yet its forward records a graph and keeps every activation, unless its parameters are frozen elsewhere; run it under \`no_grad\``,
      };
    }
  }
}

/** A network, by what it is or is called, or a method of this file that hands back what one of those makes. */
function runs(callee: Expr, facts: Facts, depth = 0): boolean {
  const word = lastWord(callee);
  if (KEPT.test(word) || isNetwork(callee, facts)) return true;
  return (
    depth < 2 &&
    facts.file.all("FunctionDef").some((fn) => {
      const end = fn.body[fn.body.length - 1];
      const made = fn.name === word && end?.kind === "Return" ? end.value : null;
      return made?.kind === "Call" && runs(made.func, facts, depth + 1);
    })
  );
}

const RUNS_NETWORK =
  /^(?:get_\w*features|_?forward\w*|_?encode(?:_\w+)?|extract_features|features|forward_features|get_\w*hidden_states|noise_pred|calculate_\w+|predict\w*|q_values?|(?:get_|compute_)?log_?probs?|logps)$/;

/** `teacher.get_image_features(x)`, `teacher.encode(x)`: a method that runs it. */
function* features(facts: Facts): Generator<Finding> {
  const { file } = facts;
  // `target_encoder.embed(x)`, a method of this file's own that runs layers.
  const methods = new Set<string>();
  for (const { name, parent } of file.all("FunctionDef")) if (parent?.kind === "ClassDef") methods.add(name);
  const byOwn = file
    .callsNamed(...methods)
    .filter(
      (call) =>
        call.func.kind === "Attribute" &&
        methods.has(call.func.attr) &&
        (call.func.value.kind === "Name" || call.func.value.kind === "Attribute") &&
        !RUNS_NETWORK.test(call.func.attr) &&
        TEACHER.test(lastWord(call.func.value)) &&
        ranByMethod(call, { has: () => true }, facts) !== null,
    );
  for (const call of [...file.calls.matching(RUNS_NETWORK), ...byOwn]) {
    if (call.func.kind !== "Attribute") continue;
    const net = call.func.value;
    if (net.kind !== "Name" && net.kind !== "Attribute") continue;
    const encoder = ENCODER.test(lastWord(net));
    const teacher = teaches(net, facts);
    // `clip = CLIPModel.from_pretrained(name).eval()`, whatever it is called.
    const evaluated =
      facts.networks.isOnlyEvaluated(net) && facts.gradMode(call) === "on" && isNeverTrained(net, facts);
    if (!encoder && !teacher && !evaluated) continue;
    if (facts.gradMode(call) === "off" || lexicalGrad(call, file) !== null) continue;
    if (!facts.everyStep(call) && !everyRound(call, facts)) continue;
    if (!isTrainedNowhere(net, facts) || (!teacher && !isPretrained(net, facts))) continue;
    if (!takesData(call, facts) || carriesGradient(call, facts)) continue;
    yield {
      at: call,
      severity: "note",
      message: `\`${file.textOf(net)}\` is a reference that nobody trains here, yet its graph and activations are kept for backward unless its parameters are frozen elsewhere`,
    };
  }
}

/** What losses are called, and the methods that compute one of them. */
const COMPARES = /loss|criterion|distill|(?:^|_)(?:kd|kl|mse|div)(?:$|_)/i;

/** A function nobody here calls that runs the teacher beside another network and hands back what compares the two. */
function isDistillation(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const fn = functionOf(call);
  if (fn?.kind !== "FunctionDef" || !TEACHER.test(lastWord(call.func))) return false;
  if (facts.functionFacts(call).callersGradOff !== "unknown" || lexicalGrad(call, file) !== null)
    return false;
  if (/detach\(\)/.test(file.textOf(statementOf(call) ?? call))) return false;
  const key = facts.networks.key(call.func);
  const beside = file
    .all("Call")
    .filter(
      (other) =>
        functionOf(other) === fn &&
        (other.func.kind === "Name" || other.func.kind === "Attribute") &&
        isNetwork(other.func, facts) &&
        !facts.networks.isLoss(other.func) &&
        facts.networks.key(other.func) !== key,
    );
  if (beside.length === 0) return false;
  return (
    file
      .callsNamed("kl_div", "mse_loss", "cross_entropy", "cosine_embedding_loss", "l1_loss")
      .some((compare) => functionOf(compare) === fn) ||
    comparesByHelper(call, fn, facts) ||
    // Who cuts it off does not rely on its being frozen elsewhere.
    (isDetached(call, file) && isCompared(call, beside, fn, facts))
  );
}

/** `loss_at(own, theirs)`, of `theirs = teacher(x)`: a function of this file that is called like a loss. */
function comparesByHelper(call: Call, fn: FunctionDef, { file }: Facts): boolean {
  const [target] = call.parent?.kind === "Assign" ? call.parent.targets : [];
  const made = target?.kind === "Tuple" ? target.items : target ? [target] : [];
  const theirs = new Set(made.flatMap((name) => (name.kind === "Name" ? [name.id] : [])));
  return file.calls
    .matching(COMPARES)
    .some(
      ({ func, args }) =>
        functionOf(func) === fn &&
        args.length > 1 &&
        args.some(({ value }) => value.kind === "Name" && theirs.has(value.id)) &&
        file.functionNamed(file.dotted(func)) !== undefined,
    );
}

/** What data is called: no other network made it, so no gradients need to come back. */
const BATCH = /^(?:x|inputs?|images?|imgs?|samples?|batch|data|pixel_values|input_ids)$/;

/**
 * A loss that was handed its teacher, in eval mode and frozen by nobody, by another file, and compares what that makes of
 * the batch with what it is given.
 */
function isHandedTeacher(call: Call, facts: Facts): boolean {
  const { file, project } = facts;
  if (project.teachers.size === 0) return false;
  const own = selfAttribute(call.func);
  const cls = own === null ? null : classOf(call);
  const fn = functionOf(call);
  const [write, ...more] = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  if (fn?.kind !== "FunctionDef" || fn.name !== "forward" || write?.value?.kind !== "Name" || more.length > 0)
    return false;
  const param = write.value.id;
  const at = write.in.params.findIndex(({ name }) => name === param) - 1;
  const init = file.qualified(write.in);
  if (!project.teachers.has(`${init},${at}`) && !project.teachers.has(`${init},${param}`)) return false;
  if (facts.gradMode(call) === "off" || lexicalGrad(call, file) !== null || !facts.everyStep(call))
    return false;
  const given = new Set(call.args.map(({ value }) => (value.kind === "Name" ? value.id : "")));
  if (![...given].every((name) => BATCH.test(name))) return false;
  const others = fn.params.slice(1).filter(({ name }) => !given.has(name));
  const students = new Set(others.flatMap((other) => file.scopes.definitionAt(other) ?? []));
  const [target] = call.parent?.kind === "Assign" ? call.parent.targets : [];
  const made = target?.kind === "Tuple" ? target.items : target ? [target] : [];
  const ours = new Set(made.flatMap((name) => file.scopes.definitionAt(name) ?? []));
  return file.calls
    .matching(COMPARES)
    .some(
      (compare) =>
        functionOf(compare) === fn &&
        [ours, students].every((results) =>
          compare.args.some(({ value }) => derivesFrom(value, results, facts)),
        ),
    );
}

/**
 * `def log_probs(batch, policy, ref_model)`, which runs both of those it is handed and hands back what each made: an
 * evaluation may call it without recording, but each step of a training needs the graph of one of them, and gets two.
 */
function isBesideLearner(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const fn = functionOf(call);
  const isHanded = (callee: Expr): boolean =>
    callee.kind === "Name" &&
    file.scopes.reaching(callee).every(({ how, node }) => how === "param" && node.parent === fn);
  // A teacher may learn beside its student; what is called a reference never does.
  if (!/^ref(?:$|_|erence)|_ref$/.test(lastWord(call.func))) return false;
  if (fn?.kind !== "FunctionDef" || fn.parent?.kind !== "Module") return false;
  // Called in this file, it is told of there.
  if (callsOf(fn, file).length > 0) return false;
  if (!isHanded(call.func) || !facts.everyStep(call)) return false;
  if (facts.gradMode(call) === "off" || lexicalGrad(call, file) !== null || isDetached(call, file))
    return false;
  return file
    .all("Call")
    .some(
      (other) =>
        functionOf(other) === fn &&
        isHanded(other.func) &&
        !TEACHER.test(lastWord(other.func)) &&
        isNetwork(other.func, facts) &&
        !facts.networks.isLoss(other.func) &&
        lexicalGrad(other, file) === null,
    );
}

/** `self.loss_kd(student_out, teacher_out.detach())`: a loss is given what both made. */
function isCompared(call: Call, beside: readonly Call[], fn: FunctionDef, facts: Facts): boolean {
  const { file } = facts;
  const made = (run: Call): ReadonlySet<Definition> => {
    const [target] = run.parent?.kind === "Assign" && run.parent.value === run ? run.parent.targets : [];
    const names = target?.kind === "Tuple" ? target.items : target ? [target] : [];
    return new Set(names.flatMap((name) => file.scopes.definitionAt(name) ?? []));
  };
  const [ours, theirs] = [made(call), beside.map(made)];
  if (ours.size === 0) return false;
  const isGiven = (compare: Call, results: ReadonlySet<Definition>): boolean =>
    results.size > 0 && compare.args.some(({ value }) => derivesFrom(value, results, facts));
  return file.calls
    .matching(COMPARES)
    .some(
      (compare) =>
        functionOf(compare) === fn &&
        isGiven(compare, ours) &&
        theirs.some((results) => isGiven(compare, results)),
    );
}

/** `logps(ref_model, batch)`, where the helper runs what it is given, and gradients are recorded there. */
function* handedOn(facts: Facts): Generator<Finding> {
  const { file } = facts;
  // The look-behind comes after the word: V8 then searches for that.
  if (
    !facts.networks.someOnlyEvaluated &&
    !file.mentions("teacher") &&
    !file.mentions("frozen_model") &&
    !file.says(/ref(?:(?<=\bref)|erence)/)
  )
    return;
  const words = new Map<string, boolean>();
  const isTeachers = (word: string): boolean => {
    let known = words.get(word);
    if (known === undefined) words.set(word, (known = TEACHER.test(word)));
    return known;
  };
  for (const arg of file.all("Arg")) {
    const { value, parent: call } = arg;
    if (call?.kind !== "Call" || arg.star !== 0 || (value.kind !== "Name" && value.kind !== "Attribute"))
      continue;
    if (!isTeachers(lastWord(value)) && !facts.networks.isOnlyEvaluated(value)) continue;
    const param = paramGiven(call, arg, file);
    // Behind a test, as `if self.loss == "dpo":`, it runs on every step of whoever asked for that; and a step that an
    // evaluation calls, too, is still a step.
    if (!param || facts.gradMode(call) === "off" || lexicalGrad(call, file) !== null) continue;
    if (!facts.hot(call) && !everyRound(call, facts)) continue;
    if (facts.networks.isFrozenByFlags(value)) continue;
    if (!facts.networks.isOnlyEvaluated(value) && !isTeacher(value, facts)) continue;
    const definition = file.scopes.definitionAt(param);
    const run = definition
      ? file.scopes.uses(definition).find((use) => use.parent?.kind === "Call" && use.parent.func === use)
      : null;
    if (!run || lexicalGrad(run, file) !== null) continue;
    // A critic judges what another network made, and hands the gradients on to that.
    if (!takesData(run.parent as Call, facts)) continue;
    const others = call.args.filter((other) => other !== arg);
    if (!others.every((other) => isData(other.value, facts, new Set())) || carriesGradient(call, facts))
      continue;
    yield {
      at: call,
      severity: "note",
      message: `\`${file.textOf(value)}\` is a reference that nobody trains here, yet \`${file.textOf(call.func)}\` runs it with its graph and activations kept for backward, unless its parameters are frozen elsewhere`,
    };
  }
}

/** Another network of the same function is what its step trains. */
function hasTrainedPeer(call: Call, facts: Facts): boolean {
  const fn = functionOf(call);
  const key = facts.networks.key(call.func);
  return facts.file.callsNamed("train", "parameters", "backward").some((other) => {
    if (other.func.kind !== "Attribute" || (fn && functionOf(other) !== fn)) return false;
    return other.func.attr === "backward" || facts.networks.key(other.func.value) !== key;
  });
}

/** The only network of its step, handed in: it is what that step trains, in eval mode for its norms. */
function isAlone(call: Call, facts: Facts): boolean {
  const loop = facts.stepLoop(call);
  const given = call.func.kind === "Name" ? facts.file.scopes.reaching(call.func) : [];
  if (!loop || given.length === 0 || !given.every(({ how }) => how === "param")) return false;
  const key = facts.networks.key(call.func);
  return !facts.file
    .all("Call")
    .some(
      (other) =>
        contains(loop, other) &&
        (other.func.kind === "Name" || other.func.kind === "Attribute") &&
        !facts.networks.isLoss(other.func) &&
        isNetwork(other.func, facts) &&
        facts.networks.key(other.func) !== key,
    );
}

/** Its inputs are the batch itself: nothing that gradients must pass through. */
function takesData(call: Call, facts: Facts): boolean {
  return call.args.length > 0 && call.args.every((arg) => isData(arg.value, facts, new Set()));
}

function isData(expr: Expr, facts: Facts, seen: Set<unknown>): boolean {
  let data = true;
  walk(expr, (node) => {
    if (!data) return false;
    if (node.kind === "Call") {
      if (isNetwork(node.func, facts) && facts.gradMode(node) !== "off") data = false;
      if (node.func.kind === "Attribute" && node.func.attr === "detach") return false;
      // An image or prompt that is itself optimised.
      const learns = keyword(node, "requires_grad");
      if (
        /requires_grad|Parameter/.test(facts.file.textOf(node.func)) ||
        (learns !== null && !isFalse(learns.value))
      )
        data = false;
    }
    if (node.kind === "Name" && !facts.file.scopes.binds(node))
      for (const one of facts.file.scopes.reaching(node)) {
        if (seen.has(one) || one.how === "param" || one.how === "iterate") continue;
        seen.add(one);
        if (one.value && !isData(one.value, facts, seen)) data = false;
      }
    return data;
  });
  return data;
}

function wrap(call: Call, facts: Facts): Fix | null {
  const { file } = facts;
  const statement = statementOf(call);
  if (statement?.kind !== "Assign" || statement.value !== call || file.textOf(statement).includes("\n"))
    return null;
  const indent = indentAt(file, statement.start);
  if (file.text.slice(file.lines.start(file.lines.line(statement.start)), statement.start) !== indent)
    return null;
  // What follows in the same line would run without recording as well.
  const rest = file.text.slice(statement.end, file.lines.start(file.lines.line(statement.end) + 1));
  if (!/^\s*;?\s*(?:#|$)/.test(rest)) return null;
  const torch = localName(file, "torch");
  const ending = file.text.includes("\r\n") ? "\r\n" : "\n";
  return {
    grade: "unsafe",
    title: "Run it under no_grad",
    edits: [
      {
        start: statement.start,
        end: statement.start,
        text: `with ${torch ?? "torch"}.no_grad():${ending}${indent}    `,
      },
    ],
    ...(torch === null ? { imports: ["import torch"] } : {}),
  };
}

/** An argument comes from something that was told to require gradients. */
function carriesGradient(call: Call, facts: Facts): boolean {
  const told = new Set<Definition>();
  const add = (expr: Expr): void => {
    if (expr.kind === "Name")
      for (const one of facts.file.scopes.lookup(expr)?.definitions ?? []) told.add(one);
  };
  for (const node of facts.file.all("Attribute")) {
    if (!/^requires_grad_?$/.test(node.attr) || facts.networks.is(node.value)) continue;
    const { parent } = node;
    const switched =
      (parent?.kind === "Call" && parent.func === node && !isFalse(positional(parent, 0))) ||
      (parent?.kind === "Assign" && parent.value !== node && isTrue(parent.value));
    if (switched && facts.value(node.value).what !== "module") add(node.value);
  }
  return told.size > 0 && call.args.some((arg) => derivesFrom(arg.value, told, facts));
}
