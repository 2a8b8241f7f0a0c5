import type { PythonFile } from "../../python/file.ts";
import { ancestors, blockOf, contains, functionOf, statementOf } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef, Node, NodeOf } from "../../python/tree.ts";
import {
  MICRO_STEPS,
  countsToOne,
  dividesGradients,
  hasLength,
  isDivided,
  isOneByDefault,
} from "../facts/accumulation.ts";
import {
  chunkCount,
  insideOf,
  isDividedByWhole,
  isPartsOf,
  namedCount,
  stride,
  wholeOf,
} from "../facts/batch-parts.ts";
import { toldSteps } from "../facts/told-steps.ts";
import type { Backward, Loop } from "../facts/training.ts";
import { loopOfSteps, loopsAround, optimizerSteps } from "../facts/training.ts";
import { asksForTurn, turnedBy } from "../facts/turned-functions.ts";
import { undividedTrainerSteps } from "../facts/trainer-steps.ts";
import { throttleOf } from "../facts/step-throttles.ts";
import type { Throttle } from "../facts/step-throttles.ts";
import type { Facts } from "../facts/facts.ts";
import { isNetwork } from "../facts/networks.ts";
import { isOfOtherRuns } from "../facts/other-runs.ts";
import { callsOf } from "../facts/returns.ts";
import type { Finding, Fix, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM065",
    name: "accumulation-miscounted",
    summary: "Accumulated losses are not divided by their number, or the last ones never reach a step",
    severity: "warning",
    fix: "unsafe",
    patterns: [65],
    inTraining: true,
  },
  *check(facts) {
    const { file } = facts;
    const whole = [...wholeLosses(facts)];
    if (whole.length === 0 && facts.backwards.length === 0) return;
    // An engine for private training takes the steps: it adds clipped gradients up, and divides them itself.
    if (file.says(/PrivacyEngine|privacy_engine|\bopacus\b/)) return;
    yield* whole;
    if (facts.backwards.length === 0) return;
    if (facts.guesses)
      for (const { call } of undividedTrainerSteps(facts))
        yield {
          at: call,
          message:
            "The Trainer adds up the gradients of `gradient_accumulation_steps` of these steps: undivided, they are as many times larger",
        };
    yield* microSteps(facts);
    yield* inTwoFunctions(facts);
    // The branches of one test may each step.
    const seen = new Set<Node>();
    for (const { step, taken } of stepsOf(facts)) {
      const loop = facts.stepLoop(step) ?? functionOf(step);
      if (!loop) continue;
      // Or by the function that has the step: `self.optimizer_step(i)`.
      const every =
        throttleOf(step, loop, facts) ??
        (taken === step ? null : throttleOf(taken, functionOf(taken)!, facts));
      if (!every) continue;
      const others = otherSteps(taken, loop, file);
      // What another optimizer has used before this one's turn is none of its own.
      const inLoop = facts.backwards.filter(
        ({ call }) =>
          contains(loop, call) &&
          !others.some(
            (other) => call.start < other.start && (other.start < step.start || isApart(call, other, step)),
          ),
      );
      // Nothing is differentiated but in the turns that step.
      if (
        contains(every.branch, step) &&
        inLoop.length > 0 &&
        inLoop.every(({ call }) => isWith(call, step, every))
      )
        continue;
      const everyTurn = inLoop.filter(({ call }) => facts.frequency(call, loop) === "every");
      // One with the step, one that only adds up, without an exchange between ranks.
      const sameLoss = new Set(inLoop.map(({ loss }) => loss && file.textOf(loss))).size === 1;
      const adds =
        (everyTurn.length === 0 || (facts.guesses && areBranches(inLoop))) &&
        sameLoss &&
        !inLoop.every(({ call }) => isWith(call, step, every));
      const backwards = adds && areBranches(inLoop) ? inLoop : everyTurn;
      // `if fp16: scaled_loss.backward()`, `else: loss.backward()`: one of the two.
      const branches = areBranches(backwards);
      const undividedBranch = branches
        ? backwards.find(({ call }) => !isDivided(onTheWay(loop, call, file), file.textOf(every.by)))
        : undefined;
      const backward = branches
        ? (undividedBranch ?? backwards[everyTurn.length === 0 ? 0 : 1])
        : backwards.length === 1
          ? backwards[0]
          : undefined;
      if (!backward?.loss || dividesItself(backward.call, facts)) continue;
      const count = file.textOf(every.by);
      const helper = taken === step ? null : functionOf(taken);
      const text =
        (undividedBranch ? onTheWay(loop, undividedBranch.call, file) : file.codeOf(loop)) +
        (helper ? file.codeOf(helper) : "");
      // Clearing every turn is no accumulation.
      const foreign = new Set(others.map((other) => stepped(other, file)));
      if (!clearsThrottled(loop, every.branch, helper, foreign, facts)) continue;
      const divided = dividesGradients(text) || decaysForSums(count, file) || isDivided(text, count);
      // What is divided below, as a sum for the log is, was no loss any more.
      const below =
        divided &&
        !dividesGradients(text) &&
        !decaysForSums(count, file) &&
        contains(loop, backward.call) &&
        !isDivided(file.codeOf({ start: loop.start, end: backward.call.end }), count) &&
        !(helper && isDivided(file.codeOf(helper), count)) &&
        MICRO_STEPS.test(count);
      if ((!divided || below) && !seen.has(backward.call)) {
        seen.add(backward.call);
        // `if not parts or step % parts == 0:`: by nothing, nothing is divided.
        const mayBeNone = new RegExp(`\\bnot ${count.replace(/[^\w\s]/g, "\\$&")}(?![\\w.])`).test(
          file.textOf(every.test),
        );
        const found = undivided(backward.call, backward.loss, count, facts, !mayBeNone);
        const isOne = every.goesOn === true ? isOneByDefault(every.by, file) : countsToOne(step, loop, file);
        yield isOne || below ? { ...found, severity: "note" } : found;
      }
      if (every.by.kind !== "Num" || every.by.text !== "1") {
        // Of a function that a loop runs in each turn, and hands its number: that loop.
        const turned = loop.kind === "FunctionDef" ? turnedBy(loop, file) : null;
        const over =
          turned && loop.kind === "FunctionDef" && asksForTurn(every.test, loop, turned, file)
            ? turned.loop
            : loop;
        const drops =
          every.test.kind !== "Bool" &&
          every.goesOn !== true &&
          !/len\(|is_last|last_|total|num_batches|num_steps/.test(file.textOf(every.test)) &&
          !optimizerSteps(file).some(
            (other) =>
              other !== step &&
              !contains(over, other) &&
              other.start > over.end &&
              functionOf(other) === functionOf(over === loop ? step : over),
          );
        if (drops && !seen.has(every.test) && over.kind === "For" && isFinite(over, facts)) {
          seen.add(every.test);
          // In a function that is asked, nobody knows the loader.
          const here = contains(loop, every.test);
          const fix = here && over === loop ? countTheEnd(every.test, over, facts) : null;
          yield {
            at: here || every.branch.kind !== "If" ? every.test : every.branch.test,
            severity: "note",
            message:
              "Batches left over when the loop ends have been computed, but no step uses them; their gradients leak into the next epoch or are lost",
            ...(fix ? { fix } : {}),
          };
        }
      }
    }
  },
};

