import { argument, hasStars, isFalse, isTrue, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, classOf, contains } from "../../python/nodes.ts";
import type { Attribute, Call, Compare, Expr, Node } from "../../python/tree.ts";
import { checkpointingSwitches } from "./checkpointing.ts";
import { optionNamed } from "./choices.ts";
import { attributesOf, isSelf } from "./classes.ts";
import { givenBy, read } from "./handed.ts";
import type { Given } from "./handed.ts";
import { type Default, defaults, holdsOptions, literal, said } from "./options.ts";
import type { ProjectFacts } from "./project.ts";
import { callTarget } from "./summary.ts";

/** What the other files say. */
export type Tree = Pick<ProjectFacts, "options" | "checkpoints" | "handed" | "inner">;
const NOTHING_KNOWN: Tree = { options: new Map(), checkpoints: false, handed: new Map(), inner: new Set() };

/** What a name may stand for in a test. */
const TESTS: ReadonlySet<string> = new Set(["Compare", "Bool", "Unary", "Attribute"]);

const CHECKPOINTING = /checkpoint/;
const CHECKPOINT_OPTIONS = "use_checkpoint grad_checkpointing use_grad_checkpoint use_checkpointing".split(
  " ",
);

export interface Behind {
  /** "args.debug" */
  readonly option: string;
  readonly why: string;
  readonly isOn?: boolean;
}

/** The option without which a node does not run, when it is off by default, or another than that. */
export function optionBehind(node: Node, file: PythonFile, tree: Tree): Behind | null {
  for (let child = node, at = node.parent; at && at.kind !== "FunctionDef"; child = at, at = at.parent) {
    if ((at.kind !== "If" && at.kind !== "IfExp") || child === at.test) continue;
    const holds = at.kind === "If" ? at.body.includes(child as never) : at.body === child;
    const found = needed(at.test, holds, file, tree);
    if (found) return found;
  }
  return null;
}

/** `args.eight_bit and not args.four_bit`, which an option keeps from being so, as it is by default. */
export function isOffByDefault(test: Expr, file: PythonFile, tree: Tree): boolean {
  return needed(test, true, file, tree) !== null;
}

/** `not args.freeze`, where that is off by default. */
export function isOnByDefault(test: Expr, file: PythonFile, tree: Tree): boolean {
  return needed(test, false, file, tree) !== null;
}

/** The option without which a node does not run, by what its own file says of its options. */
export function isBehindOwnOption(node: Node, file: PythonFile): boolean {
  return optionBehind(node, file, NOTHING_KNOWN) !== null;
}

/** What an option that is off, or another, keeps from running. */
export function behind(option: string, given: Default | undefined): Behind {
  return {
    option,
    isOn: given === true,
    why:
      typeof given === "string"
        ? `only with another \`${option}\` than by default`
        : given === true
          ? `only without \`${option}\`, on by default`
          : `only with \`${option}\`, off by default`,
  };
}

/** The part of a test that an option which is off keeps from being so. */
function needed(test: Expr, wanted: boolean, file: PythonFile, tree: Tree): Behind | null {
  if (test.kind === "Unary" && test.op === "not") return needed(test.operand, !wanted, file, tree);
  if (test.kind === "Bool") {
    // One of several keeps all of them from being so; of several of which one is enough, each has to be off.
    const each = test.values.map((value) => needed(value, wanted, file, tree));
    const isOne = (test.op === "and") === wanted;
    return isOne || each.every((one) => one !== null) ? (each.find((one) => one !== null) ?? null) : null;
  }
  const stands = test.kind === "Name" ? file.scopes.onlyValue(test) : heldTest(test, file);
  if (stands && TESTS.has(stands.kind)) return needed(stands, wanted, file, tree);
  // `train = False` at the top of a notebook.
  if (stands && test.kind === "Name" && isFalse(stands)) return wanted ? behind(test.id, false) : null;
  if (stands && test.kind === "Name" && isTrue(stands)) return wanted ? null : behind(test.id, true);
  const compared = test.kind === "Compare" && test.rights.length === 1 ? test : null;
  if (compared && wanted && isOtherThanDefault(compared.left, compared.ops[0]!, compared.rights[0]!, file))
    return behind(file.textOf(compared), undefined);
  const option = compared ? compared.left : test;
  const asked = !compared && wanted ? checkpointingAsked(test, tree) : null;
  if (asked) return behind(file.textOf(asked), undefined);
  const isSo = (given: Default): boolean | null =>
    compared ? compare(given, compared.ops[0]!, compared.rights[0]!) : Boolean(given);
  // `alpha = args.alpha`, and `if alpha > 0:`
  const kept = compared?.left.kind === "Name" ? file.scopes.onlyValue(compared.left) : null;
  const given =
    (compared?.left.kind === "Name" ? sameNamed(compared, file, tree) : undefined) ??
    // `gpus = 0`, and `if gpus > 0:`
    (kept?.kind === "Num" ? Number(kept.text) : defaultOf(kept ?? option, file, tree));
  if (given !== undefined) return isSo(given) === !wanted ? behind(nameOf(option, file), given) : null;
  const set = setTo(option, file);
  if (set) return needed(set, wanted, file, tree);
  // `self.pre_norm = pre_norm` of a constructor.
  const held = option.kind === "Attribute" && isSelf(option.value) ? heldValue(option, file) : null;
  return neverHanded(held ?? option, (one) => isSo(one) === !wanted, file, tree);
}

