import { isFalse, isTrue, keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, blockOf, contains, lastWord, statementOf } from "../../python/nodes.ts";
import type { Call, Dict, Expr, Node, NodeOf, Stmt } from "../../python/tree.ts";
import { addKeyword } from "../edits.ts";
import { MICRO_STEPS, countsToOne, isOneByDefault, isReplicated } from "../facts/accumulation.ts";
import { argumentFields } from "../facts/argument-fields.ts";
import { entry, given, hidesArguments } from "../facts/arguments.ts";
import type { Facts } from "../facts/facts.ts";
import { isHandedThrottle } from "../facts/guards.ts";
import { isNetwork } from "../facts/networks.ts";
import type { Backward } from "../facts/training.ts";
import { loopsAround, optimizerSteps } from "../facts/training.ts";
import { throttleOf } from "../facts/step-throttles.ts";
import { last } from "../facts/torch-names.ts";
import type { Finding, Rule } from "../rule.ts";
import { assignsBeyondNames } from "../facts/assigns.ts";
import { truth } from "../facts/truth.ts";

const SEARCH = "find_unused_parameters";
const SEARCHES = "Every step walks the whole graph on the host to look for parameters without a gradient";
const REDUCES =
  "Gradients accumulate over several micro-steps, yet every one of them is reduced across all ranks; wrap all but the last in `no_sync()`";

const REDUCES_BY_FABRIC = REDUCES.replace("no_sync", "no_backward_sync");

/** What leaves the reduction out in some of the micro-steps. */
const SYNCS = /^(?:no_sync|no_backward_sync|require_backward_grad_sync)$/;

