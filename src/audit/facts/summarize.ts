import { starModules } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, functionOf, lastWord } from "../../python/nodes.ts";
import type { Attribute, Call, ClassDef, FunctionDef, Name, Node } from "../../python/tree.ts";
import { acceleratorOf, defaultsToDevice, makersOfTrained, makesOnDevice } from "./accelerator.ts";
import { isReplicated } from "./accumulation.ts";
import { backwardsTaken } from "./attacks.ts";
import { meetingPoints } from "./barriers.ts";
import { cutsOffState } from "./carried-states.ts";
import { isOfClass, isOperator, isProperty, methodsOf, partsOf, selfAttribute } from "./classes.ts";
import { decoratedGrad, lexicalGrad } from "./gradmode.ts";
import {
  branchAround,
  checkpointed,
  fillsIn,
  isCalled,
  isReadAtOnce,
  isSame,
  lentBy,
  topOf,
  updateBranch,
} from "./call-sites.ts";
import { frequency } from "./guards.ts";
import { variablesOf } from "./broken.ts";
import { calledBeforeChoice, choosesDevice, setsUpRanks } from "./ranks.ts";
import { asked, given } from "./handed.ts";
import { float64Makers } from "./float64.ts";
import { grownParameters } from "./grown-parameters.ts";
import { infersRecorded } from "./inferring.ts";
import { handedLosses } from "./handed-losses.ts";
import { heldErrors } from "./held-errors.ts";
import { hasHostLoss } from "./host-losses.ts";
import { importedByName } from "./imported-by-name.ts";
import { keptParameters, readsParameter } from "./keepers.ts";
import { openers } from "./openers.ts";
import type { Reads } from "./openers.ts";
import { syncContexts } from "./sync-contexts.ts";
import type { Condition } from "./turn-conditions.ts";
import { sharedOptions } from "./options.ts";
import { passedBy } from "./parameters.ts";
import type { Passed } from "./parameters.ts";
import { hasWorkers, loadersMade } from "./loaders.ts";
import { pinnedMakers } from "./pinned-makers.ts";
import { unpinnedData } from "./unpinned-data.ts";
import { collatedWith, heldByDatasets, hostCollates, sharedClasses, trainedClasses } from "./worker-data.ts";
import { STEPPERS, isCompound, isRunAlone } from "./names.ts";
import { shapesMayVary, shapesVary } from "./shapes.ts";
import { isBehindOwnOption, turnsCheckpointingOn } from "./behind-options.ts";
import { callTarget, drawsFromHanded, functionName, isMain, otherTargets } from "./summary.ts";
import { numbersHandedBack, reducers, runners } from "./returns.ts";
import { isCapital } from "./torch-names.ts";
import { clippers } from "./clippers.ts";
import { handsOut } from "./hands-out.ts";
import type { HandedOut } from "./hands-out.ts";
import { tablesMade } from "./tables.ts";
import type { Table } from "./tables.ts";
import { leavesGradients } from "./uncleared.ts";
import { fedByParams, handedDatasets } from "./fed-loaders.ts";
import { handedLoaders } from "./handed-loaders.ts";
import { loaderMakers } from "./loader-makers.ts";
import type { LoaderMaker } from "./loader-makers.ts";
import { stepHooks } from "./engine-hooks.ts";
import { evaluators, leavesRecording, looksThrough } from "./evaluation-calls.ts";
import { readsStates } from "./read-states.ts";
import { handedTeachers } from "./teachers.ts";
import { switchesGiven, trainingSwitch } from "./training-switch.ts";
import { sharedTimers } from "./timers.ts";
import type { CallSite, ClassSummary, FileSummary, FunctionSummary, Target } from "./summary.ts";
import {
  backwardCalls,
  isTrial,
  isTriedOnce,
  loopOfSteps,
  loopsAround,
  stepBlock,
  stepsTaken,
} from "./training.ts";
import type { Backward, Loop } from "./training.ts";
import { adaptersOf, quantizes, trainedModels } from "./trained-elsewhere.ts";
import { freezesEmbeddings } from "./frozen-embeddings.ts";
import { packsByFetched, waitingCopies } from "./transfers.ts";
import { usedUpBy } from "./used-up.ts";
import { callsGiven, waitsBelow } from "./waiting.ts";

