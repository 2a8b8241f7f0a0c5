import type { PythonFile } from "../../python/file.ts";
import { blockOf, classOf, functionOf, isStatement, lastWord, walk } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef, If, Node, Stmt } from "../../python/tree.ts";

/**
 * How often a statement runs each time the code around it does.
 * "every": nothing stands between, or only flags that hold for a whole run (a setting, a rank, `is not None`).
 * "throttled": a remainder, a schedule or a counter decides. "unknown": a test we cannot read.
 */
export type Frequency = "every" | "throttled" | "unknown";

const NO_BLOCK: readonly Stmt[] = [];

/** Answers of `outerFrequency`, by the statement: its calls are all asked about, and by many rules. */
const answers = (): Map<Stmt, { readonly stop: Node; readonly frequency: Frequency }> => new Map();

/** From the node up to (not including) `stop`, usually the loop or function that is hot. */
export function frequency(node: Node, stop: Node, file: PythonFile): Frequency {
  let result: Frequency = "every";
  let complains = false;
  let child = node;
  // First inside of its statement.
  for (let at = node.parent; at && at !== stop && !isStatement(child); child = at, at = at.parent) {
    if (at.kind === "IfExp" && child !== at.test) {
      if (
        isThrottle(at.test) ||
        (isAllButFirst(at.test) && child === at.orelse) ||
        isFirst(at, child) ||
        saysEvaluation(at.test, child === at.body)
      )
        return "throttled";
      if (isForNone(at, child)) result = "unknown";
    } else if (at.kind === "Handler" || at.kind === "Case") {
      result = "unknown";
    } else if (at.kind === "Raise" || (at.kind === "Assert" && child !== at.test)) {
      // What it says is put together when it fails.
      return "throttled";
    } else if (at.kind === "Call" && isComplaint(at)) {
      complains = true;
    } else if (at.kind === "Bool" && at.values[0] !== child && at.values.some((value) => isThrottle(value)))
      return "throttled";
  }
  if (!isStatement(child)) return result;
  const known = file.once(answers);
  let outer = known.get(child);
  if (outer?.stop !== stop)
    known.set(child, (outer = { stop, frequency: outerFrequency(child, stop, file) }));
  // What is wrong under a test is wrong now and then.
  if (outer.frequency === "throttled" || (complains && isUnderTest(child, stop))) return "throttled";
  return outer.frequency === "unknown" ? "unknown" : result;
}

/** The same from a statement on. */
function outerFrequency(statement: Stmt, stop: Node, file: PythonFile): Frequency {
  let result: Frequency = "every";
  for (let child: Node = statement, at = child.parent; at && at !== stop; child = at, at = at.parent) {
    if (at.kind === "If" && child !== at.test) {
      const one = testFrequency(at, child, file);
      if (one === "throttled") return "throttled";
      if (one === "unknown") result = "unknown";
    } else if (at.kind === "Handler" || at.kind === "Case") result = "unknown";
  }
  // `if step % n: continue` above the statement throttles it too.
  for (let at: Node | null = statement; at && at !== stop; at = at.parent) {
    const block: readonly Stmt[] = blockOf(at) ?? NO_BLOCK;
    for (const before of block) {
      if (before === at) break;
      if (before.kind !== "If" || !leaves(before)) continue;
      if ((skips(before.test) || isHit(before)) && !isStepBelow(block, before)) return "throttled";
      // `if fast: return …` of a parameter that is True unless someone says otherwise.
      if (isOff(before.test, before, false)) result = "unknown";
    }
  }
  return result;
}

function isUnderTest(statement: Stmt, stop: Node): boolean {
  for (let at = statement.parent; at && at !== stop; at = at.parent) if (at.kind === "If") return true;
  return false;
}

/**
 * `if steps_to_skip > 0: …; continue` above the backward: what is as rare as the steps is as often as they are. An agent
 * has methods of its own for them: `if step % n != 0: return`, then `self.update_critic(batch)`.
 */