/** `if turn % n: critic_loss.backward(); critic_opt.step()`, `else: loss.backward(); opt.step()`: each arm has its own. */
function isApart(backward: Call, other: Call, step: Call): boolean {
  const arm = armOf(backward);
  return arm !== null && arm === armOf(other) && arm !== armOf(step);
}

const armOf = (call: Call): readonly Node[] | null => blockOf(statementOf(call)!);

/** `weight_decay *= batch_size * n / 64`: the decay is made to fit gradients that are sums. */
function decaysForSums(count: string, file: PythonFile): boolean {
  const text = count.replace(/[^\w\s]/g, "\\$&");
  return file.says(new RegExp(`weight_decay\\b[^\\n]*=[^\\n]*\\* ?${text}(?![\\w.])`));
}

/** `scaler(loss, optimizer, step_now=(i + 1) % n == 0)`, where nothing divides the loss: whoever is told no number cannot either. */
function* wholeLosses(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const { call, loss, by, loop } of toldSteps(facts)) {
    const [text, count] = [onTheWay(loop, call, file), file.textOf(by)];
    if (
      isDivided(text, count) ||
      dividesGradients(text) ||
      !clearsThrottled(loop, call, null, new Set(), facts)
    )
      continue;
    yield { ...undivided(call, loss, count, facts), severity: "note" };
  }
}