export const rule: Rule = {
  meta: {
    code: "PLM058",
    name: "ddp-untuned",
    summary:
      "DistributedDataParallel searches for unused parameters, copies gradients twice, or reduces them on every micro-step",
    severity: "note",
    fix: "unsafe",
    patterns: [58],
  },
  *check(facts) {
    const { file } = facts;
    yield* searches(facts);
    const wraps = file.callsNamed("DistributedDataParallel").filter((call) => isReplicated(call, file));
    for (const call of wraps) {
      // Asked for beside `**settings` that cannot be read, it is asked for all the same.
      const unused = given(call, SEARCH, file) ?? putIn(call, SEARCH, file);
      if (isAsked(unused) || (facts.guesses && unused && mayBeAsked(unused, facts)))
        yield { at: unused!, message: SEARCHES };
      if (hidesArguments(call, file)) continue;
      const view = given(call, "gradient_as_bucket_view", file);
      if (!view || isFalse(view))
        yield {
          at: call.func,
          message:
            "Gradients are kept twice, as themselves and in the buckets that are reduced; `gradient_as_bucket_view=True` keeps one",
          fix: {
            grade: "unsafe",
            title: "Let gradients be views of the buckets",
            // Views are not cut in place, and a torch of before 1.7 does not know the word.
            edits:
              facts.project.cutsGrads || facts.project.versions.torch1
                ? []
                : view
                  ? [{ start: view.start, end: view.end, text: "True" }]
                  : addKeyword(call, "gradient_as_bucket_view=True", file),
          },
        };
    }
    // Of a network that another file puts into one and hands over, nobody sees here which it is.
    const certain = wraps.length > 0;
    const drivers = certain || isReplicatedElsewhere(facts) ? null : driversOf(facts);
    if (facts.guesses) yield* likely(facts);
    if (drivers?.length === 0) return;
    const backwards = facts.backwards.filter(({ call }) => drivers?.includes(receiver(call)) ?? true);
    const steps = optimizerSteps(file);
    if (backwards.length === 0 && steps.length === 0) return;
    if (certain) yield* besideForward(facts);
    // Said in a docstring, nobody does it.
    if (file.all("Attribute").some(({ attr }) => SYNCS.test(attr)) || entersSync(file)) return;
    const seen = new Set<Node>();
    // A step in every turn uses its gradients up: the rarer one beside it is another optimizer's, or regularizes.
    for (const step of steps) {
      const loop = turnOf(step, facts);
      if (loop && facts.frequency(step, loop) === "every") seen.add(loop);
    }
    for (const step of steps) {
      const loop = turnOf(step, facts);
      if (!loop || seen.has(loop) || facts.frequency(step, loop) !== "throttled") continue;
      seen.add(loop);
      if (goesAround(loop, file)) continue;
      // Many drive one process by it, and accumulate only where someone asks.
      if (drivers && countsToOne(step, loop, file)) continue;
      const inLoop = backwards.filter(({ call }) => turnOf(call, facts) === loop);
      for (const backward of inLoop) {
        const { call } = backward;
        if (facts.guesses && hasOwnStep(call, loop, file)) continue;
        if (
          facts.frequency(call, loop) === "every" ||
          isEitherWay(backward, inLoop, steps, loop, facts) ||
          isMicroBranch(backward, steps, inLoop, file)
        )
          yield {
            at: call,
            // Where it counts to one unless someone asks for more, nothing accumulates; of a flag, the caller knows.
            ...(!certain || countsToOne(step, loop, file) || isFlagged(step, loop, file)
              ? {}
              : { severity: "warning" as const }),
            message: receiver(call) === "fabric" ? REDUCES_BY_FABRIC : REDUCES,
          };
      }
    }
    for (const step of drivers ? [] : steps) {
      const at = besideAnother(step, steps, facts);
      if (at) yield { at, message: REDUCES };
    }
    for (const { call } of backwards) {
      const around = microLoop(call, steps, facts);
      if (!around || goesAround(around, file)) continue;
      const count = microSteps(around, file);
      // Under another name, a loop around the network need not go over parts of one batch.
      const isNamed = count !== null && MICRO_STEPS.test(file.textOf(count));
      if (!isNamed && (drivers || !runsNetwork(around, facts) || clears(around, file))) continue;
      if (drivers && isOneByDefault(count!, file)) continue;
      yield {
        at: call,
        ...(certain && isNamed && !isOneByDefault(count, file) ? { severity: "warning" as const } : {}),
        message: receiver(call) === "fabric" ? REDUCES_BY_FABRIC : REDUCES,
      };
    }
  },
  *checkConfig(config) {
    for (const { key, value, valueAt } of config.settings)
      if (
        (/^(?:ddp_)?find_unused_parameters$/.test(key) && value === true) ||
        (key === "strategy" && typeof value === "string" && value.endsWith("find_unused_parameters_true"))
      )
        yield { at: valueAt, message: SEARCHES };
  },
};

/**
 * `loss = net(x)`, then `with net.no_sync(): loss.backward()` in the same turn: what the backward does was settled in the forward,
 * which ran outside.
 */
function* besideForward({ file, backwards }: Facts): Generator<Finding> {
  for (const call of file.callsNamed("no_sync")) {
    if (call.func.kind !== "Attribute") continue;
    const net = file.textOf(call.func.value);
    for (const block of blocksOf(call, file)) {
      const [loop] = loopsAround(block);
      const forwards = file
        .all("Call")
        .filter((one) => loopsAround(one)[0] === loop && file.textOf(one.func) === net);
      if (
        loop &&
        backwards.some((one) => contains(block, one.call)) &&
        forwards.some((one) => one.end < block.start && !isUnsynced(one, file)) &&
        !forwards.some((one) => contains(block, one))
      ) {
        yield { at: call, message: TOO_LATE };
        break;
      }
    }
  }
}

/** `with net.no_sync():`, `with net.no_sync() if more else nullcontext():`, also under a name. */
function blocksOf(call: Call, file: PythonFile): readonly NodeOf<"With">[] {
  const context = call.parent?.kind === "IfExp" && call.parent.test !== call ? call.parent : call;
  const [target] = context.parent?.kind === "Assign" ? context.parent.targets : [];
  const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  return [context, ...(made ? file.scopes.uses(made) : [])].flatMap(({ parent }) =>
    parent?.kind === "WithItem" && parent.parent?.kind === "With" ? [parent.parent] : [],
  );
}

