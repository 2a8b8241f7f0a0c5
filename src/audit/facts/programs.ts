import type { Names } from "./names.ts";
import type { FileSummary } from "./summary.ts";

/** Which modules make up a program: by their imports. */
export class Programs {
  readonly #summaries: readonly FileSummary[];
  readonly #names: Names;
  #imports: ReadonlyMap<string, readonly string[]> | null = null;

  constructor(summaries: readonly FileSummary[], names: Names) {
    this.#summaries = summaries;
    this.#names = names;
  }

  /** The modules of every program that has a module of which something holds: those that import it, and what these import. */
  with(holds: (file: FileSummary) => boolean): ReadonlySet<string> {
    const sources = this.#summaries.filter(holds).map(({ module }) => module);
    if (sources.length === 0) return new Set();
    this.#imports ??= this.#read();
    const importers = new Map<string, string[]>();
    for (const [module, imported] of this.#imports)
      for (const one of imported) {
        const by = importers.get(one);
        if (by) by.push(module);
        else importers.set(one, [module]);
      }
    return reached(reached(sources, importers), this.#imports);
  }

  /** Of these, the modules that another one imports: no programs by themselves. */
  importedWith(holds: (file: FileSummary) => boolean): ReadonlySet<string> {
    const found = this.with(holds);
    const imported = new Set([...(this.#imports?.values() ?? [])].flat());
    return new Set([...found].filter((module) => imported.has(module)));
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

function reached(from: Iterable<string>, next: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const found = new Set(from);
  for (const one of found) for (const other of next.get(one) ?? []) found.add(other);
  return found;
}
