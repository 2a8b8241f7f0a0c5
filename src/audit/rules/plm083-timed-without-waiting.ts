import { argument } from "../../python/file.ts";
import {
  ancestors,
  blockOf,
  classOf,
  contains,
  functionOf,
  lastWord,
  statementOf,
  walk,
} from "../../python/nodes.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Attribute, Call, Expr, For, FunctionDef, Name, Node, With } from "../../python/tree.ts";
import { attributesOf, methodsOf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { isWork } from "../facts/queued-work.ts";
import { isMain } from "../facts/summary.ts";
import { loopsAround } from "../facts/training.ts";
import { WAITS, hasClock, readsClock, timersOf } from "../facts/timers.ts";
import { codeOfEachTurn, isNowAndThen, waitsBelow } from "../facts/waiting.ts";
import type { Finding, Rule } from "../rule.ts";

const MESSAGE =
  "Between the two readings the device's work is only queued: this times the launching; wait for the device before each reading";

export const rule: Rule = {
  meta: {
    code: "PLM083",
    name: "timed-without-waiting",
    summary: "A clock around device work is read before the device has done it",
    severity: "note",
    fix: "none",
    patterns: [83],
  },
  *check(facts) {
    const { file } = facts;
    const clock = hasClock(file);
    // A framework takes the device that is there, whoever names it.
    if (clock) yield* hooks(facts);
    if (facts.guesses) yield* likelySpans(facts);
    const trains = facts.accelerator || (facts.guesses && facts.backwards.length > 0);
    if ((!clock && facts.project.timers.length === 0 && !facts.guesses) || !trains) return;
    yield* blocks(facts);
    yield* pairs(facts);
    if (!clock) return;
    for (const difference of file.all("Binary")) {
      if (difference.op !== "-" || (facts.guesses && isInSeconds(difference))) continue;
      const start =
        difference.right.kind === "Name"
          ? clockStart(difference.right, facts)
          : difference.right.kind === "Subscript"
            ? clockUnderKey(difference, difference.right, facts)
            : clockOnSelf(difference, facts);
      // `total + time.time() - start`
      const left =
        difference.left.kind === "Binary" && difference.left.op === "+"
          ? difference.left.right
          : difference.left;
      const end = readsClock(left, facts.file) ? left : left.kind === "Name" ? clockStart(left, facts) : null;
      const turn = !start && end ? turnCarried(difference, facts) : null;
      if (turn) {
        const whole = { start: turn.body[0]!.start, end: turn.body.at(-1)!.end };
        if (
          !WAITS.test(codeOfEachTurn(whole, difference, file)) &&
          isOnlyQueued(turn, { ...whole, end: difference.start }, difference, facts)
        )
          yield { at: difference, message: MESSAGE };
        continue;
      }
      const begun = start ?? (readsClock(left, facts.file) ? clockInCaller(difference, facts) : null);
      if (!begun || !end) continue;
      const fn = functionOf(begun);
      // Read by a method that is called when the work is done, the clock stops with that call.
      const stop = fn === functionOf(difference) ? end : callAfter(begun, difference, facts);
      if (!stop || stop.start < begun.start) continue;
      // How long the training has run so far.
      if (loopsAround(end).some((loop) => facts.stepLoops.has(loop) && !contains(loop, begun))) continue;
      // What is read only now and then may be read just when something waits.
      const timed = isReadNowAndThen(difference, file) ? null : begun;
      if (isOnlyQueued(begun, { start: begun.end, end: stop.start }, timed, facts))
        yield { at: difference, message: MESSAGE };
    }
  },
};

/**
 * What is likely: of any difference with a reading of a clock, `time.time() - x`, where the last that gave `x` a reading stands above it,
 * or gives it to the function that takes the difference: `log_time(begun)`.
 */
function* likelySpans(facts: Facts): Generator<Finding> {
  const { file } = facts;
  if (facts.backwards.length === 0 && facts.project.accelerated.size === 0) return;
  for (const call of file.callsNamed("timeit", "repeat"))
    if ((file.dotted(call.func) ?? "").startsWith("timeit.") && call.args[0]?.value.kind === "Lambda") {
      const { body } = call.args[0].value;
      if (body.kind === "Call" && isWork(body, null, facts) && !WAITS.test(file.codeOf(body)))
        yield { at: call, message: MESSAGE };
    }
  for (const difference of file.all("Binary")) {
    if (difference.op !== "-" || ancestors(difference).some((at) => at.kind === "If" && isMain(at))) continue;
    if (isInSeconds(difference)) continue;
    const now = readsSomeClock(difference.left, file)
      ? difference.left
      : lastReading(difference.left, difference, file);
    if (!now) continue;
    const begun = lastReading(difference.right, now, file);
    const spans = begun ? [{ begun, end: now }] : handedReadings(difference, facts);
    for (const { begun: from, end } of spans) {
      const between = { start: from.end, end: end.start };
      if (
        end.start > from.end &&
        loopsAround(end).every((loop) => contains(loop, from)) &&
        !TELLS.test(file.codeOf(between)) &&
        !hasTrained(between, end, facts) &&
        isOnlyQueued(from, between, isReadNowAndThen(difference, file) ? null : from, facts)
      ) {
        yield { at: difference, message: MESSAGE };
        break;
      }
    }
  }
}

/** `timedelta(seconds=int(time.time() - start))`: how long a whole run took. */
const isInSeconds = (difference: Node): boolean =>
  ancestors(difference).some((at) => at.kind === "Call" && lastWord(at.func) === "int") &&
  ancestors(difference).some((at) => at.kind === "Call" && lastWord(at.func) === "timedelta");

/** A loss that is told reads it, and with it waits. */
const TELLS = /\b(?:print|info|log\w*|add_scalars?|set_postfix\w*|set_description|update)\([^)]*(?:loss|acc)/;

/** A loop of many steps is timed well enough: only the last of them is missing. */
function hasTrained(
  between: { readonly start: number; readonly end: number },
  end: Node,
  { backwards, stepLoops }: Facts,
): boolean {
  const isWithin = (node: Node): boolean => between.start <= node.start && node.end <= between.end;
  return (
    [...stepLoops].some(isWithin) ||
    backwards.some(({ call }) => isWithin(call) && loopsAround(call).some((loop) => !contains(loop, end)))
  );
}

/** Also by another name: `clock = time.perf_counter`. */
function readsSomeClock(expr: Expr, file: PythonFile): boolean {
  if (readsClock(expr, file)) return true;
  const named = expr.kind === "Call" && expr.func.kind === "Name" ? file.scopes.onlyValue(expr.func) : null;
  return named !== null && /^time\.\w+$|^timeit\.default_timer$/.test(file.dotted(named) ?? "");
}

/** The reading of a clock that a name, an attribute or an entry was given last, above a place in the same function. */
function lastReading(of: Expr, before: Node, file: PythonFile): Expr | null {
  if (of.kind !== "Name" && of.kind !== "Attribute" && of.kind !== "Subscript") return null;
  const text = file.textOf(of);
  const given =
    of.kind === "Name"
      ? file.scopes
          .reaching(of)
          .flatMap(({ value, node }) => (value && node.start < before.start ? [value] : []))
      : file
          .all("Assign")
          .filter(
            (one) =>
              one.end <= before.start &&
              functionOf(one) === functionOf(before) &&
              one.targets.some((target) => file.textOf(target) === text),
          )
          .map(({ value }) => value);
  // What one turn hands to the next times the turns between.
  if (of.kind === "Name" && file.scopes.reaching(of).some(({ node }) => node.start > before.start))
    return null;
  const last = given.toSorted((a, b) => a.start - b.start).at(-1);
  return last && functionOf(last) === functionOf(before) && readsSomeClock(last, file) ? last : null;
}

/** `elapsed(begun)`, where `def elapsed(since): return time.time() - since` stands in this file. */
function handedReadings(
  { right }: Expr & { kind: "Binary" },
  { file }: Facts,
): readonly { readonly begun: Expr; readonly end: Node }[] {
  const fn = functionOf(right);
  if (right.kind !== "Name" || fn?.kind !== "FunctionDef") return [];
  const at = fn.params.findIndex(({ name }) => name === right.id) - (fn.params[0]?.name === "self" ? 1 : 0);
  if (at < 0) return [];
  return file.callsNamed(fn.name).flatMap((call) => {
    const given = argument(call, right.id, at);
    const begun = given && lastReading(given, call, file);
    return begun ? [{ begun, end: call }] : [];
  });
}

/** Between two readings of a clock in one function there is device work, and nothing that waits for it. */
function isOnlyQueued(
  begun: Node,
  between: { readonly start: number; readonly end: number },
  timed: Node | null,
  facts: Facts,
): boolean {
  const { file } = facts;
  if (WAITS.test(codeOfEachTurn(between, timed, file))) return false;
  let works = false;
  let waits = false;
  walk(functionOf(begun) ?? file.tree.module, (node) => {
    if (node.kind === "Call" && between.start <= node.start && node.end <= between.end) {
      if (isWork(node, timed, facts)) works = true;
      if (isWait(node, facts)) waits = true;
    }
    return !waits;
  });
  return works && !waits;
}

/** `timer.tic()`, device work, and `timer.toc()`, of a class of the tree that keeps the clock. */
function* pairs(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const elsewhere = facts.project.timers.filter((one) => one.includes(">"));
  for (const pair of new Set([...file.once(timersOf).pairs, ...elsewhere])) {
    const [start, stop] = pair.split(">") as [string, string];
    const callsOf = (method: string): readonly (Call & { func: Attribute })[] =>
      file
        .callsNamed(method.slice(method.lastIndexOf(".") + 1))
        .filter((call): call is Call & { func: Attribute } => {
          const made = call.func.kind === "Attribute" ? madeBy(call.func, file) : null;
          return made !== null && isNamed(made, [method]);
        });
    for (const end of callsOf(stop)) {
      const object = file.textOf(end.func.value);
      const begun = callsOf(start).findLast(
        (one) =>
          one.end < end.start &&
          functionOf(one) === functionOf(end) &&
          file.textOf(one.func.value) === object &&
          // `timer.tic("forward")` is told apart from `timer.tic("step")`.
          keyOf(one) === keyOf(end),
      );
      if (begun && isOnlyQueued(begun, { start: begun.end, end: end.start }, begun, facts))
        yield { at: end, message: MESSAGE };
    }
  }
}

const keyOf = ({ args: [key] }: Call): string | null => (key?.value.kind === "Str" ? key.value.value : null);

/** Device work in a block that a timer is put around, or in a function that one of this file is. */
function* blocks(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const { blocks: timers, decorators } = file.once(timersOf);
  const elsewhere = facts.project.timers;
  if (timers.size > 0 || elsewhere.length > 0 || facts.guesses)
    for (const block of file.all("With"))
      for (const { context } of block.items) {
        // `with timers["forward"]:`, of a dict of them.
        const timer = (context.kind === "Subscript" ? heldIn(context.value, file) : null) ?? context;
        const made = madeBy(timer, file);
        const isTimer = made !== null && (timers.has(made) || isNamed(made, elsewhere));
        if ((isTimer || (facts.guesses && isLikelyTimer(context, made, file))) && isUnwaited(block, facts))
          yield { at: context, message: MESSAGE };
      }
  if (decorators.size > 0 || elsewhere.length > 0)
    for (const fn of file.all("FunctionDef"))
      for (const decorator of fn.decorators) {
        const made = file.dotted(decorator);
        if (made !== null && (decorators.has(made) || isNamed(made, elsewhere)) && isUnwaited(fn, facts))
          yield { at: decorator, message: MESSAGE };
      }
}

/** `with Timer("forward"):`, of a library that knows of no device. */
function isLikelyTimer(context: Expr, made: string | null, file: PythonFile): boolean {
  if (made === null || context.kind !== "Call" || made.startsWith(`${file.module}.`)) return false;
  return /^(?:codetiming|contexttimer|timer|timebudget|stopwatch|pytictoc|time|timeit)\.\w+$/i.test(made);
}

/** By its qualified name, or by the end of that. */
function isNamed(made: string, qualified: readonly string[]): boolean {
  return qualified.some((one) => one === made || one.endsWith(`.${made}`));
}

/**
 * What made a timer, by its name: `Timer` of `with Timer():` and of `with watch:` after `watch = Timer()`, or `Chrono.measure` of
 * `with self.chrono.measure("forward"):` after `self.chrono = Chrono()`.
 */
function madeBy(timer: Expr, file: PythonFile, depth = 0): string | null {
  if (depth > 3) return null;
  if (timer.kind === "Call") return madeBy(timer.func, file, depth + 1);
  const named = timer.kind === "Name" || timer.kind === "Attribute" ? file.dotted(timer) : null;
  if (named !== null) return named;
  const kept = keptObject(timer, file);
  if (kept) return madeBy(kept, file, depth + 1);
  const of = timer.kind === "Attribute" ? keptObject(timer.value, file) : null;
  const cls = of && madeBy(of, file, depth + 1);
  return cls && timer.kind === "Attribute" ? `${cls}.${timer.attr}` : null;
}

/** The call that gave a name, or an attribute of the class, what it has. */
function keptObject(expr: Expr, file: PythonFile): Call | null {
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const [write, ...more] = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  const made =
    expr.kind === "Name" ? givenAlone(expr, file) : more.length === 0 ? (write?.value ?? null) : null;
  return made?.kind === "Call" ? made : null;
}

/** Its only value, also of `data, model = Timer(), Timer()`. */
function givenAlone(name: Name, { scopes }: PythonFile): Expr | null {
  const [one, ...more] = scopes.reaching(name);
  if (one?.how !== "unpack" || more.length > 0 || one.index === null) return scopes.onlyValue(name);
  return one.value?.kind === "Tuple" ? (one.value.items[one.index] ?? null) : null;
}

/** What a dict, or a list, holds: `{name: Timer(device) for name in names}`. */
function heldIn(expr: Expr, file: PythonFile): Expr | null {
  const made = expr.kind === "Name" ? file.scopes.onlyValue(expr) : null;
  if (made?.kind === "Comp") return made.value ?? made.element;
  return made?.kind === "Dict" ? (made.values[0] ?? null) : null;
}

/** A callback that reads the clock when a batch begins and when it ends: the framework's work lies between. */
function* hooks(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const difference of file.all("Binary")) {
    const own = difference.op === "-" ? selfAttribute(difference.right) : null;
    const fn = own === null ? null : functionOf(difference);
    const cls = fn?.parent?.kind === "ClassDef" ? fn.parent : null;
    if (!cls || fn?.kind !== "FunctionDef" || !/^on_(?:train_)?(?:batch|step)_end$/.test(fn.name)) continue;
    if (facts.role(cls) !== "callback" && facts.role(cls) !== "lightning") continue;
    const writes = attributesOf(cls, file).get(own!)?.writes ?? [];
    if (
      readsClock(difference.left, facts.file) &&
      writes.some(
        ({ in: method, value }) =>
          /^on_(?:train_)?(?:batch|step)_(?:start|begin)$/.test(method.name) &&
          value !== null &&
          readsClock(value, facts.file),
      ) &&
      !WAITS.test(file.codeOf({ start: fn.start, end: difference.start })) &&
      !methodsOf(cls).some((method) => TIMED.test(method.name) && waitsBelow(method, true, file))
    )
      yield { at: difference, message: MESSAGE };
  }
}

