import { roleOfBase } from "./classes.ts";
import type { Role } from "./classes.ts";
import { Some } from "./graph.ts";
import type { CallGraph, Edge, Fn } from "./graph.ts";
import { siteOf, targetOf } from "./summary.ts";
import type { FileSummary } from "./summary.ts";
import type { Keeps } from "./keepers.ts";
import { callersGradOff } from "./callers.ts";
import { unusedNetworks } from "./mentions.ts";
import { joinedOptions } from "./options.ts";
import type { Options } from "./options.ts";
import { passedParameters } from "./parameters.ts";
import { last } from "./torch-names.ts";
import type { Value } from "./value.ts";

/** What the whole audited tree says about one function. */
export interface FunctionFacts {
  /** Why the function runs once a training step or more; null where that is not known. */
  readonly hot: string | null;
  /** Whether its callers have switched gradients off. "unknown": nobody seen calling it. */
  readonly callersGradOff: "always" | "sometimes" | "never" | "unknown";
  /** A backward or optimizer step happens here or in what it calls, outside of its own loops. */
  readonly loose: boolean;
  /** A backward happens somewhere in here or below. */
  readonly reachesBackward: boolean;
  /** Parameters for which every caller in the tree passes a tensor on the device. */
  readonly parameters: Readonly<Record<string, Value>>;
  /** Of a function that keeps or sends some of them. */
  readonly params: readonly string[];
  /** Called from inside a loop, on every turn of it. */
  readonly repeated: boolean;
  /** Parameters it keeps on self. */
  readonly keeps: Keeps | null;
  readonly reads: boolean;
  /** Parameters that it sends to a device and waits for. */
  readonly copies: readonly string[] | null;
  /** The constructor of a dataset that worker processes read. */
  readonly workers: boolean;
}

/** Plain data, one per audited tree; crosses threads. */
export interface ProjectFacts {
  readonly functions: ReadonlyMap<string, FunctionFacts>;
  /** What calls name otherwise than where it is defined: `engine.step` for `tools.engine.step`. */
  readonly aliases: ReadonlyMap<string, string>;
  readonly roles: ReadonlyMap<string, Role>;
  /** Modules that use an accelerator, or are joined by imports to one that does. */
  readonly accelerated: ReadonlySet<string>;
  /** What the options of the tree are unless somebody says otherwise. */
  readonly options: Options;
  /** Classes of networks that nothing in the tree uses. */
  readonly unused: ReadonlySet<string>;
}

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
  module: ["forward"],
  lightning: ["forward", "training_step", "optimizer_step", ...BATCH_HOOKS],
  trainer: ["compute_loss", "training_step"],
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
/** Modules that run a trained network, or judge what it gave: no step of training goes through them. */
const INFERENCE =
  /Inference|Searcher|BeamSearch|GreedySearch|KVCache|Export|Onnx|ONNX|TensorRT|TRT|PostProcess|Postprocess|Metric|Tracker|Meter$|Evaluator/;

/** `mentioned`: the words by which the files speak of classes and modules. */
export function combine(summaries: readonly FileSummary[], mentioned: ReadonlySet<string>): ProjectFacts {
  const names = new Names(summaries);
  const roles = new Map<string, Role>();
  for (const name of names.classes.keys()) roleOf(name, names, roles, new Set());
  const graph = callGraph(summaries, names);
  const loose = closure(
    graph,
    (fn) => fn.summary.loose === true,
    (site) => !site.loops,
  );
  const epochs = manySteps(graph);
  for (const fn of graph.all) if (epochs.has(fn) && !fn.summary.loose) loose.delete(fn);
  const reaches = closure(
    graph,
    (fn) => fn.summary.backward === true,
    () => true,
  );
  const hot = spreadHeat(graph, loose, roles, names);
  const gradOff = callersGradOff(graph, new Set(summaries.flatMap((file) => file.escapes)));
  const facts = new Map<string, FunctionFacts>();
  // Of most functions only this is known: one object for all that are alike, which also crosses threads once.
  const alike = new Map<FunctionFacts["callersGradOff"], FunctionFacts>();
  for (const fn of graph.all) {
    const one: FunctionFacts = {
      hot: hot[fn.at] ?? null,
      callersGradOff: gradOff(fn),
      loose: loose.has(fn),
      reachesBackward: reaches.has(fn),
      parameters: passedParameters(fn) ?? NONE,
      params: fn.summary.keeps || fn.summary.copies ? fn.summary.params.split(",") : NO_PARAMS,
      repeated: fn.callers.some(isRepeated),
      keeps: fn.summary.keeps ?? null,
      reads: fn.summary.reads ?? false,
      copies: fn.summary.copies ?? null,
      workers: fn.callers.some(({ site }) => site.workers),
    };
    const plain =
      one.hot === null &&
      !one.loose &&
      !one.reachesBackward &&
      one.parameters === NONE &&
      !one.repeated &&
      !one.keeps &&
      !one.reads &&
      !one.copies &&
      !one.workers;
    if (plain && !alike.has(one.callersGradOff)) alike.set(one.callersGradOff, one);
    facts.set(fn.summary.name, plain ? alike.get(one.callersGradOff)! : one);
  }
  const options = joinedOptions(summaries.map((one) => one.options));
  const accelerated = acceleratedModules(summaries, names);
  const unused = unusedNetworks(summaries, roles, mentioned);
  return { functions: facts, aliases: graph.aliases, roles, accelerated, options, unused };
}

