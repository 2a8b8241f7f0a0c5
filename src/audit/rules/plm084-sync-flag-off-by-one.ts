import { argument } from "../../python/file.ts";
import { contains, functionOf, lastWord, namesIn } from "../../python/nodes.ts";
import type { Assign, Call, Expr, FunctionDef, Node } from "../../python/tree.ts";
import type { Facts } from "../facts/facts.ts";
import { wrongLists } from "../facts/context-lists.ts";
import { fullTurn } from "../facts/full-counts.ts";
import type { Turn } from "../facts/full-counts.ts";
import {
  differ,
  isAllButLast,
  isCountedApart,
  isNotLast,
  isOfOuterLoop,
  neverHolds,
} from "../facts/held-turns.ts";
import { Reckoned, WINDOW } from "../facts/reckoned-turns.ts";
import { steppings, stepsRightAfter } from "../facts/steps-of-turns.ts";
import { enteredBy, enteredFromElsewhere } from "../facts/sync-contexts.ts";
import { loopsAround, optimizerSteps } from "../facts/training.ts";
import type { Loop } from "../facts/training.ts";
import { turnedArgument, turnedBy } from "../facts/turned-functions.ts";
import { condition, inWordsOf, namesOf, show } from "../facts/turn-conditions.ts";
import type { Condition } from "../facts/turn-conditions.ts";
import { holdsInLast } from "../facts/turn-values.ts";
import type { Finding, Rule } from "../rule.ts";
import { askedAt, countedOn, guardOf, steppedElsewhere } from "../facts/step-guards.ts";

export const rule: Rule = {
  meta: {
    code: "PLM084",
    name: "sync-flag-off-by-one",
    summary: "Gradients are reduced across ranks in another micro-step than the one the optimizer steps in",
    severity: "error",
    fix: "none",
    patterns: [84],
    inTraining: true,
  },
  *check(facts) {
    const { file } = facts;
    if (facts.guesses) yield* reckoned(facts);
    for (const statement of file.assignsTo("require_backward_grad_sync")) {
      const loop = turnOf(statement);
      if (isSetLate(statement, facts)) yield { at: statement, message: LATE };
      else if (loop) yield* compare(statement.value, true, statement.value, loop, facts);
    }
    // `with fabric.no_backward_sync(model, enabled=…)`
    for (const call of file.callsNamed("no_backward_sync")) {
      const loop = loopsAround(call)[0];
      const enabled = argument(call, "enabled", 1);
      if (loop && enabled) yield* compare(enabled, false, call, loop, facts);
    }
    // `net.set_requires_gradient_sync(last)`, of what `fully_shard` made.
    for (const call of file.callsNamed("set_requires_gradient_sync")) {
      const loop = loopsAround(call)[0];
      const flag = argument(call, "requires_gradient_sync", 0);
      if (loop && flag) yield* compare(flag, true, call, loop, facts);
    }
    // `context = net.no_sync if … else nullcontext`, entered by that name.
    for (const one of file.all("Attribute")) {
      if (one.attr !== "no_sync") continue;
      // `partial(accelerator.no_sync, model) if … else nullcontext`
      const partial =
        one.parent?.kind === "Arg" &&
        one.parent.parent?.kind === "Call" &&
        file.dotted(one.parent.parent.func) === "functools.partial"
          ? one.parent.parent
          : null;
      const context = partial ?? one;
      const loop = context.parent?.kind === "IfExp" ? turnOf(context) : null;
      if (loop) yield* skips(context, loop, facts);
    }
    for (const { at, wrong } of wrongLists(facts)) yield { at, message: LISTED[wrong] };
    // `with sync_context(net, step, n):`, of another file.
    for (const { use, test, when, synced } of enteredFromElsewhere(facts)) {
      const turn = turnOf(use);
      if (turn) yield* compare(test, when, use, turn, facts, synced);
    }
    for (const call of file.callsNamed("no_sync")) {
      const loop = turnOf(call);
      if (call.func.kind === "Attribute" && call.func.attr === "no_sync" && loop) {
        yield* skips(call, loop, facts);
        for (const { use, test, when, synced } of enteredBy(call, facts)) {
          const turn = turnOf(use);
          if (turn && !synced) yield* compare(test, when, use, turn, facts);
          else if (turn) yield* compare(use, when, use, turn, facts, synced, test);
        }
      }
    }
  },
};

