import type { Reads } from "./openers.ts";
import type { Condition } from "./turn-conditions.ts";
import type { Role } from "./classes.ts";
import { Some, closure, leftToHeirs } from "./graph.ts";
import type { CallGraph, Edge, Fn } from "./graph.ts";
import { manySteps, spreadHeat } from "./heat.ts";
import { MADE, siteOf, targetOf } from "./summary.ts";
import type { CallSite, FileSummary, Target } from "./summary.ts";
import { fedDatasets } from "./fed-loaders.ts";
import type { Loads } from "./loader-makers.ts";
import type { Pinning } from "./loaders.ts";
import { pinnedParams } from "./handed-loaders.ts";
import { handedFromOutside } from "./handed.ts";
import type { Keeps } from "./keepers.ts";
import { callersGradOff } from "./callers.ts";
import { partsOfNetworks, rolesOf } from "./class-roles.ts";
import {
  CHECKPOINTED_BY,
  chosenOtherwise,
  namedOtherwise,
  chosenWords,
  isTried,
  otherChoices,
  pickedLosses,
  unusedParts,
} from "./mentions.ts";
import type { Mentioned } from "./mentions.ts";
import { Names, STEPPERS, isCompound } from "./names.ts";
import { joinedOptions } from "./options.ts";
import type { Options } from "./options.ts";
import { passedParameters } from "./parameters.ts";
import { Programs, joinedModules } from "./programs.ts";
import type { HandedOut } from "./hands-out.ts";
import type { Table } from "./tables.ts";
import { teachersHanded } from "./teachers.ts";
import { trainedElsewhere } from "./trained-elsewhere.ts";
import type { TrainedElsewhere } from "./trained-elsewhere.ts";
import { isTurnedOff } from "./training-switch.ts";
import { unpinnedOf } from "./unpinned-data.ts";
import type { Unpinned } from "./unpinned-data.ts";
import type { Value } from "./value.ts";
import { versionsOf } from "./versions.ts";
import type { Versions } from "./versions.ts";

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
  /** The parameter that has it train, and without which it only looks. */
  readonly switch: string | null;
  /** Parameters for which every caller in the tree passes a tensor on the device. */
  readonly parameters: Readonly<Record<string, Value>>;
  /** Of a function that keeps or sends some of them. */
  readonly params: readonly string[];
  /** Called from inside a loop, on every turn of it. */
  readonly repeated: boolean;
  /** Parameters it keeps on self. */
  readonly keeps: Keeps | null;
  readonly reads: boolean;
  /** It reads an example from a file, and hands it back. */
  readonly opens: Reads | null;
  /** When the context that it hands back lets ranks exchange gradients, of its parameters. */
  readonly syncs: Condition | null;
  /** Parameters that it sends to a device and waits for. */
  readonly copies: readonly string[] | null;
  /** It hands out a loader of pinned batches. */
  readonly pins: boolean;
  /** It hands out new DataLoaders each time, and some of them have workers. */
  readonly loads: Loads | null;
  /** The constructor of a dataset that worker processes read. */
  readonly workers: boolean;
  /** A loader of another file puts batches together with it, or with what it makes. */
  readonly collates: boolean;
  /** It makes a tensor on the host. */
  readonly table: Table | null;
  /** It hands out a NumPy array of float64, "", or some at these places: "0,2". */
  readonly wide: string | null;
  /** The parameter that it hands back, reduced over all processes. */
  readonly reduces: string | null;
  /** Of a loss: parameters that it only computes with. */
  readonly usesUp: readonly string[] | null;
  /** The parameter that it runs, and where in what it returns the results are. */
  readonly runs: string | null;
  /** Its losses, still on the device, among what it hands back. */
  readonly losses: string | null;
  /** A forward that cuts a state it is given off from what made it. */
  readonly cutsOff: boolean;
  /** Of a forward: where in the tuple that it hands back there are numbers, "3 of 4", with a comma between them. */
  readonly numbers: string | null;
  /** All that call it want no more than a number of what it returns. */
  readonly onlyRead: boolean;
  /** It clears gradients before its last backward alone: who called it still has those of that. */
  readonly uncleared: boolean;
  /** It puts a network into eval mode, goes through examples with it, and differentiates nothing. */
  readonly evaluates: boolean;
  /** An evaluation by its name, which leaves it to who calls it whether anything is recorded. */
  readonly unguarded: boolean;
  /** Of a method that runs a network to see what comes of it: whether it leaves it to its callers that nothing is recorded. */
  readonly infers: boolean | null;
  /** It takes a step, of which it waits for nothing. */
  readonly queues: boolean;
  /** It runs what it is handed, and waits for nothing of that. */
  readonly forwards: boolean;
  /** It has all ranks wait for each other, and does nothing else. */
  readonly meets: boolean;
  /** What it makes anew for whoever calls it. */
  readonly makes: HandedOut | null;
  /** It clips gradients, and leaves the step to who calls it. */
  readonly clips: boolean;
  /** Parameters by which it is handed errors, and that it keeps. */
  readonly holds: readonly string[] | null;
}