const isRepeated = ({ site }: Edge): boolean => site.loops !== undefined && !site.throttled;

/** Every function with the calls between them. */
function callGraph(summaries: readonly FileSummary[], names: Names): CallGraph {
  const byName = new Map<string, Fn>();
  const files = summaries.map((file) =>
    file.functions.map((summary) => {
      // Of two of a name the later one counts, in the place of the first.
      const at = byName.get(summary.name)?.at ?? byName.size;
      const fn: Fn = { at, summary, calls: [], callers: [] };
      byName.set(summary.name, fn);
      return fn;
    }),
  );
  const known = new Map<string, Fn | null>();
  const find = (target: string): Fn | null => {
    let found = known.get(target);
    if (found === undefined) {
      const name = names.resolve(target, byName);
      known.set(target, (found = name === null ? null : byName.get(name)!));
    }
    return found;
  };
  for (const own of files)
    for (const from of own)
      for (const call of from.summary.calls) {
        const target = targetOf(call);
        const to = typeof target === "number" ? own[target]! : target.startsWith(".") ? null : find(target);
        if (!to) continue;
        const edge = { from, to, site: siteOf(call) };
        from.calls.push(edge);
        to.callers.push(edge);
      }
  const aliases = new Map<string, string>();
  for (const [target, fn] of known)
    if (fn && fn.summary.name !== target) aliases.set(target, fn.summary.name);
  return { all: [...byName.values()], byName, aliases };
}

/** In a tree of many small programs, one that stays on the host is told from its neighbours by what it imports. */
function acceleratedModules(summaries: readonly FileSummary[], names: Names): Set<string> {
  const numbers = new Map<string, number>();
  for (const { module } of summaries) if (!numbers.has(module)) numbers.set(module, numbers.size);
  // Each leads to another one of those it is joined to; the one that leads to itself stands for them all.
  const next = Int32Array.from(numbers.values());
  const groupOf = (module: number): number => {
    let at = module;
    while (next[at] !== at) at = next[at] = next[next[at]!]!;
    return at;
  };
  const known = new Map<string, readonly number[]>();
  for (const file of summaries) {
    const own = numbers.get(file.module)!;
    for (const name of file.imports) {
      let imported = known.get(name);
      if (!imported) {
        const module = names.moduleOf(name);
        // A package whose `__init__` only imports is not among the summaries; its modules are.
        const modules = module === null ? names.inPackage(name) : [module];
        known.set(name, (imported = modules.map((one) => numbers.get(one)!)));
      }
      for (const one of imported) next[groupOf(own)] = groupOf(one);
    }
  }
  const accelerated = new Set<number>();
  for (const { accelerator, module } of summaries)
    if (accelerator) accelerated.add(groupOf(numbers.get(module)!));
  return new Set([...numbers].filter(([, at]) => accelerated.has(groupOf(at))).map(([module]) => module));
}

/** Finds definitions by the names that imports use, which need not start at the audited root. */
class Names {
  readonly classes = new Map<
    string,
    { readonly bases: readonly string[]; readonly methods: readonly string[] }
  >();
  readonly #modules = new Map<string, string | null>();
  readonly #full = new Map<string, string>();
  /** The modules of a package, by what imports may call it; null where two are called that. */
  readonly #packages = new Map<string, { readonly full: string; readonly modules: string[] } | null>();

