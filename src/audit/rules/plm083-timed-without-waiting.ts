import { ancestors, classOf, contains, functionOf, lastWord, statementOf, walk } from "../../python/nodes.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Arg, Call, Expr, FunctionDef, If, Node, With } from "../../python/tree.ts";
import { feedsBackward } from "../facts/behind-loss.ts";
import { attributesOf, methodsOf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { isNetwork } from "../facts/networks.ts";
import { callTarget } from "../facts/summary.ts";
import { WAITS, hasClock, readsClock, timersOf } from "../facts/timers.ts";
import { loopsAround } from "../facts/training.ts";
import { COUNTER, isNamedThrottle } from "../facts/turns.ts";
import type { Finding, Rule } from "../rule.ts";

const RUNS = /loss|forward|predict|sample|train_step|denoise/;

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
    if ((!clock && facts.project.timers.length === 0) || !facts.accelerator) return;
    yield* blocks(facts);
    if (!clock) return;
    yield* hooks(facts);
    for (const difference of file.all("Binary")) {
      if (difference.op !== "-") continue;
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
      const begun = start ?? (readsClock(left, facts.file) ? clockInCaller(difference, facts) : null);
      if (!begun || !end) continue;
      const fn = functionOf(begun);
      // Read by a method that is called when the work is done, the clock stops with that call.
      const stop = fn === functionOf(difference) ? end : callAfter(begun, difference, facts);
      if (!stop || stop.start < begun.start) continue;
      const between = { start: begun.end, end: stop.start };
      // What is read only now and then may be read just when something waits.
      const timed = isReadNowAndThen(difference, file) ? null : begun;
      if (WAITS.test(codeOfEachTurn(between, timed, file))) continue;
      let works = false;
      let waits = false;
      walk(fn ?? file.tree.module, (node) => {
        if (
          node.kind === "Call" &&
          between.start <= node.start &&
          node.end <= between.end &&
          isWork(node, timed, facts)
        )
          works = true;
        if (
          node.kind === "Call" &&
          between.start <= node.start &&
          node.end <= between.end &&
          isWait(node, facts)
        )
          waits = true;
        return !waits;
      });
      if (works && !waits) yield { at: difference, message: MESSAGE };
    }
  },
};

/** Device work in a block that a timer is put around, or in a function that one of this file is. */
function* blocks(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const { blocks: timers, decorators } = file.once(timersOf);
  const elsewhere = facts.project.timers;
  if (timers.size > 0 || elsewhere.length > 0)
    for (const block of file.all("With"))
      for (const { context } of block.items) {
        // `with timers["forward"]:`, of a dict of them.
        const timer = (context.kind === "Subscript" ? heldIn(context.value, file) : null) ?? context;
        const name = timer.kind === "Call" ? timer.func : timer;
        const made = name.kind === "Name" || name.kind === "Attribute" ? file.dotted(name) : null;
        if (
          made !== null &&
          (timers.has(made) || elsewhere.some((one) => one === made || one.endsWith(`.${made}`))) &&
          isUnwaited(block, facts)
        )
          yield { at: context, message: MESSAGE };
      }
  if (decorators.size > 0)
    for (const fn of file.all("FunctionDef"))
      for (const decorator of fn.decorators)
        if (decorators.has(file.dotted(decorator) ?? "") && isUnwaited(fn, facts))
          yield { at: decorator, message: MESSAGE };
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
      !methodsOf(cls).some((method) => WAITS.test(file.codeOf(method)))
    )
      yield { at: difference, message: MESSAGE };
  }
}

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

/**
 * What runs each time that `timed` does: without what `if step % 100 == 0:` holds, which waits for the device in so few of the
 * turns that the others are timed wrongly. In a loop of its own, that one wait is for all the turns before it.
 */
function codeOfEachTurn(
  { start, end }: { readonly start: number; readonly end: number },
  timed: Node | null,
  file: PythonFile,
): string {
  if (timed === null) return file.codeOf({ start, end });
  let code = "";
  let from = start;
  for (const branch of file.all("If")) {
    if (branch.start < from || branch.end > end || !isNowAndThen(branch) || isRepeated(branch, timed))
      continue;
    code += file.codeOf({ start: from, end: branch.body[0]!.start });
    from = branch.body[branch.body.length - 1]!.end;
  }
  return code + file.codeOf({ start: from, end });
}

