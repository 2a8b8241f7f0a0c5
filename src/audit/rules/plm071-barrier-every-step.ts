import type { PythonFile } from "../../python/file.ts";
import { ancestors, classOf, contains, functionOf, lastWord } from "../../python/nodes.ts";
import { isTrue, keyword, positional } from "../../python/file.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr, FunctionDef, Name, Node } from "../../python/tree.ts";
import { isBarrier, meetingPoints } from "../facts/barriers.ts";
import { selfAttribute } from "../facts/classes.ts";
import { everyUpdate } from "../facts/updates.ts";
import type { Facts } from "../facts/facts.ts";
import { loadersOf } from "../facts/loaders.ts";
import { isNetwork } from "../facts/networks.ts";
import { Reckoned } from "../facts/reckoned-turns.ts";
import { callTarget } from "../facts/summary.ts";
import { loopsAround, optimizerSteps } from "../facts/training.ts";
import type { Finding, Rule } from "../rule.ts";

/** What programs call their own reduction of one tensor, in a file of its own. */
const REDUCERS = /^(?:all_?)?reduce_(?:tensor|mean|value|sum|loss|scalar|avg|metric)$/;

/** Of numbers too each is a reduction, whatever they are put into for it. */
const ALL = /^all_?reduce_/;

const MEETS =
  "Every rank waits here for the slowest, on every step; the reduction of the gradients already keeps them together";

const EACH =
  "One reduction for each metric, on every step, each as slow as one of all; stack the values and reduce once";

export const rule: Rule = {
  meta: {
    code: "PLM071",
    name: "barrier-every-step",
    summary: "All ranks wait for each other on every step, or reduce one scalar after another",
    severity: "warning",
    fix: "none",
    patterns: [71],
  },
  *check(facts) {
    const { file } = facts;
    // `synchronize()` of a file of its own.
    for (const call of facts.callsTo("meets"))
      if (facts.callee(call)?.meets === true && isEveryTurn(call, facts))
        yield {
          at: call,
          ...(isInExample(call, facts) ? { severity: "note" as const } : {}),
          message: MEETS,
        };
    yield* loggedApart(facts);
    const reduces: Call[] = [];
    // `reduce_mean(loss)`, `reduce_mean(accuracy)`: a function of this file that does nothing but reduce what it is given.
    const helpers = new Set<FunctionDef>();
    for (const call of file.callsNamed("barrier", "all_reduce", "reduce", "gather", "wait_for_everyone")) {
      const name = file.dotted(call.func) ?? "";
      const waits =
        name === "" &&
        call.func.kind === "Attribute" &&
        (call.func.attr === "wait_for_everyone"
          ? /accelerator|state/i
          : /(?:fabric|strategy|trainer)$/i
        ).test(file.textOf(call.func.value)) &&
        /^(?:barrier|wait_for_everyone)$/.test(call.func.attr);
      if (
        (waits || isBarrier(call, file)) &&
        // What is there to be waited in is told where it is called.
        !file.once(meetingPoints).has(functionOf(call) as FunctionDef) &&
        isEveryTurn(call, facts)
      )
        yield {
          at: call,
          // Started on one device, a library's barrier does nothing; and an example is over soon.
          ...(waits || isInExample(call, facts) ? { severity: "note" as const } : {}),
          message: MEETS,
        };
      const driver =
        name === "" &&
        call.func.kind === "Attribute" &&
        /^(?:reduce|gather)$/.test(call.func.attr) &&
        /accelerator|fabric/i.test(file.textOf(call.func.value));
      if (!driver && !/^torch\.distributed\.(?:distributed_c10d\.)?(?:all_)?reduce$/.test(name)) continue;
      if (facts.everyStep(call) || everyUpdate(call, facts) || isForRanks(call, facts)) reduces.push(call);
      // Whatever it asks before, `if n > 1:`, it is called to reduce.
      if (facts.hot(call)) for (const fn of reducerOf(call, file)) helpers.add(fn);
    }
    const groups = new Map<Node, Call[]>();
    const put = (call: Call): void => {
      const { within } = facts.hot(call)!;
      const group = groups.get(within);
      if (group) group.push(call);
      else groups.set(within, [call]);
    };
    for (const call of file.calls.matching(REDUCERS)) {
      const [given] = call.args;
      const name = file.dotted(call.func) ?? "";
      const word = lastWord(call.func);
      if (
        // `reduce_mean(loss)`, `misc.all_reduce_mean(loss)` of a module
        (call.func.kind === "Name" || name !== "") &&
        !name.startsWith("torch.") &&
        // One of this file would be among the helpers; those that only sum may sum over anything.
        !name.startsWith(`${file.module}.`) &&
        (!/^reduce_(?:mean|sum|avg)$/.test(word) || file.says(/distributed|world_size|\bdist\b|\brank\b/)) &&
        ![...helpers].some((fn) => fn.name === word) &&
        given &&
        (ALL.test(word) || !/^(?:number|string|container)$/.test(facts.value(given.value).what)) &&
        facts.everyStep(call)
      )
        put(call);
    }
    if (helpers.size > 0)
      for (const call of file.callsNamed(...[...helpers].map((fn) => fn.name)))
        if (
          [...helpers].some((fn) => callTarget(call, file) === file.qualified(fn)) &&
          facts.everyStep(call) &&
          // One in another loop of the step is told where that loop is.
          call.args[0]
        ) {
          // `[average(t) for t in (loss, accuracy)]`
          if (isOverMetrics(call, file)) yield { at: call, severity: "note", message: EACH };
          else if (
            facts.value(call.args[0].value).what === "tensor" ||
            isHandedBack(call.args[0].value, facts)
          )
            put(call);
        }
    for (const call of reduces) {
      const [arg] = call.args;
      // One call in a loop over metrics is as many reductions.
      if (isOverMetrics(call, file)) {
        yield { at: call, severity: "note", message: EACH };
        continue;
      }
      // What is handed to it is one, even where nobody says what it is computed from.
      const what = arg ? facts.value(arg.value).what : "other";
      const isMaybe = what === "unknown" ? arg!.value.kind === "Name" : isHandedBack(arg?.value, facts);
      // An accelerator takes lists and dicts too, all of them at once.
      if (what !== "tensor" && !(isMaybe && (what === "unknown" || file.dotted(call.func) !== null)))
        continue;
      put(call);
    }
    const known = new Set<Call>();
    for (const here of groups.values()) {
      if (
        here.length > 1 &&
        here.some(
          ({ func, args: [given] }) =>
            given &&
            (ALL.test(lastWord(func)) ||
              facts.value(given.value).what === "tensor" ||
              isAverage(given.value, file) ||
              isReadOut(given.value, file)),
        )
      ) {
        for (const call of here) known.add(call);
        yield {
          at: here[1]!,
          severity: "note",
          message: `${here.length} separate reductions on every step, each as slow as one; stack the values and reduce once`,
        };
      }
    }
    if (facts.guesses) yield* likelyMeetings(known, facts);
  },
};