/** Plain data, one per audited tree; crosses threads. */
export interface ProjectFacts {
  /** How many Python files have anything for a rule. */
  readonly files: number;
  readonly functions: ReadonlyMap<string, FunctionFacts>;
  /** What calls name otherwise than where it is defined: `engine.step` for `tools.engine.step`. */
  readonly aliases: ReadonlyMap<string, string>;
  readonly roles: ReadonlyMap<string, Role>;
  /** By class of networks: its attributes that are modules, with a comma between them. */
  readonly parts: ReadonlyMap<string, string>;
  /** Modules that use an accelerator, or are joined by imports to one that does. */
  readonly accelerated: ReadonlySet<string>;
  /** Modules that make DataLoaders which pin their batches, or are joined by imports to such. */
  readonly pinning: ReadonlyMap<string, Pinning>;
  /** Modules joined by imports that have one class of datasets, and DataLoaders of which each has worker processes. */
  readonly working: ReadonlySet<string>;
  /** Modules joined by imports to one that makes a DataLoader which has, or may have, worker processes. */
  readonly staffed: ReadonlySet<string>;
  /** What the options of the tree are unless somebody says otherwise. */
  readonly options: Options;
  /** By function: what the calls in other files give it, where all of them are known. */
  readonly handed: ReadonlyMap<string, readonly string[]>;
  /** By module: what it defines besides functions and classes, with a comma between the names, where that is known. */
  readonly variables: ReadonlyMap<string, string>;
  /** Somebody in the tree turns activation checkpointing on. */
  readonly checkpoints: boolean;
  /** Paths of files of settings by which it is on. */
  readonly checkpointedBy: readonly string[];
  /** Modules that a model comes from which a Trainer of another file is handed: what that file says of it. */
  readonly trained: TrainedElsewhere;
  /** Modules whose Trainer is handed a model that another file puts adapters around, and whose frozen inputs nothing feeds. */
  readonly adapted: ReadonlySet<string>;
  /** One file puts adapters around a model, some file loads it in few bits, and none makes inputs require gradients. */
  readonly quantizedUnfed: boolean;
  /** Modules of programs that freeze embeddings somewhere, and nowhere make the inputs of checkpoints require gradients. */
  readonly frozenInputs: ReadonlySet<string>;
  /** Classes and functions that time what they are put around, and do not wait for the device. */
  readonly timers: readonly string[];
  /** Constructors, with the place or the name of an argument, that are handed networks which are only ever evaluated. */
  readonly teachers: ReadonlySet<string>;
  /** Functions and classes that put batches together and name no device. */
  readonly collates: readonly string[];
  readonly unpinned: Unpinned;
  /** Parameters, "engine.train,loader", that other files give loaders which pin their batches. */
  readonly pinnedParams: ReadonlySet<string>;
  /** Modules of programs whose batches vary in shape. */
  readonly varying: ReadonlySet<string>;
  /** Those that bring such batches themselves. */
  readonly varied: ReadonlySet<string>;
  /** Those of programs whose batches may vary, by the words of some file. */
  readonly mayVary: ReadonlySet<string>;
  /** Modules of programs whose new tensors are on the device unless told otherwise. */
  readonly defaulting: ReadonlySet<string>;
  /** Modules of programs that have a dataset which hands out float64. */
  readonly wideData: ReadonlySet<string>;
  /** Modules of programs whose host waits for every kernel. */
  readonly blocking: ReadonlySet<string>;
  /** Some file of the tree clears gradients by `grad.detach_()`. */
  readonly cutsGrads: boolean;
  /** Modules of programs that train with autograd's anomaly detection, which waits in every backward function. */
  readonly searching: ReadonlySet<string>;
  /** Modules of programs that have a loss which goes on on the host. */
  readonly hostLosses: ReadonlySet<string>;
  /** Modules of programs in which an object differentiates its own `loss`. */
  readonly ownLosses: ReadonlySet<string>;
  /** Modules of programs that pack sequences by lengths which they fetch from the device. */
  readonly packing: ReadonlySet<string>;
  /** Modules of programs that are run once for each rank. */
  readonly ranked: ReadonlySet<string>;
  /** Modules of programs in which something chooses a device for each process. */
  readonly placed: ReadonlySet<string>;
  /** Functions that another file calls before a rank has chosen its device. */
  readonly early: ReadonlySet<string>;
  /** Modules of programs that put DistributedDataParallel around a network. */
  readonly replicated: ReadonlySet<string>;
  /** Modules of programs that read hidden states or attentions. */
  readonly states: ReadonlySet<string>;
  /** Modules of programs that train, which others of them import. */
  readonly training: ReadonlySet<string>;
  /** Classes of networks, and functions, that nothing in the tree uses. */
  readonly unused: ReadonlySet<string>;
  /** Classes of networks that only their own file speaks of. */
  readonly inner: ReadonlySet<string>;
  /** Classes that other files speak of only where an option is another than by default: by name, the option. */
  readonly chosen: ReadonlyMap<string, string>;
  /** Modules that are run only where an option is given another choice than its default. */
  readonly choices: ReadonlySet<string>;
  /** Modules that others import, and that can be started by themselves to try them. */
  readonly tried: ReadonlySet<string>;
  /** Which libraries the tree asks for in an old version. */
  readonly versions: Versions;
  /** Modules in folders that are kept beside the program, by the names of these. */
  readonly aside: ReadonlyMap<string, string>;
}

