import type { PythonFile } from "../../python/file.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, ClassDef, Name, Expr } from "../../python/tree.ts";
import type { Names } from "./names.ts";
import { bareCall } from "./constructors.ts";
import type { FileSummary } from "./summary.ts";
import { isCapital, last } from "./torch-names.ts";
import { keyword, positional } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord } from "../../python/nodes.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { isFollower } from "./followers.ts";
import { lexicalGrad } from "./gradmode.ts";
import { handedIn } from "./handed-in.ts";
import { torchOptimizers } from "./optimised.ts";
import { callsOf } from "./returns.ts";

/**
 * Networks that a file makes, only ever evaluates and freezes nowhere, by what they are handed to: constructors of other
 * files, with the place or the name of the argument. `teacher.eval()` and `Distillation(teacher)` give
 * "losses.Distillation.__init__,0".
 */
export function handedTeachers(file: PythonFile): readonly string[] | undefined {
  const found = new Set<string>();
  for (const call of file.callsNamed("eval")) {
    const net = call.func.kind === "Attribute" ? call.func.value : null;
    if (net?.kind === "Attribute" && net.value.kind === "Name" && TEACHER.test(net.attr))
      addPart(net.value, net.attr, file, found);
    if (net?.kind !== "Name" || !/teacher/i.test(net.id)) continue;
    const definitions = file.scopes.lookup(net)?.definitions ?? [];
    if (definitions.length === 0 || !definitions.every((one) => isMade(one, file))) continue;
    // Whatever has to do with its gradients or parameters may freeze it, or train it.
    if (
      new RegExp(
        `(?:freeze|grad)\\w*\\([^)]*\\b${net.id}\\b|\\b${net.id}\\.(?!eval\\b|to\\b|cuda\\b|load_state_dict\\b)`,
      ).test(file.text)
    )
      continue;
    for (const one of definitions) for (const use of file.scopes.uses(one)) add(use, file, found);
  }
  return found.size > 0 ? [...found] : undefined;
}

/** By a class or a function that is named for it, sent to a device, or not at all. */
function isMade({ how, value, name }: Definition, file: PythonFile): boolean {
  if (how === "assign" && value?.kind === "Const") return value.value === null;
  if (how !== "assign" || value?.kind !== "Call") return false;
  const { func } = value;
  if (func.kind === "Attribute" && func.value.kind === "Name" && func.value.id === name) return true;
  const maker = last(file.dotted(bareCall(value).func) ?? "");
  return isCapital(maker) || /^(?:load|create|build|get|make)_|^convert_sync_batchnorm$/.test(maker);
}

function add(use: Name, file: PythonFile, found: Set<string>): void {
  const arg = use.parent;
  const call = arg?.kind === "Arg" && arg.star === 0 ? (arg.parent as Call) : null;
  const cls = call?.kind === "Call" ? file.dotted(call.func) : null;
  if (arg?.kind !== "Arg" || cls === null || !isCapital(last(cls)) || cls.startsWith("torch.")) return;
  found.add(`${cls}.__init__,${arg.name ?? call!.args.indexOf(arg)}`);
}

/**
 * `pair.teacher.eval()` of `pair = Pair(student, teacher)`, where every optimizer is given other parts of it alone, and nothing is
 * frozen in this file: "nets.Pair.__init__,.teacher".
 */
