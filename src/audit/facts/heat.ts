import { isModuleRole } from "./classes.ts";
import type { Role } from "./classes.ts";
import { closure } from "./graph.ts";
import type { CallGraph, Edge, Fn, Some } from "./graph.ts";
import type { Names } from "./names.ts";
import { last } from "./torch-names.ts";

/** What Lightning calls around every batch it trains on. */
const BATCH_HOOKS = [
  "on_train_batch_start",
  "on_train_batch_end",
  "on_before_backward",
  "on_after_backward",
  "on_before_optimizer_step",
  "on_before_zero_grad",
];
const STEP_METHODS: Readonly<Partial<Record<Role, readonly string[]>>> = {
  // A loss may be called without one; the others are what the forward of torch's Transformer layers, and of the networks of
  // timm and torchvision, calls, overridden.
  module: [
    "forward",
    "__call__",
    "_sa_block",
    "_mha_block",
    "_ff_block",
    "forward_features",
    "forward_head",
    "_forward_impl",
  ],
  lightning: [
    "forward",
    "training_step",
    "training_step_end",
    "backward",
    "optimizer_step",
    "optimizer_zero_grad",
    "configure_gradient_clipping",
    "transfer_batch_to_device",
    "on_before_batch_transfer",
    "on_after_batch_transfer",
    ...BATCH_HOOKS,
  ],
  trainer: ["compute_loss", "training_step", "_prepare_inputs"],
  callback: ["on_step_begin", "on_substep_end", "on_pre_optimizer_step", "on_step_end", ...BATCH_HOOKS],
};

/** Run once by a person or a test, not once a step. */
const ONE_SHOT =
  /^<body>$|^_*(?:test|main|demo|check|example|bench|profile|run(?!_?(?:\w+_)?(?:step|batch|iter))|verify|worker|setup)/i;
const EXPORT = /onnx|_export|export_/i;
/** Run when someone asks. */
const TEST = /^_*test_/i;
/** Put where a network should be, and never run. */
const STAND_IN = /^_*(?:Fake|Dummy|Mock|Stub)[A-Z]/;
/** Whatever the test before it is called: nobody saves on every step. */
const SAVES = /^_*(?:maybe_)?(?:save|backup)(?:_|$)/;
/** Functions that go through data to judge. */
const EVALUATES = /^_*(?:do_)?(?:valid|eval|test)/;
/** What a forward leaves to `simple_test` or to `predict` it does where it does not train, and scores of `project.evaluation.losses` judge. */
const LOOKS =
  /(?:^|[._])(?:test|valid|eval|infer|predict|generat|export|visuali)[^.]*$|(?:^|[._])(?:eval\w*|metrics?)\./;
/** Modules that run a trained network, or judge what it gave: no step of training goes through them. */
const INFERENCE =
  /Inference|Searcher|BeamSearch|GreedySearch|KVCache|Export|Onnx|ONNX|TensorRT|TRT|PostProcess|Postprocess|Metric|Tracker|Meter$|Evaluator/;

/** Functions that go through many steps, and what calls them: a step taken beside that makes them no step. */
export function manySteps(graph: CallGraph): Some {
  const once = closure(
    graph,
    (fn) => fn.summary.steps === "once",
    (site) => !site.loops,
  );
  return closure(
    graph,
    (fn) =>
      fn.summary.steps === "many" ||
      fn.calls.some(({ to, site }) => site.loops !== undefined && once.has(to)),
    () => true,
    graph.all,
  );
}

/**
 * What differentiates and steps once, and that nobody is seen calling: the methods of an agent. One may leave it to others,
 * `self.backward_G()` and then `self.optimizer_G.step()`: those are as often.
 */
function uncalledSteps(graph: CallGraph, loose: Some): ReadonlySet<Fn> {
  const once = (site: Edge["site"]): boolean => !site.loops;
  // Beside the steps of an inner loop, as those of a critic, there may be one of its own.
  const steps = closure(
    graph,
    ({ summary }) => summary.steps === "once" || (summary.steps === "many" && summary.loose === true),
    once,
  );
  const differentiates = closure(
    graph,
    ({ summary }) => summary.backward === true && summary.loose === true,
    once,
  );
  // A loop of micro-batches, then one step.
  const accumulates = closure(
    graph,
    ({ summary }) => summary.backward === true,
    () => true,
  );
  const isStep = (fn: Fn): boolean =>
    steps.has(fn) &&
    loose.has(fn) &&
    (differentiates.has(fn) || (fn.summary.steps === "once" && accumulates.has(fn)));
  const found = new Set<Fn>();
  const queue = graph.all.filter(
    (fn) =>
      fn.callers.length === 0 &&
      (fn.summary.loose || fn.summary.method) &&
      isStep(fn) &&
      !ONE_SHOT.test(last(fn.summary.name)),
  );
  for (let fn = queue.pop(); fn !== undefined; fn = queue.pop()) {
    if (found.has(fn)) continue;
    found.add(fn);
    for (const { to, site } of fn.calls) if (!site.loops && isStep(to)) queue.push(to);
  }
  return found;
}

