import { argument, isFalse, isNone, isTrue } from "../../python/file.ts";
import { ancestors, blockOf, contains, functionOf, lastWord, statementOf, walk } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef, Node, Stmt } from "../../python/tree.ts";
import { indentAt } from "../edits.ts";
import { methodsOf } from "../facts/classes.ts";
import { evaluatorCalled, isEvaluation } from "../facts/evaluation-calls.ts";
import type { Facts } from "../facts/facts.ts";
import { decoratedGrad } from "../facts/gradmode.ts";
import { isOtherBranch } from "../facts/guards.ts";
import { callsOf } from "../facts/returns.ts";
import { saysEvaluation } from "../facts/switches.ts";
import { callTarget } from "../facts/summary.ts";
import { loopOfSteps, loopsAround, optimizerSteps } from "../facts/training.ts";
import type { Loop } from "../facts/training.ts";
import { clearings } from "../facts/uncleared.ts";
import type { Clearing } from "../facts/uncleared.ts";
import type { Finding, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM023",
    name: "gradients-kept-for-evaluation",
    summary: "The last step's gradients stay allocated while the model is evaluated",
    severity: "note",
    fix: "unsafe",
    patterns: [23],
    inTraining: true,
  },
  *check(facts) {
    // Two branches that train, and one evaluation below both.
    const seen = new Set<unknown>();
    for (const finding of kept(facts)) {
      if (!seen.has(finding.at)) yield finding;
      seen.add(finding.at);
    }
  },
};

function* kept(facts: Facts): Generator<Finding> {
  yield* leftElsewhere(facts);
  yield* clearedInTrainingOnly(facts);
  yield* beforeHooks(facts);
  const { file } = facts;
  const leave = new Set<FunctionDef>();
  for (const loop of facts.stepLoops) {
    const clear = leftUncleared(loop, facts);
    if (!clear) {
      yield* betweenStepAndClearing(loop, facts);
      yield* clearedAround(loop, facts);
      continue;
    }
    const fn = functionOf(loop);
    if (fn?.kind === "FunctionDef") leave.add(fn);
    const behind = [...evaluations(restOf(loop), clear, facts)];
    yield* behind;
    const phases = loopsAround(loop)[0];
    if (phases?.kind === "For" && isPhases(phases.iter))
      yield {
        at: clear,
        message:
          "The last step's gradients, as large as the trainable parameters, stay allocated during the phase that evaluates; call `zero_grad()` after the step instead",
      };
    // Now and then, inside the loop itself, after the step.
    const step = optimizerSteps(file).findLast((call) => contains(loop, call));
    const taken = step && statementOf(step);
    const inside = [...evaluations(taken ? restOf(taken) : loop.body, clear, facts)];
    yield* inside;
    if (behind.length > 0 || inside.length > 0) continue;
    yield* atTop(loop, clear, clear, facts);
    if (phases && !clearsBeside(phases, loop, facts)) yield* atTop(phases, loop, clear, facts);
  }
  if (facts.backwards.length === 0) return;
  // Between the backward and the step that uses its gradients.
  for (const { call } of facts.backwards) {
    const statement = statementOf(call);
    const rest = statement && facts.stepLoop(call) ? restOf(statement) : [];
    const until = rest.findIndex((one) => optimizerSteps(file).some((step) => contains(one, step)));
    if (until > 0) yield* evaluations(rest.slice(0, until), null, facts);
  }
  // A step that is a function of its own, as of a whole graph, or of a batch that a loop hands it.
  for (const step of optimizerSteps(file)) {
    const statement = loopsAround(step).length === 0 && facts.hot(step) ? statementOf(step) : null;
    if (!statement) continue;
    const behind = [...evaluations(restOf(statement), null, facts)];
    yield* behind;
    const fn = functionOf(step);
    if (behind.length > 0 || fn?.kind !== "FunctionDef") continue;
    for (const call of callsOf(fn, file)) {
      const loop = facts.stepLoop(call);
      const part = loop && loop === loopsAround(call)[0] ? statementOf(call) : null;
      if (!loop || !part || !leavesUncleared(fn, call, loop, facts)) continue;
      const next = [...evaluations([...restOf(part), ...restOf(loop)], null, facts)];
      if (next.length === 0) next.push(...atTop(loop, part, null, facts));
      yield* next;
      const around = functionOf(loop);
      if (next.length === 0 && around?.kind === "FunctionDef") leave.add(around);
    }
  }
  // A function that trains an epoch, and what its caller does next.
  for (const call of [...leave].flatMap((fn) => callsOf(fn, file))) {
    const statement = statementOf(call);
    if (!statement) continue;
    const behind = [...evaluations(restOf(statement), null, facts)];
    yield* behind;
    const turn = loopsAround(call)[0];
    if (behind.length === 0 && turn && !clearsBeside(turn, statement, facts))
      yield* atTop(turn, statement, null, facts);
  }
}