const TOO_LATE =
  "Whether this backward reduces gradients was settled in the forward, which ran outside of `no_sync()`: every micro-step is reduced across all ranks all the same; put the forward inside as well";

/** In a `with net.no_sync():` of its own. */
function isUnsynced(node: Node, file: PythonFile): boolean {
  return ancestors(node).some(
    (at) =>
      at.kind === "With" && at.items.some(({ context }) => /no_sync|ctx|context/.test(file.textOf(context))),
  );
}

/**
 * A step now and then below a backward in every turn, in a program that has DistributedDataParallel somewhere: whoever hands the
 * network over has wrapped it.
 */
function* likely(facts: Facts): Generator<Finding> {
  const { file, project } = facts;
  const isWrapped =
    project.replicated.has(file.module) || file.callsNamed("DistributedDataParallel", "DDP").length > 0;
  if (!isWrapped || facts.backwards.length === 0) return;
  if (file.all("Attribute").some(({ attr }) => SYNCS.test(attr)) || entersSync(file)) return;
  const steps = optimizerSteps(file);
  const seen = new Set<Node>();
  for (const step of steps) {
    const loop = turnOf(step, facts);
    if (!loop || seen.has(loop) || !throttleOf(step, loop, facts) || goesAround(loop, file)) continue;
    seen.add(loop);
    // Another that steps in every turn uses its gradients up.
    const isEvery = (one: Call): boolean =>
      turnOf(one, facts) === loop && facts.frequency(one, loop) === "every" && !throttleOf(one, loop, facts);
    if (steps.some(isEvery)) continue;
    for (const { call } of facts.backwards)
      if (
        turnOf(call, facts) === loop &&
        facts.frequency(call, loop) === "every" &&
        !isByDriver(call) &&
        !hasOwnStep(call, loop, file)
      )
        yield { at: call, message: REDUCES };
  }
}

/** In a branch with a step of its own, it is another network's turn. */
function hasOwnStep(backward: Call, loop: Node, file: PythonFile): boolean {
  return file
    .callsNamed("step")
    .some((one) => contains(loop, one) && blockOf(statementOf(one)!) === blockOf(statementOf(backward)!));
}

/** An engine or accelerate, which knows by itself when to exchange. */
const isByDriver = (call: Call): boolean => /engine|deepspeed|accelerat/.test(receiver(call));

/** `net = wrap(net, rank)` of another file of the program; a script that imports it for something else speaks of no ranks. */
function isReplicatedElsewhere({ file, project }: Facts): boolean {
  return project.replicated.has(file.module) && (project.ranked.has(file.module) || RANKS.test(file.code));
}

/**
 * Lightning's Fabric or accelerate, by which a file differentiates, `fabric.backward(loss)`: it puts the wrapper around the
 * network itself, and reduces after every backward unless it is told to accumulate.
 */
function driversOf({ file, backwards }: Facts): readonly string[] {
  const isAlone = file.callsNamed("Fabric").some((call) => {
    const devices = keyword(call, "devices")?.value;
    return devices?.kind === "Num" && devices.text === "1";
  });
  // `with accelerator.accumulate(net):`, or ZeRO, that counts by itself.
  const counts =
    file.callsNamed("accumulate").length > 0 || file.says(/gradient_accumulation_plugin|deepspeed/i);
  const drivers = [...(isAlone ? [] : ["fabric"]), ...(counts ? [] : ["accelerator"])];
  return drivers.filter((one) => backwards.some(({ call }) => receiver(call) === one));
}

/** `fabric` of `self.fabric.backward(loss)` */
function receiver({ func }: Call): string {
  return func.kind === "Attribute" ? lastWord(func.value).toLowerCase() : "";
}

const RANKS = /init_process_group|DistributedSampler|distributed|local_rank|world_size|\bddp\b/i;

