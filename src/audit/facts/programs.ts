import type { LoadersMade, Pinning } from "./loaders.ts";
import type { Names } from "./names.ts";
import type { Role } from "./classes.ts";
import type { ProjectFacts } from "./project.ts";
import type { FileSummary } from "./summary.ts";

/** Which modules make up a program: by their imports. */
export class Programs {
  readonly #summaries: readonly FileSummary[];
  readonly #names: Names;
  /** Behind them, in the links, come the packages, each of which leads to all its modules. */
  readonly #modules: readonly string[];
  #imports: Links | null = null;
  #importers: Links | null = null;

  constructor(summaries: readonly FileSummary[], names: Names) {
    this.#summaries = summaries;
    this.#names = names;
    this.#modules = [...new Set(summaries.map(({ module }) => module))];
  }

  /** The modules of every program that has a module of which something holds: those that import it, and what these import. */
  with(holds: (file: FileSummary) => boolean): ReadonlySet<string> {
    return new Set(this.#with(holds).map((at) => this.#modules[at]!));
  }

  /** Of these, the modules that another one imports: no programs by themselves. */
  importedWith(holds: (file: FileSummary) => boolean): ReadonlySet<string> {
    const imported = this.#with(holds).filter((at) => this.#importers![at]!.length > 0);
    return new Set(imported.map((at) => this.#modules[at]!));
  }

  #with(holds: (file: FileSummary) => boolean): readonly number[] {
    const sources = new Set(this.#summaries.filter(holds).map(({ module }) => module));
    if (sources.size === 0) return [];
    this.#imports ??= this.#read();
    this.#importers ??= turned(this.#imports);
    const from = [...this.#modules.keys()].filter((at) => sources.has(this.#modules[at]!));
    return reached(reached(from, this.#importers), this.#imports).filter((at) => at < this.#modules.length);
  }

  #read(): Links {
    const numbers = new Map(this.#modules.map((module, at) => [module, at]));
    const links: number[][] = this.#modules.map(() => []);
    const known = new Map<string, number | null>();
    const packages = new Map<readonly string[], number>();
    const find = (name: string): number | null => {
      const module = isPackageAlone(name) ? null : this.#names.moduleOf(name);
      if (module !== null) return numbers.get(module)!;
      const below = this.#names.below(name.replace(/\.$/, ""));
      if (below.length === 0) return null;
      let found = packages.get(below);
      if (found === undefined) {
        packages.set(below, (found = links.length));
        links.push(below.map((one) => numbers.get(one)!));
      }
      return found;
    };
    for (const file of this.#summaries) {
      const own = links[numbers.get(file.module)!]!;
      for (const name of file.imports) {
        let imported = known.get(name);
        if (imported === undefined) known.set(name, (imported = find(name)));
        if (imported !== null) own.push(imported);
      }
    }
    return links;
  }
}

/** `losses.`: any module of the package. */
const isPackageAlone = (name: string): boolean => name.endsWith(".");

/** By number: those that it leads to. */
type Links = readonly (readonly number[])[];

/** Who leads to each. */
function turned(links: Links): Links {
  const from: number[][] = links.map(() => []);
  for (const [one, others] of links.entries()) for (const other of others) from[other]!.push(one);
  return from;
}

function reached(from: readonly number[], links: Links): readonly number[] {
  const found = [...from];
  const seen = new Uint8Array(links.length);
  for (const one of from) seen[one] = 1;
  // It grows while it is gone through.
  for (const one of found)
    for (const other of links[one]!)
      if (seen[other] === 0) {
        seen[other] = 1;
        found.push(other);
      }
  return found;
}

function together(one: LoadersMade, other: LoadersMade): LoadersMade {
  return {
    all: one.all + other.all,
    pinned: one.pinned + other.pinned,
    alone: one.alone + other.alone,
    training: one.training + other.training,
    trainingPinned: one.trainingPinned + other.trainingPinned,
    asked: one.asked + other.asked,
  };
}

/** By most of its loaders, or by all that are for its training. */
function pinningOf({ all, pinned, training, trainingPinned, asked }: LoadersMade): Pinning | null {
  const forTraining = training > 0 && trainingPinned === training;
  // All that pin are for the training, and some others do not.
  if (forTraining && pinned === training && pinned < all) return "training";
  if (pinned > 0 && pinned >= all - pinned) return "most";
  if (forTraining) return "training";
  return asked > 0 && pinned + asked >= all - pinned - asked ? "asked" : null;
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
  const imports = new Map<FileSummary, ReadonlySet<number>>();
  for (const file of summaries) {
    const own = numbers.get(file.module)!;
    const all = new Set<number>();
    imports.set(file, all);
    for (const name of file.imports) {
      let imported = known.get(name);
      if (!imported) {
        const module = isPackageAlone(name) ? null : names.moduleOf(name);
        // A package whose `__init__` only imports is not among the summaries; its modules are.
        const modules = module === null ? names.inPackage(name.replace(/\.$/, "")) : [module];
        known.set(name, (imported = modules.map((one) => numbers.get(one)!)));
      }
      for (const one of imported) {
        all.add(one);
        next[groupOf(own)] = groupOf(one);
      }
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
  const datasets = new Set<number>();
  for (const { classes, module } of summaries)
    if (classes.some(({ name }) => roles.get(name) === "dataset")) datasets.add(numbers.get(module)!);
  const withDataset = new Set([...datasets].map(groupOf));
  const works = (group: number): boolean => made.get(group)?.alone === 0 && withDataset.has(group);
  const beside = besideWorkers(imports, datasets, numbers);
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
    working: new Set([
      ...([...made.keys()].some(works) ? modulesOf(works) : []),
      ...[...numbers].flatMap(([module, at]) => (beside.has(at) ? [module] : [])),
    ]),
  };
}

/**
 * Modules of datasets that a file imports beside loaders which all have workers, its own or those of what else it imports:
 * `from data import Pairs`, `from trainer import Trainer`. Another program of the tree may well have loaders without.
 */
function besideWorkers(
  imports: ReadonlyMap<FileSummary, ReadonlySet<number>>,
  datasets: ReadonlySet<number>,
  numbers: ReadonlyMap<string, number>,
): ReadonlySet<number> {
  const loaders = new Map<number, LoadersMade>();
  for (const { loaders: made, module } of imports.keys()) if (made) loaders.set(numbers.get(module)!, made);
  const found = new Set<number>();
  for (const [file, all] of imports)
    for (const data of all) {
      if (found.has(data) || !datasets.has(data)) continue;
      const others = [numbers.get(file.module)!, ...all]
        .filter((one) => one !== data)
        .flatMap((one) => loaders.get(one) ?? []);
      if (others.length > 0 && others.every(({ alone }) => alone === 0)) found.add(data);
    }
  return found;
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