function addPart(whole: Name, part: string, file: PythonFile, found: Set<string>): void {
  if (/requires_grad(?:_?\(| *=(?!=))|freeze/i.test(file.text)) return;
  const makers = makersOf(whole, file);
  const optimizers = torchOptimizers(file);
  if (!makers || optimizers.length === 0) return;
  const isOther = ({ func }: Call): boolean => {
    const of = func.kind === "Attribute" ? func.value : null;
    if (of?.kind !== "Attribute" || of.value.kind !== "Name" || of.attr === part) return false;
    const same = makersOf(of.value, file);
    return same !== null && [...makers].every((maker) => same.has(maker));
  };
  const given = optimizers.map((optimizer) =>
    file.callsNamed("parameters", "named_parameters").filter((one) => contains(optimizer, one)),
  );
  if (given.every((parts) => parts.length > 0 && parts.every(isOther)))
    for (const maker of makers) found.add(`${maker}.__init__,.${part}`);
}

/** The classes of this tree that a name is an instance of, also as a function is handed it; null where that cannot be told. */
function makersOf(name: Name, file: PythonFile, depth = 0): ReadonlySet<string> | null {
  const definitions = depth > 3 ? [] : (file.scopes.lookup(name)?.definitions ?? []);
  const found = new Set<string>();
  for (const one of definitions) {
    if (one.how === "param") {
      const handed = handedIn(one, file, false);
      for (const value of handed) {
        const makers = value.kind === "Name" ? makersOf(value, file, depth + 1) : null;
        if (!makers) return null;
        for (const maker of makers) found.add(maker);
      }
      if (handed.length === 0) return null;
      continue;
    }
    if (one.how !== "assign" || one.value?.kind !== "Call") return null;
    const { func } = one.value;
    // `pair = pair.to(device)`
    if (func.kind === "Attribute" && func.value.kind === "Name" && func.value.id === name.id) continue;
    const cls = file.dotted(bareCall(one.value).func) ?? "";
    if (!isCapital(last(cls)) || cls.startsWith("torch.")) return null;
    found.add(cls);
  }
  return found.size > 0 ? found : null;
}

/** The same of a whole tree, by the constructors' own names. */
export function teachersHanded(
  summaries: readonly FileSummary[],
  names: Names,
  functions: ReadonlyMap<string, unknown>,
): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { teachers } of summaries)
    for (const one of teachers ?? []) {
      const cut = one.lastIndexOf(",");
      const init = one.slice(0, cut);
      found.add(`${names.resolve(init, functions) ?? init}${one.slice(cut)}`);
    }
  return found;
}

export const TEACHER =
  /^(?:ref|reference|teacher|t_?(?:net|network|model)|(?:net|network|model)_?[tT]|ref_model|reference_model|(?:ref|reference)_(?:policy|actor|lm|llm)(?:_(?:model|net|network))?|teacher_(?:model|net|network)|(?:\w+_)?(?:teacher|momentum|ema)_(?:\w+_)?(?:encoder|decoder|backbone|trunk|head|projector|projection|vit|unet|transformer|denoiser)|frozen_model|\w+_momentum|(?:encoder|backbone|head|projector)_k|\w*_teacher|(?:model|policy|actor|lm|llm)_ref|(?:\w+_)?target(?:_(?:net|network|model|critic|actor|policy|encoder|q|qf|q_net|q_network))?|target_\w*(?:net|network|model|critic|actor|policy|encoder|backbone|projector)\d?|\w+_ema|ema_(?:model|net|unet)|old_(?:policy|net|network|model|actor)|(?:policy|net|network|model|actor)_old)$/;

/**
 * A forward that runs the average beside the network it follows, `zip(self.encoder.parameters(), self.teacher.parameters())`:
 * whoever evaluates needs one of the two.
 */
export function isAverageOfAnother(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const own = selfAttribute(call.func);
  const cls = own === null ? null : classOf(call);
  const fn = functionOf(call);
  if (!cls || fn?.kind !== "FunctionDef" || fn.name !== "forward" || !facts.everyStep(call)) return false;
  if (facts.gradMode(call) === "off" || lexicalGrad(call, file) !== null) return false;
  const [followed, ...more] = file
    .callsNamed("zip")
    .filter((zip) => classOf(zip) === cls)
    .map(({ args }) => args.map(({ value }) => ownParameters(value)))
    .filter((parts) => parts.includes(own))
    .map((parts) => parts.find((part) => part !== null && part !== own));
  return (
    followed !== undefined &&
    followed !== null &&
    more.length === 0 &&
    file
      .callsNamed(followed)
      .some((other) => functionOf(other) === fn && selfAttribute(other.func) === followed)
  );
}

/** `encoder` of `self.encoder.parameters()`. */
function ownParameters(expr: Expr): string | null {
  return expr.kind === "Call" &&
    expr.func.kind === "Attribute" &&
    /^(?:named_)?parameters$/.test(expr.func.attr)
    ? selfAttribute(expr.func.value)
    : null;
}