/** `engine.train_one_epoch(net, …)`, then `evaluate(net, …)`: a function of another file that clears before each backward alone. */
function* leftElsewhere(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const call of clearings(file).length > 0 ? [] : facts.callsTo("uncleared")) {
    const statement = facts.callee(call)?.uncleared === true ? statementOf(call) : null;
    const [loop, outer] = loopsAround(call);
    if (!statement || !loop || file.functionNamed(callTarget(call, file))) continue;
    // `for batch in loader: train_step(net, batch)`: the loop over epochs goes on with what its last step has left.
    yield* evaluations([...restOf(statement), ...(outer ? restOf(loop) : [])], null, facts);
  }
}

/** Lightning validates between steps: of one that clears by hand, before its backward, the gradients stay. */
function* beforeHooks(facts: Facts): Generator<Finding> {
  const { file } = facts;
  if (!file.mentions("validation_step") || !file.mentions("manual_backward")) return;
  for (const cls of file.all("ClassDef")) {
    const methods = facts.role(cls) === "lightning" ? methodsOf(cls) : [];
    const step = methods.find(({ name }) => name === "training_step");
    if (!step || !methods.some(({ name }) => name === "validation_step")) continue;
    const until = file.callsNamed("manual_backward").findLast((call) => contains(step, call));
    const clears = clearings(file).filter((clear) => contains(cls, clear));
    const [first] = clears;
    if (until && first && clears.every((clear) => contains(step, clear) && clear.start < until.start))
      yield {
        at: first,
        message:
          "The last step's gradients, as large as the trainable parameters, stay allocated during validation; call `zero_grad()` after the step instead",
      };
  }
}

/**
 * `run_epoch(net, loader, train)` with `if train: optimizer.zero_grad()`: the same function evaluates, and the batches of an
 * evaluation clear nothing of what the last step has left.
 */
function* clearedInTrainingOnly(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const clears = clearings(file);
  const seen = new Set<FunctionDef>();
  for (const clear of clears) {
    const fn = functionOf(clear);
    const flag = trainingFlag(clear);
    if (fn?.kind !== "FunctionDef" || !flag || seen.has(fn) || !mayEvaluate(fn, flag, facts)) continue;
    seen.add(fn);
    const steps = optimizerSteps(file).filter((step) => functionOf(step) === fn);
    const callers = new Set(callsOf(fn, file).map((call) => functionOf(call)));
    const isCleared = clears.some((other) =>
      functionOf(other) === fn
        ? !trainingFlag(other) ||
          steps.some((step) => step.start < other.start && !isOtherBranch(step, other))
        : callers.has(functionOf(other)),
    );
    const isFlag = (other: Expr | null): boolean =>
      other !== null && file.textOf(other) === file.textOf(flag);
    if (!isCleared && steps.length > 0 && steps.every((step) => isFlag(trainingFlag(step))))
      yield {
        at: clear,
        message:
          "Only training clears gradients here, before its backward: those of the last step, as large as the trainable parameters, stay allocated while this evaluates; call `zero_grad()` after the step instead",
      };
  }
}

/**
 * `train`, `eval_only` or `optimizer`, by which a function is told to train, where the call runs only then. One around the
 * whole loop chooses between programs.
 */
function trainingFlag(call: Clearing): Expr | null {
  const loop = loopOfSteps(call);
  let child: Node = call;
  for (const at of ancestors(call)) {
    if (at.kind === "FunctionDef" || at === loop) return null;
    if (at.kind === "If" && child !== at.test) {
      const flag = flagOf(at.test, at.body.includes(child as Stmt));
      if (flag) return flag;
    }
    child = at;
  }
  return null;
}