/** What runs between the two: what an evaluation waits for is not timed. */
const TIMED = /^(?:on_(?:train_)?(?:batch|step)_(?:start|begin)|training_step|optimizer_step|backward)$/;

/** Runs a network, or a backward, and nothing that waits for it. */
function isUnwaited(timed: With | FunctionDef, facts: Facts): boolean {
  let works = false;
  for (const statement of timed.body) {
    if (WAITS.test(codeOfEachTurn(statement, timed, facts.file))) return false;
    walk(statement, (node) => {
      if (node.kind === "Call" && isWork(node, timed, facts)) works = true;
    });
  }
  return works;
}

/** Under `if step % 100 == 0:`, or by a name that is only read there. */
function isReadNowAndThen(difference: Expr, file: PythonFile): boolean {
  const isUnder = (node: Node): boolean => ancestors(node).some((at) => at.kind === "If" && isNowAndThen(at));
  if (isUnder(difference)) return true;
  const statement = statementOf(difference);
  const target = statement?.kind === "Assign" ? statement.targets[0] : undefined;
  const named = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  return named !== null && file.scopes.uses(named).every(isUnder);
}

/** A name or function of this file that stands for waiting: `wait = torch.cuda.synchronize if … else …`. */
function isWait(call: Call, facts: Facts): boolean {
  return (
    call.func.kind === "Name" &&
    (facts.file.scopes.lookup(call.func)?.definitions ?? []).some(({ node, value }) =>
      /synchronize/.test(facts.file.textOf(node.kind === "FunctionDef" ? node : (value ?? node))),
    )
  );
}