/** By the reason that a function is hot for: whether the forward of a network calls it. */
export const isReachedFromForward = (why: string | null): boolean =>
  why?.startsWith("reached from forward of ") === true;

/** The same, or whether it is such a forward itself. */
export const isOfForward = (why: string): boolean =>
  why.startsWith("forward of ") || isReachedFromForward(why);

/** Why each function is hot, by its position. `losses`: those that a program picks by name. */
export function spreadHeat(
  graph: CallGraph,
  loose: Some,
  roles: ReadonlyMap<string, Role>,
  names: Names,
  losses: readonly Fn[],
): readonly (string | undefined)[] {
  const { all, byName } = graph;
  const hot = new Array<string | undefined>(all.length).fill(undefined);
  const queue: Fn[] = [];
  const heat = (fn: Fn | undefined, why: string): void => {
    if (!fn || hot[fn.at] !== undefined) return;
    const name = last(fn.summary.name);
    if (EXPORT.test(name) || TEST.test(name)) return;
    hot[fn.at] = why;
    queue.push(fn);
  };
  for (const [cls, role] of roles) {
    const own = STEP_METHODS[role] && names.classes.get(cls)?.methods;
    if (!own) continue;
    const run = STEP_METHODS[role]!.filter((method) => own.includes(method));
    if (
      run.length === 0 ||
      (isModuleRole(role) && INFERENCE.test(last(cls))) ||
      STAND_IN.test(last(cls)) ||
      /(?:^|[._])(?:inference|exports?|deploy(?:ment)?)[._]/.test(cls) ||
      EXPORT.test(cls)
    )
      continue;
    for (const method of run) {
      // Beside a training_step it is what that calls, or for inference.
      if (role === "lightning" && method === "forward" && own.includes("training_step")) continue;
      const fn = byName.get(`${cls}.${method}`);
      // What is decorated with `no_grad` searches or generates, unless a step calls it.
      if (fn?.summary.grad !== "off") heat(fn, `${method} of ${last(cls)}`);
    }
  }
  const stepping = closure(
    graph,
    (fn) => fn.summary.steps !== undefined,
    (site) => !site.loops,
  );
  const takesStep = (to: Fn): boolean => loose.has(to) && stepping.has(to);
  /** However rarely a step is taken, what takes it runs once a step, and so does what stands in the same branch. */
  const isWithStep = ({ calls }: Fn, { to, site }: Edge): boolean =>
    !site.throttled ||
    takesStep(to) ||
    (site.branch !== undefined &&
      calls.some((other) => other.site.branch === site.branch && takesStep(other.to)));
  const trainings: { readonly fn: Fn; readonly steps: ReadonlySet<number> }[] = [];
  for (const fn of all) {
    let steps: Set<number> | null = fn.summary.stepLoops ? new Set(fn.summary.stepLoops) : null;
    // A call to a function that takes a step makes the loop around the call the step's loop.
    for (const { to, site, idle } of fn.calls)
      if (site.loops && !idle && loose.has(to)) (steps ??= new Set()).add(site.loops[0]!);
    if (steps) trainings.push({ fn, steps });
  }
  // What a validation calls too is named after the training.
  const evaluates = ({ fn }: (typeof trainings)[number]): boolean => EVALUATES.test(last(fn.summary.name));
  const [sooner, later] = [trainings.filter((one) => !evaluates(one)), trainings.filter(evaluates)];
  for (const { fn, steps } of [...sooner, ...later]) {
    const name = last(fn.summary.name);
    for (const edge of fn.calls)
      if (
        isWithStep(fn, edge) &&
        !(isConstructor(edge.to) && names.isOperator(edge.to.summary.name.slice(0, -9))) &&
        !SAVES.test(last(edge.to.summary.name)) &&
        edge.site.loops?.some((loop) => steps.has(loop))
      )
        heat(edge.to, `called in the training loop of ${name === "<body>" ? "the script" : name}`);
  }
  for (const fn of uncalledSteps(graph, loose)) heat(fn, `a training step, ${last(fn.summary.name)}`);
  for (const fn of all) if (fn.summary.hooked) heat(fn, `a hook of every step, ${last(fn.summary.name)}`);
  for (const fn of losses) heat(fn, `a loss, ${last(fn.summary.name)}`);
  // One text for all that one reason reaches: there are tens of thousands.
  const further = new Map<string, string>();
  let heirs: ReadonlyMap<string, readonly string[]> | null = null;
  for (let fn = queue.pop(); fn !== undefined; fn = queue.pop()) {
    const why = hot[fn.at]!;
    let reached = why.startsWith("reached from ") ? why : further.get(why);
    if (reached === undefined) further.set(why, (reached = `reached from ${why.replace(/^called in /, "")}`));
    for (const edge of fn.calls) {
      const { to } = edge;
      if (
        hot[to.at] === undefined &&
        isWithStep(fn, edge) &&
        (!isConstructor(to) ||
          names.isDistribution(to.summary.name.slice(0, -9)) ||
          // Elsewhere most objects are made once, whatever is called next to that.
          (isOfForward(why) && names.isOperator(to.summary.name.slice(0, -9)))) &&
        !SAVES.test(last(to.summary.name))
      )
        heat(to, reached);
    }
    // `self.calc_loss(batch)` of a base that leaves it to the classes made of it: theirs run.
    if (fn.summary.method) {
      const cut = fn.summary.name.lastIndexOf(".");
      const cls = fn.summary.name.slice(0, cut);
      const role = roles.get(cls);
      const isLeft = fn.summary.calls.length === 0;
      if (isLeft ? !isOfOwn(role) && role !== "module" : !isDriven(role)) continue;
      const isAsked = ({ from }: Edge): boolean => hot[from.at] !== undefined;
      // Of a network, what its own code calls; a framework's hooks, as every forward, are hot by themselves.
      if (
        isLeft &&
        role === "module" &&
        (LOOKS.test(fn.summary.name) || !fn.callers.some((one) => isAsked(one) && isOfClass(one.from, cls)))
      )
        continue;
      const callers = isLeft ? [] : fn.callers.filter(isAsked);
      if (!isLeft && callers.length === 0) continue;
      heirs ??= heirsByClass(roles, names);
      const below = new Set(heirs.get(cls));
      // A set goes on through what is added to it on the way.
      for (const heir of below) {
        if (!isLeft && callers.every(({ from }) => isReplaced(from, heir, graph))) continue;
        heat(byName.get(heir + fn.summary.name.slice(cut)), reached);
        for (const next of heirs.get(heir) ?? []) below.add(next);
      }
    }
  }
  return hot;
}

