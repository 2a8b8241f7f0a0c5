import { keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, blockOf, contains, functionOf, lastWord, statementOf, walk } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef, Node } from "../../python/tree.ts";
import { deleteStatement, indentAt } from "../edits.ts";
import { MICRO_STEPS, countsToOne } from "../facts/accumulation.ts";
import type { Facts } from "../facts/facts.ts";
import type { Turn } from "../facts/full-counts.ts";
import { Reckoned, WINDOW } from "../facts/reckoned-turns.ts";
import { steppings, stepsRightAfter } from "../facts/steps-of-turns.ts";
import { isNetwork } from "../facts/networks.ts";
import { callTarget } from "../facts/summary.ts";
import { last } from "../facts/torch-names.ts";
import { loopOfSteps, loopsAround, optimizerSteps } from "../facts/training.ts";
import type { Finding, Fix, Rule } from "../rule.ts";

const HALF =
  "Half-summed gradients are clipped on every micro-step: it is done many times, and the later batches count for more; clip once, before the step";

export const rule: Rule = {
  meta: {
    code: "PLM079",
    name: "clipped-every-micro-step",
    summary:
      "Gradients are clipped on every micro-step of an accumulation, or beside a driver that clips by itself",
    severity: "warning",
    fix: "unsafe",
    patterns: [79],
    inTraining: true,
  },
  *check(facts) {
    const { file } = facts;
    yield* byHelpers(facts);
    if (facts.guesses) yield* reckoned(facts);
    for (const call of file.callsNamed(
      "clip_grad_norm_",
      "clip_grad_norm",
      "clip_grad_value_",
      "clip_grad_value",
      "clip_gradients",
    )) {
      const name = file.dotted(call.func) ?? "";
      const torch = /^torch\.nn\.utils\.(?:clip_grad\.)?clip_grad_(?:norm|value)_?$/.test(name);
      const method = name === "" && call.func.kind === "Attribute" ? call.func : null;
      const driver =
        method !== null &&
        /accelerator/i.test(file.textOf(method.value)) &&
        /^clip_grad_(?:norm|value)_$/.test(method.attr);
      const fabric =
        method !== null && method.attr === "clip_gradients" && /fabric/i.test(file.textOf(method.value));
      const own =
        method !== null &&
        /^clip_grad_(?:norm|value)_$/.test(method.attr) &&
        !driver &&
        isNetwork(method.value, facts);
      if (!torch && !driver && !fabric && !own) continue;
      if (isMeasuring(call, file)) continue;
      const clips = torch ? clipsInHook(call, facts) : null;
      if (clips) {
        yield { at: call, message: clips };
        continue;
      }
      // `for group in optimizer.param_groups:` goes through the parameters of one step.
      const inner =
        loopsAround(call).find((loop) => loop.kind !== "For" || !overGroups(loop.iter)) ?? functionOf(call);
      if (!inner || (facts.guesses && isSteppedWith(call, inner, facts))) continue;
      if (torch && clipsByItself(inner, facts)) {
        yield {
          at: call,
          message:
            "DeepSpeed clips by its own setting, and its gradients are not in `.grad` when this looks: nothing is clipped here, or twice",
        };
        continue;
      }
      if (
        !((driver || torch) && isAccumulated(call, inner, facts)) &&
        // Where it is told of the accumulation, it knows when gradients are whole.
        ((driver && file.says(/\.accumulate\(/)) ||
          !(isMicroStep(call, inner, facts) || isBesideStep(call, inner, facts)))
      )
        continue;
      const fix = torch ? beforeStep(call, inner, facts) : null;
      const steps = optimizerSteps(file).filter((step) => contains(inner, step));
      yield {
        at: call,
        ...(steps.length > 0 && steps.every((step) => countsToOne(step, inner, file))
          ? { severity: "note" as const }
          : {}),
        message: HALF,
        ...(fix ? { fix } : {}),
      };
    }
  },
};

/** `clip_grad_norm_(params, float("inf"))` only asks how long they are. */
const isMeasuring = ({ args }: Call, file: PythonFile): boolean =>
  args.some(({ value }) => INFINITE.test(file.textOf(value)));

const INFINITE = /^(?:float\(["']inf(?:inity)?["']\)|(?:math|np|numpy|torch)\.inf)$/i;

/**
 * What is likely: of whatever clips beside a backward, and of the optimizer's steps, it is computed in which turns they run. It is
 * wrong where gradients are clipped in a turn without a step, or in a loop that the optimizer only steps after.
 */
function* reckoned(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const clips = file
    .callsNamed(...CLIPS)
    .filter(
      ({ func }) =>
        // Handed in, it is somebody's own.
        (func.kind !== "Name" || file.dotted(func) !== null) && !/^self$|optim/i.test(ownerOf(func, file)),
    )
    .filter((call) => !isMeasuring(call, file));
  for (const call of new Set([
    ...clips,
    ...facts.callsTo("clips").filter((one) => facts.callee(one)?.clips),
  ])) {
    const turn =
      loopsAround(call).find((loop) => loop.kind !== "For" || !overGroups(loop.iter)) ?? functionOf(call);
    if (!turn || turn.kind === "Lambda" || (turn.kind === "For" && isOfTurn(call, turn.target))) continue;
    if (isByEngine(turn, facts)) yield { at: call, message: BY_ENGINE };
    else if (
      facts.backwards.some(({ call: backward }) => contains(turn, backward) && backward.start < call.start) &&
      isClippedApart(call, turn, facts)
    )
      yield { at: call, message: HALF };
  }
}

const CLIPS = [
  "clip_grad_norm_",
  "clip_grad_norm",
  "clip_grad_value_",
  "clip_grad_value",
  "clip_gradients",
  "clip_grads",
];

function ownerOf(func: Expr, file: PythonFile): string {
  return func.kind === "Attribute" && file.dotted(func) === null ? file.textOf(func.value) : "";
}

function isClippedApart(call: Call, turn: Turn, facts: Facts): boolean {
  if (isSteppedWith(call, turn, facts)) return false;
  const steps = steppings(turn, facts);
  const reckon = new Reckoned(turn, facts.file);
  if (steps.length === 0)
    return turn.kind !== "FunctionDef" && stepsRightAfter(turn, facts) && reckon.runs(call, 0) === true;
  for (let at = 0; at < 3 * WINDOW; at++) {
    const stepped = new Set(steps.map((step) => step(reckon, at)));
    const clipped = reckon.runs(call, at);
    if (clipped === null || stepped.has(null)) return false;
    if (clipped && !stepped.has(true)) return true;
  }
  return false;
}

/** The optimizer steps below it, under nothing that it is not under itself: `if seen >= n: clip_grad_norm_(…)`, and `optimizer.step()` there. */
function isSteppedWith(call: Call, turn: Node, { file }: Facts): boolean {
  const blocks: (readonly Node[])[] = [];
  for (let at: Node | null = statementOf(call); at && at !== turn; at = at.parent) {
    const block = blockOf(at);
    if (block) blocks.push(block);
  }
  return optimizerSteps(file).some((step) => {
    const statement = statementOf(step);
    const block = statement && step.start > call.end && contains(turn, step) ? blockOf(statement) : null;
    return block !== null && blocks.some((one) => one[0] === block[0]);
  });
}

const BY_ENGINE =
  "An engine that differentiates and steps by itself clips by its own setting, and keeps gradients where this does not look: nothing is clipped here, or twice";

/** `engine.backward(loss)` and `engine.step()`, as DeepSpeed has it. */
function isByEngine(turn: Turn, { file, backwards }: Facts): boolean {
  return backwards.some(({ call: { func, args } }) => {
    if (func.kind !== "Attribute" || func.attr !== "backward" || args.length === 0) return false;
    const owner = file.textOf(func.value);
    return (
      contains(turn, func) &&
      (/(?:^|[_.])(?:model_|ds_)?engine$/.test(owner) ||
        (file.says(/deepspeed/) && /model|net/.test(owner))) &&
      file
        .callsNamed("step")
        .some(
          (one) =>
            contains(turn, one) && one.func.kind === "Attribute" && file.textOf(one.func.value) === owner,
        )
    );
  });
}

/** A function of this file that only clips, called on every micro-step. */
function* byHelpers(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const helpers = new Set<FunctionDef>();
  for (const call of file.callsNamed("clip_grad_norm_", "clip_grad_value_")) {
    const fn = functionOf(call);
    // One that differentiates as well is a micro-step, unless it steps.
    const steps = (): boolean => optimizerSteps(file).some((step) => functionOf(step) === fn);
    if (
      fn?.kind === "FunctionDef" &&
      loopsAround(call).length === 0 &&
      (!facts.functionFacts(call).loose || !steps())
    )
      helpers.add(fn);
  }
  // Those of other files clip by what is known of them.
  const elsewhere = facts
    .callsTo("clips")
    .filter((call) => !file.functionNamed(callTarget(call, file)) && facts.callee(call)?.clips === true);
  const here =
    helpers.size === 0
      ? []
      : file
          .callsNamed(...[...helpers].map(({ name }) => name))
          .filter((call) => [...helpers].some((fn) => callTarget(call, file) === file.qualified(fn)));
  for (const call of [...here, ...elsewhere]) {
    const inner = loopsAround(call)[0] ?? functionOf(call);
    if (inner && isMicroStep(call, inner, facts))
      yield {
        at: call,
        ...(stepsIn(inner, file).some((step) => countsToOne(step, inner, file))
          ? { severity: "note" as const }
          : {}),
        message: HALF,
      };
  }
}

/** In a hook or step of a framework that clips by itself, or goes through several micro-batches for a step. */
function clipsInHook(call: Call, facts: Facts): string | null {
  const fn = functionOf(call);
  const cls = fn?.parent?.kind === "ClassDef" ? fn.parent : null;
  if (fn?.kind !== "FunctionDef" || !cls || facts.frequency(call, fn) !== "every") return null;
  const role = facts.role(cls);
  if (role === "trainer" && /^(?:training_step|compute_loss)$/.test(fn.name))
    return "The Trainer clips before each step by `max_grad_norm`; here half-summed gradients are clipped on every micro-step beside that";
  if (role !== "lightning" && role !== "callback") return null;
  const given = (key: string): boolean =>
    facts.file.calls.given([key]).some((one) => {
      const value = keyword(one, key)!.value;
      return (
        !(value.kind === "Num" && Number(value.text) <= (key === "accumulate_grad_batches" ? 1 : 0)) &&
        value.kind !== "Const"
      );
    });
  if (/^on_(?:after_backward|before_optimizer_step)$/.test(fn.name) && given("gradient_clip_val"))
    return "The Lightning Trainer clips by `gradient_clip_val` already: every step computes the norm, and scales, twice";
  return fn.name === "on_after_backward" && given("accumulate_grad_batches")
    ? "This hook runs after every micro-batch: half-summed gradients are clipped, and the later batches count for more; clip in `configure_gradient_clipping`, or by `gradient_clip_val`"
    : null;
}

/** Every turn clips; the optimizer steps in some of them, or after this loop of micro-batches. */
function isMicroStep(call: Call, loop: Node, facts: Facts): boolean {
  if (facts.frequency(call, loop) !== "every" && !isOnlySwitched(call, loop, facts)) return false;
  const inside = stepsIn(loop, facts.file);
  // Beside a backward of its own turn: what clips in a function of its own may be called once a step.
  if (inside.length > 0)
    return (
      (facts.backwards.some(({ call: backward }) => contains(loop, backward)) ||
        facts.callee(call)?.reachesBackward === true ||
        inside.every((step) => isForMicroSteps(step, loop, facts))) &&
      inside.every((step) => facts.frequency(step, loop) === "throttled" || isCounted(step, loop, facts))
    );
  // A method that goes through the parts of one batch is the step by itself.
  const outer = loopsAround(call)[1] ?? null;
  return (
    loop.kind === "For" &&
    !isOfTurn(call, loop.target) &&
    (optimizerSteps(facts.file).some(
      (step) => loopOfSteps(step) === outer && functionOf(step) === functionOf(call) && step.start > loop.end,
    ) ||
      (outer === null ? isSteppedAfter(loop, facts) : isSteppedBelow(loop, outer, facts))) &&
    (facts.backwards.some(({ call: backward }) => contains(loop, backward)) ||
      facts.callee(call)?.reachesBackward === true ||
      // Also of one that differentiates token by token, in a loop of its own.
      facts.file
        .all("Call")
        .some((one) => contains(loop, one) && facts.callee(one)?.reachesBackward === true))
  );
}

/** The optimizer's steps in a loop, also by the call of a function of this file that takes one: `update(model, optimizer)`. */
function stepsIn(loop: Node, file: PythonFile): readonly Call[] {
  const steps = optimizerSteps(file);
  const taken =
    loop.kind === "FunctionDef"
      ? []
      : callsThat(
          steps.filter((step) => loopsAround(step).length === 0),
          file,
        );
  return [...steps, ...taken].filter((step) => contains(loop, step));
}

/** A function that is called on every micro-step and steps on some: `if (step + 1) % accumulation_steps == 0:`. */
function isForMicroSteps(step: Call, fn: Node, { file }: Facts): boolean {
  if (fn.kind !== "FunctionDef") return false;
  for (const at of ancestors(step)) {
    if (at === fn) return false;
    if (at.kind === "If" && MICRO_STEPS.test(file.textOf(at.test))) return true;
  }
  return false;
}

/** `self.optimize()` below the loop over micro-batches, in the same turn. */
function isSteppedBelow(loop: Node, outer: Node, { file }: Facts): boolean {
  const steps = optimizerSteps(file).filter((step) => loopsAround(step).length === 0);
  return callsThat(steps, file).some(
    (call) =>
      call.start > loop.end && loopsAround(call)[0] === outer && functionOf(call) === functionOf(loop),
  );
}

/** Calls of the functions of this file that take these steps. */
function callsThat(steps: readonly Call[], file: PythonFile): readonly Call[] {
  const steppers = new Set(
    steps.flatMap((step) => {
      const by = functionOf(step);
      return by?.kind === "FunctionDef" ? [file.qualified(by)] : [];
    }),
  );
  return file
    .callsNamed(...[...steppers].map(last))
    .filter((call) => steppers.has(callTarget(call, file) ?? ""));
}

/** `for net in nets: …; clip_grad_norm_(net.parameters(), 1.0)`: each turn clips another one. */
function isOfTurn(call: Call, target: Expr): boolean {
  const [of] = lastWord(call.func).startsWith("clip_") ? call.args : [];
  if (!of) return false;
  const turns = new Set<string>();
  let found = false;
  walk(target, (node) => void (node.kind === "Name" && turns.add(node.id)));
  walk(of, (node) => void (found ||= node.kind === "Name" && turns.has(node.id)));
  return found;
}

/** `self.forward_backward(batch)`, which is this loop, and then `self.optimize()`, which steps. */
function isSteppedAfter(loop: Node, { file }: Facts): boolean {
  const fn = functionOf(loop);
  if (fn?.kind !== "FunctionDef") return false;
  if (optimizerSteps(file).some((step) => functionOf(step) === fn)) return false;
  const steps = callsThat(optimizerSteps(file), file);
  // Where a turn of the loop may step, it is no micro-step.
  if (steps.some((call) => contains(fn, call))) return false;
  return file
    .callsNamed(fn.name)
    .some(
      (call) =>
        callTarget(call, file) === file.qualified(fn) &&
        steps.some(
          (step) =>
            functionOf(step) === functionOf(call) &&
            step.start > call.end &&
            loopsAround(step)[0] === loopsAround(call)[0],
        ),
    );
}

function overGroups(iter: Expr): boolean {
  return iter.kind === "Attribute" && iter.attr === "param_groups";
}

/** In the branch of a turn that only adds gradients up: `if last: …; optimizer.step()`, `else: loss.backward(); clip(…)`. */
function isBesideStep(call: Call, loop: Node, facts: Facts): boolean {
  const steps = optimizerSteps(facts.file).filter((step) => contains(loop, step));
  for (let child: Node = call, at = call.parent; at && at !== loop; child = at, at = at.parent) {
    if (at.kind !== "If" || child === at.test) continue;
    const [mine, other] = at.orelse.includes(child as never) ? [at.orelse, at.body] : [at.body, at.orelse];
    const has = (branch: readonly Node[], node: Node): boolean => branch.some((one) => contains(one, node));
    return (
      steps.length > 0 &&
      steps.every((step) => has(other, step)) &&
      facts.backwards.some(({ call: backward }) => has(mine, backward) && backward.start < call.start)
    );
  }
  return false;
}

/** Under `if self.seen == self.n:`, where `seen` is counted up in each turn. */
function isCounted(step: Call, loop: Node, { file }: Facts): boolean {
  for (const at of ancestors(step)) {
    if (at === loop) return false;
    if (at.kind !== "If" || at.test.kind !== "Compare") continue;
    const counter = file.textOf(at.test.left);
    if (file.all("AugAssign").some((one) => contains(loop, one) && file.textOf(one.target) === counter))
      return true;
  }
  return false;
}

/** Under `accelerator.accumulate` gradients are whole only when `sync_gradients` says so. */
function isAccumulated(call: Call, loop: Node, facts: Facts): boolean {
  const text = facts.file.codeOf(loop);
  return (
    /\.accumulate\(/.test(text) &&
    (facts.frequency(call, loop) === "every" || isOnlySwitched(call, loop, facts)) &&
    facts.file.says(/gradient_accumulation_steps/)
  );
}

/** `if max_grad_norm > 0:`, which holds for a whole run. */
function isOnlySwitched(call: Call, loop: Node, { file }: Facts): boolean {
  let tests = 0;
  for (const at of ancestors(call)) {
    if (at === loop) break;
    if (at.kind === "Handler") return false;
    if (at.kind !== "If") continue;
    tests++;
    if (
      !/^(?:not )?(?:exists\()?[\w.]*(?:grad_norm|clip\w*|max_norm)\)?(?: (?:>|is not|!=) (?:0(?:\.0?)?|None))?$/.test(
        file.textOf(at.test),
      )
    )
      return false;
  }
  return tests > 0;
}

function clipsByItself(loop: Node, facts: Facts): boolean {
  return (
    facts.file.says(/deepspeed/) &&
    facts.file
      .callsNamed("initialize")
      .some((call) => facts.file.dotted(call.func) === "deepspeed.initialize") &&
    // `engine.backward(loss)`: on a tensor there is nothing to pass.
    facts.backwards.some(
      ({ call }) =>
        contains(loop, call) &&
        call.args.some((arg) => arg.name === null) &&
        !/accelerat|fabric|manual_/i.test(facts.file.textOf(call.func)),
    )
  );
}

/** The statement as it is, moved to right before the step. */
function beforeStep(call: Call, loop: Node, facts: Facts): Fix | null {
  const { file } = facts;
  const statement = statementOf(call);
  const steps = optimizerSteps(file).filter(
    (step) => contains(loop, step) && functionOf(step) === functionOf(call),
  );
  const step = steps.length === 1 ? statementOf(steps[0]!) : null;
  if (statement?.kind !== "ExprStmt" || statement.value !== call || step?.kind !== "ExprStmt") return null;
  // In a branch beside the step, it clips what only that branch has.
  if (!blockOf(statement)?.some((one) => contains(one, step))) return null;
  const start = file.lines.start(file.lines.line(step.start));
  const indent = indentAt(file, step.start);
  const text = file.textOf(statement);
  if (file.text.slice(start, step.start) !== indent || text.includes("\n") || step.start < statement.start)
    return null;
  const ending = file.text.includes("\r\n") ? "\r\n" : "\n";
  return {
    grade: "unsafe",
    title: "Clip once, before the step",
    edits: [
      ...deleteStatement(statement, file),
      { start: step.start, end: step.start, text: `${text}${ending}${indent}` },
    ],
  };
}
