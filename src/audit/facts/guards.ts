import { isTrue } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { blockOf, classOf, contains, isStatement, walk } from "../../python/nodes.ts";
import type { Call, Expr, If, Node, Stmt } from "../../python/tree.ts";
import { handedIn } from "./handed-in.ts";
import { isSettled } from "./settled-tests.ts";
import {
  isEmptied,
  isExport,
  isFlag,
  isForEvaluation,
  isKeptSetting,
  isOff,
  isOffByDefault,
  isSwitch,
  isToldToJudge,
  isWithoutRequired,
  saysEvaluation,
} from "./switches.ts";
import {
  fillsOnce,
  isAllButFirst,
  isBegun,
  isFirst,
  isHit,
  isLength,
  isMostly,
  isNamedThrottle,
  isThrottle,
  isUnmade,
  skips,
} from "./turns.ts";

/**
 * How often a statement runs each time the code around it does.
 * "every": nothing stands between, or only flags that hold for a whole run (a setting, a rank, `is not None`).
 * "throttled": a remainder, a schedule or a counter decides. "unknown": a test we cannot read.
 */
export type Frequency = "every" | "throttled" | "unknown";

const NO_BLOCK: readonly Stmt[] = [];

/** Answers of `outerFrequency`, by the statement: its calls are all asked about, and by many rules. */
const answers = (): Map<Stmt, { readonly stop: Node; readonly frequency: Frequency }> => new Map();

/** Answers of `testFrequency`, for the body and for the rest: every statement in there asks the same. */
const tests = (): readonly [Map<If, Frequency>, Map<If, Frequency>] => [new Map(), new Map()];

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
      if (isForNone(at, child) || isForMissing(at, child, file)) result = "unknown";
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
      // `if is_eval: return …`: the rest is for training.
      if (isToldToJudge(before.test, true)) continue;
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

/** `zero if loss is None else loss`, of what something else gave: it may never be None. A parameter is None unless somebody gives it. */
function isForMissing(
  { test, body, orelse }: Expr & { kind: "IfExp" },
  child: Node,
  file: PythonFile,
): boolean {
  const none = test.kind === "Compare" && test.ops[0] === "is" ? test.rights[0] : undefined;
  if (test.kind !== "Compare" || test.left.kind !== "Name" || orelse.kind !== "Name" || child !== body)
    return false;
  return (
    none?.kind === "Const" &&
    none.value === null &&
    orelse.id === test.left.id &&
    file.scopes.reaching(orelse).every(({ how }) => how === "assign" || how === "unpack")
  );
}

/** `if update:` of `def train_batch(x, update=True)`, which this file calls as `train_batch(x, (i + 1) % n == 0)` or not at all. */
export function isHandedThrottle(test: Expr, file: PythonFile): boolean {
  const [param, ...more] = test.kind === "Name" ? file.scopes.reaching(test) : [];
  const handed = param?.how === "param" && more.length === 0 ? handedIn(param, file, true) : [];
  const says = (value: Expr): boolean => {
    const made = value.kind === "Name" ? file.scopes.onlyValue(value) : value;
    return made !== null && isThrottle(made);
  };
  return handed.length > 0 && handed.every(says);
}

/** `warnings.warn(…)`, `logger.warning(…)` */
function isComplaint({ func }: Call): boolean {
  return func.kind === "Attribute" && /^(?:warn|warning|error|critical)$/.test(func.attr);
}

function leaves(statement: If): boolean {
  const final = statement.body[statement.body.length - 1];
  return final?.kind === "Continue" || final?.kind === "Return";
}

function testFrequency(statement: If, child: Node, file: PythonFile): Frequency {
  const known = file.once(tests)[statement.body.includes(child as never) ? 0 : 1];
  let answer = known.get(statement);
  if (answer === undefined) known.set(statement, (answer = readTest(statement, child, file)));
  return answer;
}

