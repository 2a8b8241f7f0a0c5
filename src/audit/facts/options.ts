import { isFalse, isTrue, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, classOf } from "../../python/nodes.ts";
import type { Call, Expr, Node } from "../../python/tree.ts";
import { checkpointingSwitches } from "./checkpointing.ts";
import { attributesOf } from "./classes.ts";

/** What a name may stand for in a test. */
const TESTS: ReadonlySet<string> = new Set(["Compare", "Bool", "Unary", "Attribute"]);

const CHECKPOINTING = /checkpoint/;
const CHECKPOINT_OPTIONS = "use_checkpoint grad_checkpointing use_grad_checkpoint use_checkpointing".split(
  " ",
);
/** Said of a tree where checkpointing is turned on. */
const CHECKPOINTS = "(checkpoints)";

/** What an option is unless somebody says otherwise: None, False or a number. */
type Default = number | false | null;

/** By name. */
export type Options = ReadonlyMap<string, Default>;

/** `args`, `cfg.train`, `self.opt`: what holds the options of a run. */
const HOLDERS =
  /^(?:args|opts?|options|cfg|conf|configs?|hparams|flags|FLAGS|params|settings|hps?|\w+_(?:args|cfg|config))$/;

/** The option of this file without which a node does not run, when it is off by default: "args.debug". */
export function optionBehind(node: Node, file: PythonFile, tree: Options): string | null {
  for (let child = node, at = node.parent; at && at.kind !== "FunctionDef"; child = at, at = at.parent) {
    if (at.kind !== "If" || child === at.test) continue;
    const option = needed(at.test, at.body.includes(child as never), file, tree);
    if (option) return file.textOf(option);
  }
  return null;
}

/** The part of a test that an option which is off keeps from being so. */
function needed(test: Expr, wanted: boolean, file: PythonFile, tree: Options): Expr | null {
  if (test.kind === "Unary" && test.op === "not") return needed(test.operand, !wanted, file, tree);
  if (test.kind === "Bool") {
    if ((test.op === "and") !== wanted) return null;
    for (const value of test.values) {
      const option = needed(value, wanted, file, tree);
      if (option) return option;
    }
    return null;
  }
  const said = test.kind === "Name" ? file.scopes.onlyValue(test) : heldTest(test, file);
  if (said && TESTS.has(said.kind)) return needed(said, wanted, file, tree);
  // `train = False` at the top of a notebook.
  if (said && test.kind === "Name" && isFalse(said)) return wanted ? test : null;
  const compared = test.kind === "Compare" && test.rights.length === 1 ? test : null;
  if (compared && wanted && isOtherThanDefault(compared.left, compared.ops[0]!, compared.rights[0]!, file))
    return compared;
  const option = compared ? compared.left : test;
  const asked = !compared && wanted ? checkpointingAsked(test, tree) : null;
  if (asked) return asked;
  if (option.kind !== "Attribute" || !holdsOptions(option.value)) return null;
  const own = file.once(defaults);
  const lookup = (key: string): Default | undefined => (own.has(key) ? own.get(key) : tree.get(key));
  const given = isSelf(option.value)
    ? firstKnown(
        () => lookup(`self.${option.attr}`),
        () => lookup(takenFrom(option, file) ?? ""),
        () => begins(option, file, tree),
      )
    : lookup(option.attr);
  if (given === undefined) return null;
  const holds = compared ? compare(given, compared.ops[0]!, compared.rights[0]!) : Boolean(given);
  return holds === null || holds === wanted ? null : option;
}