const LATE =
  "DistributedDataParallel asks for this in the forward, which has run by now: this backward still goes by what the turn before has set, and the optimizer steps with gradients that no other rank has seen";

/** `scores = net(x)`, then `net.require_backward_grad_sync = last`, then the backward of that forward, all in one turn. */
function isSetLate({ targets: [target], start, end }: Assign, facts: Facts): boolean {
  const { file } = facts;
  const [loop] = target ? loopsAround(target) : [];
  if (target?.kind !== "Attribute" || !loop) return false;
  const inTurn = (node: Node): boolean => loopsAround(node)[0] === loop;
  const net = file.textOf(target.value);
  const forwards = file.all("Call").filter((call) => inTurn(call) && file.textOf(call.func) === net);
  const forward = forwards.findLast((call) => call.end < start);
  const backwards = facts.backwards.filter(({ call }) => inTurn(call)).map(({ call }) => call);
  const backward = backwards.find((call) => call.start > end);
  const between = (node: Node, from: Node | undefined, to: number): boolean =>
    from !== undefined && node.start > from.end && node.start < to;
  return (
    forward !== undefined &&
    backward !== undefined &&
    // Set below a backward it is for the next turn, and set above as well it was right when the forward asked.
    !backwards.some((call) => between(call, forward, start)) &&
    !forwards.some((call) => call.start > end && call.start < backward.start) &&
    !file.assignsTo("require_backward_grad_sync").some((one) => one.start < start && inTurn(one.targets[0]!))
  );
}

/** Of what a list says turn by turn. */
const LISTED = {
  first:
    "Of the turns that this list is for the first exchanges gradients and the last does not: what the later ones add, no other rank sees",
  never:
    "In none of the turns that this list is for gradients are exchanged, and the optimizer steps after them: each rank trains a model of its own",
};

/** Where it is said whether ranks exchange gradients: `test` when `when`, and under what it stands under; null for a `no_sync()`. */
interface Choice {
  readonly at: Expr;
  readonly test: Expr | null;
  readonly when: boolean;
}

function* choices({ file }: Facts): Generator<Choice> {
  for (const { value } of file.assignsTo("require_backward_grad_sync"))
    yield { at: value, test: value, when: true };
  for (const call of file.callsNamed("set_requires_gradient_sync", "set_is_last_backward")) {
    const test = argument(call, "requires_gradient_sync", 0);
    if (test) yield { at: call, test, when: true };
  }
  for (const call of file.callsNamed("no_backward_sync")) {
    const test = argument(call, "enabled", 1);
    if (test) yield { at: call, test, when: false };
  }
  for (const one of file.all("Attribute")) {
    if (one.attr !== "no_sync") continue;
    const call: Expr = one.parent?.kind === "Call" && one.parent.func === one ? one.parent : one;
    const chosen =
      call.parent?.kind === "Arg" && call.parent.parent?.kind === "Call" ? call.parent.parent : call;
    if (chosen.parent?.kind === "IfExp" && chosen.parent.test !== chosen)
      yield { at: one, test: chosen.parent.test, when: chosen.parent.orelse === chosen };
    else if (call !== one && !isPutAway(call)) yield { at: one, test: null, when: false };
  }
}

/** `contexts.append(net.no_sync())`, `[net.no_sync()]`: entered later, if at all. */
function isPutAway({ parent }: Expr): boolean {
  const call = parent?.kind === "Arg" ? parent.parent : null;
  return (
    parent?.kind === "List" ||
    parent?.kind === "Comp" ||
    (call?.kind === "Call" && /^(?:append|insert)$/.test(lastWord(call.func)))
  );
}