function isStepBelow(block: readonly Node[], above: Node): boolean {
  const called: string[] = [];
  for (const statement of block.slice(block.indexOf(above) + 1))
    if (differentiates(statement, called)) return true;
  return (
    called.length > 0 &&
    (classOf(above)?.body ?? NO_BLOCK).some(
      (one) => one.kind === "FunctionDef" && called.includes(one.name) && differentiates(one),
    )
  );
}

/** Whether there is a backward in it; also tells the methods of self that it calls. */
function differentiates(within: Node, called?: string[]): boolean {
  let found = false;
  walk(within, (node) => {
    if (node.kind === "Call" && node.func.kind === "Attribute") {
      if (node.func.attr === "backward") found = true;
      else if (node.func.value.kind === "Name" && node.func.value.id === "self") called?.push(node.func.attr);
    }
    return !found;
  });
  return found;
}

/** `sum(losses) if len(losses) > 0 else zero`: hardly ever are there none. */
function isForNone({ test, orelse }: Expr & { kind: "IfExp" }, child: Node): boolean {
  return (
    child === orelse &&
    (isLength(test) ||
      (test.kind === "Compare" &&
        isLength(test.left) &&
        test.ops[0] === ">" &&
        test.rights[0]?.kind === "Num" &&
        test.rights[0].text === "0"))
  );
}

/** `warnings.warn(…)`, `logger.warning(…)` */
function isComplaint({ func }: Call): boolean {
  return func.kind === "Attribute" && /^(?:warn|warning|error|critical)$/.test(func.attr);
}

/** `if a and b: continue` skips only where both hold. */
function skips(test: Expr): boolean {
  if (test.kind === "Bool")
    return test.op === "and" ? test.values.every(isThrottle) : test.values.some(skips);
  return isThrottle(test) || isAllButFirst(test) || isNotYet(test);
}

/** `if epoch > 0:`: in every turn but the first. */
function isAllButFirst(test: Expr): boolean {
  if (test.kind !== "Compare" || test.rights.length !== 1 || test.left.kind !== "Name") return false;
  const [op, right] = [test.ops[0]!, test.rights[0]!];
  return (
    right.kind === "Num" &&
    ((/^(?:>|!=)$/.test(op) && right.text === "0") || (op === ">=" && right.text === "1")) &&
    TURN.test(test.left.id)
  );
}

/** What counts the turns of a training, and does not count down. */
const TURN =
  /^(?:cur(?:rent)?_|global_|train_)?(?:epoch|step|iter|iteration|it|i|batch_idx|batch_id)(?:_(?:num|idx|id))?$/;

/** `if step != due: return`, `if step - last < interval: return`. */
function isNotYet(test: Expr): boolean {
  if (test.kind !== "Compare" || test.ops.length !== 1) return false;
  const [op, right] = [test.ops[0]!, test.rights[0]!];
  if (!COUNTER.test(lastName(test.left))) return false;
  return op === "!=" || (/^<=?$/.test(op) && /interval|every|freq|period/i.test(lastName(right)));
}

function leaves(statement: If): boolean {
  const final = statement.body[statement.body.length - 1];
  return final?.kind === "Continue" || final?.kind === "Return";
}

/** `if cached is not None: return cached`: what follows runs once for each key. */
function isHit({ test, body }: If): boolean {
  const final = body[body.length - 1];
  const given = final?.kind === "Return" ? final.value : null;
  if (test.kind !== "Compare" || !given) return false;
  if (test.ops[0] === "in") return given.kind === "Subscript";
  return (
    test.ops[0] === "is not" &&
    test.left.kind === "Name" &&
    given.kind === "Name" &&
    given.id === test.left.id
  );
}

/** `if best is None: best = …` runs once. */
function fillsOnce({ test, body }: If): boolean {
  return asks(test).some((one) => isFilled(one, body));
}

