import type { PythonFile } from "../../python/file.ts";
import { contains, functionOf, walk } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef, If } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { returnsByName } from "./returns.ts";
import { callTarget } from "./summary.ts";
import { optimizerSteps } from "./training.ts";
import { condition, inWordsOf, isOfRanks, namesOf } from "./turn-conditions.ts";
import type { Condition } from "./turn-conditions.ts";

/** Where a function of this file is asked for a context, in which of its turns ranks exchange gradients, and what it asks for that. */
export interface Entered {
  readonly use: Call;
  readonly test: Expr;
  readonly when: boolean;
  /** In the words of whoever asks; null where these are the function's own. */
  readonly synced: Condition | null;
}

/** What a function asks before it hands back `net.no_sync()`, and the answer for which ranks exchange gradients. */
interface Asked {
  readonly test: Expr;
  readonly when: boolean;
}

/** `with sync_context(net, step, n):`, of a function of this file that returns `net.no_sync()` under a test. */
export function* enteredBy(call: Call, facts: Facts): Generator<Entered> {
  const { file } = facts;
  const fn = functionOf(call);
  if (fn?.kind !== "FunctionDef") return;
  const asked = askedIn(call, fn, file);
  if (!asked) return;
  for (const use of file.callsNamed(fn.name)) {
    if (callTarget(use, file) !== file.qualified(fn) || !isEntered(use, file)) continue;
    const flag = flagOf(asked.test, asked.when, fn, file);
    const given = flag && givenFor(flag.of, namesOf(fn), use);
    if (flag && given) yield { use, test: given, when: flag.holds, synced: null };
    else if (isSameThere(asked.test, use, fn, file)) yield { use, ...asked, synced: null };
    else if (isTold(asked.test, use, fn)) {
      const inside = condition(asked.test, asked.when, facts);
      if (inside) yield { use, ...asked, synced: inWordsOf(use, namesOf(fn), inside, file) };
    }
  }
}

function askedIn(call: Call, fn: FunctionDef, file: PythonFile): Asked | null {
  return choiceOf(call, fn, file) ?? branchOf(call, fn, file) ?? leftOver(call, fn, file);
}

/** When functions of this file that only ask their parameters hand back a context in which ranks exchange gradients, for other files. */
export function syncContexts(file: PythonFile): ReadonlyMap<FunctionDef, Condition> {
  const found = new Map<FunctionDef, Condition>();
  for (const call of file.callsNamed("no_sync")) {
    const fn = functionOf(call);
    if (call.func.kind !== "Attribute" || fn?.kind !== "FunctionDef") continue;
    const asked = fn.parent?.kind === "Module" ? askedIn(call, fn, file) : null;
    const isPlain = asked !== null && asked.test.kind === "Compare" && isOfParameters(asked.test, fn);
    const synced = isPlain
      ? condition(asked.test, asked.when, { file })
      : asked && flagOf(asked.test, asked.when, fn, file);
    if (synced) found.set(fn, synced);
  }
  return found;
}

/** What a flag is asked for. */
const SET = "True";

/**
 * `sync` of `if sync or not isinstance(module, DDP): yield`, and of `module.no_sync() if not sync else nullcontext()`: a parameter
 * that says it outright, beside what asks whether there is anything to exchange.
 */
function flagOf(test: Expr, when: boolean, fn: FunctionDef, file: PythonFile): Condition | null {
  if (test.kind === "Unary" && test.op === "not") return flagOf(test.operand, !when, fn, file);
  if (test.kind === "Bool" && (test.op === "or") === when) {
    const [asked, ...more] = test.values.filter((one) => !isOfKinds(one, file) && !isOfRanks(one, file));
    return asked && more.length === 0 ? flagOf(asked, when, fn, file) : null;
  }
  return test.kind === "Name" && fn.params.some(({ name }) => name === test.id)
    ? { of: test.id, by: "", is: SET, holds: when }
    : null;
}

/** `not isinstance(module, (DDP, FSDP))`, `hasattr(module, "no_sync")` */
function isOfKinds(test: Expr, file: PythonFile): boolean {
  const asked = test.kind === "Unary" && test.op === "not" ? test.operand : test;
  return asked.kind === "Call" && /^builtins\.(?:isinstance|hasattr)$/.test(file.dotted(asked.func) ?? "");
}

/** What a call gives for a parameter, where it hides nothing behind a star. */
function givenFor(param: string, params: readonly string[], { args }: Call): Expr | null {
  if (args.some(({ star }) => star !== 0)) return null;
  const at = params.indexOf(param) - (params[0] === "self" ? 1 : 0);
  return args.find(({ name }, index) => (name === null ? index === at : name === param))?.value ?? null;
}

function isOfParameters(test: Expr, { params }: FunctionDef): boolean {
  let all = true;
  walk(test, (node) => {
    if (node.kind === "Name") all &&= params.some(({ name }) => name === node.id);
  });
  return all;
}