/**
 * What is likely: of all that says whether ranks exchange gradients, and of what the optimizer steps under, it is computed when each
 * holds, turn by turn. It is wrong where the optimizer steps in a turn whose gradients stay with their rank.
 */
function* reckoned(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const all = [...choices(facts)];
  for (const choice of all) {
    const loops = loopsAround(choice.at);
    const turn = turnOf(choice.at);
    if (!turn) continue;
    const wrong =
      stepsUnseen(choice, all, turn, facts) ?? (loops[1] ? stepsUnseen(choice, all, loops[1], facts) : null);
    if (wrong)
      yield {
        at: choice.at,
        message: `By \`${file.textOf(choice.test ?? choice.at)}\` ranks keep to themselves what they add in the very turn that the optimizer steps in: each steps with gradients of its own`,
      };
  }
}

/** As many windows as are tried. */
const TURNS = 3 * WINDOW;

function stepsUnseen(choice: Choice, all: readonly Choice[], turn: Turn, facts: Facts): boolean | null {
  const { file } = facts;
  const inside = steppings(turn, facts);
  const after = inside.length === 0 && turn.kind === "For" && stepsRightAfter(turn, facts);
  if (inside.length === 0 && !after) return null;
  const reckon = new Reckoned(turn, file, after ? WINDOW : undefined);
  const backwards = facts.backwards.filter(({ call }) => contains(turn, call)).map(({ call }) => call);
  // What several places set in turn, the last that runs decides.
  const beside = all.filter(
    ({ at, test }) =>
      test !== null && choice.test !== null && contains(turn, at) && functionOf(at) === functionOf(choice.at),
  );
  let synced: boolean | null = true;
  let wrong = false;
  for (let at = 0; at < (after ? WINDOW : TURNS); at++) {
    for (const one of choice.test === null ? [choice] : beside) {
      const runs = reckon.runs(one.at, at);
      if (runs === null) return null;
      if (one.test === null) synced = !runs || isExchangedBeside(one.at, backwards, reckon, at);
      else if (runs) {
        const holds = reckon.holds(one.test, at);
        if (holds === null) return null;
        synced = holds === one.when;
      }
    }
    const steps = after ? at === WINDOW - 1 : inside.map((step) => step(reckon, at));
    if (Array.isArray(steps) && steps.includes(null)) return null;
    wrong ||= (steps === true || (Array.isArray(steps) && steps.includes(true))) && !synced;
  }
  return wrong;
}

/** A backward that runs in the same turn outside of the `with net.no_sync():`. */
function isExchangedBeside(at: Expr, backwards: readonly Call[], reckon: Reckoned, turn: number): boolean {
  let block: Node | null = at;
  while (block && block.kind !== "With") block = block.parent;
  return backwards.some(
    (one) => !(block && contains(block, one)) && one.start > at.start && reckon.runs(one, turn) !== false,
  );
}

function turnOf(node: Node): Turn | null {
  const [loop] = loopsAround(node);
  const fn = functionOf(node);
  return loop ?? (fn?.kind === "FunctionDef" ? fn : null);
}

const SCALES = /amp|fp16|half|scaler|apex|precision/i;

