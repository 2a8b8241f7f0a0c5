import type { FileSummary } from "./summary.ts";

/** `kl_divergence_loss`, `get_log_prob`: no word that tensors, lists and loggers have methods for. */
export function isCompound(name: string): boolean {
  return (isLong(name) && !RUN_ALONE.test(name)) || STEPPERS.test(name);
}

/** `evaluate_actions`, `loss`: a part of training only where it stands beside a backward. */
export function isRunAlone(name: string): boolean {
  return (isLong(name) && RUN_ALONE.test(name)) || SHORT.test(name);
}

/** What people call the method of a network that gives its loss, where that is short. */
const SHORT = /^(?:(?:[a-z]{1,4}_)?(?:loss(?:es)?|nll|n?elbo)|loss_fn)$/;

/** `search_algorithm`, `sample_fn`: what is chosen by that name need not run when the network learns. */
export function isForLearned(name: string): boolean {
  return RUN_ALONE.test(name);
}

/**
 * What methods are called that take one step of a training: whoever `trainer` is, `trainer.train_step(batch)` is one, and so is
 * `agent.update_critic(batch)`, of the part that it names.
 */
export const STEPPERS =
  /^(?:(?:do_)?train(?:ing)?_(?:one_)?(?:step|batch|iter|iteration|minibatch)|train_on_batch|optimi[sz]e_(?:parameters|model|step)|update_(?:parameters|params|networks?|weights|actor|critic|policy|agent|latent|encoder|decoder|generator|discriminator))$/;

function isLong(name: string): boolean {
  return name.length > 8 && name.includes("_", 2) && !TORCH.test(name);
}

/** What torch calls methods of its own. */
const TORCH =
  /^(?:log_prob|(?:load_)?state_dict|zero_grad|\w+_grad_?|(?:named_)?\w*parameters|named_\w+|(?:clip|all|save|load|set|register)_\w+|\w+_hook)$/;

/** What people run a network for when it has learned; a file that trains may do so too, in its own time. */
const RUN_ALONE =
  /recogni|decod|generat|infer|sampl|predict|translat|search|beam|eval|valid|test|visual|plot|export/;

const isOnTop = (base: string): boolean => base === "builtins.object";

/** Finds definitions by the names that imports use, which need not start at the audited root. */
export class Names {
  readonly classes = new Map<
    string,
    {
      readonly bases: readonly string[];
      readonly methods: readonly string[];
      readonly parts?: string | undefined;
    }
  >();
  readonly #modules = new Map<string, string | null>();
  readonly #full = new Map<string, string>();
  readonly #homes = new Map<string, string | null>();
  /** The modules of a package, by what imports may call it; null where two are called that. */
  readonly #packages = new Map<string, { readonly full: string; readonly modules: string[] } | null>();

  /** Answers of `below` and of `#classNamed`: files import the same things. */
  readonly #below = new Map<string, readonly string[]>();
  readonly #handed = new Map<string, string>();
  readonly #all: readonly string[];
  readonly #files: ReadonlyMap<string, FileSummary>;

  constructor(summaries: readonly FileSummary[]) {
    this.#all = summaries.map(({ module }) => module);
    this.#files = new Map(summaries.map((file) => [file.module, file]));
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
    let known = this.#homes.get(dotted);
    if (known === undefined) this.#homes.set(dotted, (known = this.#findModule(dotted)));
    return known;
  }