/** `with misc.ddp_sync(net, last):`, of a file that need not be here. */
function entersSync(file: PythonFile): boolean {
  return file
    .all("With")
    .some(({ items }) =>
      items.some(({ context }) => context.kind === "Call" && /sync(?!h)/i.test(lastWord(context.func) ?? "")),
    );
}

/** `if update: optimizer.step()`, where who calls the function counts the micro-steps. */
function isFlagged(step: Call, loop: Node, file: PythonFile): boolean {
  return ancestors(step).some(
    (at) => at.kind === "If" && contains(loop, at) && isHandedThrottle(at.test, file),
  );
}

/** The loop of the steps, or a function that one calls in each turn. */
function turnOf(node: Node, facts: Facts): Node | null {
  return facts.stepLoop(node) ?? facts.hot(node)?.within ?? null;
}

/** `if scaler.is_enabled(): scaler.scale(loss).backward()`, `else: loss.backward()`: told of the first. */
function isEitherWay(
  { call }: Backward,
  backwards: readonly Backward[],
  steps: readonly Call[],
  loop: Node,
  facts: Facts,
): boolean {
  const branches = ancestors(call).find((at) => at.kind === "If");
  const within = (block: readonly Stmt[], one: Backward): boolean => block.includes(statementOf(one.call)!);
  return (
    branches?.kind === "If" &&
    branches.body.some((one) => contains(one, call)) &&
    backwards.some((one) => within(branches.orelse, one)) &&
    !steps.some((step) => contains(branches, step)) &&
    facts.frequency(branches, loop) === "every"
  );
}

/**
 * `loss_g.backward()` of every turn above `if i % 4 == 3: optim_g.step()`, in a loop where another optimizer steps in every turn
 * after a backward of its own.
 */
function besideAnother(step: Call, steps: readonly Call[], facts: Facts): Call | null {
  const loop = facts.stepLoop(step);
  if (!loop || facts.frequency(step, loop) !== "throttled" || goesAround(loop, facts.file)) return null;
  const above = (one: Call): Call | null =>
    facts.backwards.findLast(({ call }) => contains(loop, call) && call.start < one.start)?.call ?? null;
  const others = steps.filter(
    (one) => contains(loop, one) && one !== step && facts.frequency(one, loop) === "every",
  );
  const own = above(step);
  const isOwn =
    own !== null && facts.frequency(own, loop) === "every" && others.every((one) => above(one) !== own);
  return others.length > 0 && isOwn && !sameOptimizer(step, others, facts.file) ? own : null;
}

/** `optimizer` of `optimizer.step()` and of `scaler.step(optimizer)`. */
function sameOptimizer(step: Call, others: readonly Call[], file: PythonFile): boolean {
  const of = ({ func, args }: Call): string =>
    file.textOf(args[0]?.value ?? (func.kind === "Attribute" ? func.value : func));
  return others.some((one) => of(one) === of(step));
}

/** `else: loss.backward()` of an `if` that differentiates and steps: each turn differentiates, and this one only adds up. */
function isMicroBranch(
  { call, loss }: Backward,
  steps: readonly Call[],
  backwards: readonly Backward[],
  file: PythonFile,
): boolean {
  const branches = ancestors(call).find((at) => at.kind === "If");
  if (branches?.kind !== "If" || !loss) return false;
  const [here, there] = branches.body.some((one) => contains(one, call))
    ? [branches.body, branches.orelse]
    : [branches.orelse, branches.body];
  const takesStep = (one: Node): boolean => steps.some((step) => contains(one, step));
  // Of another loss it may be another network's turn; further in, nobody knows how often.
  const isSame = (other: Backward): boolean =>
    other.loss !== null &&
    file.textOf(other.loss) === file.textOf(loss) &&
    there.includes(statementOf(other.call)!);
  return (
    here.includes(statementOf(call)!) &&
    there.some(takesStep) &&
    !here.some(takesStep) &&
    backwards.some(isSame)
  );
}