/** `accumulate(net, batch)` on every turn and `update(optimizer)` on some, one function that differentiates and one that steps: neither divides. */
function* inTwoFunctions(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const seen = new Set<Node>();
  for (const { step, taken } of stepsOf(facts)) {
    const loop = facts.stepLoop(step);
    const every = loop ? throttleOf(step, loop, facts) : null;
    if (!loop || !every || !MICRO_STEPS.test(file.textOf(every.by))) continue;
    const helper = taken === step ? null : functionOf(taken);
    if (!clearsThrottled(loop, every.branch, helper, new Set(), facts)) continue;
    for (const { call, loss } of facts.backwards) {
      const fn = onlyDifferentiates(call, facts);
      if (!loss || !fn || seen.has(call) || dividesItself(call, facts)) continue;
      const [site, ...more] = callsOf(fn, file).filter((one) => contains(loop, one));
      if (!site || more.length > 0 || facts.frequency(site, loop) !== "every") continue;
      const text = file.codeOf(fn) + file.codeOf(loop) + (helper ? file.codeOf(helper) : "");
      if (isDivided(text, file.textOf(every.by)) || dividesGradients(text)) continue;
      if (mayDivide(fn, every.by, site, file)) continue;
      seen.add(call);
      const found = undivided(call, loss, file.textOf(every.by), facts, false);
      yield countsToOne(step, loop, file) ? { ...found, severity: "note" } : found;
    }
  }
}

/** The function around a backward that is the only one in it, once a call, with nothing that steps or clears. */
function onlyDifferentiates(backward: Call, { file, backwards }: Facts): FunctionDef | null {
  const fn = functionOf(backward);
  if (fn?.kind !== "FunctionDef" || loopsAround(backward).length > 0) return null;
  const others = [
    ...optimizerSteps(file),
    ...file.callsNamed("zero_grad"),
    ...backwards.map(({ call }) => call),
  ];
  return others.every((one) => one === backward || !contains(fn, one)) ? fn : null;
}