/** The clock call that one definition gave the name. */
function clockStart(name: Expr & { kind: "Name" }, facts: Facts): Expr | null {
  const value = facts.file.scopes.onlyValue(name);
  return value && readsClock(value, facts.file) ? value : null;
}

/**
 * The loop whose turns are timed by a clock that the one hands to the next: `end = time.time()` above it, and again when
 * `time.time() - end` has been read. What waits anywhere in it makes each of them last as long as its work.
 */
function turnCarried({ right, end: read, left }: Expr & { kind: "Binary" }, { file }: Facts): For | null {
  const [loop] = right.kind === "Name" ? loopsAround(right) : [];
  if (right.kind !== "Name" || loop?.kind !== "For" || !readsClock(left, file)) return null;
  const made = file.scopes.reaching(right);
  const again = made.filter(({ node }) => contains(loop, node));
  // Under `if step % 100 == 0:` it times a hundred turns, and may wait for them.
  const isEach = (node: Node): boolean => blockOf(node) === loop.body;
  return made.length === 2 &&
    again.length === 1 &&
    again[0]!.node.start > read &&
    [right, again[0]!.node].every((one) => isEach(statementOf(one)!)) &&
    made.every(({ how, value }) => how === "assign" && value !== null && readsClock(value, file))
    ? loop
    : null;
}