/**
 * A forward that runs its teacher on what another of its parts is given, where whoever made it evaluates the one and optimises
 * the other: in another file, perhaps.
 */
export function isPartThatTeaches(call: Call, facts: Facts): boolean {
  const { file, project } = facts;
  if (project.teachers.size === 0) return false;
  const own = selfAttribute(call.func);
  const cls = own === null ? null : classOf(call);
  const fn = functionOf(call);
  if (!cls || fn?.kind !== "FunctionDef" || fn.name !== "forward") return false;
  if (!project.teachers.has(`${file.qualified(cls)}.__init__,.${own}`)) return false;
  if (facts.gradMode(call) === "off" || lexicalGrad(call, file) !== null || !facts.everyStep(call))
    return false;
  const [input] = call.args;
  return (
    input !== undefined &&
    file.all("Call").some((other) => {
      const part = functionOf(other) === fn ? selfAttribute(other.func) : null;
      return (
        part !== null &&
        !TEACHER.test(part) &&
        other.args[0] !== undefined &&
        file.textOf(other.args[0].value) === file.textOf(input.value) &&
        // No method: whoever keeps it was given it, or has made it.
        attributesOf(cls, file).has(part) &&
        lexicalGrad(other, file) === null
      );
    })
  );
}

/** Only ever in eval mode, not frozen by flags (those record nothing), and in no optimizer. */
export function isNeverTrained(callee: Expr, facts: Facts): boolean {
  const { file } = facts;
  if (!facts.networks.isOnlyEvaluated(callee)) return false;
  const key = facts.networks.key(callee);
  const same = (expr: Expr): boolean => facts.networks.key(expr) === key;
  if (
    file
      .all("Attribute")
      .some(
        (node) =>
          /^(?:parameters|named_parameters|zero_grad)$/.test(node.attr) &&
          same(node.value) &&
          !isCounted(node, file),
      )
  )
    return false;
  // `SGD(get_params(model.encoder, names))`: the helper asks for the parameters of a part.
  if (new RegExp(`param\\w*\\(\\s*${file.textOf(callee)}\\b`).test(file.code)) return false;
  // Handed as a whole to something that may freeze, wrap or train it; to a function of this tree that is its use.
  return !file.all("Arg").some((arg) => {
    if (arg.value.kind !== callee.kind || !same(arg.value) || arg.parent?.kind !== "Call") return false;
    const name = file.dotted(arg.parent.func) ?? "";
    return (
      facts.callee(arg.parent) === null &&
      !/^(?:builtins\.|copy\.)/.test(name) &&
      !ONLY_RUNS.test(file.textOf(arg.parent.func))
    );
  });
}

/** `StableDiffusionPipeline.from_pretrained(name, text_encoder=text_encoder)`, `accelerator.unwrap_model(vae)`: made into what makes pictures, or saved. */
const ONLY_RUNS = /Pipeline(?:\.from_pretrained)?$|(?:^|\.)(?:unwrap_model|extract_model_from_parallel)$/;

/** `sum(p.numel() for p in teacher.parameters())` */
function isCounted(parameters: Expr, file: PythonFile): boolean {
  const clause = parameters.parent?.kind === "Call" ? parameters.parent.parent : null;
  return (
    clause?.kind === "Clause" &&
    clause.parent?.kind === "Comp" &&
    /\.(?:numel|nelement|shape|size)\b/.test(file.textOf(clause.parent.element))
  );
}