/** `train`, `not eval_only`, `net.training`, `phase` of `phase == "train"`, `optimizer` of `optimizer is not None`: of a test that holds for training. */
function flagOf(test: Expr, holds: boolean): Expr | null {
  const inverted = test.kind === "Unary" && test.op === "not";
  const bare = inverted ? test.operand : test.kind === "Compare" ? test.left : test;
  if (saysEvaluation(test, !holds)) return bare;
  if (bare.kind !== "Name") return null;
  if (test.kind === "Compare")
    return holds && test.ops[0] === "is not" && isNone(test.rights[0]!) && OPTIMIZER.test(bare.id)
      ? bare
      : null;
  return (holds === inverted ? ONLY_EVALUATES : TRAINS).test(bare.id) ? bare : null;
}

const TRAINS = /^(?:is_|do_|for_)?train(?:ing)?(?:_mode|_phase)?$/;
const ONLY_EVALUATES =
  /^(?:is_|do_)?(?:eval|evaluate|evaluation|evaluating|val|valid|validate|validation|test|testing)(?:_only|_mode|_phase)?$/;
const OPTIMIZER = /^(?:\w+_)?opt(?:im(?:izer)?)?$/;

/** Whether somebody may call it for an evaluation: unless all that are seen leave or set its flag to training. */
function mayEvaluate(fn: FunctionDef, flag: Expr, { file }: Facts): boolean {
  // `net.training`: somebody switches that.
  if (flag.kind !== "Name") return flag.kind === "Attribute";
  // `train = optimizer is not None`
  const told = file.scopes.onlyValue(flag);
  const { id } = told?.kind === "Compare" && told.left.kind === "Name" ? told.left : flag;
  const at = fn.params.findIndex(({ name }) => name === id);
  if (at < 0) return false;
  const calls = callsOf(fn, file);
  const shift = fn.params[0]!.name === "self" ? 1 : 0;
  return (
    calls.length === 0 ||
    !calls.every((call) => isForTraining(argument(call, id, at - shift) ?? fn.params[at]!.default, id))
  );
}

/** What a flag of this name is given for training. */
function isForTraining(value: Expr | null, id: string): boolean {
  if (value?.kind === "Str") return value.value?.startsWith("train") === true;
  if (OPTIMIZER.test(id)) return value === null || !isNone(value);
  return ONLY_EVALUATES.test(id) ? isFalse(value) : isTrue(value);
}

/** Whether gradients are cleared before the backward of a function that takes one step, by itself or by the loop that calls it, and not after. */
function leavesUncleared(fn: FunctionDef, site: Call, loop: Loop, facts: Facts): boolean {
  const { file } = facts;
  const backward = facts.backwards.findLast(({ call }) => functionOf(call) === fn)?.call;
  const before = backward ? null : differentiatedBefore(site, loop, facts);
  const clears = clearings(file).filter((clear) => functionOf(clear) === fn || contains(loop, clear));
  return (
    clears.length > 0 &&
    clears.every((call) => {
      if (functionOf(call) === fn) return backward !== undefined && call.start < backward.start;
      return backward ? call.start < site.start : before !== null && call.start < before.start;
    })
  );
}

/** `accumulate(net, batch)` above `update(optimizer)`, in the same turn: a function that differentiates, for one that only steps. */
function differentiatedBefore(site: Call, loop: Loop, facts: Facts): Call | null {
  return (
    facts
      .callsTo("loose")
      .find(
        (call) =>
          contains(loop, call) && call.end < site.start && facts.callee(call)?.reachesBackward === true,
      ) ?? null
  );
}

/** Whether the loop clears gradients somewhere else than in a part of it. */
function clearsBeside(loop: Loop, part: Node, { file }: Facts): boolean {
  return clearings(file).some((clear) => contains(loop, clear) && !contains(part, clear));
}

/** What the turn before has left, while this one evaluates first: in the loop's own statements above some part of it. */
function* atTop(loop: Loop, part: Node, clear: Clearing | null, facts: Facts): Generator<Finding> {
  const above = loop.body.slice(
    0,
    loop.body.findIndex((one) => contains(one, part)),
  );
  if (above.length > 0 && facts.frequency(part, loop) === "every")
    yield* evaluations(above, clear, facts, (call) => isEvaluationAnew(call, loop, facts));
}