  constructor(summaries: readonly FileSummary[]) {
    for (const file of summaries) {
      for (const cls of file.classes) this.classes.set(cls.name, cls);
      const parts = file.module.split(".");
      for (let from = 0; from < parts.length; from++) {
        const suffix = parts.slice(from).join(".");
        // A suffix two files share names neither, unless it is one's full name.
        this.#modules.set(suffix, from > 0 && this.#modules.has(suffix) ? null : file.module);
      }
      const full = parts.slice(0, -1).join(".");
      for (let from = 0; from < parts.length - 1; from++) {
        const suffix = parts.slice(from, -1).join(".");
        const known = this.#packages.get(suffix);
        if (known === undefined) this.#packages.set(suffix, { full, modules: [file.module] });
        else if (known?.full === full) known.modules.push(file.module);
        else this.#packages.set(suffix, null);
      }
    }
  }

  /** "utils.train_step" → "project.src.utils.train_step", when only one file is called that. */
  full(dotted: string): string {
    let known = this.#full.get(dotted);
    if (known === undefined) this.#full.set(dotted, (known = this.#findFull(dotted)));
    return known;
  }

  #findFull(dotted: string): string {
    for (let cut = dotted.lastIndexOf("."); cut > 0; cut = dotted.lastIndexOf(".", cut - 1)) {
      const module = this.#modules.get(dotted.slice(0, cut));
      if (module) return module + dotted.slice(cut);
    }
    return dotted;
  }

  /** The audited file behind an imported name: the module itself, or the one that defines it. */
  moduleOf(dotted: string): string | null {
    for (let cut = dotted.length; cut > 0; cut = dotted.lastIndexOf(".", cut - 1)) {
      const module = this.#modules.get(dotted.slice(0, cut));
      if (module) return module;
    }
    return null;
  }

  /** `from project import algo`: the modules directly in the package, or in the one that the name is of. */
  inPackage(dotted: string): readonly string[] {
    const cut = dotted.lastIndexOf(".");
    return (
      (this.#packages.get(dotted) ?? (cut > 0 ? this.#packages.get(dotted.slice(0, cut)) : null))?.modules ??
      []
    );
  }

  resolve(target: string, functions: ReadonlyMap<string, unknown>): string | null {
    if (target.startsWith(".")) return null;
    if (functions.has(target)) return target;
    const full = this.full(target);
    if (functions.has(full)) return full;
    const cut = full.lastIndexOf(".");
    if (cut < 0) return null;
    const [cls, method] = [this.#exported(full.slice(0, cut)), full.slice(cut + 1)];
    const found = this.#inherited(cls, method, functions, 0);
    // The call of an instance is taken for a module's forward: of another class it is `__call__`.
    return (
      found ??
      (method === "forward" ? this.#inherited(cls, "__call__", functions, 0) : null) ??
      this.#handedOn(cls, method, functions)
    );
  }

  /** `package.Net`, which the package's `__init__` has from the one module of it that defines it. */
  #exported(cls: string): string {
    const cut = cls.lastIndexOf(".");
    if (cut < 0 || this.classes.has(cls)) return cls;
    let only: string | null = null;
    for (const module of this.#packages.get(cls.slice(0, cut))?.modules ?? []) {
      const name = module + cls.slice(cut);
      if (!this.classes.has(name)) continue;
      if (only !== null) return cls;
      only = name;
    }
    return only ?? cls;
  }

  /** `from utils import train`, where `utils/__init__.py` has it from the one module of the package that defines it. */
  #handedOn(name: string, fn: string, functions: ReadonlyMap<string, unknown>): string | null {
    const defined = (this.#packages.get(name)?.modules ?? []).filter((module) =>
      functions.has(`${module}.${fn}`),
    );
    return defined.length === 1 ? `${defined[0]}.${fn}` : null;
  }

  #inherited(
    cls: string,
    method: string,
    functions: ReadonlyMap<string, unknown>,
    depth: number,
  ): string | null {
    const found = this.classes.get(cls);
    if (!found || depth > 20) return null;
    if (functions.has(`${cls}.${method}`)) return `${cls}.${method}`;
    for (const base of found.bases) {
      const up = this.#inherited(this.full(base), method, functions, depth + 1);
      if (up) return up;
    }
    return null;
  }
}