/** Made by `from_pretrained` in this file, and prepared for training by nobody. */
export function isPretrained(callee: Expr, facts: Facts): boolean {
  const { file } = facts;
  if (callee.kind !== "Name") return false;
  const made = (file.scopes.lookup(callee)?.definitions ?? []).some(
    ({ value }) => value?.kind === "Call" && /\.from_pretrained\(/.test(file.textOf(value)),
  );
  return (
    made &&
    !file
      .callsNamed("prepare", "train", "initialize")
      .some(
        ({ args, func }) =>
          args.some(({ value }) => value.kind === "Name" && value.id === callee.id) ||
          (func.kind === "Attribute" && func.value.kind === "Name" && func.value.id === callee.id),
      )
  );
}

/** Beside another network that a step trains; frozen or trained nowhere in this file. */
export function isTeacher(callee: Expr, facts: Facts): boolean {
  return teaches(callee, facts) && isTrainedNowhere(callee, facts);
}

/** By its name, or as a copy that follows what learns. */
export function teaches(callee: Expr, facts: Facts): boolean {
  return TEACHER.test(lastWord(callee)) || isFollower(callee, facts);
}

/** Letters that stand for a teacher, and for time, text and much else. */
const LETTERED = /^(?:t_?(?:net|network|model)|(?:net|network|model)_?[tT])$/;

/** `self.t_model = TimeEncoding(dim)`, where the class makes nothing else of that kind: a part of it, and nobody's teacher. */
export function isPartOfItsKind(callee: Expr, { file }: Facts): boolean {
  const own = selfAttribute(callee);
  const cls = own === null ? null : classOf(callee);
  if (!cls || !LETTERED.test(own!)) return false;
  const kinds = [...attributesOf(cls, file)].flatMap(([name, { writes }]) =>
    writes.flatMap(({ value }) =>
      value?.kind === "Call" && /^[A-Z]/.test(lastWord(value.func))
        ? [{ name, kind: file.textOf(value.func) }]
        : [],
    ),
  );
  const mine = kinds.find(({ name }) => name === own);
  return mine !== undefined && kinds.every(({ name, kind }) => name === own || kind !== mine.kind);
}

export function isTrainedNowhere(callee: Expr, facts: Facts): boolean {
  const name = lastWord(callee);
  if (facts.networks.isFrozenByFlags(callee)) return false;
  const { file } = facts;
  const key = facts.networks.key(callee);
  // A moving average goes through its parameters beside another network's; an optimizer is given them.
  const trained = file
    .callsNamed("parameters", "named_parameters", "requires_grad_")
    .some(
      (call) =>
        call.func.kind === "Attribute" &&
        (facts.networks.key(call.func.value) === key ||
          (lastWord(call.func.value) === name && !isOfOtherClass(call.func.value, callee, file))) &&
        !isCounted(call.func, file) &&
        !(call.parent?.kind === "Arg" && file.textOf((call.parent.parent as Call).func) === "zip"),
    );
  return !trained && !isFrozenByCall(name, file.text);
}

/** `self.teacher` of two classes of which neither is made from the other. */
function isOfOtherClass(one: Expr, other: Expr, file: PythonFile): boolean {
  if (selfAttribute(one) === null || selfAttribute(other) === null) return false;
  const [a, b] = [classOf(one), classOf(other)];
  const isBase = (base: ClassDef, cls: ClassDef): boolean =>
    cls.args.some(({ value }) => {
      const name = file.dotted(value);
      const next = file.all("ClassDef").find((one) => one !== cls && file.qualified(one) === name);
      return next !== undefined && (next === base || (next.start < cls.start && isBase(base, next)));
    });
  return a !== null && b !== null && a !== b && !isBase(a, b) && !isBase(b, a);
}

/** `freeze(net)`, `set_requires_grad(net, False)`, `net.req_grads(False)` */
export function isFrozenByCall(name: string, text: string): boolean {
  return new RegExp(`(?:freeze|_grad)\\w*\\([^)]*\\b${name}\\b|\\b${name}\\.\\w*grad\\w*\\(`).test(text);
}

/** The same by a function of this file that hands the network to this one. */
export function isFrozenByCaller(callee: Expr, { file }: Facts): boolean {
  const [one, ...more] = callee.kind === "Name" ? file.scopes.reaching(callee) : [];
  const fn = one?.how === "param" && more.length === 0 ? functionOf(callee) : null;
  if (fn?.kind !== "FunctionDef") return false;
  const at = fn.params.findIndex(({ name }) => name === one!.name);
  return callsOf(fn, file).some((call) => {
    const given = keyword(call, one!.name)?.value ?? positional(call, at);
    const around = functionOf(call);
    return given?.kind === "Name" && around !== null && isFrozenByCall(given.id, file.codeOf(around));
  });
}