/** Above the step stand the forward and teachers put into eval mode: only what is a look at the model for certain counts. */
function isEvaluationAnew(call: Call, loop: Loop, facts: Facts): boolean {
  const { file } = facts;
  const named =
    EVALUATES.test(lastWord(call.func)) &&
    call.args.length > 0 &&
    facts.callee(call)?.reachesBackward !== true;
  const fn = named ? null : evaluatorCalled(call, facts);
  const unrecorded =
    fn !== null &&
    (decoratedGrad(fn, file) === "off" ||
      file.callsNamed("no_grad", "inference_mode").some((off) => functionOf(off) === fn));
  if (!named && !unrecorded && !isSwitchedBack(call, loop, facts)) return false;
  // Now and then, by a remainder: `if epoch == 0:` is before there are gradients, and one that leaves needs no more.
  let often = unrecorded && facts.frequency(call, loop) === "every";
  for (const at of ancestors(call)) {
    if (at === loop) break;
    if (at.kind !== "If") continue;
    if (/^(?:Return|Break|Raise)$/.test(at.body.at(-1)!.kind)) return false;
    if (file.textOf(at.test).includes("%")) often = true;
  }
  return often;
}

/** `model.eval()` of what `model.train()` of the same loop goes on with. */
function isSwitchedBack({ func, args }: Call, loop: Loop, { file }: Facts): boolean {
  if (func.kind !== "Attribute" || func.attr !== "eval" || args.length > 0) return false;
  const net = file.textOf(func.value);
  return file
    .callsNamed("train")
    .some(
      (call) =>
        call.func.kind === "Attribute" && file.textOf(call.func.value) === net && contains(loop, call),
    );
}

const EVALUATES =
  /^(?:run_|do_)?(?:eval|evaluate|validate|evaluation|validation)(?:_(?!mode|interval|every|iter|step)\w+)?$|^estimate_loss$/;

/** `optimizer.step()`, an evaluation now and then, and only then `zero_grad()`. */
function* betweenStepAndClearing(loop: Loop, facts: Facts): Generator<Finding> {
  const step = optimizerSteps(facts.file).findLast(
    (call) => contains(loop, call) && functionOf(call) === functionOf(loop),
  );
  const statement = step && statementOf(step);
  const clears = clearings(facts.file).filter((clear) => contains(loop, clear));
  if (!statement || clears.length === 0 || clears.some((call) => call.start < statement.end)) return;
  yield* evaluations(restOf(statement), null, facts);
}

/**
 * `optimizer.zero_grad()`, then a loop over the parts of a batch that differentiates and, in the last of them, steps: what it leaves
 * is there until the next turn of the loop around.
 */
function* clearedAround(loop: Loop, facts: Facts): Generator<Finding> {
  const { file } = facts;
  const [turn] = loopsAround(loop);
  if (!turn || facts.stepLoops.has(turn)) return;
  const clears = clearings(file).filter((clear) => contains(turn, clear));
  const [clear] = clears;
  if (!clear || !clears.every((one) => one.end < loop.start && loopOfSteps(one) === turn)) return;
  const isIn = (one: Call): boolean => contains(loop, one) && functionOf(one) === functionOf(loop);
  if (!optimizerSteps(file).some(isIn) || !facts.backwards.some(({ call }) => isIn(call))) return;
  if (facts.frequency(clear, turn) !== "every") return;
  const next = [...evaluations([...restOf(loop), ...restOf(turn)], clear, facts)];
  if (next.length === 0) next.push(...atTop(turn, clear, clear, facts));
  yield* next;
}

/** `for phase in ["train", "val"]:` */
function isPhases(iter: Expr): boolean {
  return (
    (iter.kind === "List" || iter.kind === "Tuple") &&
    iter.items.length > 1 &&
    iter.items.some(
      (item) => item.kind === "Str" && /^(?:val|valid|validation|test|eval|dev)$/.test(item.value ?? ""),
    )
  );
}