/** "l1" of `loss_type == "l2"`, where a parameter is called like an option that is "l1" by default. */
function sameNamed({ left, rights }: Compare, file: PythonFile, tree: Tree): Default | undefined {
  const name = left.kind === "Name" && rights[0]?.kind === "Str" ? optionNamed(left, file) : null;
  const given = name === null ? undefined : optionsOf(file, tree)(name);
  return typeof given === "string" ? given : undefined;
}

/** `not args.no_cuda and …`, which `args.cuda` is set to in the one place where it is set. */
function setTo(option: Expr, file: PythonFile): Expr | null {
  if (option.kind !== "Attribute" || isSelf(option.value) || !holdsOptions(option.value)) return null;
  const [one, ...more] = file.assignsTo(option.attr);
  // Above it: what is set in a circle would never end.
  const isAbove = one !== undefined && one.end <= option.start;
  return isAbove && more.length === 0 && TESTS.has(one.value.kind) ? one.value : null;
}

/** `args.subjects` of `len(subjects)`, where that is a list made of it. */
function nameOf(option: Expr, file: PythonFile): string {
  let at = option;
  for (let depth = 0; depth < DEEPEST && at.kind !== "Attribute"; depth++) {
    const next: Expr | null =
      at.kind === "Name"
        ? file.scopes.onlyValue(at)
        : at.kind === "Call"
          ? at.func.kind === "Attribute"
            ? at.func.value
            : positional(at, 0)
          : at.kind === "IfExp"
            ? at.test
            : at.kind === "Unary"
              ? at.operand
              : null;
    if (!next) break;
    at = next;
  }
  return file.textOf(at.kind === "Attribute" ? at : option);
}

/** More turns than a value takes on its way. */
const DEEPEST = 4;

/**
 * A parameter that is, whoever of the tree calls the function, something for which the test does not come out: all leave it
 * to its default, or hand down an option that is off.
 */
function neverHanded(
  name: Expr,
  failsFor: (given: Default) => boolean,
  file: PythonFile,
  tree: Tree,
  depth = 0,
): Behind | null {
  if (name.kind !== "Name" || depth > DEEPEST) return null;
  const [one, ...more] = file.scopes.reaching(name);
  const param = one?.how === "param" && more.length === 0 && one.node.kind === "Param" ? one.node : null;
  const fn = param?.parent;
  if (!param || fn?.kind !== "FunctionDef") return null;
  const made = fn.name === "__init__" && fn.parent?.kind === "ClassDef" ? fn.parent : null;
  const outside =
    tree.handed.get(file.qualified(made ?? fn)) ??
    (made && tree.inner.has(file.qualified(made)) ? [] : undefined);
  if (!outside) return null;
  const ofClass = fn.parent?.kind === "ClassDef";
  const at = fn.params.indexOf(param) - (ofClass ? 1 : 0);
  const otherwise = param.default ? literal(param.default) : undefined;
  const failsByDefault = otherwise !== undefined && failsFor(otherwise);
  let because: Behind | null = null;
  let calls = 0;
  const judge = (given: Given | null): boolean => {
    calls++;
    if (given === null) return failsByDefault;
    if (given === "something") return false;
    if ("value" in given) {
      if (!param.default) because ??= behind(param.name, false);
      return failsFor(given.value);
    }
    const value = optionsOf(file, tree)(given.option);
    if (value === undefined || !failsFor(value)) return false;
    because ??= behind(`args.${given.option}`, value);
    return true;
  };
  for (const text of outside) {
    const call = read(text);
    if (!call || !judge(call.byName.get(param.name) ?? call.inOrder[at] ?? null)) return null;
  }
  const callee = made ?? fn;
  for (const call of file.callsNamed(callee.name)) {
    if ((ofClass ? callTarget(call, file) : file.dotted(call.func)) !== file.qualified(callee)) continue;
    if (hasStars(call)) return null;
    const value = argument(call, param.name, at);
    // It calls itself with what it was given.
    if (value?.kind === "Name" && value.id === param.name && contains(fn, call)) continue;
    const known = value && givenBy(value, file);
    if (judge(known)) continue;
    if (known !== "something") return null;
    // Handed down from a parameter of the caller, or by a name: `debug = args.debug`.
    const stands = value!.kind === "Name" ? file.scopes.onlyValue(value!) : value;
    const given = stands ? defaultOf(stands, file, tree) : undefined;
    const from =
      given === undefined
        ? neverHanded(value!, failsFor, file, tree, depth + 1)
        : failsFor(given)
          ? behind(file.textOf(stands!), given)
          : null;
    if (!from) return null;
    because ??= from;
  }
  if (calls === 0) return null;
  return because ?? { option: param.name, why: `no caller here gives \`${param.name}\`` };
}