const LIBRARY = /^(?:torch|numpy)(?:\.|$)/;

/** As functions are called, and classes are not. Asked of everything that is imported: no regular expression. */
function isPlain(name: string): boolean {
  const first = name.charCodeAt(0);
  return first >= 97 || first === 95;
}

export function summarize(file: PythonFile): FileSummary {
  return new Summarizer(file).summary();
}

/** What a file's calls say about one of its functions, as far as they have been looked at. */
class FunctionNotes {
  /** Its position in the file. */
  readonly at: number;
  readonly calls: CallSite[] = [];
  /** The same, by target. */
  readonly seen = new Map<Target, CallSite[]>();
  readonly loops: Loop[] = [];
  readonly stepLoops = new Set<number>();
  loose = false;
  steps: FunctionSummary["steps"];
  backward = false;
  /** The backwards and optimizer steps. */
  readonly taken: Call[] = [];

  constructor(at: number) {
    this.at = at;
  }

  number(loop: Loop): number {
    const at = this.loops.indexOf(loop);
    return at >= 0 ? at : this.loops.push(loop) - 1;
  }
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const MAKES_OPTIMIZER = /optim|^(?:Adam\w*|SGD|RMSprop|Adagrad|LBFGS)$/i;

/** A method for each kind of thing that is looked at: V8 compiles what is called often, not one long function. */
class Summarizer {
  readonly #file: PythonFile;
  readonly #byName = new Map<string, FunctionNotes>();
  readonly #byNode = new Map<Node | null, FunctionNotes>();
  readonly #definitions = new Map<string, FunctionDef>();
  /** The names of the functions of the file, of its classes, and of functions that it imports. */
  readonly #defined = new Map<string, "own" | "imported">();
  readonly #classes: ReadonlySet<string>;
  /** By the name of a class at the top of the file: what else there speaks of it. */
  readonly #users = new Map<string, Set<string>>();
  readonly #escapes: string[] = [];
  readonly #handed = new Set<string>();
  /** Imported modules, as far as they are asked for. */
  readonly #modules = new Set<string>();
  /** What its calls give to functions of other files. */
  readonly #gives = new Map<string, Set<string>>();
  readonly #trains: boolean;
  readonly #backwards: readonly Backward[];
  readonly #copies: ReadonlyMap<FunctionDef, ReadonlySet<string>>;
  readonly #pins: ReadonlySet<FunctionDef>;
  readonly #makers: ReadonlyMap<string, LoaderMaker>;
  readonly #feeds: ReadonlyMap<FunctionDef, readonly string[]>;
  readonly #evaluators: ReadonlySet<FunctionDef>;
  readonly #openers: ReadonlyMap<FunctionDef, Reads>;
  readonly #syncs: ReadonlyMap<FunctionDef, Condition>;
  readonly #tables: ReadonlyMap<FunctionDef, Table>;
  readonly #reducers: ReadonlyMap<FunctionDef, string>;
  readonly #runners: ReadonlyMap<FunctionDef, string>;
  readonly #losses: ReadonlyMap<FunctionDef, string>;
  readonly #grown: ReadonlyMap<FunctionDef, readonly string[]>;
  readonly #hooks: ReadonlySet<FunctionDef>;
  readonly #meeting: ReadonlySet<FunctionDef>;
  readonly #handsOut: ReadonlyMap<FunctionDef, HandedOut>;
  readonly #clippers: ReadonlySet<FunctionDef>;
  readonly #passed: (call: Call) => Passed | null;