/** `avg = 0.9 * avg + new if avg != 0 else new`, `new if avg is None else …`: one of the two runs once. */
function isFirst(one: Expr & { kind: "IfExp" }, child: Node): boolean {
  const { test, parent } = one;
  if (test.kind !== "Compare" || parent?.kind !== "Assign") return false;
  if (!parent.targets.some((target) => isSamePlace(test.left, target))) return false;
  const [op, right] = [test.ops[0]!, test.rights[0]];
  const empty = (right?.kind === "Num" && Number(right.text) === 0) || right?.kind === "Const";
  return (
    empty && child === (/^(?:!=|is not|>)$/.test(op) ? one.orelse : /^(?:==|is)$/.test(op) ? one.body : null)
  );
}

/** The questions of `a or (b and not c)`. */
function asks(test: Expr): Expr[] {
  return test.kind === "Bool" ? test.values.flatMap(asks) : [test];
}

function isFilled(test: Expr, body: If["body"]): boolean {
  // `if not shown: shown = True`
  const left =
    test.kind === "Unary" && test.op === "not"
      ? test.operand
      : test.kind === "Compare" && test.ops[0] === "is"
        ? test.left
        : null;
  if (!left) return false;
  return body.some((one) => one.kind === "Assign" && one.targets.some((target) => isSamePlace(left, target)));
}

/** The same name, or the same attribute of one. */
function isSamePlace(a: Expr, b: Expr): boolean {
  if (a.kind === "Name") return b.kind === "Name" && a.id === b.id;
  return (
    a.kind === "Attribute" && b.kind === "Attribute" && a.attr === b.attr && isSamePlace(a.value, b.value)
  );
}

function testFrequency(statement: If, child: Node, file: PythonFile): Frequency {
  const { test } = statement;
  if (fillsOnce(statement) && statement.body.includes(child as never)) return "throttled";
  if (isExport(test)) return statement.body.includes(child as never) ? "throttled" : "every";
  if (isBegun(statement, child)) return "throttled";
  if (isOffByDefault(statement, child)) return "unknown";
  if (isForEvaluation(statement, child)) return "throttled";
  if (isWithoutRequired(statement, child)) return "unknown";
  if (isEmptied(statement, child)) return "unknown";
  // What a module has not made yet, it makes once.
  if (isUnmade(test) && statement.body.includes(child as never)) return "unknown";
  // `if early or late:`
  const named = test.kind === "Bool" && test.op === "or" ? test.values : [test];
  if (named.every((one) => one.kind === "Name" && isNamedThrottle(one.id, statement))) return "throttled";
  // `accumulating = (i + 1) % n != 0` above, and `if not accumulating:`
  if (test.kind === "Unary" && test.op === "not" && test.operand.kind === "Name")
    if (isNamedThrottle(test.operand.id, statement, isMostly)) return "throttled";
  if (isAllButFirst(test)) return statement.orelse.includes(child as never) ? "throttled" : "every";
  // `if (i + 1) % n != 0:` only adds up, and the other branch steps.
  if (isThrottle(test))
    return statement.orelse.includes(child as never) && !isMostly(test) ? "unknown" : "throttled";
  return isFlag(test) || isSwitch(statement) || isKeptSetting(test, file) ? "every" : "unknown";
}