  #findModule(dotted: string): string | null {
    for (let cut = dotted.length; cut > 0; cut = dotted.lastIndexOf(".", cut - 1)) {
      const module = this.#modules.get(dotted.slice(0, cut));
      if (module) return this.#besideOwnName(module, dotted, cut) ?? module;
    }
    return null;
  }

  /** `from unet import DiceLoss` with `unet/unet.py` and `unet/losses.py`: the package is meant, and in it the module that defines it. */
  #besideOwnName(module: string, dotted: string, cut: number): string | null {
    const beside = this.#packages.get(dotted.slice(0, cut))?.modules ?? [];
    const name = dotted.slice(cut);
    if (!beside.includes(module) || this.#defines(module, name)) return null;
    return beside.find((one) => this.#defines(one, name)) ?? null;
  }

  #defines(module: string, name: string): boolean {
    const { classes, functions } = this.#files.get(module)!;
    return [...classes, ...functions].some((one) => one.name === module + name);
  }

  /** `from project import algo`: the modules directly in the package, or in the one that the name is of. */
  inPackage(dotted: string): readonly string[] {
    return this.#packageOf(dotted)?.modules ?? [];
  }

  /** The package that a name is of, or that hands it out. */
  #packageOf(dotted: string): { readonly full: string; readonly modules: readonly string[] } | null {
    const cut = dotted.lastIndexOf(".");
    return this.#packages.get(dotted) ?? (cut > 0 ? this.#packages.get(dotted.slice(0, cut)) : null) ?? null;
  }

  /** All modules under a package, or under the one that hands this out: its `__init__` may import any of them. */
  below(dotted: string): readonly string[] {
    const full = this.#packageOf(dotted)?.full;
    if (full === undefined) return [];
    let known = this.#below.get(full);
    if (!known) this.#below.set(full, (known = this.#all.filter((module) => module.startsWith(`${full}.`))));
    return known;
  }

  resolve(target: string, functions: ReadonlyMap<string, unknown>): string | null {
    if (target.startsWith(".")) return null;
    if (functions.has(target)) return target;
    const full = this.full(target);
    if (functions.has(full)) return full;
    const cut = full.lastIndexOf(".");
    if (cut < 0) return null;
    const method = full.slice(cut + 1);
    let cls = this.#classNamed(full.slice(0, cut));
    // `package.Net`, of a package with a module of its own name.
    if (!this.classes.has(cls) && full !== target)
      cls = this.#classNamed(target.slice(0, target.lastIndexOf(".")));
    const found = this.#inherited(cls, method, functions, 0);
    // The call of an instance is taken for a module's forward: of another class it is `__call__`.
    return (
      found ??
      (method === "forward" ? this.#inherited(cls, "__call__", functions, 0) : null) ??
      this.#handedOn(full, functions) ??
      // `package.fit`, of a package with a module of its own name.
      (full === target ? null : this.#handedOn(target, functions)) ??
      ((this.isDistribution(full) || this.isOperator(full)) && functions.has(`${full}.__init__`)
        ? `${full}.__init__`
        : null)
    );
  }

  /** A class of no other that is made to be called: `CorrBlock(left, right)` of a forward is made anew in each. */
  isOperator(cls: string): boolean {
    const found = this.classes.get(cls);
    return found?.methods.includes("__call__") === true && found.bases.every(isOnTop);
  }

  /** Made anew for each batch, of what a network gave, where other objects are mostly made once. */
  isDistribution(cls: string): boolean {
    return this.classes.get(cls)?.bases.some((base) => base.startsWith("torch.distributions.")) === true;
  }

  /** `package.Net`, which the package's `__init__` has from the one module of it that defines it. */
  #classNamed(cls: string): string {
    if (this.classes.has(cls)) return cls;
    let known = this.#handed.get(cls);
    if (known === undefined) this.#handed.set(cls, (known = this.#handedOn(cls, this.classes) ?? cls));
    return known;
  }

  /** The class that another derives from, as its own file calls it. */
  base(dotted: string): string {
    const full = this.full(dotted);
    if (this.classes.has(full)) return full;
    const found = this.#classNamed(full);
    // `package.Net`, of a package with a module of its own name.
    return found === full && full !== dotted ? this.#classNamed(dotted) : found;
  }

  /** `from utils import train`, where `utils/__init__.py` has it from the one module of the package that defines it. */
  #handedOn(dotted: string, defined: ReadonlyMap<string, unknown>, depth = 0): string | null {
    const cut = dotted.lastIndexOf(".");
    let only: string | null = null;
    for (const module of (cut > 0 ? this.#packages.get(dotted.slice(0, cut))?.modules : null) ?? []) {
      const name = module + dotted.slice(cut);
      if (!defined.has(name)) continue;
      if (only !== null) return null;
      only = name;
    }
    return only ?? (cut > 0 ? this.#importedBy(dotted, cut, defined, depth) : null);
  }

  /** What a file, mostly the `__init__` of a package, says that it has from elsewhere: `from package.parts.losses import align`. */
  #importedBy(
    dotted: string,
    cut: number,
    defined: ReadonlyMap<string, unknown>,
    depth: number,
  ): string | null {
    if (depth > 2) return null;
    const name = dotted.slice(cut);
    const home = this.#files.get(this.#modules.get(dotted.slice(0, cut)) ?? "");
    const from = home?.imports.find((one) => one.endsWith(name) && one !== dotted);
    if (from === undefined) return null;
    const full = this.full(from);
    return defined.has(full) ? full : this.#handedOn(full, defined, depth + 1);
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
      const up = this.#inherited(this.base(base), method, functions, depth + 1);
      if (up) return up;
    }
    return null;
  }
}
