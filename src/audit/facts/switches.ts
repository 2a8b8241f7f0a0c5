import type { PythonFile } from "../../python/file.ts";
import { ancestors, blockOf, classOf, contains, functionOf } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef, If, Name, Node } from "../../python/tree.ts";
import { COUNTER, isPastStart, lastName } from "./turns.ts";

/** `if stage == 1: … elif stage == 2: …`: a setting chooses, and goes on choosing the same. */
export function isSwitch(statement: If): boolean {
  const asked = ({ test }: If): string | null =>
    test.kind === "Compare" &&
    test.ops[0] === "==" &&
    test.rights[0]?.kind === "Num" &&
    test.left.kind === "Name" &&
    test.left.id.length > 2 &&
    !COUNTER.test(test.left.id)
      ? test.left.id
      : null;
  const name = asked(statement);
  const [below] = statement.orelse;
  const above =
    statement.parent?.kind === "If" && statement.parent.orelse[0] === statement ? statement.parent : null;
  return (
    name !== null &&
    ((below?.kind === "If" && asked(below) === name) || (above !== null && asked(above) === name))
  );
}

/** `if self.onnx_trace:`, `if torch.onnx.is_in_onnx_export():` */
export function isExport(test: Expr): boolean {
  const name = lastName(test.kind === "Call" ? test.func : test);
  return /onnx|^(?:is_)?(?:tracing|scripting|exporting|exportable)$|^export(?:_mode)?$/.test(name);
}

/** `if not self.training:`, `if not train and split:`, and the `else` of `if self.training:`. */
export function isForEvaluation(statement: If, child: Node): boolean {
  const body = statement.body.includes(child as never);
  if (statement.test.kind === "Bool" && statement.test.op === "and" && body)
    return statement.test.values.some((one) => saysEvaluation(one, true));
  return saysEvaluation(statement.test, body);
}

/** What a loop over training and validation calls the one it is at: `for phase in ["train", "val"]:`. */
export const PHASE = /(?:^|_)(?:phase|mode|split|stage)$/;

export const EVALUATES = /^(?:val|valid|validation|validate|eval|evaluation|evaluate|test|dev|inference)$/;

/** `is_eval`, `self.is_test`: a network is told so of what is handed in, and in a training it is not. */
const JUDGED =
  /^(?:is|in)_(?:eval(?:uation|uating)?|test(?:ing)?|infer(?:ence|ring)?)$|^(?:eval|inference|test)_mode$/;

/** `if is_eval: …`, or `if not is_eval: …` where that is asked for: which of the two branches is for judging is plain. */
export function isToldToJudge(test: Expr, body: boolean): boolean {
  const inverted = test.kind === "Unary" && test.op === "not";
  const asked = inverted ? test.operand : test;
  return (
    inverted !== body && (asked.kind === "Name" || asked.kind === "Attribute") && JUDGED.test(lastName(asked))
  );
}

export function saysEvaluation(test: Expr, body: boolean): boolean {
  if (isToldToJudge(test, body)) return true;
  const [phase] = test.kind === "Compare" && PHASE.test(lastName(test.left)) ? test.rights : [];
  if (test.kind === "Compare" && phase?.kind === "Str" && /^[!=]=$/.test(test.ops[0]!))
    return ((test.ops[0] === "==") === body ? EVALUATES : /^train(?:ing)?$/).test(phase.value ?? "");
  const inverted = test.kind === "Unary" && test.op === "not";
  const bare = inverted ? test.operand : test;
  // `if self.training is True:`
  const asked =
    bare.kind === "Compare" &&
    bare.ops[0] === "is" &&
    bare.rights[0]?.kind === "Const" &&
    bare.rights[0].value === true
      ? bare.left
      : bare;
  return (
    inverted === body &&
    ((asked.kind === "Attribute" && asked.attr === "training") ||
      (asked.kind === "Name" && /^(?:is_)?train(?:ing)?$/.test(asked.id)))
  );
}