/** In a loop that what is timed is not in as well. */
function isRepeated(node: Node, timed: Node): boolean {
  return loopsAround(node).some((loop) => !contains(loop, timed));
}

/** `if step % 100 == 0:`, `if not step % 100:`, also by a name that is set so above. */
function isNowAndThen(branch: If): boolean {
  const { test } = branch;
  return comesRoundIn(test) || (test.kind === "Name" && isNamedThrottle(test.id, branch, comesRoundIn));
}

function comesRoundIn(test: Expr): boolean {
  if (test.kind === "Bool")
    return (
      test.values.some(comesRoundIn) &&
      (test.op === "and" || test.values.every((one) => comesRoundIn(one) || isOneTurn(one)))
    );
  if (test.kind === "Unary") return test.op === "not" && isRemainder(test.operand);
  return isEquality(test) && isRemainder(test.left);
}

function isRemainder(expr: Expr): boolean {
  return expr.kind === "Binary" && expr.op === "%" && expr.left.kind !== "Str";
}

function isEquality(test: Expr): test is Expr & { kind: "Compare" } {
  return test.kind === "Compare" && test.ops.length === 1 && test.ops[0] === "==";
}

/**
 * One turn of them all, as in `if step % 250 == 0 or last_step:`, `or step + 1 == total`. A rank is no turn: `rank == 0` holds
 * in all the turns of that process; so does the number of an epoch in all of its steps.
 */