/** How float64 that a dataset hands out is written down. */
const WIDE_DATA = /\.__getitem__:/;

/** `asked`: whether the settings of the tree give a Trainer's loader some. */
function hasWorkers({ callers }: Fn, asked: boolean): boolean {
  return callers.some(({ site }) => site.workers === true || (asked && site.workers === "asked"));
}

function isConstructor({ summary }: Fn): boolean {
  return summary.name.endsWith(".__init__");
}

/** `words`: those by which the files speak of classes and modules. */
export function combine(summaries: readonly FileSummary[], words: ReadonlySet<string>): ProjectFacts {
  const choosy = chosenWords(words);
  const mentioned: Mentioned =
    choosy.size === 0 ? words : { has: (word) => words.has(word) || choosy.has(word) };
  const names = new Names(summaries);
  const roles = rolesOf(names);
  const graph = callGraph(summaries, names, roles);
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
  for (const [base, heirs] of graph.left) {
    if (heirs.every((heir) => loose.has(heir))) loose.add(base);
    if (heirs.every((heir) => reaches.has(heir))) reaches.add(base);
  }
  const hot = spreadHeat(graph, loose, roles, names, pickedLosses(summaries, graph, mentioned, names));
  const looped = new Some(graph.all.length);
  for (const fn of graph.all) if (fn.callers.some(isRepeated)) looped.add(fn);
  const gradOff = callersGradOff(
    graph,
    new Set(summaries.flatMap((file) => file.escapes)),
    reaches,
    names,
    roles,
  );
  // A helper of the step may be a dataset's too, on the host: what it costs is asked of the step.
  const isInStep = ({ from, site }: Edge): boolean =>
    !site.throttled &&
    (hot[from.at] !== undefined ||
      site.loops?.some((loop) => from.summary.stepLoops?.includes(loop)) === true);
  const wide = new Map(
    summaries.flatMap((file) => (file.wide ?? []).map((one) => one.split(":") as [string, string])),
  );
  const options = joinedOptions(summaries.map((one) => one.options));
  const asked = Number(options.get("dataloader_num_workers") ?? 0) > 0;
  const fed = fedDatasets(summaries, names, graph.byName);
  const facts = new Map<string, FunctionFacts>();
  // Of most functions only this is known: one object for all that are alike, which also crosses threads once.
  const alike = new Map<FunctionFacts["callersGradOff"], FunctionFacts>();
  for (const fn of graph.all) {
    const { summary, callers } = fn;
    const callersGradOff = gradOff(fn);
    // `self.buffer.add(x)` in a method that a loop calls is as often as that; what trains may be called once for each run.
    const repeated =
      looped.has(fn) ||
      (summary.method === true &&
        !reaches.has(fn) &&
        callers.some(
          ({ from, site }) => !site.throttled && from.summary.method === true && looped.has(from),
        ));
    const onlyRead = callers.length > 0 && callers.every(({ site }) => site.read === true);
    // `self.pairs = Pairs(path)`: what the constructor of a dataset makes, the workers have too.
    const workers =
      hasWorkers(fn, asked) ||
      fed.has(summary.name) ||
      (isConstructor(fn) && callers.some(({ from }) => isConstructor(from) && hasWorkers(from, asked)));
    const collates = callers.some(({ site }) => site.collates);
    const parameters =
      passedParameters(summary, callers) ??
      (hot[fn.at] === undefined ? NONE : (passedParameters(summary, callers.filter(isInStep)) ?? NONE));
    const plain =
      hot[fn.at] === undefined &&
      !loose.has(fn) &&
      !reaches.has(fn) &&
      !summary.switch &&
      parameters === NONE &&
      !repeated &&
      !summary.keeps &&
      !summary.reads &&
      !summary.opens &&
      !summary.syncs &&
      !summary.copies &&
      !summary.pins &&
      !summary.loads &&
      !summary.table &&
      !wide.has(summary.name) &&
      !summary.reduces &&
      !summary.usesUp &&
      !summary.runs &&
      !summary.losses &&
      !summary.cutsOff &&
      !summary.numbers &&
      !summary.uncleared &&
      !summary.evaluates &&
      !summary.meets &&
      !summary.forwards &&
      !summary.makes &&
      !summary.clips &&
      !summary.holds &&
      !summary.unguarded &&
      summary.infers === undefined &&
      !onlyRead &&
      !workers &&
      !collates;
    let one = plain ? alike.get(callersGradOff) : undefined;
    if (!one) {
      one = {
        hot: hot[fn.at] ?? null,
        callersGradOff,
        loose: loose.has(fn),
        reachesBackward: reaches.has(fn),
        switch: summary.switch ?? null,
        parameters,
        params:
          summary.keeps ||
          summary.reads ||
          summary.copies ||
          summary.table ||
          summary.reduces ||
          summary.usesUp ||
          summary.syncs ||
          summary.runs ||
          summary.switch ||
          summary.holds
            ? summary.params.split(",")
            : NO_PARAMS,
        repeated,
        keeps: summary.keeps ?? null,
        reads: summary.reads ?? false,
        opens: summary.opens ?? null,
        syncs: summary.syncs ?? null,
        copies: summary.copies ?? null,
        pins: summary.pins ?? false,
        loads: summary.loads ?? null,
        workers,
        collates,
        table: summary.table ?? null,
        wide: wide.get(summary.name) ?? null,
        reduces: summary.reduces ?? null,
        usesUp: summary.usesUp ?? null,
        runs: summary.runs ?? null,
        losses: summary.losses ?? null,
        cutsOff: summary.cutsOff ?? false,
        numbers: summary.numbers ?? null,
        uncleared: summary.uncleared ?? false,
        evaluates: summary.evaluates === true && !reaches.has(fn),
        unguarded: summary.unguarded === true && !reaches.has(fn),
        infers: summary.infers ?? null,
        queues: loose.has(fn) && summary.queues === true,
        forwards: summary.forwards ?? false,
        meets: summary.meets ?? false,
        makes: summary.makes ?? null,
        clips: summary.clips ?? false,
        holds: summary.holds ?? null,
        onlyRead,
      };
      if (plain) alike.set(callersGradOff, one);
    }
    facts.set(summary.name, one);
  }
  const { unused, inner } = unusedParts(summaries, roles, graph, mentioned);
  const { accelerated, pinning, working } = joinedModules(summaries, names, roles);
  const tried = new Set(summaries.filter((file) => isTried(file, mentioned)).map(({ module }) => module));
  const checkpoints = summaries.some((file) => file.checkpoints === true);
  const checkpointedBy: string[] = [];
  for (const word of words)
    if (word.startsWith(CHECKPOINTED_BY)) checkpointedBy.push(word.slice(CHECKPOINTED_BY.length));
  const programs = new Programs(summaries, names);
  const freezing = programs.with((file) => file.freezesInputs === true);
  const feeding = programs.with((file) => file.adapters === "fed");
  const varying = programs.with((file) => file.varies === true);
  const mayVary = programs.with((file) => file.mayVary === true);
  const defaulting = programs.with((file) => file.defaults === true);
  const wideData = programs.with(({ wide: made }) => made?.some((one) => WIDE_DATA.test(one)) === true);
  const staffed = programs.with(({ loaders }) => loaders !== undefined && loaders.all > loaders.alone);
  const blocking = programs.with((file) => file.blocks === true);
  const searching = programs.with((file) => file.searches === true);
  const hostLosses = programs.with((file) => file.hostLoss === true);
  const ownLosses = programs.with((file) => file.ownLoss === true);
  const packing = programs.with((file) => file.packs === true);
  const ranked = programs.importedWith((file) => file.ranks === true);
  const placed = programs.with((file) => file.places === true);
  const states = programs.with((file) => file.states === true);
  const replicated = programs.with((file) => file.replicates === true);
  const training = programs.importedWith((file) => file.trains === true);
  return {
    files: summaries.length,
    functions: facts,
    aliases: graph.aliases,
    roles,
    parts: partsOfNetworks(summaries, names, roles),
    accelerated,
    pinning,
    working,
    options,
    handed: handedFromOutside(summaries, graph, names, mentioned),
    variables: new Map(
      summaries.flatMap(({ module, variables }) => (variables === undefined ? [] : [[module, variables]])),
    ),
    checkpoints,
    checkpointedBy,
    ...trainedElsewhere(summaries, names, graph.byName),
    frozenInputs: new Set([...freezing].filter((module) => !feeding.has(module))),
    quantizedUnfed:
      summaries.some(({ quantizes }) => quantizes) &&
      summaries.some(({ adapters }) => adapters === "made") &&
      summaries.every(({ adapters }) => adapters !== "fed"),
    timers: summaries.flatMap((file) => file.timers ?? []),
    teachers: teachersHanded(summaries, names, graph.byName),
    pinnedParams: pinnedParams(summaries, names, graph.byName),
    collates: summaries.flatMap((file) => file.collates ?? []),
    unpinned: unpinnedOf(summaries, programs),
    varying,
    varied: new Set(summaries.flatMap(({ module, varies }) => (varies ? [module] : []))),
    mayVary,
    defaulting,
    wideData,
    blocking,
    searching,
    staffed,
    hostLosses,
    ownLosses,
    packing,
    ranked,
    placed,
    early: new Set(
      summaries.flatMap((file) =>
        (file.early ?? []).map((name) => names.resolve(name, graph.byName) ?? name),
      ),
    ),
    replicated,
    states,
    training,
    unused,
    inner,
    chosen: new Map([...namedOtherwise(summaries, words), ...chosenOtherwise(summaries, choosy, words)]),
    choices: otherChoices(summaries, mentioned),
    tried,
    versions: versionsOf(words),
    cutsGrads: summaries.some((file) => file.cutsGrads === true),
    aside: new Map(summaries.flatMap(({ module, aside }) => (aside === undefined ? [] : [[module, aside]]))),
  };
}

