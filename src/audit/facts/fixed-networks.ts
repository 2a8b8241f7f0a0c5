import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord, walk } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr, FunctionDef, Name, Node } from "../../python/tree.ts";
import { attributesOf, isModuleRole, methodsOf, selfAttribute } from "./classes.ts";
import { everyUpdate } from "./updates.ts";
import type { Facts } from "./facts.ts";
import { decoratedGrad, lexicalGrad } from "./gradmode.ts";
import { isCallee, isInvariant } from "./invariants.ts";
import { ranByMethod } from "./network-runs.ts";
import { isNetwork } from "./networks.ts";
import { callsOf } from "./returns.ts";
import { instanceType } from "./summary.ts";
import { METHODS, last } from "./torch-names.ts";
import { loopsAround } from "./training.ts";
import type { Loop } from "./training.ts";
import { turnedBy } from "./turned-functions.ts";
import { CHANGES, DRAWS, bare, isNeverTrained, isSettled, methodOf } from "./untrained.ts";

/** Without gradients, of a network that nothing in this file trains, made once or handed in, on what the loop leaves as it is. */
export function isLeftUntrained(call: Call, loop: Loop, facts: Facts): boolean {
  return (
    isNeverTrained(call, loop, facts) &&
    isInvariant(call, loop, facts) &&
    facts.frequency(call, loop) === "every" &&
    [call.func, ...call.args.map(({ value }) => bare(value))].every((one) => isSettled(one, loop, facts)) &&
    facts.backwards.some((one) => contains(loop, one.call) || isOfTurn(one.call, loop, facts))
  );
}

/** In a function that is the body of the loop, or of one in there: `for part in parts: self.learn(part)`. */
function isOfTurn(backward: Call, loop: Loop, { file }: Facts): boolean {
  const fn = functionOf(backward);
  const turned = fn?.kind === "FunctionDef" ? turnedBy(fn, file) : null;
  return turned !== null && contains(loop, turned.call);
}

/**
 * `encode_prompt([""], text_encoder, tokenizer)`, of a network that others trained: loaded here, in eval mode therefore, run
 * without gradients by functions like this one, and asked for nothing that would train it.
 */