/** `for part in batch.chunk(4): loss.backward()`, after which the optimizer steps once. */
function microLoop(backward: Call, steps: readonly Call[], facts: Facts): NodeOf<"For"> | null {
  const [inner, around] = loopsAround(backward);
  if (inner?.kind !== "For" || !around || facts.frequency(backward, inner) !== "every") return null;
  const taken = steps.filter((step) => contains(around, step));
  return taken.some((step) => loopsAround(step)[0] === around) && !taken.some((step) => contains(inner, step))
    ? inner
    : null;
}

/** The n of `for _ in range(n):`. */
function microSteps({ iter }: NodeOf<"For">, file: PythonFile): Expr | null {
  if (iter.kind !== "Call" || file.dotted(iter.func) !== "builtins.range") return null;
  const [count, ...more] = iter.args;
  return more.length === 0 ? (count?.value ?? null) : null;
}

/** One backward for each forward: of several losses of one forward, each has its own. */
function runsNetwork(loop: Node, facts: Facts): boolean {
  return facts.file
    .all("Call")
    .some((call) => contains(loop, call) && (isNetwork(call.func, facts) || isHandedNetwork(call, facts)));
}

/** `losses = diffusion.training_losses(net, part)`, which runs what it is handed. */
function isHandedNetwork({ parent, args }: Call, facts: Facts): boolean {
  return parent?.kind !== "ExprStmt" && args.some(({ value }) => isNetwork(value, facts));
}

/** `model.zero_grad()` in every turn, as where an attack looks for its next step: nothing adds up. */
function clears(loop: Node, file: PythonFile): boolean {
  return file.callsNamed("zero_grad", "zero_").some((call) => contains(loop, call));
}

/** `net = model.module` and `net(x)` in the step: the wrapper sees no forward, and reduces nothing. */
function goesAround(loop: Node, file: PythonFile): boolean {
  return file.all("Attribute").some((unwrapped) => {
    if (unwrapped.attr !== "module") return false;
    if (unwrapped.parent?.kind === "Call" && unwrapped.parent.func === unwrapped)
      return contains(loop, unwrapped);
    const at = unwrapped.parent?.kind === "IfExp" ? unwrapped.parent.parent : unwrapped.parent;
    const target = at?.kind === "Assign" ? at.targets[0] : null;
    const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
    return (
      made !== null &&
      made !== undefined &&
      file.scopes
        .uses(made)
        .some((use) => use.parent?.kind === "Call" && use.parent.func === use && contains(loop, use))
    );
  });
}

/**
 * What `**settings` of unknown content are given under a key on the way to a call: `settings["key"] = True`,
 * `settings.setdefault("key", True)`, `settings = {"key": True, **settings}`. Null where it is taken out again, or put in twice.
 */
function putIn(call: Call, key: string, file: PythonFile): Expr | null {
  const isKey = (expr: Expr | null | undefined): boolean => expr?.kind === "Str" && expr.value === key;
  const found = call.args.flatMap(({ star, value }) => {
    const begun = star !== 2 ? [] : value.kind === "Name" ? file.scopes.reaching(value) : [];
    const made = [value, ...begun.flatMap((one) => (one.how === "assign" && one.value ? [one.value] : []))];
    const written = made.flatMap((dict) => (opens(dict, file) ? (entry(dict, key) ?? []) : []));
    const put = begun
      .flatMap((one) => file.scopes.uses(one))
      .flatMap((use) => {
        const at = use.parent;
        if (at?.kind === "Subscript" && at.value === use && isKey(at.index))
          return at.parent?.kind === "Assign"
            ? [at.parent.value]
            : at.parent?.kind === "Delete"
              ? [null]
              : [];
        const [first, second] =
          at?.kind === "Attribute" && at.parent?.kind === "Call" && at.parent.func === at
            ? at.parent.args
            : [];
        if (at?.kind !== "Attribute" || !isKey(first?.value)) return [];
        return at.attr === "setdefault" ? [second?.value ?? null] : at.attr === "pop" ? [null] : [];
      });
    return [...written, ...put];
  });
  return found.length === 1 ? found[0]! : null;
}