const isRepeated = ({ site }: Edge): boolean => site.loops !== undefined && !site.throttled;

/** Every function with the calls between them. */
function callGraph(
  summaries: readonly FileSummary[],
  names: Names,
  roles: ReadonlyMap<string, Role>,
): CallGraph {
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
      const name = target.endsWith(MADE)
        ? handedOut(find(target.slice(0, -MADE.length)))
        : names.resolve(target, byName);
      known.set(target, (found = name === null ? null : (byName.get(name) ?? null)));
    }
    return found;
  };
  // Of several functions inside one, the last is what the others are for.
  let last: Map<string, string> | null = null;
  const handedOut = (factory: Fn | null): string | null => {
    // What takes steps itself hands out no step.
    if (!factory || factory.summary.method || factory.summary.steps) return null;
    if (!last) {
      last = new Map();
      for (const [name, { summary }] of byName)
        if (!summary.method) last.set(name.slice(0, name.lastIndexOf(".")), name);
    }
    return last.get(factory.summary.name) ?? null;
  };
  const ofNetworks = networkMethods(summaries, names, roles);
  // `buffer.sample(n)` of a buffer that was handed in.
  const buffers = new Map<string, readonly string[]>();
  const drawn = (call: Target | CallSite, module: string): readonly string[] => {
    if (!siteOf(call).draws) return [];
    const method = (targetOf(call) as string).slice(1);
    let found = buffers.get(method);
    if (!found) buffers.set(method, (found = buffersWith(method, names, roles)));
    // Of several programs in one tree each has its own.
    const folder = module.slice(0, module.lastIndexOf(".") + 1);
    const near = folder === "" ? [] : found.filter((name) => name.startsWith(folder));
    return near.length > 0 ? near : found;
  };
  const steppers = stepMethods(byName);
  const connect = (from: Fn, to: Fn | undefined, site: Edge["site"]): void => {
    if (!to) return;
    const { summary } = to;
    const idle =
      summary.switch !== undefined && isTurnedOff(summary.switch, summary.params.split(","), site.gives);
    const edge: Edge = { from, to, site, idle };
    from.calls.push(edge);
    to.callers.push(edge);
  };
  for (const [at, own] of files.entries())
    for (const from of own)
      for (const call of from.summary.calls) {
        const target = targetOf(call);
        const to = typeof target === "number" ? own[target]! : find(target);
        const of = to ? [] : drawn(call, summaries[at]!.module);
        if (to) connect(from, to, siteOf(call));
        else if (of.length > 0) for (const name of of) connect(from, byName.get(name), siteOf(call));
        // `model.get_log_prob(x)` of a model that was handed in.
        else if (summaries[at]!.trains && typeof target === "string" && target.startsWith(".")) {
          const alike = ofNetworks.get(target.slice(1)) ?? steppers.get(target.slice(1));
          if (alike && mayTrain(target.slice(1), siteOf(call)))
            for (const name of alike) connect(from, byName.get(name), siteOf(call));
        }
      }
  const aliases = new Map<string, string>();
  for (const [target, fn] of known)
    if (fn && fn.summary.name !== target) aliases.set(target, fn.summary.name);
  // Of several, a base's among them, the one that does the most.
  for (const [method, alike] of steppers)
    aliases.set(
      `.${method}`,
      alike.reduce((one, other) =>
        byName.get(other)!.calls.length > byName.get(one)!.calls.length ? other : one,
      ),
    );
  const all = [...byName.values()];
  const training = all.filter(({ summary }) => summary.loose || summary.backward || summary.steps);
  const left = leftToHeirs(training, byName, names);
  // Whoever calls what a base leaves to its heirs calls theirs.
  for (const [base, heirs] of left)
    for (const { from, site } of base.callers) for (const heir of heirs) connect(from, heir, site);
  return { all, byName, training, aliases, targets: known, left };
}

