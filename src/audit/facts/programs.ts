import type { LoadersMade, Pinning } from "./loaders.ts";
import type { Names } from "./names.ts";
import type { Role } from "./classes.ts";
import type { ProjectFacts } from "./project.ts";
import type { FileSummary } from "./summary.ts";

/** Which modules make up a program: by their imports. */
export class Programs {
  readonly #summaries: readonly FileSummary[];
  readonly #names: Names;
  #imports: ReadonlyMap<string, readonly string[]> | null = null;
  #importers: ReadonlyMap<string, readonly string[]> | null = null;

  constructor(summaries: readonly FileSummary[], names: Names) {
    this.#summaries = summaries;
    this.#names = names;
  }

  /** The modules of every program that has a module of which something holds: those that import it, and what these import. */
  with(holds: (file: FileSummary) => boolean): ReadonlySet<string> {
    const sources = this.#summaries.filter(holds).map(({ module }) => module);
    if (sources.length === 0) return new Set();
    this.#imports ??= this.#read();
    this.#importers ??= turned(this.#imports);
    return reached(reached(sources, this.#importers), this.#imports);
  }

  /** Of these, the modules that another one imports: no programs by themselves. */
  importedWith(holds: (file: FileSummary) => boolean): ReadonlySet<string> {
    const found = this.with(holds);
    return new Set([...found].filter((module) => this.#importers?.has(module)));
  }

  #read(): ReadonlyMap<string, readonly string[]> {
    const known = new Map<string, readonly string[]>();
    const imports = new Map<string, readonly string[]>();
    for (const file of this.#summaries) {
      const own = new Set<string>();
      for (const name of file.imports) {
        let found = known.get(name);
        if (!found) {
          const module = this.#names.moduleOf(name);
          known.set(name, (found = module === null ? this.#names.below(name) : [module]));
        }
        for (const one of found) own.add(one);
      }
      imports.set(file.module, [...own]);
    }
    return imports;
  }
}

/** Who leads to each, of those that lead to others. */
function turned(next: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, readonly string[]> {
  const from = new Map<string, string[]>();
  for (const [one, others] of next)
    for (const other of others) {
      const by = from.get(other);
      if (by) by.push(one);
      else from.set(other, [one]);
    }
  return from;
}

function reached(from: Iterable<string>, next: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const found = new Set(from);
  for (const one of found) for (const other of next.get(one) ?? []) found.add(other);
  return found;
}

function together(one: LoadersMade, other: LoadersMade): LoadersMade {
  return {
    all: one.all + other.all,
    pinned: one.pinned + other.pinned,
    alone: one.alone + other.alone,
    training: one.training + other.training,
    trainingPinned: one.trainingPinned + other.trainingPinned,
  };
}

/** By most of its loaders, or by all that are for its training. */
function pinningOf({ all, pinned, training, trainingPinned }: LoadersMade): Pinning | null {
  const forTraining = training > 0 && trainingPinned === training;
  // All that pin are for the training, and some others do not.
  if (forTraining && pinned === training && pinned < all) return "training";
  if (pinned > 0 && pinned >= all - pinned) return "most";
  return forTraining ? "training" : null;
}

/** In a tree of many small programs, one that stays on the host is told from its neighbours by what it imports. */
export function joinedModules(
  summaries: readonly FileSummary[],
  names: Names,
  roles: ReadonlyMap<string, Role>,
): Pick<ProjectFacts, "accelerated" | "pinning" | "working"> {
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
  const handed = new Set<number>();
  const silent = new Set<number>();
  const made = new Map<number, LoadersMade>();
  for (const { accelerator, loaders, main, module, trains } of summaries) {
    const group = groupOf(numbers.get(module)!);
    if (accelerator === "uses") accelerated.add(group);
    else if (accelerator === "handed") handed.add(group);
    // A program that trains without a word of a device hands on none.
    else if (!accelerator && main && trains) silent.add(group);
    const before = made.get(group);
    if (loaders) made.set(group, before ? together(before, loaders) : loaders);
  }
  for (const group of handed) if (!silent.has(group)) accelerated.add(group);
  const datasets = new Map<number, number>();
  for (const { classes, module } of summaries)
    for (const { name } of classes)
      if (roles.get(name) === "dataset") {
        const group = groupOf(numbers.get(module)!);
        datasets.set(group, (datasets.get(group) ?? 0) + 1);
      }
  const works = (group: number): boolean => made.get(group)?.alone === 0 && (datasets.get(group) ?? 0) > 0;
  const staysOnHost = trainedOnHost(summaries, names);
  const modulesOf = (has: (group: number) => boolean): Set<string> =>
    new Set([...numbers].filter(([, at]) => has(groupOf(at))).map(([module]) => module));
  return {
    accelerated: new Set(
      [...modulesOf((group) => accelerated.has(group))].filter((one) => !staysOnHost.has(one)),
    ),
    pinning: new Map(
      [...numbers].flatMap(([module, at]) => {
        const loaders = made.get(groupOf(at));
        const pinning = loaders ? pinningOf(loaders) : null;
        return pinning === null ? [] : [[module, pinning] as const];
      }),
    ),
    working: [...made.keys()].some(works) ? modulesOf(works) : new Set(),
  };
}

/** Modules that train networks of classes which do not put them on a device, and do not themselves. */
function trainedOnHost(summaries: readonly FileSummary[], names: Names): ReadonlySet<string> {
  const settling = new Set(summaries.filter((file) => file.settles).map(({ module }) => module));
  const staysOnHost = (maker: string): boolean => {
    // Read from a file, it may be anywhere; without a word of a device it can be given nothing that is elsewhere.
    if (maker.startsWith("torch.nn.") || maker === "torch.load") return true;
    const cls = names.resolve(maker, names.classes);
    return cls !== null && !settling.has(names.moduleOf(cls)!);
  };
  return new Set(summaries.filter(({ makers }) => makers?.every(staysOnHost)).map(({ module }) => module));
}