/** `{"key": True, **settings}`, `dict(key=True, **settings)`: what it says itself holds unless somebody asks otherwise. */
function opens(expr: Expr, file: PythonFile): expr is Dict | Call {
  return expr.kind === "Dict" || (expr.kind === "Call" && file.dotted(expr.func) === "builtins.dict");
}

/** By whichever way a name came here, or by an option: `find_unused = True`, `not args.static`, `kind == "moe"`. */
function mayBeAsked(flag: Expr, facts: Facts): boolean {
  const { file } = facts;
  if (truth(flag, facts) !== null) return truth(flag, facts) === true;
  if (flag.kind === "Compare" || flag.kind === "Bool") return true;
  return (
    flag.kind === "Name" &&
    file.scopes.reaching(flag).some(({ value }) => value !== null && truth(value, facts) === true)
  );
}

/** `True`, and `True if ddp else None`. */
function isAsked(flag: Expr | null): boolean {
  if (flag?.kind !== "IfExp") return isTrue(flag);
  const off = (one: Expr): boolean => one.kind === "Const" && one.value !== true;
  return (isTrue(flag.body) && off(flag.orelse)) || (isTrue(flag.orelse) && off(flag.body));
}

/** What transformers calls the setting. */
const OF_TRAINER = "ddp_find_unused_parameters";

/** `training_args.ddp_find_unused_parameters`, `settings["ddp_find_unused_parameters"]` */
function isSetting(target: Expr): boolean {
  return target.kind === "Subscript"
    ? target.index.kind === "Str" && target.index.value === OF_TRAINER
    : target.kind === "Attribute" && target.attr === OF_TRAINER;
}

/** `wrap = partial(DistributedDataParallel, find_unused_parameters=True)` */
function isPartial({ func, args: [first] }: Call, file: PythonFile): boolean {
  return (
    file.dotted(func) === "functools.partial" &&
    first !== undefined &&
    last(file.dotted(first.value) ?? "") === "DistributedDataParallel"
  );
}

/** The same setting through accelerate, transformers and Lightning. */
function* searches(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const call of file.calls.given(["ddp_find_unused_parameters", "find_unused_parameters", "strategy"])) {
    const name = last(file.dotted(call.func) ?? "");
    const flag =
      keyword(call, "ddp_find_unused_parameters") ??
      (/^(?:DistributedDataParallelKwargs|DDP\w*(?:Strategy|Plugin))$/.test(name) || isPartial(call, file)
        ? keyword(call, "find_unused_parameters")
        : null);
    if (flag && (isAsked(flag.value) || (facts.guesses && mayBeAsked(flag.value, facts))))
      yield { at: flag, message: SEARCHES };
    const strategy = keyword(call, "strategy");
    if (
      strategy?.value.kind === "Str" &&
      strategy.value.value?.endsWith("find_unused_parameters_true") === true
    )
      yield { at: strategy, message: SEARCHES };
  }
  for (const { targets, value } of assignsBeyondNames(file))
    if (isAsked(value) && targets.some(isSetting)) yield { at: value, message: SEARCHES };
  // `{"ddp_find_unused_parameters": True}`, whoever is given it.
  for (const dict of file.all("Dict")) {
    const flag = entry(dict, OF_TRAINER);
    if (isAsked(flag ?? null)) yield { at: flag!, message: SEARCHES };
  }
  // `ddp_find_unused_parameters: bool = field(default=True)` of arguments of its own.
  for (const { at, value } of argumentFields(file, OF_TRAINER))
    if (isTrue(value)) yield { at, message: SEARCHES };
  // `Trainer(**settings)`
  for (const call of file.callsNamed("Trainer", "Fabric")) {
    const strategy = keyword(call, "strategy") ? null : given(call, "strategy", file);
    if (strategy?.kind === "Str" && strategy.value?.endsWith("find_unused_parameters_true") === true)
      yield { at: strategy, message: SEARCHES };
  }
}