/**
 * What is likely: whatever is called as what makes ranks meet, in a loop with a backward or in what is run by one; and a second
 * reduction of the same step, of whatever it is given.
 */
function* likelyMeetings(known: ReadonlySet<Call>, facts: Facts): Generator<Finding> {
  const { file } = facts;
  const groups = new Map<Node, Call[]>();
  for (const call of new Set([
    ...file.callsNamed(...MEETINGS, ...REDUCTIONS),
    ...file.calls.matching(REDUCERS),
  ])) {
    if (file.once(meetingPoints).has(functionOf(call) as FunctionDef)) continue;
    if (!isLikelyTurn(call, facts) || isToMeasure(call, file) || isOfGradients(call, file)) continue;
    if (MEETINGS.includes(lastWord(call.func))) {
      if (
        !/^torch\.(?!distributed)|^threading|^multiprocessing/.test(file.dotted(call.func) ?? "") &&
        OF_DISTRIBUTED.test(file.textOf(call.func))
      )
        yield { at: call, message: MEETS };
      continue;
    }
    if (!isOverMetrics(call, file) && !call.args.some(({ value }) => isLikelyNumber(value, file))) continue;
    if (
      lastWord(call.func) === "all_gather" &&
      call.args.some(({ value }) => FEATURES.test(file.textOf(value)))
    )
      continue;
    const around: Node = loopsAround(call)[0] ?? functionOf(call) ?? file.tree.module;
    groups.set(around, [...(groups.get(around) ?? []), call]);
  }
  for (const here of groups.values()) {
    const [first, second] = here;
    if (here.some((call) => known.has(call))) continue;
    if (second)
      yield {
        at: second,
        message: `${here.length} separate reductions on every step, each as slow as one; stack the values and reduce once`,
      };
    else if (isOverMetrics(first!, file)) yield { at: first!, message: EACH };
  }
}