/** The call that clears gradients before each forward or backward, when none does after the step. */
function leftUncleared(loop: Loop, facts: Facts): Clearing | null {
  const { file } = facts;
  const step = optimizerSteps(file).find(
    (call) => contains(loop, call) && functionOf(call) === functionOf(loop),
  );
  // `if amp: … scaler.step(optimizer)`, `else: … optimizer.step()`: one of the two is all that runs.
  const runs = (call: Clearing): boolean => contains(loop, call) && !(step && isOtherBranch(step, call));
  // The last of several: each of two optimizers is cleared before its own.
  const backward = facts.backwards.findLast(({ call }) => runs(call))?.call;
  // `net(batch, replay_backward=True)`, `engine.accumulate(batch)`: one that is not seen comes before the step it is for.
  const until = backward ?? (facts.backwards.length === 0 ? step : undefined);
  if (!until || (!step && !updatesByHand(loop, facts))) return null;
  const clears = clearings(file).filter(runs);
  return clears.length > 0 && clears.every((call) => call.start < until.start) ? clears[0]! : null;
}

/** `p.data.add_(p.grad, alpha=-lr)` in place of an optimizer. */
function updatesByHand(loop: Loop, { file }: Facts): boolean {
  return (
    clearings(file).length > 0 &&
    file
      .all("Attribute")
      .some((node) => node.attr === "grad" && node.parent?.kind !== "Assign" && contains(loop, node))
  );
}

const LEAVES = /^(?:Return|Break|Continue|Raise)$/;

/**
 * What runs after a statement in its turn of the loop around: below it, and below what it only stands in, as
 * `with Timer():` or `if epoch >= warmup:`. A test that no loop repeats chooses between programs, and says nothing
 * of what follows.
 */
function restOf(statement: Stmt): readonly Stmt[] {
  const rest: Stmt[] = [];
  for (let at: Node = statement; ; at = at.parent!) {
    const block = blockOf(at);
    if (block) rest.push(...block.slice(block.indexOf(at as Stmt) + 1));
    if (LEAVES.test(rest.at(-1)?.kind ?? "") || !goesOn(at)) return rest;
  }
}

/** Whether what is below the statement around runs next. */
function goesOn({ parent }: Node): boolean {
  if (parent?.kind === "If") return loopsAround(parent).length > 0;
  return parent?.kind === "With" || parent?.kind === "Try";
}

function* evaluations(
  statements: readonly Stmt[],
  clear: Clearing | null,
  facts: Facts,
  evaluates: (call: Call) => boolean = (call) => isEvaluation(call, facts),
): Generator<Finding> {
  const evaluation = firstEvaluation(statements, facts, evaluates);
  const statement = evaluation && statementOf(evaluation);
  if (!evaluation || !statement) return;
  const { file } = facts;
  const start = file.lines.start(file.lines.line(statement.start));
  const indent = indentAt(file, statement.start);
  const ending = file.text.includes("\r\n") ? "\r\n" : "\n";
  yield {
    at: evaluation,
    message:
      "The last step's gradients, as large as the trainable parameters, stay allocated during the evaluation; call `zero_grad()` after the step instead",
    ...(clear?.kind === "Call" && file.text.slice(start, statement.start) === indent
      ? {
          fix: {
            grade: "unsafe" as const,
            title: "Clear them before",
            edits: [
              {
                start: statement.start,
                end: statement.start,
                text: `${file.textOf(clear)}${ending}${indent}`,
              },
            ],
          },
        }
      : {}),
  };
}

/** The first call that evaluates, with nothing that clears before it. */
function firstEvaluation(
  statements: readonly Stmt[],
  { file }: Facts,
  evaluates: (call: Call) => boolean,
): Call | null {
  let found: Call | null = null;
  let cleared = false;
  for (const statement of statements)
    walk(statement, (node) => {
      if (node.kind === "FunctionDef" || node.kind === "ClassDef" || found || cleared) return false;
      if (node.kind === "Assign" && clearings(file).includes(node)) cleared = true;
      if (node.kind !== "Call") return true;
      if (/(?:^|\.)zero_grad$/.test(file.textOf(node.func).slice(-60)) || clearings(file).includes(node))
        cleared = true;
      else if (evaluates(node)) found = node;
      return found === null;
    });
  return found;
}