/** When `no_sync()` is entered: by a conditional expression, under an `if`, or always. */
function* skips(call: Expr, loop: Turn, facts: Facts): Generator<Finding> {
  if (call.parent?.kind === "IfExp" && call.parent.test !== call) {
    yield* compare(call.parent.test, call.parent.orelse === call, call, loop, facts);
    return;
  }
  let branch: readonly Node[] | null = null;
  for (let child: Node = call, at: Node | null = call.parent; at && at !== loop; child = at, at = at.parent) {
    // With or without scaled gradients, what is exchanged is another question.
    if (at.kind === "If" && child !== at.test && SCALES.test(facts.file.textOf(at.test))) {
      branch = at.orelse.includes(child as never) ? at.orelse : at.body;
      continue;
    }
    if (at.kind === "If" && child !== at.test) {
      const beside = at.orelse.includes(child as never) ? at.orelse : at.body;
      if (stepsBeside(call, beside, facts)) yield { at: call, message: ALONE };
      else yield* compare(at.test, beside === at.orelse, call, loop, facts);
      return;
    }
    if (at.kind === "FunctionDef" || at.kind === "Lambda") return;
  }
  const block = call.parent?.kind === "WithItem" ? call.parent.parent : null;
  const backwards = facts.backwards.filter(
    ({ call: backward }) =>
      contains(loop, backward) && (branch === null || branch.some((one) => contains(one, backward))),
  );
  // Of a method that is called once for each of many turns, others may do the rest.
  if (loop.kind === "FunctionDef") return;
  if (!block || backwards.length === 0 || !backwards.every(({ call: backward }) => contains(block, backward)))
    return;
  if (optimizerSteps(facts.file).some((step) => contains(loop, step)))
    yield {
      at: call,
      message:
        "Every backward of this loop runs without exchanging gradients, and the optimizer steps in it all the same: each rank trains a model of its own",
    };
}

const ALONE =
  "The optimizer steps right after a backward in which ranks exchange nothing: each steps with its own gradients";

/** The branch that skips the exchange is the one the optimizer steps in, after no other backward. */
function stepsBeside(call: Expr, branch: readonly Node[], facts: Facts): boolean {
  const block = call.parent?.kind === "WithItem" ? call.parent.parent : null;
  const inBranch = (node: Node): boolean => branch.some((one) => contains(one, node));
  const backwards = facts.backwards.filter(({ call: one }) => inBranch(one));
  return (
    block !== null &&
    backwards.length > 0 &&
    backwards.every(({ call: one }) => contains(block, one)) &&
    optimizerSteps(facts.file).some(
      (step) => inBranch(step) && step.start > block.end && !loopsAround(step).some(inBranch),
    )
  );
}

/**
 * Whether gradients are exchanged (`test` when `when`) in the turn in which the optimizer steps. Of a call that asks, `synced` is
 * what that comes to here, and `asks` is where.
 */