/** Where a function of another file is asked for such a context: `test` is the flag that it is given for that, or else the call. */
export function* enteredFromElsewhere(
  facts: Facts,
): Generator<{ use: Call; test: Expr; when: boolean; synced: Condition | null }> {
  const { file } = facts;
  if (optimizerSteps(file).length === 0) return;
  for (const { context } of file.all("WithItem")) {
    const made = context.kind === "Name" ? file.scopes.onlyValue(context) : context;
    const name = made?.kind === "Call" ? file.dotted(made.func) : null;
    if (made?.kind !== "Call" || name === null || /^(?:torch|builtins)\./.test(name)) continue;
    const callee = name.startsWith(`${file.module}.`) ? null : facts.callee(made);
    if (!callee?.syncs) continue;
    const { of, is, holds } = callee.syncs;
    const flag = is === SET ? givenFor(of, callee.params, made) : null;
    if (flag) yield { use: made, test: flag, when: holds, synced: condition(flag, holds, facts) };
    else if (is !== SET && tellsAll(made, callee.params, callee.syncs))
      yield {
        use: made,
        test: made,
        when: true,
        synced: inWordsOf(made, callee.params, callee.syncs, file),
      };
  }
}

/** Whether a call gives all that is asked of. */
function tellsAll({ args }: Call, params: readonly string[], { of, by, is }: Condition): boolean {
  const words = new Set(`${of} ${by} ${is}`.split(/\W+/));
  return (
    args.every(({ star }) => star === 0) &&
    params.every(
      (param, at) => !words.has(param) || at < args.length || args.some(({ name }) => name === param),
    )
  );
}

/** In a `with`, or under a name that one enters. */
function isEntered({ parent }: Call, { scopes }: PythonFile): boolean {
  if (parent?.kind === "WithItem") return true;
  const target = parent?.kind === "Assign" && parent.targets.length === 1 ? parent.targets[0]! : null;
  const made = target?.kind === "Name" ? scopes.definitionAt(target) : null;
  return made !== null && scopes.uses(made).some((one) => one.parent?.kind === "WithItem");
}

/** `return net.no_sync() if … else nullcontext()`, or what is returned by the name it was given. */
function choiceOf(call: Call, fn: FunctionDef, file: PythonFile): Asked | null {
  const choice = call.parent?.kind === "IfExp" && call.parent.test !== call ? call.parent : null;
  const returned = file.once(returnsByName).get(file.qualified(fn)) ?? [];
  const isHandedBack = (value: Expr): boolean =>
    value === choice || (value.kind === "Name" && file.scopes.onlyValue(value) === choice);
  return choice && returned.length === 1 && returned.every(isHandedBack)
    ? { test: choice.test, when: choice.orelse === call }
    : null;
}

/** `if …: return net.no_sync()`, or in a context manager `if …: with net.no_sync(): yield`. */
function branchOf(call: Call, fn: FunctionDef, file: PythonFile): Asked | null {
  const block = call.parent?.kind === "WithItem" ? call.parent.parent : null;
  const given =
    call.parent?.kind === "Return"
      ? call.parent
      : block && isManager(fn, file) && file.all("Yield").some((one) => contains(block, one))
        ? block
        : null;
  const branch = given?.parent?.kind === "If" ? given.parent : null;
  return branch && branch.parent === fn
    ? { test: branch.test, when: branch.orelse.includes(given as never) }
    : null;
}

/** `if …: return nullcontext()`, and below it `return net.no_sync()`. */
function leftOver(call: Call, fn: FunctionDef, file: PythonFile): Asked | null {
  const { parent } = call;
  if (parent?.kind !== "Return" || parent.parent !== fn) return null;
  const above = fn.body.filter(
    (one): one is If => one.kind === "If" && one.end <= parent.start && one.body.at(-1)!.kind === "Return",
  );
  // With one process there is nothing to exchange.
  const [one, ...more] = above.filter(({ test }) => !isOfRanks(test, file));
  return one && more.length === 0 && one.orelse.length === 0 ? { test: one.test, when: true } : null;
}

function isManager({ decorators }: FunctionDef, file: PythonFile): boolean {
  return decorators.some((one) => file.dotted(one) === "contextlib.contextmanager");
}

/** Made of attributes of self, and of what the caller has under the same name. */
function isSameThere(test: Expr, use: Call, fn: FunctionDef, file: PythonFile): boolean {
  const shift = fn.parent?.kind === "ClassDef" ? 1 : 0;
  let same = true;
  walk(test, (node) => {
    if (node.kind !== "Name" || node.id === "self") return;
    const at = fn.params.findIndex(({ name }) => name === node.id) - shift;
    const given = use.args.find(({ name }, index) => (name === null ? index === at : name === node.id));
    same &&= at >= 0 && given !== undefined && file.textOf(given.value) === node.id;
  });
  return same;
}

/** Made of attributes of self, and of parameters that the caller gives. */
function isTold(test: Expr, use: Call, fn: FunctionDef): boolean {
  const shift = fn.parent?.kind === "ClassDef" ? 1 : 0;
  let told = use.args.every(({ star }) => star === 0);
  walk(test, (node) => {
    if (node.kind !== "Name" || node.id === "self") return;
    const at = fn.params.findIndex(({ name }) => name === node.id) - shift;
    told &&= at >= 0 && use.args.some(({ name }, index) => (name === null ? index === at : name === node.id));
  });
  return told;
}
