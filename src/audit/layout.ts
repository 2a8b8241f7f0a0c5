import { moduleName } from "../python/file.ts";

/** What an import of these means is installed, whatever a folder nearby is called. */
const INSTALLED =
  /^(?:torch\w*|numpy|scipy|sklearn|pandas|transformers|tokenizers|datasets|evaluate|diffusers|accelerate|peft|trl|deepspeed|lightning\w*|pytorch_lightning|timm|wandb|tensorboardX?|tqdm|apex|einops|bitsandbytes|gym|gymnasium|tensorflow|jax|os|sys|re|io|abc|math|time|copy|random|logging|types|typing|string|json|queue|inspect|functools|itertools|collections|contextlib|multiprocessing|threading|platform|signal|profile|statistics|warnings)$/;

/**
 * Where the modules of a tree stand. A tree of several programs has several files called `utils` or `network`: which one
 * an import is of, only the place of the importing file says.
 */
export class Layout {
  /** The packages that have a module, or a package, of this name; only of names that several have, and the root has not. */
  readonly #homes: ReadonlyMap<string, ReadonlySet<string>>;
  /** Those with an `__init__`. */
  readonly #packages = new Set<string>();

  constructor(paths: Iterable<string>) {
    const homes = new Map<string, Set<string>>();
    const seen = new Set<string>();
    for (const path of paths) {
      if (!path.endsWith(".py")) continue;
      let module = moduleName(path);
      if (path.endsWith("/__init__.py")) this.#packages.add(module);
      while (module !== "" && !seen.has(module)) {
        seen.add(module);
        const above = packageOf(module);
        const name = module.slice(above === "" ? 0 : above.length + 1);
        const known = homes.get(name);
        if (known) known.add(above);
        else homes.set(name, new Set([above]));
        module = above;
      }
    }
    for (const [name, above] of homes)
      if (above.size === 1 || above.has("") || INSTALLED.test(name)) homes.delete(name);
    this.#homes = homes;
  }

  /** "digit.network" for what `network` means to a module of `digit`; null where the name alone says it, or nothing does. */
  nearest(name: string, module: string, isPackage: boolean): string | null {
    const homes = this.#homes.get(name);
    if (!homes) return null;
    let found: string | null = null;
    for (let at = isPackage ? module : packageOf(module); at !== ""; at = packageOf(at)) {
      if (!homes.has(at) || `${at}.${name}` === module) continue;
      found = `${at}.${name}`;
      // What stands in a package is imported by its full name, so that one further out is meant, if there is one.
      if (!this.#packages.has(at)) break;
    }
    return found;
  }
}

function packageOf(module: string): string {
  return module.slice(0, Math.max(0, module.lastIndexOf(".")));
}