/** `model.evaluate_actions(x)` is of the training where that differentiates beside it, on every turn. */
function mayTrain(method: string, { beside, throttled, grad }: Edge["site"]): boolean {
  return beside ? !throttled && grad !== "off" : isCompound(method);
}

/**
 * The method of the one class of the tree that has it; of several, as for several environments, of those that are called
 * buffers. A network that draws samples, or another class beside one buffer, leaves it open.
 */
function buffersWith(method: string, names: Names, roles: ReadonlyMap<string, Role>): readonly string[] {
  const all = [...names.classes].filter(([, { methods }]) => methods.includes(method)).map(([cls]) => cls);
  const buffers = all.length > 1 ? all.filter((cls) => BUFFER.test(cls)) : all;
  const isOne =
    buffers.length > 0 && buffers.length <= MOST_ALIKE && (all.length === 1 || buffers.length > 1);
  return isOne && buffers.every((cls) => roles.get(cls) === "other")
    ? buffers.map((cls) => `${cls}.${method}`)
    : [];
}

const BUFFER = /(?:Buffer|Replay|Memory)\w*$/;

/** More networks than this with a method of one name are no choice that a program makes. */
const MOST_ALIKE = 6;

/**
 * Methods that files which train call on we know not what, and whose names only a few classes of the tree have, all of them
 * networks, or objects around some that take their steps: by name, the qualified ones.
 */