function isOneTurn(test: Expr): boolean {
  if (test.kind === "Bool") return test.op === "and" && test.values.some(isOneTurn);
  if (test.kind === "Name" || test.kind === "Attribute")
    return /(?:^|_)(?:first|last|final)(?:_|$)/.test(lastWord(test));
  if (!isEquality(test)) return false;
  const counted = lastWord(test.left.kind === "Binary" ? test.left.left : test.left);
  return COUNTER.test(counted) && !counted.includes("epoch");
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

/** A run of a network, a backward, or a step that a function of this file takes without waiting for it. */
function isWork(call: Call, timed: Node | null, facts: Facts): boolean {
  if (isNetwork(call.func, facts) || facts.backwards.some((one) => one.call === call)) return true;
  if (call.func.kind === "Attribute" && call.func.attr === "forward" && isNetwork(call.func.value, facts))
    return true;
  if (runsGiven(call.func, call.args[0], facts) || isOfFramework(call, facts)) return true;
  // `losses = partial(diffusion.training_losses, model, x, t)`, called by that name.
  const prepared = call.func.kind === "Name" ? facts.file.scopes.onlyValue(call.func) : null;
  if (
    prepared?.kind === "Call" &&
    prepared.args[0] &&
    facts.file.dotted(prepared.func) === "functools.partial" &&
    runsGiven(prepared.args[0].value, prepared.args[1], facts)
  )
    return true;
  if (learns(call, facts) || runsForLoss(call, facts)) return true;
  const own = call.func.kind === "Name" || selfAttribute(call.func) !== null;
  if (!own || facts.callee(call)?.reachesBackward !== true) return false;
  const target = callTarget(call, facts.file);
  const fn = facts.file.functionNamed(target);
  return (
    fn !== undefined &&
    facts.functionFacts(fn.body[0]!).loose &&
    !waitsBelow(fn, timed !== null && !isRepeated(call, timed), facts, new Set())
  );
}

/** `super().training_step(*args)` of a Trainer, or of a module of Lightning: the framework's own work, which it only queues. */
function isOfFramework({ func }: Call, facts: Facts): boolean {
  if (func.kind !== "Attribute" || !/^(?:training_step|compute_loss)$/.test(func.attr)) return false;
  const { value } = func;
  const cls = value.kind === "Call" && lastWord(value.func) === "super" ? classOf(func) : null;
  return cls !== null && /^(?:trainer|lightning)$/.test(facts.role(cls));
}

/**
 * `with autocast(): result = task(images, labels)` and `result["loss"]`, of an object that was handed in or made elsewhere: what
 * gives a loss under autocast, or one that is differentiated here, has run a network. A function of this tree is read for what
 * it does.
 */
function runsForLoss(call: Call, facts: Facts): boolean {
  const { func, args, parent } = call;
  const { file } = facts;
  if (func.kind !== "Name" && selfAttribute(func) === null) return false;
  if (args.length === 0 || file.dotted(func) !== null || file.functionNamed(callTarget(call, file)))
    return false;
  const [target] = parent?.kind === "Assign" ? parent.targets : [];
  const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  const givesLoss = made
    ? LOSS.test(made.name) || file.scopes.uses(made).some(isLossOf)
    : isLossOf(call) || (target?.kind === "Tuple" && target.items.some((one) => LOSS.test(lastWord(one))));
  return (
    givesLoss && (isUnderAutocast(call) || feedsBackward(call, facts)) && facts.callee(call)?.reads !== true
  );
}

const LOSS = /(?:^|_)loss(?:es)?$/;

/** `result["loss"]`, `result.loss` */
function isLossOf({ parent }: Node): boolean {
  return (
    (parent?.kind === "Attribute" && LOSS.test(parent.attr)) ||
    (parent?.kind === "Subscript" && parent.index.kind === "Str" && LOSS.test(parent.index.value ?? ""))
  );
}

/** `with torch.autocast("cuda"):`, `with amp_autocast():` */
function isUnderAutocast(node: Node): boolean {
  return ancestors(node).some(
    (at) =>
      at.kind === "With" &&
      at.items.some(
        ({ context }) => context.kind === "Call" && /autocast|(?:^|_)amp(?:_|$)/.test(lastWord(context.func)),
      ),
  );
}

/** `policy.train(replay_buffer, batch_size)`, by whichever of several agents was chosen above. */
function learns({ func, args }: Call, { file }: Facts): boolean {
  const [first] = args;
  return (
    func.kind === "Attribute" &&
    /^(?:train|update|learn|train_step)$/.test(func.attr) &&
    /^(?:\w+_)?(?:policy|agent|learner)$/.test(lastWord(func.value)) &&
    first !== undefined &&
    /^(?:self\.)?(?:\w+_)?(?:replay|buffer|memory|batch)\b/.test(file.textOf(first.value))
  );
}

/** Whether a function waits, or one of this file that it calls; `eachTurn`: what it does only now and then is no waiting. */
function waitsBelow(fn: FunctionDef, eachTurn: boolean, facts: Facts, seen: Set<FunctionDef>): boolean {
  const { file } = facts;
  if (seen.has(fn)) return false;
  seen.add(fn);
  if (WAITS.test(eachTurn ? codeOfEachTurn(fn, fn, file) : file.codeOf(fn))) return true;
  let waits = false;
  for (const statement of fn.body)
    walk(statement, (node) => {
      if (eachTurn && isDoneNowAndThen(node, fn)) return false;
      const target = node.kind === "Call" && !waits ? callTarget(node, file) : null;
      const called = file.functionNamed(target);
      waits ||= called !== undefined && waitsBelow(called, eachTurn && !isRepeated(node, fn), facts, seen);
      return !waits;
    });
  return waits;
}

/** A statement that stands under `if step % 100 == 0:`. */
function isDoneNowAndThen(node: Node, fn: FunctionDef): boolean {
  const { parent } = node;
  return (
    parent?.kind === "If" &&
    parent.body.some((one) => one === node) &&
    isNowAndThen(parent) &&
    !isRepeated(parent, fn)
  );
}

/** `diffusion.training_losses(model, x, t)` runs the network it is given. */
function runsGiven(func: Expr, first: Arg | undefined, facts: Facts): boolean {
  return (
    func.kind === "Attribute" &&
    RUNS.test(func.attr) &&
    (first?.value.kind === "Name" || first?.value.kind === "Attribute") &&
    isNetwork(first.value, facts)
  );
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
