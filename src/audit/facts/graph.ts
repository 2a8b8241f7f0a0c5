import type { Names } from "./names.ts";
import type { CallSite, FunctionSummary } from "./summary.ts";

/** A function of the tree, with the calls it makes and those it gets. */
export interface Fn {
  /** Its position among the functions. */
  readonly at: number;
  readonly summary: FunctionSummary;
  readonly calls: Edge[];
  readonly callers: Edge[];
}

/** The functions of the tree, in the order of their files. */
export interface CallGraph {
  readonly all: readonly Fn[];
  readonly byName: ReadonlyMap<string, Fn>;
  /** Those that differentiate or take a step themselves: few. */
  readonly training: readonly Fn[];
  /** The names of functions, by others that calls know them under. */
  readonly aliases: ReadonlyMap<string, string>;
  /** What is called in another file than it stands in, or on we know not what; null where that is nothing of the tree. */
  readonly targets: ReadonlyMap<string, Fn | null>;
  /** Methods that a class has for others to write, by what those that train are: `def update(self, loss): pass`. */
  readonly left: ReadonlyMap<Fn, readonly Fn[]>;
}

/** More heirs than these are a library of them, of which a program runs one or the other. */
const MOST_HEIRS = 12;

/** Of the methods of this name in the tree that train, those whose class is of one that does nothing there itself. */
export function leftToHeirs(
  training: readonly Fn[],
  byName: ReadonlyMap<string, Fn>,
  names: Names,
): ReadonlyMap<Fn, readonly Fn[]> {
  const found = new Map<Fn, Fn[]>();
  for (const fn of training) {
    if (!fn.summary.method) continue;
    const cut = fn.summary.name.lastIndexOf(".");
    const method = fn.summary.name.slice(cut);
    const above = new Set([fn.summary.name.slice(0, cut)]);
    // A set goes on through what is added to it on the way.
    for (const cls of above) {
      for (const base of names.classes.get(cls)?.bases ?? []) above.add(names.base(base));
      const own = byName.get(cls + method);
      if (
        !own ||
        own === fn ||
        own.summary.calls.length > 0 ||
        own.summary.loose ||
        own.summary.backward ||
        own.summary.steps
      )
        continue;
      const heirs = found.get(own);
      if (heirs) heirs.push(fn);
      else found.set(own, [fn]);
    }
  }
  for (const [base, heirs] of found) if (heirs.length > MOST_HEIRS) found.delete(base);
  return found;
}

/** Some of the functions: a Set of tens of thousands of objects takes several times as long. */
export class Some {
  readonly #has: Uint8Array;

  constructor(count: number) {
    this.#has = new Uint8Array(count);
  }

  has(fn: Fn): boolean {
    return this.#has[fn.at] === 1;
  }

  /** Whether it was not among them before. */
  add(fn: Fn): boolean {
    if (this.#has[fn.at] === 1) return false;
    this.#has[fn.at] = 1;
    return true;
  }

  /** Whether it was among them. */
  delete(fn: Fn): boolean {
    if (this.#has[fn.at] === 0) return false;
    this.#has[fn.at] = 0;
    return true;
  }
}

export interface Edge {
  readonly from: Fn;
  readonly to: Fn;
  readonly site: Omit<CallSite, "target">;
  /** The call tells the function not to train. */
  readonly idle: boolean;
}

/** Functions `among` some, those that train or all, for which `own` holds, and those that call them through a site that `carries`. */
export function closure(
  { all, training }: CallGraph,
  own: (fn: Fn) => boolean,
  carries: (site: Edge["site"]) => boolean,
  among: readonly Fn[] = training,
): Some {
  const found = new Some(all.length);
  const queue = among.filter(own);
  for (let fn = queue.pop(); fn !== undefined; fn = queue.pop())
    if (found.add(fn))
      for (const { from, site, idle } of fn.callers) if (!idle && carries(site)) queue.push(from);
  return found;
}