function* compare(
  test: Expr,
  when: boolean,
  at: Expr,
  loop: Turn,
  facts: Facts,
  synced = condition(test, when, facts),
  asks = test,
): Generator<Finding> {
  if (synced && loop.kind === "FunctionDef") {
    const known = inItsLoop(synced, test, loop, facts);
    const wrong = known ?? countedByParameters(synced, loop);
    if (wrong !== null) {
      yield known === null ? { at, severity: "note", message: wrong } : { at, message: wrong };
      return;
    }
  }
  if (neverHolds(test, when, loop, facts) && stepsAfter(loop, facts)) {
    yield {
      at,
      message: `\`${facts.file.textOf(test)}\` is never true in this loop: gradients are exchanged in none of its turns`,
    };
    return;
  }
  if (synced && isAllButLast(synced, loop, facts) && stepsAfter(loop, facts)) {
    yield { at, message: ALL_BUT_LAST };
    return;
  }
  const stride = synced && strideOf(synced, loop, facts);
  if (stride) {
    yield {
      at,
      severity: "note",
      message: `Ranks exchange gradients when \`${show(synced)}\`, but this loop counts by \`${stride}\`, not by turns: that holds in other turns than the last of each window, or in none`,
    };
    return;
  }
  if (synced && isNotLast(synced, loop, facts)) {
    yield { at, message: notLast(synced) };
    return;
  }
  if (synced && isOfOuterLoop(synced, [askedAt(test, facts.file)], loop, facts) && stepsAfter(loop, facts)) {
    yield { at, message: allAlike(synced) };
    return;
  }
  if (synced && isCountedApart(synced, test, loop, facts)) {
    yield {
      at,
      severity: "note",
      message: `Ranks exchange gradients when \`${show(synced)}\`, which does not hold in the last turn of this loop: the optimizer steps after it with gradients that no other rank has seen`,
    };
    return;
  }
  const here = loop.kind === "For" && stepsRightAfter(loop, facts);
  const last =
    loop.kind === "For" && (here || stepsElsewhere(loop, facts)) ? holdsInLast(test, loop, facts.file) : null;
  if (last && last.holds !== when) {
    yield {
      at,
      ...(here && last.whole ? {} : { severity: "note" as const }),
      message: `By \`${facts.file.textOf(test)}\` ranks exchange nothing in the last turn of this loop, after which the optimizer steps: what that turn adds, no other rank sees`,
    };
    return;
  }
  for (const step of optimizerSteps(facts.file)) {
    if (!contains(loop, step) || functionOf(step) !== functionOf(at)) {
      const stepped = synced && steppedElsewhere(step, loop, facts);
      if (synced && stepped && differ(synced, stepped)) {
        yield { at, message: apart(synced, stepped) };
        return;
      }
      continue;
    }
    const counted = synced && fullTurn(step, synced, loop, facts);
    if (counted) {
      // What the count has got to when the loop begins, another epoch may have left.
      const turn = countedOn(counted.turn, test, counted.test, loop, facts);
      if (turn && differ(synced, turn)) {
        yield {
          at,
          severity: "note",
          message: `Ranks exchange gradients when \`${show(synced)}\`, but the optimizer steps when \`${facts.file.textOf(counted.test)}\`, first where \`${show(turn)}\`: it steps with gradients that no other rank has seen`,
        };
        return;
      }
      continue;
    }
    const guard = guardOf(step, facts);
    if (!guard) continue;
    // The same name decides about both: it must say the same.
    const same = sameName(test, guard.test, facts);
    if (same !== null) {
      if ((same ? when : !when) !== guard.when) {
        yield {
          at,
          message:
            "Ranks exchange gradients in every turn but the one the optimizer steps in: it steps with gradients that no other rank has seen",
        };
        return;
      }
      continue;
    }
    const asked = condition(guard.test, guard.when, facts);
    const stepped = asked && countedOn(asked, test, guard.test, loop, facts);
    if (!synced || !stepped || synced.by !== stepped.by) continue;
    if (differ(synced, stepped)) {
      yield { at, message: apart(synced, stepped) };
      return;
    }
    // Where one of several branches steps, once is enough.
    if (isAlternative(guard.test, facts) && guard.when && !isAlternative(asks, facts)) {
      yield {
        at,
        message: `The optimizer steps for what is left over as well, but gradients are exchanged only when \`${show(synced)}\`: after the last turns each rank steps with its own`,
      };
      return;
    }
  }
}

const ALL_BUT_LAST =
  "Ranks exchange gradients in every turn but the last, after which the optimizer steps: what that turn adds, no other rank sees";

function notLast(synced: Condition): string {
  return `Ranks exchange gradients when \`${show(synced)}\`, but the optimizer steps after the last turn: what the others add later, no other rank sees`;
}

function allAlike(synced: Condition): string {
  return `\`${show(synced)}\` is the same in all turns of this loop: either all of them exchange gradients, or none, and then each rank steps with its own`;
}

/** What is wrong with the flag of a function that a loop over the parts of one step runs in each turn: in the words of that loop. */
function inItsLoop(inside: Condition, test: Expr, fn: FunctionDef, facts: Facts): string | null {
  const { file } = facts;
  const turned = turnedBy(fn, file);
  if (!turned || !stepsRightAfter(turned.loop, facts)) return null;
  if (optimizerSteps(file).some((step) => contains(fn, step))) return null;
  const asked = [];
  for (const name of namesIn(askedAt(test, file))) {
    if (name.id === "self") continue;
    const given = turnedArgument(name, fn, turned, file);
    if (given) asked.push(given);
    // What the function makes of it by itself, nobody says in the loop's words.
    else if (!file.scopes.reaching(name).every(({ node }) => functionOf(node) === null)) return null;
  }
  const synced = inWordsOf(turned.call, namesOf(fn), inside, file);
  if (isAllButLast(synced, turned.loop, facts)) return ALL_BUT_LAST;
  if (isNotLast(synced, turned.loop, facts)) return notLast(synced);
  return isOfOuterLoop(synced, asked, turned.loop, facts) ? allAlike(synced) : null;
}