/** By name: its own, or else the tree's. */
export function optionsOf(file: PythonFile, tree: Tree): (name: string) => Default | undefined {
  const own = file.once(defaults);
  return (name) => (own.has(name) ? own.get(name) : tree.options.get(name));
}

const isReadByName = ({ args, func }: Call): boolean =>
  func.kind === "Name" && func.id === "getattr" && args.length > 1 && args[1]!.value.kind === "Str";

/** What an option is by default; undefined where nobody says it, and of what is no option. */
export function defaultOf(option: Expr, file: PythonFile, tree: Tree): Default | undefined {
  // `len(args.gpus.split(","))`
  if (option.kind === "Call" && option.func.kind === "Name" && option.func.id === "len") {
    const listed = positional(option, 0);
    return listed ? lengthOf(listed, file, tree) : undefined;
  }
  if (option.kind === "Call" && option.func.kind === "Attribute" && option.func.attr === "split")
    return defaultOf(option.func.value, file, tree);
  const lookup = optionsOf(file, tree);
  // `getattr(args, "debug", False)`
  if (option.kind === "Call" && isReadByName(option)) {
    const [of, name] = option.args;
    return name!.value.kind === "Str" && holdsOptions(of!.value) && !isSelf(of!.value)
      ? lookup(name!.value.value ?? "")
      : undefined;
  }
  if (option.kind !== "Attribute" || !holdsOptions(option.value)) return undefined;
  return isSelf(option.value)
    ? firstKnown(
        () => lookup(`self.${option.attr}`),
        () => lookup(takenFrom(option, file) ?? ""),
        () => begins(option, file, tree),
      )
    : lookup(option.attr);
}

/** Of a list, as it is by default: `[] if not args.names else args.names.split(",")`. */
function lengthOf(list: Expr, file: PythonFile, tree: Tree, depth = 0): number | undefined {
  const from = list.kind === "Name" ? file.scopes.onlyValue(list) : list;
  if (!from || depth > DEEPEST || (from !== list && from.end > list.start)) return undefined;
  // `names.append(…)` makes it another.
  if (list.kind === "Name" && file.scopes.reaching(list).some((one) => file.scopes.uses(one).some(isAsked)))
    return undefined;
  if (from.kind === "List") return depth > 0 && from.items.length === 0 ? 0 : undefined;
  if (from.kind === "IfExp") {
    const one = needed(from.test, true, file, tree)
      ? from.orelse
      : needed(from.test, false, file, tree)
        ? from.body
        : null;
    return one ? lengthOf(one, file, tree, depth + 1) : undefined;
  }
  const given = defaultOf(from, file, tree);
  return typeof given === "string" && given !== "" ? given.split(",").length : undefined;
}

const isAsked = ({ parent }: Node): boolean => parent?.kind === "Attribute";

/** What an attribute of self is set to, when it is set in one place. */
function heldValue(own: Attribute, file: PythonFile): Expr | null {
  const cls = classOf(own);
  const [one, ...more] = cls ? (attributesOf(cls, file).get(own.attr)?.writes ?? []) : [];
  return more.length === 0 ? (one?.value ?? null) : null;
}

/** `args.gpus > 1` of `self.parallel = args.gpus > 1`. */
function heldTest(test: Expr, file: PythonFile): Expr | null {
  const value = test.kind === "Attribute" && isSelf(test.value) ? heldValue(test, file) : null;
  return value?.kind === "Attribute" ? null : value;
}

/** None is known too. */
function firstKnown(...asked: readonly (() => Default | undefined)[]): Default | undefined {
  for (const ask of asked) {
    const known = ask();
    if (known !== undefined) return known;
  }
  return undefined;
}