/** `args.gpus > 1` of `self.parallel = args.gpus > 1`. */
function heldTest(test: Expr, file: PythonFile): Expr | null {
  const cls = test.kind === "Attribute" && isSelf(test.value) ? classOf(test) : null;
  const [one, ...more] = cls
    ? (attributesOf(cls, file).get((test as Expr & { kind: "Attribute" }).attr)?.writes ?? [])
    : [];
  return one?.value && more.length === 0 && one.value.kind !== "Attribute" ? one.value : null;
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

/** "weight" of `self.weight = args.weight`. */
function takenFrom(own: Expr & { kind: "Attribute" }, file: PythonFile): string | null {
  const cls = classOf(own);
  const writes = cls ? (attributesOf(cls, file).get(own.attr)?.writes ?? []) : [];
  const [one] = writes;
  const value = writes.length === 1 ? one?.value : null;
  return value?.kind === "Attribute" && !isSelf(value.value) && holdsOptions(value.value) ? value.attr : null;
}

/** `getattr(config, "gradient_checkpointing", False)`, in a tree where nobody turns it on. */
function checkpointingAsked(test: Expr, tree: Options): Expr | null {
  if (test.kind !== "Call" || test.func.kind !== "Name" || test.func.id !== "getattr") return null;
  const [name, otherwise] = [positional(test, 1), positional(test, 2)];
  const isOff = otherwise !== null && literal(otherwise) === false && !tree.has(CHECKPOINTS);
  return isOff && name?.kind === "Str" && CHECKPOINTING.test(name.value ?? "") ? test : null;
}

/** False of `self.gradient_checkpointing = False`, or of a parameter's default, in a tree where nobody turns it on. */
function begins(own: Expr & { kind: "Attribute" }, file: PythonFile, tree: Options): Default | undefined {
  const cls = CHECKPOINTING.test(own.attr) && !tree.has(CHECKPOINTS) ? classOf(own) : null;
  const [one, ...more] = cls ? (attributesOf(cls, file).get(own.attr)?.writes ?? []) : [];
  if (!one?.value || more.length > 0) return undefined;
  const [given] = one.value.kind === "Name" ? file.scopes.reaching(one.value) : [];
  const otherwise = given?.node.kind === "Param" ? given.node.default : null;
  return literal(otherwise ?? one.value);
}

/** Whether the test holds for the default; null where that cannot be told. */
function compare(given: Default, op: string, right: Expr): boolean | null {
  if (op === "is" || op === "is not")
    return right.kind === "Const" && right.value === null ? (given === null) === (op === "is") : null;
  if (op === "==" && right.kind === "Const" && right.value === true) return false;
  const other = right.kind === "Num" ? Number(right.text) : null;
  if (other === null || Number.isNaN(other) || typeof given !== "number") return null;
  if (op === ">") return given > other;
  if (op === ">=") return given >= other;
  if (op === "!=") return given !== other;
  return op === "==" ? given === other : null;
}

function isSelf(expr: Expr): boolean {
  return expr.kind === "Name" && expr.id === "self";
}

function holdsOptions(expr: Expr): boolean {
  if (isSelf(expr)) return true;
  if (expr.kind === "Name") return HOLDERS.test(expr.id);
  // `config.logging.use_wandb`, but not `self.model.training`.
  return (
    expr.kind === "Attribute" &&
    (HOLDERS.test(expr.attr) || (!isSelf(expr.value) && holdsOptions(expr.value)))
  );
}

/** What a file tells the others of its options; "?" of one that is neither of these. */
export function sharedOptions(file: PythonFile): Readonly<Record<string, Default | "?">> | undefined {
  const own = [...file.once(said)];
  if (turnsCheckpointingOn(file)) own.push([CHECKPOINTS, 1]);
  return own.length === 0
    ? undefined
    : Object.fromEntries(own.map(([name, value]) => [name, value === undefined ? "?" : value]));
}

function turnsCheckpointingOn(file: PythonFile): boolean {
  const switches = [
    ...checkpointingSwitches(file).map(({ call }) => call),
    ...file.callsNamed("enable_gradient_checkpointing", "set_grad_checkpointing"),
    ...file.calls
      .given(CHECKPOINT_OPTIONS)
      .filter(({ args }) =>
        args.some(({ name, value }) => name !== null && CHECKPOINTING.test(name) && isTrue(value)),
      ),
  ];
  return switches.some((call) => optionBehind(call, file, new Map()) === null && !isAskedFor(call, file));
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

/** Of all files: what they agree on. */
export function joinedOptions(files: Iterable<Readonly<Record<string, Default | "?">> | undefined>): Options {
  const found = new Map<string, Default | "?">();
  for (const options of files)
    for (const [name, value] of Object.entries(options ?? {}))
      found.set(name, found.has(name) && found.get(name) !== value ? "?" : value);
  for (const [name, value] of found) if (value === "?") found.delete(name);
  return found as Map<string, Default>;
}

/** Its own, and as "self.…" what an object looks up when it is made. */
function defaults(file: PythonFile): Options {
  const found = new Map(file.once(said));
  for (const call of file.calls.matching(/^get(?:_\w+)?$/)) {
    const target = call.parent?.kind === "Assign" ? call.parent.targets[0] : null;
    // `self.weight = config.get("weight", 0)`
    if (target?.kind !== "Attribute" || !isSelf(target.value) || positional(call, 0)?.kind !== "Str")
      continue;
    const given = positional(call, 1);
    put(found, `self.${target.attr}`, given ? literal(given) : undefined);
  }
  return new Map([...found].flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

/** Said twice, it may be either. */
function put(found: Map<string, Default | undefined>, name: string, value: Default | undefined): void {
  found.set(name, found.has(name) && found.get(name) !== value ? undefined : value);
}

/** By name, what its options are by default; undefined of one that is none of those. */
function said(file: PythonFile): ReadonlyMap<string, Default | undefined> {
  const found = new Map<string, Default | undefined>();
  for (const call of file.callsNamed("add_argument")) {
    const name = optionName(call);
    if (name !== null) put(found, name, parsedDefault(call));
  }
  for (const call of file.callsNamed("set_defaults"))
    for (const arg of call.args) if (arg.name !== null) put(found, arg.name, undefined);
  for (const cls of file.all("ClassDef")) {
    const holds =
      /(?:Config|Args|Arguments|Options|Settings)$/.test(cls.name) ||
      cls.decorators.some((one) => file.textOf(one).includes("dataclass"));
    if (!holds) continue;
    for (const one of cls.body) {
      if (one.kind === "AnnAssign" && one.target.kind === "Name" && one.value)
        put(found, one.target.id, literal(one.value));
      // `def __init__(self, prefix_length=None, …)` of a configuration.
      if (one.kind === "FunctionDef" && one.name === "__init__")
        for (const { name, default: given } of one.params) if (given) put(found, name, literal(given));
    }
  }
  return found;
}

/** `add_argument("-n", "--n-iters", dest=…)`; null for what must be given. */
function optionName(call: Call): string | null {
  const dest = keyword(call, "dest")?.value;
  if (dest?.kind === "Str") return dest.value;
  for (const { name, value } of call.args)
    if (name === null && value.kind === "Str" && value.value?.startsWith("--"))
      return value.value.slice(2).replaceAll("-", "_");
  return null;
}

function parsedDefault(call: Call): Default | undefined {
  const given = keyword(call, "default")?.value;
  if (given) return literal(given);
  const action = keyword(call, "action")?.value;
  if (action) return action.kind === "Str" && action.value === "store_true" ? false : undefined;
  return isTrue(keyword(call, "required")?.value ?? null) ? undefined : null;
}

function literal(expr: Expr): Default | undefined {
  // `field(default=False)`, `DefaultVal(False)`
  if (expr.kind === "Call") {
    const [only, ...more] = expr.args;
    const wraps = expr.func.kind === "Name" && /default|field|option/i.test(expr.func.id);
    const given = keyword(expr, "default")?.value ?? (more.length === 0 && wraps ? only?.value : null);
    return given ? literal(given) : undefined;
  }
  if (expr.kind === "Num") return Number(expr.text);
  if (expr.kind !== "Const") return undefined;
  return expr.value === null ? null : expr.value === false ? false : undefined;
}