const MEETINGS: readonly string[] = [
  "barrier",
  "Barrier",
  "monitored_barrier",
  "wait_for_everyone",
  "rendezvous",
  "synchronize",
  "wait_for_all",
  "sync_processes",
];

/** `all_gather(losses, loss)` of one number from each rank is as slow as its reduction. */
const REDUCTIONS: readonly string[] = ["all_reduce", "all_gather_object", "allreduce", "all_gather"];

/** What a loss compares across ranks, `all_gather(feature_list, feature_norm)`, is no number. */
const FEATURES = /feat|embed|logit|output|proj|target|label|\bz\d?\b|image|text/i;

/** One number, by its name or by what it is made of: `total_loss`, `hits.sum()`. */
function isLikelyNumber(expr: Expr, file: PythonFile): boolean {
  const made = expr.kind === "Name" ? file.scopes.onlyValue(expr) : null;
  return (
    /loss|acc|metric|count|num|total|correct|mean|avg|norm|reward|error|stat|hits|top[15]/i.test(
      file.textOf(expr),
    ) ||
    (made !== null &&
      /\.(?:mean|sum|max|min|std|norm)\(\)|torch\.tensor\(\[?[\w.]+\]?/.test(file.textOf(made)))
  );
}

/** Not `torch.cuda.synchronize()`: what says that it is of ranks. */
const OF_DISTRIBUTED =
  /dist|comm|barrier|Barrier|fabric|accelerator|hvd|xm\.|strategy|utils?\.|misc\.|rank|world|wait_for|rendezvous|sync_processes/;

/** `all_reduce(p.grad)`: what gradients wait for is needed. */
function isOfGradients(call: Call, file: PythonFile): boolean {
  return call.args.some(({ value }) => /grad|param|weight|buffer|bucket|\bp\b/i.test(file.textOf(value)));
}

/** In every turn of a loop that differentiates or steps, or in a function that is run by a step. */
function isLikelyTurn(call: Call, facts: Facts): boolean {
  const [loop] = loopsAround(call);
  if (loop && facts.frequency(call, loop) === "throttled") return false;
  if (isSeldom(call, facts)) return false;
  const steps =
    loop !== undefined &&
    (facts.backwards.some((one) => loopsAround(one.call)[0] === loop) ||
      optimizerSteps(facts.file).some((step) => loopsAround(step)[0] === loop));
  return steps || facts.everyStep(call) !== null;
}

/** `if turn == 0:` */
function isSeldom(call: Call, { file }: Facts): boolean {
  const [loop] = loopsAround(call);
  const reckon = loop ? new Reckoned(loop, file) : null;
  return reckon !== null && [1, 2].some((turn) => reckon.runs(call, turn) === false);
}

function isEveryTurn(call: Call, facts: Facts): boolean {
  if (facts.guesses && isSeldom(call, facts)) return false;
  return (
    !isToMeasure(call, facts.file) &&
    (facts.everyStep(call) !== null ||
      everyUpdate(call, facts) ||
      isForRanks(call, facts) ||
      isInExample(call, facts) ||
      isEachBatch(call, facts))
  );
}

/**
 * Beside `solver.train(clip)`, of another file, which steps several times for each batch in a loop of its own: what that returns to
 * goes through a loader.
 */
function isEachBatch(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const [loop] = loopsAround(call);
  if (loop?.kind !== "For" || (loadersOf(loop.iter, facts)?.length ?? 0) === 0) return false;
  return (
    facts.frequency(call, loop) === "every" &&
    file
      .all("Call")
      .some(
        (one) =>
          contains(loop, one) &&
          loopsAround(one)[0] === loop &&
          facts.callee(one)?.reachesBackward === true &&
          facts.frequency(one, loop) === "every",
      )
  );
}

/**
 * `self.log("loss", loss, sync_dist=True)` and others beside it, in the step of a module of Lightning: with more than one device
 * each is reduced by itself. What is only wanted of an epoch is reduced at its end.
 */
function* loggedApart(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const groups = new Map<Node, { readonly call: Call; readonly values: number }[]>();
  for (const call of file.calls.given(["sync_dist"])) {
    const fn = functionOf(call);
    const cls = classOf(call);
    const word = selfAttribute(call.func) ?? "";
    const asked = keyword(call, "on_step")?.value ?? null;
    if (
      fn?.kind === "FunctionDef" &&
      cls !== null &&
      /^log(?:_dict)?$/.test(word) &&
      isTrue(keyword(call, "sync_dist")!.value) &&
      // By default of each step there, and elsewhere of an epoch.
      (asked ? isTrue(asked) : fn.name === "training_step") &&
      facts.role(cls) === "lightning" &&
      facts.everyStep(call)
    )
      groups.set(fn, [
        ...(groups.get(fn) ?? []),
        { call, values: word === "log" ? 1 : valuesIn(positional(call, 0), file) },
      ]);
  }
  for (const here of groups.values()) {
    const all = here.reduce((sum, { values }) => sum + values, 0);
    if (all > 1)
      yield {
        at: here.at(-1)!.call,
        severity: "note",
        message: `With several devices ${all} values are reduced one after another on every step; reduce them as one tensor, or log them for the epoch alone`,
      };
  }
}

/** How many a dict has, at least. */
function valuesIn(dict: Expr | null, file: PythonFile): number {
  const made = dict?.kind === "Name" ? file.scopes.onlyValue(dict) : dict;
  return made?.kind === "Dict" ? made.values.length : made?.kind === "Comp" ? 2 : 1;
}

/** `reward = rewards.mean()` above: one number, whatever it was computed from. */
function isAverage(expr: Expr, file: PythonFile): boolean {
  const made = expr.kind === "Name" ? file.scopes.onlyValue(expr) : null;
  return (
    made?.kind === "Call" &&
    made.func.kind === "Attribute" &&
    made.args.length === 0 &&
    /^(?:mean|sum)$/.test(made.func.attr)
  );
}

/** `top1` of `top1, top5 = accuracy(scores, labels)`: what is reduced is a tensor, and of what no network made one of few numbers. */
function isHandedBack(expr: Expr | undefined, facts: Facts): boolean {
  return (
    expr?.kind === "Name" &&
    facts.value(expr).what === "output" &&
    facts.file.scopes
      .reaching(expr)
      .every(({ value }) => value?.kind === "Call" && !isNetwork(value.func, facts))
  );
}

/** `accuracy.item()` somewhere: one number as well. */
function isReadOut(expr: Expr, { scopes }: PythonFile): boolean {
  return (
    expr.kind === "Name" &&
    scopes
      .reaching(expr)
      .some((one) =>
        scopes.uses(one).some(({ parent }) => parent?.kind === "Attribute" && parent.attr === "item"),
      )
  );
}

/** `self.is_ddp`, `dist.is_initialized()`, `get_world_size() > 1`: there is more than one rank. */
const OF_RANKS =
  /^(?:\w+\.)*(?:(?:is_|use_)?(?:ddp|dist\w*|multi_?gpu)|is_(?:dist\w*|initialized)\(\)|(?:get_)?(?:world|mpi)_?size(?:\(\))? (?:>|!=) 1|(?:local_?)?rank (?:!= -1|> -1|>= 0)|(?:n|num)_?gpus? > 1)$/i;

/** Under nothing but `if self.is_ddp:`, which is off by default, as ranks are. */
function isForRanks(call: Call, facts: Facts): boolean {
  const within = facts.hot(call)?.within;
  if (!within || facts.frequency(call, within) !== "unknown") return false;
  const tests = [];
  for (const at of ancestors(call)) {
    if (at === within) break;
    if (at.kind === "If") tests.push(at.test);
    else if (at.kind === "Handler" || at.kind === "For" || at.kind === "While") return false;
  }
  return tests.length > 0 && tests.every((test) => OF_RANKS.test(facts.file.textOf(test)));
}

/** In each of the few turns that an example takes, `for i in range(num_iterations):` of ten: it is there to be copied. */
function isInExample(call: Call, facts: Facts): boolean {
  const [loop] = loopsAround(call);
  return (
    loop !== undefined &&
    !facts.stepLoops.has(loop) &&
    facts.frequency(call, loop) === "every" &&
    facts.backwards.some((one) => loopsAround(one.call)[0] === loop) &&
    optimizerSteps(facts.file).some((step) => loopsAround(step)[0] === loop)
  );
}

/** Under a setting that asks for times, which need it. */
function isToMeasure(call: Call, file: PythonFile): boolean {
  return ancestors(call).some(
    (at) =>
      at.kind === "If" && /(?:^|[._])(?:tim(?:e|ing)|profil|benchmark|debug)/i.test(file.textOf(at.test)),
  );
}

/** The function a reduction of its own parameter stands in, or of a copy of that. */
function reducerOf(call: Call, file: PythonFile): FunctionDef[] {
  const fn = functionOf(call);
  const given = call.args[0]?.value;
  const method = fn?.parent?.kind === "ClassDef";
  if (fn?.kind !== "FunctionDef" || (fn.parent?.kind !== "Module" && !method) || given?.kind !== "Name")
    return [];
  const first = fn.params[method && fn.params[0]?.name === "self" ? 1 : 0]?.name;
  const from = file.scopes
    .reaching(given)
    .every(
      ({ how, name, value }) =>
        (how === "param" && name === first) ||
        (how === "assign" &&
          value?.kind === "Call" &&
          value.func.kind === "Attribute" &&
          /^(?:clone|detach)$/.test(value.func.attr)),
    );
  return from ? [fn] : [];
}

function isSeveral(over: Expr | undefined, file: PythonFile): boolean {
  if (over?.kind === "Tuple" || over?.kind === "List") return over.items.length > 1;
  if (over?.kind === "Name") {
    // `keys = sorted(losses)` above.
    const made = file.scopes.onlyValue(over);
    return (
      isTakenTogether(over, file) || isOfNamed(over, file) || (made?.kind === "Call" && isSeveral(made, file))
    );
  }
  // `sorted(losses)`, `enumerate(metrics.values())`
  if (
    over?.kind === "Call" &&
    /^builtins\.(?:sorted|list|tuple|enumerate|reversed)$/.test(file.dotted(over.func) ?? "")
  )
    return isSeveral(over.args[0]?.value, file);
  return (
    over?.kind === "Call" && over.func.kind === "Attribute" && /^(?:values|items|keys)$/.test(over.func.attr)
  );
}

/** What several figures of one step are called together. */
const METRICS = /loss|metric|stat|log|scalar|meter|result/i;

/** `for key in losses:`, of losses that are handed in and have names: `losses[key]`. */
function isOfNamed(over: Name, file: PythonFile): boolean {
  const made = file.scopes.reaching(over);
  return (
    METRICS.test(over.id) &&
    made.length > 0 &&
    made.every(
      (one) =>
        one.how === "param" &&
        file.scopes
          .uses(one)
          .some(
            ({ parent }) =>
              parent?.kind === "Subscript" &&
              parent.index.kind === "Name" &&
              file.scopes
                .reaching(parent.index)
                .some(({ how, value }) => how === "iterate" && value !== null && contains(value, over)),
          ),
    )
  );
}

/** `losses = []`, to which a loop above adds one after the other, or several lines do; a list of gradients is of no metrics. */
function isCollected(name: Name, made: Definition, file: PythonFile): boolean {
  if (!METRICS.test(name.id)) return false;
  const added = file.scopes
    .uses(made)
    .filter(
      ({ parent, end }) => parent?.kind === "Attribute" && parent.attr === "append" && end < name.start,
    );
  return added.length > 1 || added.some((one) => loopsAround(one).length > 0);
}

/** `values = (loss, accuracy)` or a dict of them, or `*values` of a function that is called with several. */
function isTakenTogether(name: Name, file: PythonFile): boolean {
  const [made, ...more] = file.scopes.reaching(name);
  if (!made || more.length > 0) return false;
  if (made.how === "assign") {
    const { value } = made;
    if (value?.kind === "Dict") return value.keys.length > 1;
    if (value?.kind === "List" && value.items.length === 0) return isCollected(name, made, file);
    return (value?.kind === "Tuple" || value?.kind === "List") && value.items.length > 1;
  }
  const { node } = made;
  const fn = node.kind === "Param" && node.star === 1 ? node.parent : null;
  if (fn?.kind !== "FunctionDef") return false;
  const before = fn.params.findIndex((param) => param === node) - (fn.parent?.kind === "ClassDef" ? 1 : 0);
  return file
    .callsNamed(fn.name)
    .some(
      (call) =>
        callTarget(call, file) === file.qualified(fn) &&
        call.args.filter(({ name: key, star }) => key === null && star === 0).length > before + 1,
    );
}

/** `for value in metrics.values(): all_reduce(value)`. */
function isOverMetrics(call: Call, file: PythonFile): boolean {
  for (let at: Node | null = call.parent; at && at.kind !== "FunctionDef"; at = at.parent)
    if (at.kind === "Comp" && isSeveral(at.clauses[0]?.iter, file)) return true;
    else if (at.kind === "For") return isSeveral(at.iter, file);
  return false;
}