export function isLoadedHelper(call: Call, loop: Loop, facts: Facts): boolean {
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

/** By its name, what a function makes of the same input is another each time, or is learnt from. */
const RANDOM =
  /rand|draw|augment|noise|drop|shuffle|perturb|mask|train|update|step|save|log|plot|show|visual/i;

const OF_LIBRARIES = /^(?:builtins|torch|torchvision|numpy|copy|wandb)\./;

/**
 * `assigned(generator, aligner, codes)`, without gradients, by a function that is handed networks that do not learn and what
 * was made before the loop: whatever it is called, the same comes out of it in every turn, unless it draws something.
 */
export function isGivenFrozen(call: Call, loop: Loop, facts: Facts): boolean {
  const { file, networks } = facts;
  const name = file.dotted(call.func);
  if (name === null || OF_LIBRARIES.test(name) || DRAWS.test(last(name)) || RANDOM.test(last(name)))
    return false;
  const given = call.args.map(({ value }) => value);
  if (!given.some((one) => one.kind === "Name" && networks.isFrozen(one))) return false;
  const fn = file.functionNamed(name);
  if (facts.gradMode(call) !== "off" || (fn && drawsSomething(fn))) return false;
  return (
    given.some((one) => one.kind === "Name" && facts.value(one).what === "tensor") &&
    !given.some((one) => one.kind === "Name" && !networks.isFrozen(one) && mayLearn(one, loop, facts)) &&
    isInvariant(call, loop, facts) &&
    given.every((one) => one.kind !== "Name" || isSettled(one, loop, facts)) &&
    (facts.frequency(call, loop) === "every" || everyUpdate(call, facts))
  );
}

/** Run or handed on in every turn with gradients recorded, or asked for its parameters. */
function mayLearn(name: Name, loop: Loop, facts: Facts): boolean {
  const { scopes } = facts.file;
  if (/^(?:tensor|number|string)$/.test(facts.value(name).what) || name.id.endsWith("device")) return false;
  return (scopes.lookup(name)?.definitions ?? [])
    .flatMap((made) => scopes.uses(made))
    .some((use) => {
      const { parent } = use;
      if (parent?.kind === "Attribute" && /^(?:train|zero_grad|\w*parameters)$/.test(parent.attr))
        return true;
      const runs =
        isCallee(use) || parent?.kind === "Arg" || (parent?.kind === "Attribute" && isCallee(parent));
      return (
        runs &&
        contains(loop, use) &&
        facts.gradMode(use) !== "off" &&
        facts.frequency(use, loop) !== "throttled"
      );
    });
}

function drawsSomething(fn: FunctionDef): boolean {
  let draws = false;
  walk(fn, (node) => {
    const word = node.kind === "Call" ? lastWord(node.func) : "";
    draws ||= DRAWS.test(word) || RANDOM.test(word) || word === "next";
    return !draws;
  });
  return draws;
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

/** A network that learns nothing in the loop: run without gradients while in eval mode or frozen. */
export function isFixed(call: Call, facts: Facts): boolean {
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
  const run = forwardOf(call, facts);
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
export function isLeftAlone(call: Call, loop: Loop, facts: Facts): boolean {
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
export function isOnlyRun(call: Call, facts: Facts): boolean {
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

export const ENCODES = /^\w*(?:encode|embed|feature|forward)\w*$/;

/** All that a function of the file returns is made under `with torch.no_grad():`, or it is decorated so. */
export function runsWithoutGradients(fn: FunctionDef, file: PythonFile): boolean {
  if (decoratedGrad(fn, file) === "off") return true;
  const calls = file.calls.matching(ENCODES).filter((one) => functionOf(one) === fn);
  return calls.length > 0 && calls.every((one) => lexicalGrad(one, file) === "off");
}

/** `encode_prompt(text_encoder, ids)`: a function of the tree that runs the frozen network it is given. */
function isHelper(call: Call, facts: Facts): boolean {
  const name = facts.file.dotted(call.func)!;
  const says = ENCODES.test(last(name));
  // Before it is looked for: most functions are given no network that does not learn.
  if (!says && !call.args.some(({ value }) => value.kind === "Name" && facts.networks.isFrozen(value)))
    return false;
  const fn = facts.file.functionNamed(name);
  // `tools.encode_prompts(text_encoder, words)`, of another file: by its name.
  const runs = fn ? says || onlyRuns(fn) : says && facts.callee(call) !== null;
  if (!runs) return false;
  const networks = call.args.flatMap(({ value }) => {
    const several = severalFrozen(value, facts);
    return several.length > 0 ? [several] : [];
  });
  if (networks.length === 0 || networks.length === call.args.length) return false;
  const withoutGradients =
    facts.gradMode(call) === "off" ||
    (fn !== undefined && runsWithoutGradients(fn, facts.file) && !drawsSomething(fn)) ||
    // Nothing is recorded of what needs no gradient, by networks whose parameters need none.
    (networks.flat().every((one) => facts.networks.isFrozenByFlags(one)) &&
      call.args.every(({ value }) => severalFrozen(value, facts).length > 0 || isOfWords(value, facts.file)));
  return withoutGradients;
}

/** A network that does not learn, or each of several: `[text_encoder_one, text_encoder_two]`, also under a name. */
function severalFrozen(expr: Expr, facts: Facts): readonly Expr[] {
  const isFrozen = (one: Expr): boolean => one.kind === "Name" && facts.networks.isFrozen(one);
  if (isFrozen(expr)) return [expr];
  const listed = expr.kind === "Name" ? facts.file.scopes.onlyValue(expr) : expr;
  const items = listed?.kind === "List" || listed?.kind === "Tuple" ? listed.items : [];
  return items.every(isFrozen) ? items : [];
}

/** What a tokenizer makes of words that are written down, or one of several such: integers, which nothing can learn. */
function isOfWords(expr: Expr, file: PythonFile, depth = 0): boolean {
  if (depth > 4) return false;
  const again = (one: Expr): boolean => isOfWords(one, file, depth + 1);
  switch (expr.kind) {
    case "Str":
    case "Num":
    case "Const":
      return true;
    case "List":
    case "Tuple":
      return expr.items.length > 0 && expr.items.every(again);
    case "Name": {
      if (/tokenizers?(?:_\w+)?$/.test(expr.id)) return true;
      const made = file.scopes.onlyValue(expr);
      return made !== null && again(made);
    }
    case "Attribute":
      return /^(?:input_ids|attention_mask|data)$/.test(expr.attr)
        ? again(expr.value)
        : expr.attr === "device";
    case "Subscript":
      return again(expr.value);
    case "Call":
      return expr.func.kind === "Attribute" && /^(?:to|cuda|repeat|expand)$/.test(expr.func.attr)
        ? again(expr.func.value)
        : /tokenize/i.test(lastWord(expr.func));
    default:
      return false;
  }
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
function forwardOf(call: Call, facts: Facts): Expr | null {
  const { func } = call;
  const method = methodOf(func) ?? ownMethodOf(call, facts);
  if (
    isNetwork(func, facts) ||
    /encoder|reference|teacher|vae|clip/i.test(facts.file.textOf(func).slice(-40))
  )
    return facts.networks.isFrozen(func) ? func : method;
  return method;
}

/** `prior` of `prior.get_logits(states)`, by a method of this file's networks that runs layers and draws nothing. */
function ownMethodOf(call: Call, facts: Facts): Expr | null {
  const { func } = call;
  if (func.kind !== "Attribute" || DRAWS.test(func.attr) || CHANGES.test(func.attr)) return null;
  return facts.networks.isFrozen(func.value) ? ranByMethod(call, { has: () => true }, facts) : null;
}