/** `if stage == 1: … elif stage == 2: …`: a setting chooses, and goes on choosing the same. */
function isSwitch(statement: If): boolean {
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
function isExport(test: Expr): boolean {
  const name = lastName(test.kind === "Call" ? test.func : test);
  return /onnx|^(?:is_)?(?:tracing|scripting|exporting|exportable)$|^export(?:_mode)?$/.test(name);
}

/** `due = step % n == 0` above, in the same block or under a test of its own, or before the loops around. */
function isNamedThrottle(name: string, statement: If, says = isThrottle): boolean {
  const sets = (one: Node): boolean =>
    one.kind === "Assign"
      ? one.targets.some((target) => target.kind === "Name" && target.id === name) && says(one.value)
      : one.kind === "If" && [...one.body, ...one.orelse].some(sets);
  for (let at: Node = statement; at.parent && at.kind !== "FunctionDef"; at = at.parent) {
    const block: readonly Node[] = blockOf(at) ?? NO_BLOCK;
    if (block.slice(0, Math.max(0, block.indexOf(at))).some(sets)) return true;
  }
  return false;
}

/** `(i + 1) % n != 0`: in all turns but one. */
function isMostly(test: Expr): boolean {
  return test.kind === "Compare" && test.ops[0] === "!=" && isThrottle(test);
}

/** `self.graph is None` */
function isUnmade(test: Expr): boolean {
  return (
    test.kind === "Compare" &&
    test.ops[0] === "is" &&
    test.rights[0]?.kind === "Const" &&
    test.rights[0].value === null &&
    test.left.kind === "Attribute" &&
    test.left.value.kind === "Name" &&
    test.left.value.id === "self"
  );
}

/** `if not self.training:`, `if not train and split:`, and the `else` of `if self.training:`. */
function isForEvaluation(statement: If, child: Node): boolean {
  const body = statement.body.includes(child as never);
  if (statement.test.kind === "Bool" && statement.test.op === "and" && body)
    return statement.test.values.some((one) => saysEvaluation(one, true));
  return saysEvaluation(statement.test, body);
}

/** What a loop over training and validation calls the one it is at: `for phase in ["train", "val"]:`. */
const PHASE = /(?:^|_)(?:phase|mode|split|stage)$/;
const EVALUATES = /^(?:val|valid|validation|validate|eval|evaluation|evaluate|test|dev|inference)$/;

function saysEvaluation(test: Expr, body: boolean): boolean {
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
function isEmptied(statement: If, child: Node): boolean {
  const { test, body } = statement;
  if (test.kind !== "Unary" || test.op !== "not" || test.operand.kind !== "Name") return false;
  if (!body.includes(child as never) || body[body.length - 1]?.kind !== "Return") return false;
  const { id } = test.operand;
  const above = blockOf(statement) ?? NO_BLOCK;
  return above.some(
    (one) =>
      one.kind === "Assign" &&
      /^(?:Comp|List)$/.test(one.value.kind) &&
      one.targets.some((target) => target.kind === "Name" && target.id === id),
  );
}

/** `if teacher is None:` in a function that cannot be called without one; a network's own may get None for a state. */
function isWithoutRequired(statement: If, child: Node): boolean {
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

/** `if not self.hook_registered: self.register()` does it once, and the method says so. */
function isBegun({ test, body }: If, child: Node): boolean {
  return (
    test.kind === "Unary" &&
    test.op === "not" &&
    test.operand.kind === "Attribute" &&
    /(?:^|_)(?:registered|initiali[sz]ed|inited|built|installed|attached|hooked|patched|warmed_up|set_up)$/.test(
      test.operand.attr,
    ) &&
    body.includes(child as never)
  );
}

/** `if not keep_dims:` in a function whose `keep_dims` is True unless someone says otherwise. */
function isOffByDefault(statement: If, child: Node): boolean {
  const runs = statement.body.includes(child as never);
  // `if offload and inplace:` needs both.
  if (statement.test.kind === "Bool" && statement.test.op === "and" && runs)
    return statement.test.values.some((one) => isOff(one, statement, true));
  return isOff(statement.test, statement, runs);
}

function isOff(asked: Expr, statement: If, inBody: boolean): boolean {
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
  return none ? given.value === null && runs : typeof given.value === "boolean" && given.value !== runs;
}

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

const COUNTER = /step|iter|epoch|count|^i$|idx(?<!^opt(?:im|imizer)?_idx)|time/i;

/** A remainder or a counter compared: what people write to do something once in a while. */
export function isThrottle(test: Expr): boolean {
  let found = false;
  walk(test, (node) => {
    if (node.kind === "Binary" && node.op === "%" && node.left.kind !== "Str") found = true;
    else if (
      node.kind === "Compare" &&
      !isAllButFirst(node) &&
      // `i == len(loader) - 1` is the last turn only, whatever it is compared with.
      (node.rights.some((right) => right.kind === "Num") || node.ops.includes("==")) &&
      COUNTER.test(lastName(node.left))
    )
      found = true;
    // `if len(micro) == 8:` collects that many first.
    else if (node.kind === "Compare" && /^(?:==|>=)$/.test(node.ops[0]!) && isLength(node.left)) found = true;
    else if (node.kind === "Attribute" || node.kind === "Name") {
      if (
        /^(?:sync_gradients|should_\w+|do_log|log_now|is_log\w*|time_to_\w+|is_last\w*|last|last_\w+|do_step|step_now|is_accumulat\w+|is_update\w*|profile\w*|debug\w*|verbose\w*|print_\w+|first_\w+|is_first\w*|(?:\w+_)?oom(?:_\w+)?|(?:run|will|need)_\w*(?:val|eval|sav|test)\w*|save_(?:model|now|checkpoint|ckpt)|(?:is|do|to)_\w*(?:eval|valid|sav|checkpoint|logging|test)\w*|is_\w*step)$/i.test(
          lastName(node),
        )
      )
        found = true;
    }
    return !found;
  });
  return found;
}

function isLength(expr: Expr): boolean {
  return expr.kind === "Call" && expr.func.kind === "Name" && expr.func.id === "len";
}

/** `step > args.learning_starts`, `len(memory) > batch_size`: from then on it holds. */
function isPastStart({ left, ops, rights }: Expr & { kind: "Compare" }): boolean {
  const [right] = rights;
  if (rights.length !== 1 || !right || !/^>=?$/.test(ops[0]!)) return false;
  if (isLength(left))
    return (
      /memory|buffer|replay|pool|\brb\b/i.test(
        lastName((left as Expr & { kind: "Call" }).args[0]?.value ?? left),
      ) && /size|batch|start|warm|min/i.test(lastName(right))
    );
  return /start|warm_?up|burn_?in|begin|prefill|initial_/i.test(lastName(right));
}

/** Tests whose outcome is the same for every step of a run, or for all but the first. */
function isFlag(test: Expr): boolean {
  switch (test.kind) {
    case "Name":
    case "Attribute":
    case "Const":
      return true;
    // `config["use_tensorboard"]`
    case "Subscript":
      return test.index.kind === "Str" && SETTINGS.test(lastName(test.value));
    case "Unary":
      return test.op === "not" && isFlag(test.operand);
    case "Bool":
      return test.values.every(isFlag);
    case "Compare":
      if (isPastStart(test) || isOneOfChoices(test)) return true;
      if (test.left.kind === "Call" && /^(?:get_world_size|device_count)$/.test(lastName(test.left.func)))
        return true;
      return (
        test.rights.every(
          (right) =>
            right.kind === "Const" ||
            right.kind === "Str" ||
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
        /^(?:isinstance|hasattr|callable|is_available|is_main_process|is_master|is_rank_0|is_rank_zero|is_primary|is_initialized)$/.test(
          name,
        ) || name === "get_rank"
      );
    }
    default:
      return false;
  }
}

/** `if alpha != 0:` after `alpha = args.alpha`: a setting that has a name of its own. */
function isKeptSetting(test: Expr, file: PythonFile): boolean {
  if (test.kind === "Bool") return test.values.every((one) => isFlag(one) || isKeptSetting(one, file));
  if (test.kind !== "Compare" || test.left.kind !== "Name" || test.rights.length !== 1) return false;
  if (test.rights[0]!.kind !== "Num" || COUNTER.test(test.left.id)) return false;
  const kept = file.scopes.onlyValue(test.left);
  if (kept?.kind !== "Attribute" && (kept?.kind !== "Subscript" || kept.index.kind !== "Str")) return false;
  // What counts is read anew, whatever it is called here.
  const name = kept.kind === "Attribute" ? kept.attr : ((kept.index as Expr & { kind: "Str" }).value ?? "");
  const from = lastName(kept.value);
  return !COUNTER.test(name) && (SETTINGS.test(from) || (from === "self" && kept.kind === "Attribute"));
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

/** `step + 1` is named after the step. */
function lastName(expr: Expr): string {
  return expr.kind === "Binary" ? lastName(expr.left) : lastWord(expr);
}