  constructor(file: PythonFile) {
    this.#file = file;
    this.#backwards = backwardCalls(file);
    this.#trains = trains(file);
    for (const { name, as, parent } of file.all("Alias"))
      if (!LIBRARY.test(parent?.kind === "ImportFrom" ? parent.module : name)) {
        if (parent?.kind === "ImportFrom") this.#defined.set(as ?? name, "imported");
        if (isPlain(name)) this.#modules.add(as ?? name);
      }
    for (const fn of file.all("FunctionDef")) {
      const name = file.qualified(fn);
      this.#notes(name);
      this.#definitions.set(name, fn);
      this.#defined.set(fn.name, "own");
    }
    // What is made to be called may be made anew in each forward.
    this.#classes = new Set(
      file
        .all("ClassDef")
        .filter((cls) => !isOperator(cls, file))
        .map((cls) => file.qualified(cls)),
    );
    for (const { name, parent } of file.all("ClassDef"))
      if (parent?.kind === "Module") {
        this.#users.set(name, new Set());
        this.#defined.set(name, "own");
      }
    this.#passed = passedBy(file);
    this.#copies = waitingCopies(file);
    this.#pins = pinnedMakers(file);
    this.#makers = file.once(loaderMakers);
    this.#feeds = fedByParams(file);
    this.#evaluators = file.once(evaluators);
    this.#openers = openers(file);
    this.#syncs = syncContexts(file);
    this.#tables = tablesMade(file);
    this.#reducers = reducers(file);
    this.#runners = runners(file);
    this.#losses = handedLosses(file, this.#backwards);
    this.#grown = grownParameters(file, this.#backwards);
    this.#hooks = stepHooks(file);
    this.#meeting = file.once(meetingPoints);
    this.#handsOut = file.once(handsOut);
    this.#clippers = file.once(clippers);
  }