/** Given the number, a function may divide by a name of its own: `scale(loss, parts)`. */
function mayDivide(fn: FunctionDef, count: Expr, { args }: Call, file: PythonFile): boolean {
  const text = file.textOf(count);
  return args.some(({ value }) => file.textOf(value) === text) && /\/|\bdiv_?\(|scale/.test(file.codeOf(fn));
}

interface Step {
  /** Where it is taken: the step itself, or the call of the function that has it. */
  readonly step: Call;
  readonly taken: Call;
}

/** The optimizer steps, and the calls of functions of this file that take one, on each call, of what others differentiated. */
function stepsOf(facts: Facts): readonly Step[] {
  const { file } = facts;
  return optimizerSteps(file).flatMap((taken) => {
    const fn = functionOf(taken);
    const found = [{ step: taken, taken }];
    if (fn?.kind !== "FunctionDef" || loopsAround(taken).length > 0) return found;
    if (
      facts.backwards.some(({ call }) => contains(fn, call)) ||
      (facts.frequency(taken, fn) !== "every" && !throttleOf(taken, fn, facts))
    )
      return found;
    return [...found, ...callsOf(fn, file).map((step) => ({ step, taken }))];
  });
}

/** What is stepped: of `scaler.step(optimizer)` the optimizer. */
function stepped({ func, args }: Call, file: PythonFile): string {
  const given = args[0]?.name === null ? args[0].value : null;
  return func.kind === "Attribute" ? file.textOf(given ?? func.value) : "";
}

/** Those of the other optimizers in the loop. */
function otherSteps(step: Call, loop: Node, file: PythonFile): readonly Call[] {
  const own = stepped(step, file);
  return optimizerSteps(file).filter((other) => contains(loop, other) && stepped(other, file) !== own);
}

/** Run in the turns of the step alone, as where an agent learns on every fourth step: nothing adds up in the others. */
function isWith(backward: Call, step: Call, { branch }: Throttle): boolean {
  if (!contains(branch, step)) return backward.start > branch.end;
  if (branch.kind !== "If") return false;
  // `if step % n < n - 1: … else: loss.backward(); optimizer.step()`
  const arm = branch.body.some((one) => contains(one, step)) ? branch.body : branch.orelse;
  return arm.some((one) => contains(one, backward));
}

function areBranches(backwards: readonly Backward[]): boolean {
  const [one, other, ...more] = backwards;
  if (!one || !other || more.length > 0) return false;
  return ancestors(one.call).some(
    (at) =>
      (at.kind === "If" &&
        at.body.some((statement) => contains(statement, one.call)) &&
        at.orelse.some((statement) => contains(statement, other.call))) ||
      // `scaler.scale(loss).backward() if amp else loss.backward()`
      (at.kind === "IfExp" && contains(at.body, one.call) && contains(at.orelse, other.call)),
  );
}

function undivided(at: Call, loss: Expr, count: string, facts: Facts, fixable = true): Finding {
  const fix = fixable ? divideLoss(loss, count, facts) : null;
  const own = isOwnLoss(loss, facts, 0);
  const adaptive = facts.file.once(stepsAlike);
  // Most optimizers are, and one that is made elsewhere may be.
  const known = facts.file.calls.named(NOT_ADAPTIVE).length > 0;
  const larger = `${fixable ? count : "as many"} times larger than ${adaptive ? "those" : "that"} of one batch of the same size`;
  const told = `The gradients of ${count} backwards add up undivided: ${adaptive ? "clipping, and the logged norm, see gradients" : "the step is"} ${larger}`;
  return {
    at,
    ...(own || adaptive || !known ? { severity: "note" as const } : {}),
    message: own ? `${told}, unless the loss is made to be summed` : told,
    ...(fix ? { fix } : {}),
  };
}

/** Optimizers that divide by the size of past gradients, or take their sign: N times as large, they make the same step. */
const ADAPTIVE = /^(?:\w*Adam\w*|Ada(?:factor|grad)|RMSprop|Lion\w*|LAMB|Lamb|Sophia\w*|Muon)$/;
const NOT_ADAPTIVE = ["SGD", "LARS", "ASGD"];

function stepsAlike({ calls }: PythonFile): boolean {
  return calls.matching(ADAPTIVE).length > 0 && calls.named(NOT_ADAPTIVE).length === 0;
}

/** Computed by a function of the project's own, unpacked beside its parts: whether it is a mean or a sum, it alone knows. */
function isOwnLoss(loss: Expr, facts: Facts, depth: number): boolean {
  if (depth > 4) return false;
  if (loss.kind === "Name")
    return facts.file.scopes
      .reaching(loss)
      .some(({ how, node, value }) =>
        how === "unpack"
          ? value?.kind === "Call" &&
            facts.file.dotted(value.func)?.startsWith("torch.") !== true &&
            !isNetwork(value.func, facts)
          : how === "augment"
            ? node.kind === "Name" && isOwnLoss(node, facts, depth + 1)
            : how === "assign" && value !== null && isOwnLoss(value, facts, depth + 1),
      );
  // `losses = criterion(out, target)`, and `losses[0]`
  if (loss.kind === "Subscript") return isOwnPart(loss, facts);
  return (
    loss.kind === "Binary" &&
    (isOwnLoss(loss.left, facts, depth + 1) || isOwnLoss(loss.right, facts, depth + 1))
  );
}

function isOwnPart({ value }: NodeOf<"Subscript">, facts: Facts): boolean {
  const made = value.kind === "Name" ? facts.file.scopes.onlyValue(value) : value;
  return (
    made?.kind === "Call" &&
    facts.file.dotted(made.func)?.startsWith("torch.") !== true &&
    !isNetwork(made.func, facts)
  );
}

/** A driver that divides by itself: DeepSpeed always, accelerate where it has been told of the accumulation. */
function dividesItself(backward: Call, { file }: Facts): boolean {
  const name = file.textOf(backward.func);
  if (/fabric|manual_backward/i.test(name)) return false;
  if (/accelerat/i.test(name)) {
    const made = file.callsNamed("Accelerator");
    // What exchanges by hand counts by hand.
    const byHand = file.says(/\.no_sync\b/);
    return (
      made.length === 0 ||
      file.says(/\.accumulate\(/) ||
      made.some((call) =>
        call.args.some(
          (arg) => (arg.star !== 0 && !byHand) || (arg.name ?? "").startsWith("gradient_accumulation"),
        ),
      )
    );
  }
  return (
    /engine|deepspeed/i.test(name) ||
    (backward.func.kind === "Attribute" && backward.args.some((arg) => arg.name === null))
  );
}

/** Cleared only where the step is taken, in its branch or in the function that takes it; what other optimizers clear is theirs. */
function clearsThrottled(
  loop: Node,
  branch: Node,
  helper: Node | null,
  foreign: ReadonlySet<string>,
  facts: Facts,
): boolean {
  const { file } = facts;
  const clears = [
    ...file
      .callsNamed("zero_grad")
      .filter(
        ({ func }) =>
          func.kind === "Attribute" && func.attr === "zero_grad" && !foreign.has(file.textOf(func.value)),
      ),
    // `for p in net.parameters(): p.grad = None`
    ...file
      .all("Assign")
      .filter(
        ({ targets: [target], value }) =>
          target?.kind === "Attribute" &&
          target.attr === "grad" &&
          value.kind === "Const" &&
          value.value === null,
      ),
  ].filter(
    (one) =>
      (contains(loop, one) &&
        !isForLost(one, loop, facts) &&
        // `if not accumulate: optimizer.zero_grad()` is of a run that steps in every turn.
        !isOfOtherRuns(one, branch, loop, file)) ||
      (helper !== null && contains(helper, one)),
  );
  return (
    clears.length > 0 &&
    clears.every(
      (one) =>
        contains(branch, one) ||
        (helper !== null && contains(helper, one)) ||
        facts.frequency(one, loop) === "throttled",
    )
  );
}

/** After an error, or in a turn that ends there without a step: what a lost batch left is cleared, not what each one adds. */
function isForLost(clear: Node, loop: Node, { file }: Facts): boolean {
  for (let child = clear, at = clear.parent; at && at !== loop; child = at, at = at.parent) {
    if (at.kind === "Handler") return true;
    if (at.kind !== "If" || child === at.test) continue;
    const branch = at.body.includes(child as never) ? at.body : at.orelse;
    if (!/^(?:Continue|Break|Raise)$/.test(branch[branch.length - 1]!.kind)) continue;
    return !optimizerSteps(file).some((step) => branch.some((one) => contains(one, step)));
  }
  return false;
}

/** Over a loader, which ends; not over an endless stream. */
function isFinite(loop: Loop, facts: Facts): boolean {
  return (
    loop.kind === "For" &&
    (/load|data|batch|\bdl\b|_dl\b/i.test(facts.file.textOf(loop.iter)) ||
      // `range(sampler.num_iterations())`, once for each epoch
      (/num_iter|iterations\(|steps_per_epoch|iters_per_epoch/.test(facts.file.textOf(loop.iter)) &&
        loopsAround(loop).length > 0)) &&
    !/cycle|infinite|iter\(/i.test(facts.file.textOf(loop.iter))
  );
}

function divideLoss(loss: Expr, count: string, facts: Facts): Fix | null {
  if (loss.kind !== "Name") return null;
  const simple = /^[\w.]+$/.test(count);
  return {
    grade: "unsafe",
    title: "Divide the loss",
    edits: [
      {
        start: loss.start,
        end: loss.end,
        text: `(${facts.file.textOf(loss)} / ${simple ? count : `(${count})`})`,
      },
    ],
  };
}

/** `for _ in range(n): loss.backward()`, then one step: nothing divides by n. */
function* microSteps(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const { call, loss } of [...facts.backwards, ...handedOn(facts)]) {
    // `for _ in range(n): self.one_part(batch)`: the backward of that function runs where it is called.
    const part = onlyDifferentiates(call, facts);
    const at = (part && turnedBy(part, file)?.call) ?? call;
    const fn = at === call ? null : part;
    const [inner, around] = loopsAround(at);
    // A method that goes through the parts of one batch is the step by itself.
    const outer = around ?? functionOf(at);
    if (!loss || !outer || inner?.kind !== "For" || inner.iter.kind !== "Call") continue;
    const ranged = file.dotted(inner.iter.func) === "builtins.range" && inner.iter.args.length === 1;
    const count = ranged
      ? inner.iter.args[0]!.value
      : (chunkCount(inner.iter, facts) ?? stride(inner.iter, facts) ?? namedCount(inner.iter, facts));
    if (
      !count ||
      (fn && !(ranged && MICRO_STEPS.test(file.textOf(count)))) ||
      (ranged &&
        (count.kind === "Num" || !(MICRO_STEPS.test(file.textOf(count)) || isPartsOf(count, inner, facts))))
    )
      continue;
    const steps = optimizerSteps(file).filter(
      (step) => contains(outer, step) && functionOf(step) === functionOf(at),
    );
    // `loss = train_step(model, loader)` of a function that goes through the parts: who calls it takes the step.
    const isHelper = steps.length === 0 && !around && ranged && !dividesGradients(file.code);
    if (
      !isHelper &&
      (steps.length === 0 ||
        steps.some((step) => contains(inner, step)) ||
        loopOfSteps(steps[0]!) !== (around ?? null))
    )
      continue;
    const text = file.codeOf(fn ?? inner);
    if (isOfWholeBatch(inner, text)) continue;
    if (/reduction=["']sum/.test(text) || (fn && mayDivide(fn, count, at, file))) continue;
    // Of a size that is given, not into so many: whatever is divided by may be their number.
    if (count.kind === "Call" && !(ranged && wholeOf(count, file))) {
      if (
        !isScaled(loss, inner, facts) &&
        !dividesItself(call, facts) &&
        !dividesGradients(file.codeOf(outer))
      )
        yield undivided(call, loss, "all its", facts, false);
      continue;
    }
    // Without the head: `for _ in range(n // micro_size)` counts, and divides no loss.
    const turn =
      onTheWay(inner, at, file).slice(inner.iter.end - inner.start) + (fn ? onTheWay(fn, call, file) : "");
    const amount = ranged ? insideOf(inner.iter, file) : file.textOf(count);
    if (
      dividesItself(call, facts) ||
      isDivided(turn, amount) ||
      isDividedByWhole(turn, count, file) ||
      dividesGradients(file.codeOf(outer))
    )
      continue;
    const found = undivided(call, loss, amount, facts, !fn);
    yield isHelper || isOneByDefault(count, file) ? { ...found, severity: "note" } : found;
  }
}

/**
 * `torch.cat(kept[:j] + [out] + kept[j + 1:])`, or `kept[j] = out` and `torch.cat(kept)`: each turn computes the loss of the whole
 * batch, and differentiates its own part of it. The sum is the gradient.
 */
function isOfWholeBatch({ target }: Loop & { kind: "For" }, text: string): boolean {
  if (target.kind !== "Name") return false;
  const { id } = target;
  if (new RegExp(`\\[:\\s*${id}\\][^\\n]*\\[${id}\\s*\\+\\s*1\\s*:\\]`).test(text)) return true;
  const [, kept] = new RegExp(`(\\w+)\\[${id}\\]\\s*=(?!=)`).exec(text) ?? [];
  return kept !== undefined && new RegExp(`\\bcat\\(\\s*${kept}\\b`).test(text);
}

/** The loop as a turn of it runs that comes by here: without the other branches of the tests around. */
function onTheWay(loop: Node, node: Node, file: PythonFile): string {
  // Nor does what is done to a name of its own under a test that the turn may not meet: `if two: loss_2 /= n`.
  const others: Node[] = file
    .all("AugAssign")
    .filter(
      (one) =>
        one.op.startsWith("/") &&
        one.target.kind === "Name" &&
        contains(loop, one) &&
        ancestors(one).some((at) => at.kind === "If" && contains(loop, at) && !contains(at, node)) &&
        !contains(one.parent!, node) &&
        !file.textOf(statementOf(node)!).includes(one.target.id),
    );
  for (const at of ancestors(node)) {
    if (at === loop) break;
    if (at.kind === "If") others.push(...(at.body.some((one) => contains(one, node)) ? at.orelse : at.body));
  }
  let text = "";
  let from = loop.start;
  for (const { start, end } of others.sort((a, b) => a.start - b.start)) {
    text += file.text.slice(from, start);
    from = Math.max(from, end);
  }
  return text + file.text.slice(from, loop.end);
}

/** `backward_of(loss, optimizer)` in a loop: a function of the tree that differentiates what it is given, once. */
function handedOn(facts: Facts): Backward[] {
  return facts.callsTo("loose").flatMap((call) => {
    const [inner] = loopsAround(call);
    const loss = call.args.find(({ value }) => value.kind === "Name" && /loss$/i.test(value.id))?.value;
    return inner?.kind === "For" && loss && facts.callee(call)?.reachesBackward === true
      ? [{ call, loss }]
      : [];
  });
}

/** Whether something in the loop multiplies or divides what is differentiated, or what that is made of. */
function isScaled(loss: Expr, loop: Loop, { file }: Facts): boolean {
  const name = loss.kind === "Name" ? loss.id : null;
  const isIt = (expr: Expr): boolean =>
    (expr.kind === "Name" && (name === null || expr.id === name)) || /loss/i.test(file.textOf(expr));
  return (
    isDividedOnTheWay(loss, loop, file, 0) ||
    file
      .all("Binary")
      .some((one) => /^[/*]$/.test(one.op) && contains(loop, one) && (isIt(one.left) || isIt(one.right))) ||
    file.all("AugAssign").some((one) => /^[/*]=?$/.test(one.op) && contains(loop, one) && isIt(one.target)) ||
    /\.(?:div|mul)_?\(/.test(file.codeOf(loop))
  );
}

/** `loss = -gain` of a `gain = (gain * mask).sum() / tokens`, where the tokens of the whole batch were counted before the loop. */
function isDividedOnTheWay(expr: Expr, loop: Loop, file: PythonFile, depth: number): boolean {
  if (depth > 4) return false;
  if (expr.kind === "Unary") return isDividedOnTheWay(expr.operand, loop, file, depth + 1);
  if (expr.kind === "Binary" && expr.op === "/") {
    const by = expr.right;
    return by.kind === "Name" && file.scopes.reaching(by).every(({ node }) => !contains(loop, node));
  }
  const [made, ...more] = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  return (
    made?.how === "assign" &&
    made.value !== null &&
    more.length === 0 &&
    contains(loop, made.node) &&
    isDividedOnTheWay(made.value, loop, file, depth + 1)
  );
}

/** `(i + 1) % n == 0 or (i + 1) == len(loader)`. */
function countTheEnd(test: Expr, loop: Loop, facts: Facts): Fix | null {
  const { file } = facts;
  if (loop.kind !== "For" || loop.iter.kind !== "Call" || loop.iter.args.length !== 1) return null;
  const over = loop.iter.args[0]!.value;
  const counted =
    test.kind === "Compare" && test.left.kind === "Binary" && test.left.op === "%" ? test.left.left : null;
  if (
    file.dotted(loop.iter.func) !== "builtins.enumerate" ||
    over.kind !== "Name" ||
    counted?.kind !== "Binary" ||
    // Of a loader that nobody asks for its length, it may have none.
    !hasLength(over, file)
  )
    return null;
  return {
    grade: "unsafe",
    title: "Step with what is left, too",
    edits: [
      {
        start: test.end,
        end: test.end,
        text: ` or (${file.textOf(counted).replace(/^\(|\)$/g, "")}) == len(${over.id})`,
      },
    ],
  };
}