/** `clock["start"] = time.time()` earlier in the same function. */
function clockUnderKey(
  difference: Expr & { kind: "Binary" },
  key: Expr & { kind: "Subscript" },
  facts: Facts,
): Expr | null {
  const { file } = facts;
  if (key.index.kind !== "Str" || key.value.kind !== "Name" || !readsClock(difference.left, facts.file))
    return null;
  const text = file.textOf(key);
  const set = file
    .all("Assign")
    .filter(
      ({ targets: [target], end }) =>
        target?.kind === "Subscript" &&
        end < difference.start &&
        functionOf(target) === functionOf(difference) &&
        file.textOf(target) === text,
    );
  const value = set.length === 1 ? set[0]!.value : null;
  return value && readsClock(value, facts.file) ? value : null;
}

/** `self.started = time.time()` earlier in the same method. */
function clockOnSelf(difference: Expr & { kind: "Binary" }, facts: Facts): Expr | null {
  const own = selfAttribute(difference.right);
  const cls = own === null ? null : classOf(difference);
  const writes = cls ? (attributesOf(cls, facts.file).get(own!)?.writes ?? []) : [];
  const here = writes.filter(
    ({ in: method, value }) =>
      method === functionOf(difference) && value !== null && value.start < difference.start,
  );
  const value = here.length === 1 ? here[0]!.value : null;
  return value && readsClock(value, facts.file) ? value : null;
}

/** `self.started = time.time()` in the one other method that sets it. */
function clockInCaller(difference: Expr & { kind: "Binary" }, facts: Facts): Expr | null {
  const own = selfAttribute(difference.right);
  const cls = own === null ? null : classOf(difference);
  const writes = cls ? (attributesOf(cls, facts.file).get(own!)?.writes ?? []) : [];
  const [one, ...more] = writes.filter(({ in: method }) => method.name !== "__init__");
  return one?.value && more.length === 0 && readsClock(one.value, facts.file) ? one.value : null;
}

/** The first call, after the clock was started, of the method that reads it again; null where that waits by itself. */
function callAfter(begun: Expr, difference: Expr, { file }: Facts): Call | null {
  const fn = functionOf(difference);
  if (fn?.kind !== "FunctionDef" || WAITS.test(file.text.slice(fn.start, difference.start))) return null;
  return (
    file
      .callsNamed(fn.name)
      .find(
        (call) =>
          functionOf(call) === functionOf(begun) &&
          call.start > begun.start &&
          selfAttribute(call.func) === fn.name,
      ) ?? null
  );
}