const isConstructor = ({ summary }: Fn): boolean => summary.name.endsWith(".__init__");

/** A class whose own code calls what its heirs override; a framework calls its hooks beside that. */
const isOfOwn = (role: Role | undefined): boolean =>
  role === "other" || role === "lightning" || role === "trainer";

/** A framework takes the step of whichever class it was given: what one of them overrides runs in place of the base's, whatever that does. */
const isDriven = (role: Role | undefined): boolean => role === "lightning" || role === "trainer";

/** A method that the heir has one of its own for, which does not go back to it: `super().compute_loss(…)`. */
function isReplaced(fn: Fn, heir: string, { byName }: CallGraph): boolean {
  const own = byName.get(`${heir}.${last(fn.summary.name)}`);
  return own !== undefined && own !== fn && !own.calls.some(({ to }) => to === fn);
}

const isOfClass = ({ summary }: Fn, cls: string): boolean =>
  summary.name.slice(0, summary.name.lastIndexOf(".")) === cls;

/** The classes that are directly of another one of the tree. */
function heirsByClass(
  roles: ReadonlyMap<string, Role>,
  names: Names,
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [name, { bases }] of names.classes) {
    const role = roles.get(name);
    if (bases.length === 0 || !(isOfOwn(role) || role === "module")) continue;
    for (const base of bases) {
      const cls = names.base(base);
      const known = found.get(cls);
      if (known) known.push(name);
      else if (names.classes.has(cls)) found.set(cls, [name]);
    }
  }
  return found;
}
