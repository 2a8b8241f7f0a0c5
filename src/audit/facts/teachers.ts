import type { PythonFile } from "../../python/file.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Name, Expr } from "../../python/tree.ts";
import type { Names } from "./names.ts";
import { bareCall } from "./summary.ts";
import type { FileSummary } from "./summary.ts";
import { isCapital, last } from "./torch-names.ts";
import { keyword, positional } from "../../python/file.ts";
import { classOf, functionOf, lastWord } from "../../python/nodes.ts";
import { selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { isFollower } from "./followers.ts";
import { lexicalGrad } from "./gradmode.ts";
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
  /^(?:ref|reference|teacher|t_?(?:net|network|model)|(?:net|network|model)_?[tT]|ref_model|reference_model|ref_policy|teacher_(?:model|net|network)|(?:\w+_)?(?:teacher|momentum|ema)_(?:\w+_)?(?:encoder|decoder|backbone|trunk|head|projector|projection|vit|unet|transformer|denoiser)|frozen_model|\w+_momentum|(?:encoder|backbone|head|projector)_k|\w*_teacher|model_ref|policy_ref|(?:\w+_)?target(?:_(?:net|network|model|critic|actor|policy|encoder|q|qf|q_net|q_network))?|target_\w*(?:net|network|model|critic|actor|policy|encoder|backbone|projector)\d?|\w+_ema|ema_(?:model|net|unet)|old_(?:policy|net|network|model|actor)|(?:policy|net|network|model|actor)_old)$/;

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
    return facts.callee(arg.parent) === null && !/^(?:builtins\.|copy\.)/.test(name);
  });
}

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
        (facts.networks.key(call.func.value) === key || lastWord(call.func.value) === name) &&
        !isCounted(call.func, file) &&
        !(call.parent?.kind === "Arg" && file.textOf((call.parent.parent as Call).func) === "zip"),
    );
  return !trained && !isFrozenByCall(name, file.text);
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