/** `if not pairs: return zero` of a list filled above: hardly any batch is empty. */
export function isEmptied(statement: If, child: Node): boolean {
  const { test, body } = statement;
  if (test.kind !== "Unary" || test.op !== "not" || test.operand.kind !== "Name") return false;
  if (!body.includes(child as never) || body[body.length - 1]?.kind !== "Return") return false;
  const { id } = test.operand;
  const above = blockOf(statement) ?? [];
  return above.some(
    (one) =>
      one.kind === "Assign" &&
      /^(?:Comp|List)$/.test(one.value.kind) &&
      one.targets.some((target) => target.kind === "Name" && target.id === id),
  );
}

/** `if teacher is None:` in a function that cannot be called without one; a network's own may get None for a state. */
export function isWithoutRequired(statement: If, child: Node): boolean {
  const { test } = statement;
  if (test.kind !== "Compare" || test.left.kind !== "Name" || !/^is(?: not)?$/.test(test.ops[0]!))
    return false;
  const [right] = test.rights;
  const fn = functionOf(statement);
  if (right?.kind !== "Const" || right.value !== null || fn?.kind !== "FunctionDef" || fn.name === "forward")
    return false;
  const { id } = test.left;
  const given = fn.params.find((param) => param.name === id);
  return (
    given !== undefined &&
    !given.default &&
    (test.ops[0] === "is") === statement.body.includes(child as never)
  );
}

/** `if not keep_dims:` in a function whose `keep_dims` is True unless someone says otherwise. */
export function isOffByDefault(statement: If, child: Node): boolean {
  const runs = statement.body.includes(child as never);
  // `if offload and inplace:` needs both.
  if (statement.test.kind === "Bool" && statement.test.op === "and" && runs)
    return statement.test.values.some((one) => isOff(one, statement, true));
  return isOff(statement.test, statement, runs);
}

export function isOff(asked: Expr, statement: If, inBody: boolean): boolean {
  let test = asked;
  let runs = inBody;
  if (test.kind === "Unary" && test.op === "not") {
    test = test.operand;
    runs = !runs;
  }
  // `if self.remap is not None:`
  let none = false;
  if (test.kind === "Compare" && test.left.kind === "Attribute" && /^is(?: not)?$/.test(test.ops[0]!)) {
    const [right] = test.rights;
    if (right?.kind !== "Const" || right.value !== null) return false;
    none = true;
    if (test.ops[0] === "is") runs = !runs;
    test = test.left;
  }
  const set = test.kind === "Attribute" ? setWhenMade(test) : null;
  const name = set?.value.kind === "Name" ? set.value.id : test.kind === "Name" ? test.id : null;
  const fn = set ? set.in : functionOf(statement);
  const given =
    set && set.value.kind !== "Name"
      ? set.value
      : name === null
        ? null
        : fn?.params.find((param) => param.name === name)?.default;
  if (given?.kind !== "Const") return false;
  if (none) return given.value === null && runs;
  const unlessAsked = !set && LOSS_ASKED.test(name!) ? true : given.value;
  return typeof unlessAsked === "boolean" && unlessAsked !== runs;
}

/** `forward(ids, return_loss=False)`: off for who samples, and on in every step of a training, which needs the loss. */
const LOSS_ASKED = /^(?:return|compute|calc|calculate|get|with)_loss(?:es)?$/;

/** What `__init__` sets `self.flag` to: `flag` of its own parameters, or True or False. */
function setWhenMade({ attr, value }: Expr & { kind: "Attribute" }): { value: Expr; in: FunctionDef } | null {
  if (value.kind !== "Name" || value.id !== "self") return null;
  const isIt = (target: Expr): boolean =>
    target.kind === "Attribute" &&
    target.attr === attr &&
    target.value.kind === "Name" &&
    target.value.id === "self";
  for (const one of classOf(value)?.body ?? [])
    if (one.kind === "FunctionDef" && one.name === "__init__")
      for (const statement of one.body)
        if (statement.kind === "Assign")
          for (const target of statement.targets) {
            if (isIt(target)) return { value: statement.value, in: one };
            // `self.scale, self.flag = scale, flag`
            const at = target.kind === "Tuple" ? target.items.findIndex(isIt) : -1;
            const given = statement.value.kind === "Tuple" ? statement.value.items[at] : undefined;
            if (given) return { value: given, in: one };
          }
  return null;
}