  summary(): FileSummary {
    const file = this.#file;
    for (const call of file.all("Call")) this.#call(call);
    this.#steps();
    this.#decorators();
    this.#datasets();
    this.#collates();
    this.#values();
    const accelerator = acceleratorOf(file);
    const sends = accelerator === "uses" || accelerator === "handed";
    const wide = float64Makers(file);
    return {
      path: file.path,
      module: file.module,
      functions: [...this.#byName].map(([name, notes]) => this.#function(name, notes)),
      classes: file.all("ClassDef").map((cls) => this.#class(cls)),
      accelerator,
      makers: makersOfTrained(file, sends),
      settles: (sends && makesOnDevice(file)) || undefined,
      options: sharedOptions(file),
      loaders: loadersMade(file),
      timers: sharedTimers(file),
      teachers: handedTeachers(file),
      datasets: handedDatasets(file),
      handsLoaders: handedLoaders(file),
      collates: hostCollates(file),
      unpinned: unpinnedData(file),
      hostLoss: hasHostLoss(file) || undefined,
      ownLoss: this.#backwards.some(({ loss }) => loss && selfAttribute(loss) === "loss") || undefined,
      packs: packsByFetched(file) || undefined,
      checkpoints: turnsCheckpointingOn(file) || undefined,
      trained: trainedModels(file),
      adapters: adaptersOf(file),
      freezesInputs: (file.mentions("requires_grad") && freezesEmbeddings(file)) || undefined,
      quantizes: quantizes(file) || undefined,
      wide: wide.size > 0 ? [...wide].map(([fn, places]) => `${file.qualified(fn)}:${places}`) : undefined,
      defaults: defaultsToDevice(file) || undefined,
      varies: shapesVary(file, (node) => isBehindOwnOption(node, file)) || undefined,
      mayVary: shapesMayVary(file) || undefined,
      blocks: (file.mentions("CUDA_LAUNCH_BLOCKING") && file.says(BLOCKS)) || undefined,
      searches: (file.mentions("detect_anomaly") && file.says(SEARCHES)) || undefined,
      states: readsStates(file) || undefined,
      cutsGrads: (file.mentions("detach_") && file.says(/\bgrad\.detach_\(/)) || undefined,
      ranks: setsUpRanks(file) || undefined,
      places: choosesDevice(file) || undefined,
      early: calledBeforeChoice(file),
      replicates:
        file.callsNamed("DistributedDataParallel").some((call) => isReplicated(call, file)) || undefined,
      imports: [
        ...file
          .all("Alias")
          .map((alias) =>
            alias.parent?.kind === "Import" ? file.importedModule(alias.name) : file.importedName(alias),
          ),
        ...importedByName(file),
      ],
      variables: variablesOf(file),
      escapes: this.#escapes,
      values: this.#handed.size > 0 ? [...this.#handed] : undefined,
      asks: this.#trains ? asked(file) : undefined,
      gives: Object.fromEntries([...this.#gives].map(([name, calls]) => [name, [...calls]])),
      main: file.tree.module.body.some(isMain) || undefined,
      trains: this.#trains || undefined,
    };
  }

  #steps(): void {
    const makers = this.#optimizerMakers();
    for (const { call } of this.#backwards) this.#around(call).backward = true;
    for (const { call } of backwardsTaken(this.#file, this.#backwards)) this.#step(call, true, makers);
    for (const call of stepsTaken(this.#file, this.#backwards)) this.#step(call, false, makers);
  }

  /** Functions that are used as values. */
  #values(): void {
    for (const name of this.#file.all("Name")) this.#name(name);
    for (const attribute of this.#file.all("Attribute")) this.#attribute(attribute);
  }

  /** Whoever calls a decorated function calls what the decorator has put around it. */
  #decorators(): void {
    const wrappers = [...this.#definitions].filter(([, { parent }]) => parent?.kind === "FunctionDef");
    if (wrappers.length === 0) return;
    for (const [name, fn] of this.#definitions)
      for (const decorator of fn.decorators) {
        const by = this.#file.dotted(decorator.kind === "Call" ? decorator.func : decorator);
        if (by === null || !by.startsWith(this.#file.module)) continue;
        for (const [wrapper] of wrappers)
          if (wrapper.startsWith(`${by}.`)) this.#notes(name).calls.push({ target: this.#notes(wrapper).at });
      }
  }

  /**
   * Classes of datasets that a DataLoader here has workers for: of their constructors it is asked what they keep. What is
   * called may also be a function of another file, that makes them.
   */
  #datasets(): void {
    for (const [name, made] of sharedClasses(this.#file)) {
      const { calls } = this.#around(made[0]!);
      for (const one of this.#places(name)) {
        calls.push({ target: `${one}.__init__`, grad: "unknown", workers: true });
        if (!LIBRARY.test(one) && !one.startsWith(`${this.#file.module}.`))
          calls.push({ target: one, grad: "unknown", throttled: true, workers: true });
      }
    }
    for (const [name, made] of trainedClasses(this.#file))
      for (const one of this.#places(name))
        this.#around(made[0]!).calls.push({ target: `${one}.__init__`, grad: "unknown", workers: "asked" });
    for (const [init, names] of heldByDatasets(this.#file))
      for (const name of names.flatMap((one) => this.#places(one)))
        if (!LIBRARY.test(name))
          this.#notes(this.#file.qualified(init)).calls.push({
            target: `${name}.__init__`,
            grad: "unknown",
            throttled: true,
          });
  }

  /** The name, or after `from data import *` what it may be: any of these modules may have it. */
  #places(name: string): readonly string[] {
    return name.startsWith("builtins.")
      ? this.#file
          .once(starModules)
          .flatMap((module) => (LIBRARY.test(module) ? [] : [module + name.slice(name.indexOf("."))]))
      : [name];
  }

  /** What a loader here collates with, and another file has. */
  #collates(): void {
    for (const [name, loader] of collatedWith(this.#file))
      if (!name.startsWith("torch.") && !name.startsWith(`${this.#file.module}.`))
        this.#around(loader).calls.push({ target: name, grad: "unknown", throttled: true, collates: true });
  }

  #notes(name: string): FunctionNotes {
    let found = this.#byName.get(name);
    if (!found) this.#byName.set(name, (found = new FunctionNotes(this.#byName.size)));
    return found;
  }

  #around(node: Node): FunctionNotes {
    const fn = functionOf(node);
    let found = this.#byNode.get(fn);
    if (!found) this.#byNode.set(fn, (found = this.#notes(functionName(node, this.#file))));
    return found;
  }

  #call(call: Call): void {
    const name = callTarget(call, this.#file);
    if (name !== null) this.#callTo(call, name);
    const others = otherTargets(call, this.#file);
    if (others.length > 0) for (const other of others) this.#callTo(call, other);
    const run = checkpointed(call, this.#file);
    if (run !== null) this.#callTo(call, run, false);
  }

  #callTo(call: Call | Attribute, name: string, direct = true): void {
    if (name.startsWith("torch.") || name.startsWith("numpy.")) return;
    const isUnknown = name.startsWith(".");
    // What making an instance runs is nobody's question.
    if (!isUnknown && this.#classes.has(name)) return;
    const notes = this.#around(call);
    const target = isUnknown ? name : (this.#byName.get(name)?.at ?? name);
    const other = target === name && direct && call.kind === "Call" && !isUnknown ? call : null;
    if (other) this.#give(name, other);
    const lent = other ? lentBy(other, this.#file) : "";
    // In files that train it may be a method of the tree's own networks, or of its buffer.
    const maybe = this.#trains && isUnknown;
    const draws = maybe && call.kind === "Call" && drawsFromHanded(call.func, this.#file);
    const beside = maybe && !draws && isRunAlone(name.slice(1)) && this.#isBesideBackward(call);
    const known =
      isUnknown && !draws && !beside && !(maybe && isCompound(name.slice(1)))
        ? this.#unresolved(call, name)
        : this.#resolved(call, target, notes, direct);
    const told = draws ? { ...known, draws } : beside ? { ...known, beside } : known;
    const site: CallSite = lent === "" ? told : { ...told, lent };
    const seen = notes.seen.get(target);
    if (seen?.some((other) => isSame(other, site)) === true) return;
    if (seen) seen.push(site);
    else notes.seen.set(target, [site]);
    notes.calls.push(site);
  }

  /** In the same turn of the same loop, or of the same function without one. */
  #isBesideBackward(call: Node): boolean {
    const [loop] = loopsAround(call);
    const fn = functionOf(call);
    return this.#backwards.some(({ call: one }) => functionOf(one) === fn && loopsAround(one)[0] === loop);
  }

  #give(name: string, call: Call): void {
    const calls = this.#gives.get(name);
    if (calls) calls.add(given(call, this.#file));
    else this.#gives.set(name, new Set([given(call, this.#file)]));
  }

  /** Of a method of we know not what, only the gradient mode is ever asked; sites that say the same are one. */
  #unresolved(call: Call | Attribute, target: string): CallSite {
    return { target, loops: undefined, grad: lexicalGrad(call, this.#file) ?? undefined };
  }

  #resolved(call: Call | Attribute, target: Target, notes: FunctionNotes, direct: boolean): CallSite {
    const loops = loopsAround(call);
    const body = functionOf(call) ?? this.#file.tree.module;
    const stop = loops[0] ? stepBlock(call, loops[0], this.#backwards) : body;
    const passed = direct && call.kind === "Call" ? this.#passed(call) : null;
    const always = frequency(call, stop, this.#file) === "every";
    const update = always ? null : updateBranch(call, loops[0] ?? body, this.#file);
    const throttled =
      (!always && !update) ||
      fillsIn(call, stop) ||
      (stop !== body &&
        stop === loops[0] &&
        frequency(update ? stop : call, body, this.#file) === "throttled") ||
      undefined;
    return {
      target,
      loops: loops.length > 0 ? loops.map((loop) => notes.number(loop)) : undefined,
      grad: lexicalGrad(call, this.#file) ?? undefined,
      throttled,
      branch: throttled && branchAround(call, stop, this.#file),
      passed: passed ?? undefined,
      gives: this.#trains && loops.length > 0 && call.kind === "Call" ? switchesGiven(call) : undefined,
      read: isReadAtOnce(call) || undefined,
    };
  }

  /** Functions that make their own optimizer. */
  #optimizerMakers(): ReadonlySet<string> {
    const makers = new Set<string>();
    for (const call of this.#file.calls.matching(MAKES_OPTIMIZER))
      if (
        call.parent?.kind === "Assign" &&
        call.parent.targets.some((target) => target.kind !== "Attribute") &&
        !/(?:^|\.)(?:step|zero_grad|prepare\w*|optimizers?)$/.test(this.#file.textOf(call.func).slice(-40))
      )
        makers.add(functionName(call, this.#file));
    return makers;
  }

  #step(call: Call, backward: boolean, makers: ReadonlySet<string>): void {
    const notes = this.#around(call);
    notes.taken.push(call);
    const inner = loopOfSteps(call);
    if (!inner && isTriedOnce(call)) return;
    // What makes its own optimizer is a training of its own, however often it is called.
    if (!inner) notes.loose ||= !makers.has(functionName(call, this.#file));
    else if (!isTrial(inner, this.#file)) notes.stepLoops.add(notes.number(inner));
    if (!backward && notes.steps !== "many") notes.steps = inner ? "many" : "once";
  }

  #name(name: Name): void {
    // Asked of every name: most are of neither.
    const defined = this.#defined.get(name.id);
    if (defined === undefined) return;
    if (defined === "imported") return this.#importedName(name);
    const users = this.#users.get(name.id);
    if (users) users.add(topOf(name));
    if (users || isCalled(name) || this.#file.scopes.binds(name)) return;
    const dotted = this.#file.dotted(name);
    if (dotted !== null) this.#escapes.push(dotted);
  }

  #importedName(name: Name): void {
    // What is taken from a module, `#attribute` sees.
    if (isCalled(name) || name.parent?.kind === "Attribute" || this.#file.scopes.binds(name)) return;
    const dotted = this.#file.dotted(name);
    if (dotted !== null && !dotted.startsWith("builtins.")) this.#handed.add(dotted);
  }

  #attribute(attribute: Attribute): void {
    if (isCalled(attribute)) return;
    // `spawn(engine.train, …)`
    if (attribute.value.kind === "Name" && this.#modules.has(attribute.value.id)) {
      const dotted = this.#file.dotted(attribute);
      if (dotted !== null && !LIBRARY.test(dotted)) this.#handed.add(dotted);
    }
    if (this.#defined.get(attribute.attr) !== "own" || selfAttribute(attribute) === null) return;
    const cls = classOf(attribute);
    if (!cls) return;
    const name = `${this.#file.qualified(cls)}.${attribute.attr}`;
    this.#escapes.push(name);
    // To read a property is to call it.
    const read = this.#definitions.get(name)?.decorators.some(isProperty) === true;
    const { parent } = attribute;
    if (read && !(parent?.kind === "Assign" && parent.targets.includes(attribute)))
      this.#callTo(attribute, name, false);
  }

  /** What says nothing is not put down at all: there are tens of thousands, and each is written as JSON. */
  #function(name: string, notes: FunctionNotes): FunctionSummary {
    const fn = this.#definitions.get(name);
    const found: Writable<FunctionSummary> = {
      name,
      calls: notes.calls.map((site) =>
        site.loops || site.grad || site.throttled || site.passed || site.read || site.workers || site.draws
          ? site
          : site.target,
      ),
      params: fn ? fn.params.map(({ name, star }) => (star === 2 ? `**${name}` : name)).join() : "",
    };
    if (fn && isOfClass(fn)) found.method = true;
    if (notes.loose) found.loose = true;
    if (notes.stepLoops.size > 0) found.stepLoops = [...notes.stepLoops];
    if (notes.backward) found.backward = true;
    if (notes.steps) found.steps = notes.steps;
    if (fn && notes.taken.length > 0) found.switch = trainingSwitch(fn, notes.taken, this.#file);
    if (fn) this.#definition(fn, found);
    return found;
  }

  #definition(fn: FunctionDef, found: Writable<FunctionSummary>): void {
    const file = this.#file;
    if (fn.decorators.length > 0) {
      found.decorated = true;
      found.grad = decoratedGrad(fn, file) ?? undefined;
    }
    const keeps = keptParameters(fn);
    const grown = this.#grown.get(fn);
    if (grown) found.keeps = { ...(keeps ?? { sum: [], list: [], rows: [] }), grown };
    else if (keeps) found.keeps = keeps;
    if (readsParameter(fn)) found.reads = true;
    const opens = this.#openers.get(fn);
    if (opens) found.opens = opens;
    const syncs = this.#syncs.get(fn);
    if (syncs) found.syncs = syncs;
    const copies = this.#copies.get(fn);
    if (copies) found.copies = [...copies];
    if (this.#pins.has(fn)) found.pins = true;
    if (this.#hooks.has(fn)) found.hooked = true;
    const maker = this.#makers.get(found.name);
    if (maker) found.loads = maker.made.some((call) => hasWorkers(call, file)) ? "workers" : "alone";
    const feeds = this.#feeds.get(fn);
    if (feeds) found.feeds = feeds;
    const table = this.#tables.get(fn);
    if (table) found.table = table;
    const reduces = this.#reducers.get(fn);
    if (reduces !== undefined) found.reduces = reduces;
    const usesUp = usedUpBy(fn, found.name, file);
    if (usesUp) found.usesUp = usesUp;
    const runs = this.#runners.get(fn);
    if (runs !== undefined) found.runs = runs;
    const losses = this.#losses.get(fn);
    if (losses !== undefined) found.losses = losses;
    if (found.backward && leavesGradients(fn, this.#backwards, file)) found.uncleared = true;
    if (this.#evaluators.has(fn) && looksThrough(fn, file)) found.evaluates = true;
    if (leavesRecording(fn, file)) found.unguarded = true;
    const infers = infersRecorded(fn, file);
    if (infers !== undefined) found.infers = infers;
    if (cutsOffState(fn, file)) found.cutsOff = true;
    found.numbers = file.once(numbersHandedBack).get(found.name);
    const forwards = file.once(callsGiven).has(fn);
    if ((forwards || this.#backwards.length > 0) && !waitsBelow(fn, true, file)) {
      if (this.#backwards.length > 0) found.queues = true;
      if (forwards) found.forwards = true;
    }
    if (this.#meeting.has(fn)) found.meets = true;
    const makes = this.#handsOut.get(fn);
    if (makes) found.makes = makes;
    if (this.#clippers.has(fn)) found.clips = true;
    const holds = heldErrors(fn);
    if (holds) found.holds = holds;
  }

  #class(cls: ClassDef): ClassSummary {
    const bases: string[] = [];
    for (const arg of cls.args) {
      const base = arg.name === null ? this.#file.dotted(arg.value) : null;
      if (base === null) continue;
      bases.push(base);
      if (base.startsWith("builtins.")) bases.push(...this.#places(base));
    }
    const users = [...(this.#users.get(cls.name) ?? [])].filter((user) => user !== cls.name);
    return {
      name: this.#file.qualified(cls),
      bases,
      methods: methodsOf(cls).map((method) => method.name),
      users: users.length > 0 ? users : undefined,
      decorated: cls.decorators.length > 0 || undefined,
      // Nobody has the parts of a part in hand; what derives from a class has its parts.
      parts:
        bases.length > 0 && !users.some((user) => isCapital(user) && !this.#derives(user, cls))
          ? partsOf(cls, this.#file)
          : undefined,
    };
  }

  #derives(name: string, { name: base }: ClassDef): boolean {
    return this.#file
      .all("ClassDef")
      .some((cls) => cls.name === name && cls.args.some(({ value }) => lastWord(value) === base));
  }
}

/** Not under a test: where the program is started, or at the top of the file. */
const SEARCHES = /^(?: {4}|\t)?(?:torch\.)?(?:autograd\.)?set_detect_anomaly\((?:mode ?= ?)?True[,)]/m;
const BLOCKS = /^(?: {4}|\t)?os\.environ\[["']CUDA_LAUNCH_BLOCKING["']\] ?= ?["']1["']/m;

const TRAINERS = /Trainer$/;

function trains(file: PythonFile): boolean {
  return (
    file.callsNamed("backward", "manual_backward", "step", "fit", "train", "learn").length > 0 ||
    file.calls.matching(TRAINERS).length > 0 ||
    file.calls.matching(STEPPERS).length > 0 ||
    file.all("FunctionDef").some(({ name }) => name === "training_step" || name === "compute_loss")
  );
}