/** `distance == "l_2"` in `def loss(x, distance="l_inf")`. */
function isOtherThanDefault(left: Expr, op: string, right: Expr, file: PythonFile): boolean {
  if (left.kind !== "Name" || op !== "==" || right.kind !== "Str") return false;
  const [param, ...more] = file.scopes.reaching(left);
  const node = param?.how === "param" && more.length === 0 ? param.node : null;
  return node?.kind === "Param" && node.default?.kind === "Str" && node.default.value !== right.value;
}

/** What every run sets anew, whatever option is called that. */
const MODES = /^(?:is_)?(?:train|training|eval|evaluate|test|val|valid|mode|split|phase)$/;

/** "weight" of `self.weight = args.weight`, and of `self.weight = weight` in a constructor that is given it. */
function takenFrom(own: Attribute, file: PythonFile): string | null {
  const value = heldValue(own, file);
  if (value?.kind === "Name" && !MODES.test(value.id))
    return file.scopes.reaching(value).every(({ how }) => how === "param") ? value.id : null;
  return value?.kind === "Attribute" && !isSelf(value.value) && holdsOptions(value.value) ? value.attr : null;
}

/** `getattr(config, "gradient_checkpointing", False)`, in a tree where nobody turns it on. */
function checkpointingAsked(test: Expr, tree: Tree): Expr | null {
  if (test.kind !== "Call" || test.func.kind !== "Name" || test.func.id !== "getattr") return null;
  const [name, otherwise] = [positional(test, 1), positional(test, 2)];
  const isOff = otherwise !== null && literal(otherwise) === false && !tree.checkpoints;
  return isOff && name?.kind === "Str" && CHECKPOINTING.test(name.value ?? "") ? test : null;
}

/** False of `self.gradient_checkpointing = False`, or of a parameter's default, in a tree where nobody turns it on. */
function begins(own: Attribute, file: PythonFile, tree: Tree): Default | undefined {
  const value = CHECKPOINTING.test(own.attr) && !tree.checkpoints ? heldValue(own, file) : null;
  if (!value) return undefined;
  const [given] = value.kind === "Name" ? file.scopes.reaching(value) : [];
  const otherwise = given?.node.kind === "Param" ? given.node.default : null;
  return literal(otherwise ?? value);
}

/** Whether the test holds for the default; null where that cannot be told. */
function compare(given: Default, op: string, right: Expr): boolean | null {
  if (op === "is" || op === "is not")
    return right.kind === "Const" && right.value === null ? (given === null) === (op === "is") : null;
  if (op === "==" && right.kind === "Const" && typeof right.value === "boolean") return given === right.value;
  // `bits in (4, 8)`
  if (op === "in" && typeof given === "number" && (right.kind === "List" || right.kind === "Tuple"))
    return right.items.every((item) => item.kind === "Num")
      ? right.items.some((item) => item.kind === "Num" && Number(item.text) === given)
      : null;
  if (typeof given === "string") return given === "" ? null : compareText(given, op, right);
  const other = right.kind === "Num" ? Number(right.text) : null;
  if (other === null || Number.isNaN(other) || typeof given !== "number") return null;
  if (op === ">") return given > other;
  if (op === ">=") return given >= other;
  if (op === "<") return given < other;
  if (op === "<=") return given <= other;
  if (op === "!=") return given !== other;
  return op === "==" ? given === other : null;
}

/** `args.task == "ranking"` */
function compareText(given: string, op: string, right: Expr): boolean | null {
  // Whoever trains asks for that: `if args.mode == "train":`.
  if (right.kind !== "Str" || right.value === null || /train|fit|learn|tun/i.test(right.value)) return null;
  return op === "==" ? given === right.value : op === "!=" ? given !== right.value : null;
}

/** Whether a file turns checkpointing on, whatever its own options are by default. */
export function turnsCheckpointingOn(file: PythonFile): boolean {
  const switches = [
    ...checkpointingSwitches(file).map(({ call }) => call),
    ...file.callsNamed("enable_gradient_checkpointing", "set_grad_checkpointing"),
    ...file.calls
      .given(CHECKPOINT_OPTIONS)
      .filter(({ args }) =>
        args.some(({ name, value }) => name !== null && CHECKPOINTING.test(name) && isTrue(value)),
      ),
  ];
  return switches.some((call) => !isBehindOwnOption(call, file) && !isAskedFor(call, file));
}

/** `if args.gradient_checkpointing:` of options that another file has: most are off. */
function isAskedFor(call: Call, file: PythonFile): boolean {
  const own = file.once(said);
  for (const at of ancestors(call))
    if (
      at.kind === "If" &&
      at.test.kind === "Attribute" &&
      at.test.value.kind === "Name" &&
      /args|^opts?$|FLAGS/.test(at.test.value.id) &&
      CHECKPOINTING.test(at.test.attr) &&
      !own.has(at.test.attr)
    )
      return true;
  return false;
}