/** A dict of settings. */
const SETTINGS = /(?:args|cfg|conf|config|opts?|options|hparams|hps|settings|params)$/i;

/** `"dinov2" in encoder_type`, `"l1" in args.losses`: of what is chosen for a whole run. */
function isNamedIn({ left, ops, rights }: Expr & { kind: "Compare" }): boolean {
  const [right] = rights;
  return (
    left.kind === "Str" &&
    /^(?:not )?in$/.test(ops[0]!) &&
    (right?.kind === "Attribute"
      ? SETTINGS.test(lastName(right.value))
      : right?.kind === "Name" &&
        /(?:^|_)(?:type|mode|arch|kind|variant|method|backbone|dataset)$/.test(right.id))
  );
}

/** Tests whose outcome is the same for every step of a run, or for all but the first. */
export function isFlag(test: Expr): boolean {
  switch (test.kind) {
    case "Name":
    case "Attribute":
    case "Const":
      return true;
    // `config["use_tensorboard"]`
    case "Subscript":
      return test.index.kind === "Str" && SETTINGS.test(lastName(test.value));
    case "Unary":
      // Of `not exists(loss)` nobody knows whether it is ever so.
      return (
        test.op === "not" &&
        isFlag(test.operand) &&
        !(test.operand.kind === "Call" && isGivenAsked(test.operand))
      );
    case "Bool":
      return test.values.every(isFlag);
    case "Compare":
      if (isPastStart(test) || isOneOfChoices(test) || isOneOfKinds(test) || isNamedIn(test)) return true;
      if (isAnyLevel(test)) return true;
      if (
        test.left.kind === "Call" &&
        /^(?:get_world_size|get_(?:\w+_)?rank|device_count)$/.test(lastName(test.left.func))
      )
        return true;
      return (
        test.rights.every(
          (right) =>
            right.kind === "Const" ||
            right.kind === "Str" ||
            // `rank in (-1, 0)`
            (isNumbers(right) && /rank/i.test(lastName(test.left))) ||
            // `args.local_rank != -1`
            ((right.kind === "Num" || (right.kind === "Unary" && right.operand.kind === "Num")) &&
              (test.left.kind === "Attribute" ||
                // Lightning hands every batch to each optimizer: `if optimizer_idx == 0:`.
                /rank|world|accum|num_|n_|max_norm|clip|coef|lambda|^opt(?:im|imizer)?_idx$/.test(
                  lastName(test.left),
                ))),
        ) &&
        (test.left.kind === "Name" || test.left.kind === "Attribute")
      );
    case "Call": {
      const name = lastName(test.func);
      return (
        /^(?:isinstance|hasattr|callable|is_available|is_(?:local_)?main_process|is_master|is_rank_0|is_rank_zero|is_primary|is_initialized)$/.test(
          name,
        ) ||
        name === "get_rank" ||
        isGivenAsked(test) ||
        isLibraryAsked(test)
      );
    }
    default:
      return false;
  }
}

/** `[-1, 0]`: a list written out. */
function isNumbers(expr: Expr): boolean {
  return (
    (expr.kind === "List" || expr.kind === "Tuple" || expr.kind === "Set") &&
    expr.items.every((one) => one.kind === "Num" || (one.kind === "Unary" && one.operand.kind === "Num"))
  );
}

/** `exists(mask)`: by another word, `mask is not None`. */
function isGivenAsked({ func, args: [asked, ...more] }: Call): boolean {
  return (
    func.kind === "Name" &&
    func.id === "exists" &&
    more.length === 0 &&
    (asked?.value.kind === "Name" || asked?.value.kind === "Attribute")
  );
}

/**
 * `is_wandb_available()`: what is installed stays so for a run. `queue.is_batch_available()` asks for what comes and goes, and
 * `is_torch_npu_available()` for a device that few have.
 */
function isLibraryAsked({ func, args }: Call): boolean {
  return (
    func.kind === "Name" &&
    args.length === 0 &&
    /^_?is_\w+_available$/.test(func.id) &&
    !/^_?is_torch_|data|batch|sample|item|slot|memory/.test(func.id)
  );
}