function readTest(statement: If, child: Node, file: PythonFile): Frequency {
  const { test } = statement;
  const inBody = statement.body.includes(child as never);
  const inElse = !inBody && statement.orelse.includes(child as never);
  if (inBody && fillsOnce(statement)) return "throttled";
  if (isExport(test)) return inBody ? "throttled" : "every";
  if (isBegun(statement, child)) return "throttled";
  if (isToldToJudge(test, inBody)) return "throttled";
  if (isToldToJudge(test, !inBody)) return "every";
  if (isOffByDefault(statement, child) && !isOnInTraining(statement, file)) return "unknown";
  if (isForEvaluation(statement, child)) return "throttled";
  if (isWithoutRequired(statement, child)) return "unknown";
  if (isEmptied(statement, child)) return "unknown";
  // What a module has not made yet, it makes once.
  if (inBody && isUnmade(test)) return "unknown";
  // Said by its name alone to hold now and then.
  const throttles = isThrottle(test);
  if (inBody && throttles && isSettled(test, file)) return "every";
  // `if early or late:`
  const named = test.kind === "Bool" && test.op === "or" ? test.values : [test];
  if (named.every((one) => one.kind === "Name" && isNamedThrottle(one.id, statement))) return "throttled";
  if (isHandedThrottle(test, file)) return inBody ? "throttled" : "unknown";
  // `accumulating = (i + 1) % n != 0` above, and `if not accumulating:`
  if (test.kind === "Unary" && test.op === "not" && test.operand.kind === "Name")
    if (isNamedThrottle(test.operand.id, statement, isMostly)) return "throttled";
  if (isAllButFirst(test)) return inElse ? "throttled" : "every";
  // `if (i + 1) % n != 0:` only adds up, and the other branch steps.
  if (throttles) return inElse && !isMostly(test) ? "unknown" : "throttled";
  // `if kv_cache is not None and …:` is how a model generates; a training comes to the other branch.
  if (inElse && CACHED.test(file.textOf(test))) return "every";
  // `if torch.jit.is_tracing() or self.training:` always holds in a training, `if not self.training and n > self.longest:` never.
  if (inBody && TRAINED.test(file.textOf(test))) return "every";
  if (inElse && UNTRAINED.test(file.textOf(test))) return "every";
  if (inBody ? isFine(test, file) : isSpoilt(test, file)) return "every";
  return isFlag(test) || isSwitch(statement) || isKeptSetting(test, file) ? "every" : "unknown";
}

/** `if is_train and augments:` of `def process(self, batch, is_train=False)`, which this file calls with True: a training does. */
function isOnInTraining({ test }: If, file: PythonFile): boolean {
  const asked = test.kind === "Bool" && test.op === "and" ? test.values : [test];
  const isOn = (one: Expr): boolean => {
    if (one.kind !== "Name" || !/^(?:(?:is|in|for)_)?train(?:ing)?$/.test(one.id)) return false;
    const [param, ...more] = file.scopes.reaching(one);
    return param?.how === "param" && more.length === 0 && handedIn(param, file, true).some(isTrue);
  };
  return asked.every((one) => isOn(one) || !isOff(one, test.parent as If, true)) && asked.some(isOn);
}

/** `if torch.isfinite(loss):`, `if scale != float("inf"):`: what is not so is rare. */
function isFine(test: Expr, file: PythonFile): boolean {
  return (
    test.kind !== "Bool" &&
    /^(?:\w+\.)?isfinite\(|^not (?:\w+\.)?is(?:nan|inf)\(|!= float\(["']-?inf["']\)$/.test(file.textOf(test))
  );
}

/** The same of the other branch: `if math.isnan(value): … else:`. */
function isSpoilt(test: Expr, file: PythonFile): boolean {
  return (
    test.kind !== "Bool" &&
    /^(?:\w+\.)?is(?:nan|inf)\(|^not (?:\w+\.)?isfinite\(|== float\(["']-?inf["']\)$/.test(file.textOf(test))
  );
}

const TRAINED = /^(?!.*\band\b)(?:.*\bor )?self\.training(?: or\b.*)?$/;

const UNTRAINED = /^\(?not self\.training and (?!.*\bor\b)/;

const CACHED = /^\(?\w*(?:cache|past)\w* is not None\b/;

/**
 * `accelerator.sync_gradients`, also under a name and beside flags of the whole run, `and accelerator.is_main_process`: as often as
 * the optimizer steps.
 */
export function isSynced(test: Expr, file: PythonFile): boolean {
  if (test.kind === "Bool")
    return (
      test.op === "and" &&
      test.values.some((one) => isSynced(one, file)) &&
      test.values.every((one) => isSynced(one, file) || (isFlag(one) && !isThrottle(one)))
    );
  const asked = test.kind === "Name" ? file.scopes.onlyValue(test) : test;
  return asked?.kind === "Attribute" && asked.attr === "sync_gradients";
}

/** In the `else` of the same test: `if amp: scaler.scale(loss).backward()`, `else: loss.backward()`. */
export function isOtherBranch(a: Node, b: Node): boolean {
  for (let at: Node | null = a; at; at = at.parent) {
    const test: Node | null = at.parent;
    if (test?.kind !== "If" || !contains(test, b)) continue;
    const inBody = (node: Node): boolean => test.body.some((one) => contains(one, node));
    const inElse = (node: Node): boolean => test.orelse.some((one) => contains(one, node));
    return (inBody(a) && inElse(b)) || (inElse(a) && inBody(b));
  }
  return false;
}

/** Never both in one run of the function: in the `else` of the same test, or in a branch that ends above with `return`. */
export function isOnOtherWay(a: Node, b: Node): boolean {
  if (isOtherBranch(a, b)) return true;
  for (let child = a, at = a.parent; at && at.kind !== "FunctionDef"; child = at, at = at.parent) {
    if (at.kind !== "If" || child === at.test || contains(at, b) || at.end > b.start) continue;
    const branch: readonly Node[] = at.body.includes(child as never) ? at.body : at.orelse;
    if (/^(?:Return|Raise)$/.test(branch.at(-1)?.kind ?? "")) return true;
  }
  return false;
}