function networkMethods(
  summaries: readonly FileSummary[],
  names: Names,
  roles: ReadonlyMap<string, Role>,
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const file of summaries)
    if (file.trains)
      for (const { calls } of file.functions)
        for (const call of calls) {
          const target = targetOf(call);
          if (
            typeof target === "string" &&
            target.startsWith(".") &&
            (isCompound(target.slice(1)) || siteOf(call).beside)
          )
            found.set(target.slice(1), []);
        }
  const others = new Set<string>();
  for (const [cls, { methods }] of names.classes)
    for (const method of methods) {
      const alike = found.get(method);
      if (!alike) continue;
      if (roles.get(cls) !== "module" && !methods.some((one) => STEPPERS.test(one))) others.add(method);
      alike.push(`${cls}.${method}`);
    }
  for (const [method, alike] of found)
    if (others.has(method) || alike.length > MOST_ALIKE) found.delete(method);
  return found;
}

/** The methods of the tree that are called like one step of a training. */
function stepMethods(functions: ReadonlyMap<string, Fn>): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [name, { summary }] of functions) {
    const word = name.slice(name.lastIndexOf(".") + 1);
    if (!summary.method || !STEPPERS.test(word)) continue;
    const alike = found.get(word);
    if (alike) alike.push(name);
    else found.set(word, [name]);
  }
  for (const [word, alike] of found) if (alike.length > MOST_ALIKE) found.delete(word);
  return found;
}

const NO_PARAMS: readonly string[] = [];
const NONE: Readonly<Record<string, Value>> = {};