/** `log_level > 0`, `verbosity >= 1`: how much a whole run tells, and the least of it. What is off unless asked for, as with `log_level=0`, is no such. */
function isAnyLevel({ left, ops, rights: [least] }: Expr & { kind: "Compare" }): boolean {
  if (left.kind !== "Name" || ops.length !== 1 || least?.kind !== "Num") return false;
  if (!/^(?:(?:log|logging|verbosity)_level|verbosity)$/.test(left.id)) return false;
  const level = functionOf(left)?.params.find(({ name }) => name === left.id)?.default;
  return (
    (least.text === "0" ? /^(?:>|!=)$/.test(ops[0]!) : least.text === "1" && ops[0] === ">=") &&
    (level?.kind !== "Num" || level.text !== "0")
  );
}

/** `if alpha != 0:` after `alpha = args.alpha`: a setting that has a name of its own. */
export function isKeptSetting(test: Expr, file: PythonFile): boolean {
  if (test.kind === "Bool") return test.values.every((one) => isFlag(one) || isKeptSetting(one, file));
  if (test.kind !== "Compare" || test.left.kind !== "Name" || test.rights.length !== 1) return false;
  if (test.rights[0]!.kind !== "Num" || COUNTER.test(test.left.id)) return false;
  const kept = file.scopes.onlyValue(test.left);
  if (isSetAboveLoops(test, test.left, file)) return true;
  if (kept?.kind !== "Attribute" && (kept?.kind !== "Subscript" || kept.index.kind !== "Str")) return false;
  // What counts is read anew, whatever it is called here.
  const name = kept.kind === "Attribute" ? kept.attr : ((kept.index as Expr & { kind: "Str" }).value ?? "");
  const from = lastName(kept.value);
  return !COUNTER.test(name) && (SETTINGS.test(from) || (from === "self" && kept.kind === "Attribute"));
}

/**
 * `mixup = strength_for(dataset)` above all the loops around `if mixup > 0:`, or a parameter: all the turns find the same number
 * there. One that is written down must pass the test.
 */
function isSetAboveLoops(
  { ops, rights }: Expr & { kind: "Compare" },
  name: Name,
  { scopes }: PythonFile,
): boolean {
  const [one, ...more] = scopes.reaching(name);
  const loop = ancestors(name).findLast(({ kind }) => kind === "For" || kind === "While");
  if (!loop || !one || more.length > 0 || contains(loop, one.node)) return false;
  const param = one.node.kind === "Param" ? one.node : null;
  const value = param ? param.default : one.how === "assign" ? one.value : null;
  if (!/^(?:>|!=)$/.test(ops[0]!) || /level|verbos|debug/i.test(name.id)) return false;
  const asked = Number((rights[0] as Expr & { kind: "Num" }).text);
  // Of one that nobody here knows, only whether there is any.
  if (value?.kind !== "Num") return asked === 0 && (param ? value === null : value?.kind === "Call");
  const given = Number(value.text);
  return ops[0] === ">" ? given > asked : given !== asked;
}

/** `self.kind is DISCRETE`, `self.loss_type == LossType.MSE`: what something is, not how far it has come. */
function isOneOfKinds({ left, ops, rights: [right] }: Expr & { kind: "Compare" }): boolean {
  return (
    left.kind === "Attribute" &&
    ops.length === 1 &&
    /^(?:is|is not|==|!=)$/.test(ops[0]!) &&
    (right?.kind === "Name" || right?.kind === "Attribute") &&
    /^[A-Z][A-Z\d_]*$/.test(lastName(right)) &&
    /(?:^|_)(?:kind|type|method|algo|arch|space|style)$/.test(left.attr)
  );
}

/** `config.loss in {"dpo", "ipo"}`: a setting, as much as where it is compared with one of them. */
function isOneOfChoices({ left, ops, rights: [among] }: Expr & { kind: "Compare" }): boolean {
  return (
    left.kind === "Attribute" &&
    ops.length === 1 &&
    /^(?:not )?in$/.test(ops[0]!) &&
    (among?.kind === "Set" || among?.kind === "Tuple" || among?.kind === "List") &&
    among.items.length > 0 &&
    among.items.every(({ kind }) => kind === "Str") &&
    !PHASE.test(left.attr)
  );
}