function roleOf(name: string, names: Names, roles: Map<string, Role>, seen: Set<string>): Role {
  const known = roles.get(name);
  if (known) return known;
  const cls = names.classes.get(name);
  if (!cls || seen.has(name)) return roleOfBase(name) ?? "other";
  seen.add(name);
  let role: Role = "other";
  for (const base of cls.bases) {
    const full = names.full(base);
    const one = names.classes.has(full) ? roleOf(full, names, roles, seen) : (roleOfBase(base) ?? "other");
    if (one !== "other") {
      role = one;
      break;
    }
  }
  roles.set(name, role);
  return role;
}

const NO_PARAMS: readonly string[] = [];
const NONE: Readonly<Record<string, Value>> = {};

/** Functions for which `own` holds, and those that call them through a site that `carries`. */
function closure(
  { all }: CallGraph,
  own: (fn: Fn) => boolean,
  carries: (site: Edge["site"]) => boolean,
): Some {
  const found = new Some(all.length);
  const queue = all.filter(own);
  for (let fn = queue.pop(); fn !== undefined; fn = queue.pop())
    if (found.add(fn)) for (const { from, site } of fn.callers) if (carries(site)) queue.push(from);
  return found;
}

/** Functions that go through many steps, and what calls them: a step taken beside that makes them no step. */
function manySteps(graph: CallGraph): Some {
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
  const isStep = (fn: Fn): boolean => steps.has(fn) && differentiates.has(fn) && loose.has(fn);
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

/** Why each function is hot, by its position. */
function spreadHeat(
  graph: CallGraph,
  loose: Some,
  roles: ReadonlyMap<string, Role>,
  names: Names,
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
  for (const [cls, role] of roles)
    for (const method of STEP_METHODS[role] ?? [])
      if (
        names.classes.get(cls)?.methods.includes(method) &&
        !INFERENCE.test(last(cls)) &&
        !STAND_IN.test(last(cls)) &&
        !/(?:^|[._])inference[._]/.test(cls) &&
        !EXPORT.test(cls) &&
        // What is decorated with `no_grad` searches or generates, unless a step calls it.
        byName.get(`${cls}.${method}`)?.summary.grad !== "off" &&
        // Beside a training_step it is what that calls, or for inference.
        !(
          role === "lightning" &&
          method === "forward" &&
          names.classes.get(cls)!.methods.includes("training_step")
        )
      )
        heat(byName.get(`${cls}.${method}`), `${method} of ${last(cls)}`);
  const stepping = closure(
    graph,
    (fn) => fn.summary.steps !== undefined,
    (site) => !site.loops,
  );
  const trainings: { readonly fn: Fn; readonly steps: ReadonlySet<number> }[] = [];
  for (const fn of all) {
    const steps = new Set(fn.summary.stepLoops);
    // A call to a function that takes a step makes the loop around the call the step's loop.
    for (const { to, site } of fn.calls) if (site.loops && loose.has(to)) steps.add(site.loops[0]!);
    if (steps.size > 0) trainings.push({ fn, steps });
  }
  // What a validation calls too is named after the training.
  const evaluates = ({ fn }: (typeof trainings)[number]): boolean => EVALUATES.test(last(fn.summary.name));
  const [sooner, later] = [trainings.filter((one) => !evaluates(one)), trainings.filter(evaluates)];
  for (const {
    fn: { summary, calls },
    steps,
  } of [...sooner, ...later]) {
    const name = last(summary.name);
    for (const { to, site } of calls)
      // However rarely a step is taken, what takes it runs once a step.
      if (
        (!site.throttled || (loose.has(to) && stepping.has(to))) &&
        !SAVES.test(last(to.summary.name)) &&
        site.loops?.some((loop) => steps.has(loop))
      )
        heat(to, `called in the training loop of ${name === "<body>" ? "the script" : name}`);
  }
  for (const fn of uncalledSteps(graph, loose)) heat(fn, `a training step, ${last(fn.summary.name)}`);
  // One text for all that one reason reaches: there are tens of thousands.
  const further = new Map<string, string>();
  for (let fn = queue.pop(); fn !== undefined; fn = queue.pop()) {
    const why = hot[fn.at]!;
    let reached = why.startsWith("reached from ") ? why : further.get(why);
    if (reached === undefined) further.set(why, (reached = `reached from ${why.replace(/^called in /, "")}`));
    for (const { to, site } of fn.calls)
      if (!site.throttled && !to.summary.name.endsWith(".__init__") && !SAVES.test(last(to.summary.name)))
        heat(to, reached);
  }
  return hot;
}