/** The n of `for start in range(0, len(batch), n):`, where what is asked of `start` takes it for the number of the turn. */
function strideOf({ of, by }: Condition, loop: Turn, facts: Facts): string | null {
  const { file } = facts;
  if (loop.kind !== "For" || loop.iter.kind !== "Call" || file.dotted(loop.iter.func) !== "builtins.range")
    return null;
  const stride = loop.iter.args[2]?.value;
  const counter = file.textOf(loop.target);
  if (!stride || by === "" || (stride.kind === "Num" && stride.text === "1")) return null;
  // `start // n` is the turn, `start + n` the end of its part, and `start % (n * 4)` knows of the n.
  const knows = file.textOf(stride);
  if ((of !== counter && !(of.startsWith(`${counter} `) && / [-+] 1$/.test(of))) || by.includes(knows))
    return null;
  return facts.backwards.some(({ call }) => contains(loop, call)) ? knows : null;
}

function apart(synced: Condition, stepped: Condition): string {
  return `Ranks exchange gradients when \`${show(synced)}\`, but the optimizer steps when \`${show(stepped)}\`: it steps with gradients that no other rank has seen`;
}

/** `micro == n` or `micro == 0` in a function that is told both: the last turn, after which the optimizer steps, is `n - 1`. */
function countedByParameters({ of, by, is, holds }: Condition, fn: FunctionDef): string | null {
  const params = fn.params.map(({ name }) => name);
  const count = params.find((name) => /acc(?:um|_)|micro_?(?:steps|batches)/i.test(name) && name !== of);
  if (!holds || count === undefined || !params.includes(of)) return null;
  // `micro % n == 0`, of what counts from zero.
  if (by !== "" && !(by === count && is === "0")) return null;
  if (is === count)
    return `Counted from zero, \`${of} == ${is}\` is never true: gradients are exchanged in none of the turns`;
  return is === "0"
    ? `Ranks exchange gradients in the first of \`${count}\` turns; what the others add later, no other rank sees`
    : null;
}

/** `(i + 1) % n == 0 or i + 1 == len(loader)`, or the name it was given. */
function isAlternative(test: Expr, facts: Facts): boolean {
  const said = test.kind === "Name" ? facts.file.scopes.onlyValue(test) : test;
  return said?.kind === "Bool" && said.op === "or";
}

/** True where both are one name, false where one is the other's opposite, null where they are two things. */
function sameName(a: Expr, b: Expr, facts: Facts): boolean | null {
  const strip = (expr: Expr): [Expr, boolean] =>
    expr.kind === "Unary" && expr.op === "not" ? [expr.operand, false] : [expr, true];
  const [[left, plain], [right, other]] = [strip(a), strip(b)];
  if (left.kind !== "Name" || right.kind !== "Name" || left.id !== right.id) return null;
  const same = facts.file.scopes
    .reaching(left)
    .every((one) => facts.file.scopes.reaching(right).includes(one));
  return same ? plain === other : null;
}

/** The function of the loop takes no step: who calls it does, once all turns are over. */
function stepsElsewhere(loop: Loop, { file }: Facts): boolean {
  const fn = functionOf(loop);
  return fn !== null && !optimizerSteps(file).some((step) => functionOf(step) === fn);
}

function stepsAfter(loop: Turn, facts: Facts): boolean {
  return optimizerSteps(facts.file).some((step) => contains(loop, step) || step.start > loop.end);
}
