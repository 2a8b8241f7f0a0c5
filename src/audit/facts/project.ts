import { roleOfBase } from "./classes.ts";
import type { Role } from "./classes.ts";
import type { CallSite, FileSummary, FunctionSummary } from "./summary.ts";
import type { Keeps } from "./keepers.ts";
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
  readonly params: readonly string[];
  /** Called from inside a loop, on every turn of it. */
  readonly repeated: boolean;
  /** Parameters it keeps on self. */
  readonly keeps: Keeps | null;
  readonly reads: boolean;
}

/** Plain data, one per audited tree; crosses threads. */
export interface ProjectFacts {
  readonly functions: ReadonlyMap<string, FunctionFacts>;
  readonly roles: ReadonlyMap<string, Role>;
  /** Modules that use an accelerator, or are joined by imports to one that does. */
  readonly accelerated: ReadonlySet<string>;
}

const STEP_METHODS: Readonly<Partial<Record<Role, readonly string[]>>> = {
  module: ["forward"],
  lightning: ["forward", "training_step"],
  trainer: ["compute_loss", "training_step"],
};

export function combine(summaries: readonly FileSummary[]): ProjectFacts {
  const names = new Names(summaries);
  const roles = new Map<string, Role>();
  for (const name of names.classes.keys()) roleOf(name, names, roles, new Set());
  const functions = new Map<string, FunctionSummary>();
  for (const file of summaries) for (const fn of file.functions) functions.set(fn.name, fn);
  const edges = new Map<string, readonly { readonly to: string; readonly site: CallSite }[]>();
  for (const fn of functions.values())
    edges.set(
      fn.name,
      fn.calls.flatMap((site) => {
        const to = names.resolve(site.target, functions);
        return to === null ? [] : [{ to, site }];
      }),
    );

  const loose = closure(
    functions,
    (fn) => fn.loose,
    edges,
    (site) => site.loops.length === 0,
  );
  const reaches = closure(
    functions,
    (fn) => fn.backward,
    edges,
    () => true,
  );
  const hot = spreadHeat(functions, edges, loose, roles, names);
  const gradOff = callersGradOff(
    functions,
    edges,
    new Set(summaries.flatMap((file) => file.escapes)),
    (name) => names.classes.has(name.slice(0, name.lastIndexOf("."))),
  );
  const parameters = passedParameters(functions, edges);
  const repeated = new Set<string>();
  for (const list of edges.values())
    for (const { to, site } of list) if (site.loops.length > 0 && !site.throttled) repeated.add(to);
  const facts = new Map<string, FunctionFacts>();
  for (const name of functions.keys())
    facts.set(name, {
      hot: hot.get(name) ?? null,
      callersGradOff: gradOff.get(name) ?? "unknown",
      loose: loose.has(name),
      reachesBackward: reaches.has(name),
      parameters: parameters.get(name) ?? NONE,
      params: functions.get(name)!.params,
      repeated: repeated.has(name),
      keeps: functions.get(name)!.keeps,
      reads: functions.get(name)!.reads,
    });
  return { functions: facts, roles, accelerated: acceleratedModules(summaries, names) };
}

/** In a tree of many small programs, one that stays on the host is told from its neighbours by what it imports. */
function acceleratedModules(summaries: readonly FileSummary[], names: Names): Set<string> {
  const joined = new Map<string, string[]>();
  const join = (a: string, b: string): void => {
    const list = joined.get(a);
    if (list) list.push(b);
    else joined.set(a, [b]);
  };
  for (const file of summaries)
    for (const name of file.imports) {
      const module = names.moduleOf(name);
      if (module === null) continue;
      join(file.module, module);
      join(module, file.module);
    }
  const found = new Set<string>();
  const queue = summaries.filter((file) => file.accelerator).map((file) => file.module);
  for (let module = queue.pop(); module !== undefined; module = queue.pop()) {
    if (found.has(module)) continue;
    found.add(module);
    queue.push(...(joined.get(module) ?? []));
  }
  return found;
}

/** Finds definitions by the names that imports use, which need not start at the audited root. */
class Names {
  readonly classes = new Map<
    string,
    { readonly bases: readonly string[]; readonly methods: readonly string[] }
  >();
  readonly #modules = new Map<string, string | null>();

  constructor(summaries: readonly FileSummary[]) {
    for (const file of summaries) {
      for (const cls of file.classes) this.classes.set(cls.name, cls);
      const parts = file.module.split(".");
      for (let from = 0; from < parts.length; from++) {
        const suffix = parts.slice(from).join(".");
        // A suffix two files share names neither, unless it is one's full name.
        this.#modules.set(suffix, from > 0 && this.#modules.has(suffix) ? null : file.module);
      }
    }
  }

  /** "utils.train_step" → "project.src.utils.train_step", when only one file is called that. */
  full(dotted: string): string {
    const parts = dotted.split(".");
    for (let cut = parts.length - 1; cut > 0; cut--) {
      const module = this.#modules.get(parts.slice(0, cut).join("."));
      if (module) return [module, ...parts.slice(cut)].join(".");
    }
    return dotted;
  }

  /** The audited file behind an imported name: the module itself, or the one that defines it. */
  moduleOf(dotted: string): string | null {
    const parts = dotted.split(".");
    for (let cut = parts.length; cut > 0; cut--) {
      const module = this.#modules.get(parts.slice(0, cut).join("."));
      if (module) return module;
    }
    return null;
  }

  resolve(target: string, functions: ReadonlyMap<string, unknown>): string | null {
    if (target.startsWith(".")) return null;
    if (functions.has(target)) return target;
    const full = this.full(target);
    if (functions.has(full)) return full;
    const cut = full.lastIndexOf(".");
    return cut < 0 ? null : this.#inherited(full.slice(0, cut), full.slice(cut + 1), functions, 0);
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

const NONE: Readonly<Record<string, Value>> = {};

export type Edges = ReadonlyMap<string, readonly { readonly to: string; readonly site: CallSite }[]>;

/** Functions for which `own` holds, and those that call them through a site that `carries`. */
function closure(
  functions: ReadonlyMap<string, FunctionSummary>,
  own: (fn: FunctionSummary) => boolean,
  edges: Edges,
  carries: (site: CallSite) => boolean,
): Set<string> {
  const callers = new Map<string, string[]>();
  for (const [from, list] of edges)
    for (const { to, site } of list)
      if (carries(site)) {
        const known = callers.get(to);
        if (known) known.push(from);
        else callers.set(to, [from]);
      }
  const found = new Set<string>();
  const queue = [...functions.values()].filter(own).map((fn) => fn.name);
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (found.has(name)) continue;
    found.add(name);
    queue.push(...(callers.get(name) ?? []));
  }
  return found;
}

function spreadHeat(
  functions: ReadonlyMap<string, FunctionSummary>,
  edges: Edges,
  loose: ReadonlySet<string>,
  roles: ReadonlyMap<string, Role>,
  names: Names,
): Map<string, string> {
  const hot = new Map<string, string>();
  const queue: string[] = [];
  const heat = (name: string, why: string): void => {
    if (hot.has(name)) return;
    hot.set(name, why);
    queue.push(name);
  };
  for (const [cls, role] of roles)
    for (const method of STEP_METHODS[role] ?? [])
      if (names.classes.get(cls)?.methods.includes(method))
        heat(`${cls}.${method}`, `${method} of ${last(cls)}`);
  for (const fn of functions.values()) {
    const steps = new Set(fn.stepLoops);
    const list = edges.get(fn.name) ?? [];
    // A call to a function that takes a step makes the loop around the call the step's loop.
    for (const { to, site } of list) if (loose.has(to) && site.loops.length > 0) steps.add(site.loops[0]!);
    for (const { to, site } of list)
      if (!site.throttled && site.loops.some((loop) => steps.has(loop)))
        heat(
          to,
          `called in the training loop of ${last(fn.name) === "<body>" ? "the script" : last(fn.name)}`,
        );
  }
  for (let name = queue.pop(); name !== undefined; name = queue.pop())
    for (const { to, site } of edges.get(name) ?? [])
      if (!site.throttled && !to.endsWith(".__init__"))
        heat(to, `reached from ${hot.get(name)}`.replace(/^(reached from )+/, "reached from "));
  return hot;
}

interface Caller {
  readonly from: string;
  readonly grad: CallSite["grad"];
}

function callersGradOff(
  functions: ReadonlyMap<string, FunctionSummary>,
  edges: Edges,
  escapes: ReadonlySet<string>,
  isMethod: (name: string) => boolean,
): Map<string, FunctionFacts["callersGradOff"]> {
  const callers = new Map<string, Caller[]>();
  const byMethod = new Map<string, Caller[]>();
  const put = <V>(map: Map<string, V[]>, key: string, value: V): void => {
    const list = map.get(key);
    if (list) list.push(value);
    else map.set(key, [value]);
  };
  for (const [from, list] of edges)
    for (const { to, site } of list) put(callers, to, { from, grad: site.grad });
  // Sites whose receiver is unknown count for every method of that name, and for no plain function; they are judged once a name, not once a method.
  const methods = new Map<string, string>();
  for (const name of functions.keys()) if (isMethod(name)) methods.set(name, last(name));
  const called = (name: string): string => methods.get(name) ?? "";
  const asked = new Set(methods.values());
  for (const fn of functions.values())
    for (const site of fn.calls)
      if (site.target.startsWith(".") && asked.has(site.target.slice(1)))
        put(byMethod, site.target.slice(1), { from: fn.name, grad: site.grad });
  const off = new Set(
    [...functions.keys()].filter(
      (name) => !escapes.has(name) && (callers.has(name) || byMethod.has(called(name))),
    ),
  );
  const isOff = (site: Caller): boolean =>
    site.grad === "off" ||
    (site.grad === null &&
      (functions.get(site.from)?.grad === "off" ||
        (functions.get(site.from)?.grad === null && off.has(site.from))));
  // Greatest fixed point: a function is taken to be under no_grad until one caller is found that is not.
  for (let changed = true; changed;) {
    changed = false;
    const methodOff = new Map([...byMethod].map(([name, sites]) => [name, sites.every(isOff)]));
    for (const name of off)
      if (methodOff.get(called(name)) === false || !(callers.get(name) ?? []).every(isOff)) {
        off.delete(name);
        changed = true;
      }
  }
  // Functions that only call each other are under no_grad for nobody's reason: one caller must really have switched it.
  const grounded = new Set<string>();
  const isGrounded = (site: Caller): boolean =>
    site.grad === "off" ||
    (site.grad === null && (functions.get(site.from)?.grad === "off" || grounded.has(site.from)));
  for (let changed = true; changed;) {
    changed = false;
    const methodGrounded = new Map([...byMethod].map(([name, sites]) => [name, sites.some(isGrounded)]));
    for (const name of off)
      if (
        !grounded.has(name) &&
        (methodGrounded.get(called(name)) === true || (callers.get(name) ?? []).some(isGrounded))
      ) {
        grounded.add(name);
        changed = true;
      }
  }
  const methodSome = new Map([...byMethod].map(([name, sites]) => [name, sites.some(mayBeOff)]));
  function mayBeOff(site: Caller): boolean {
    return isOff(site) || site.grad === "unknown";
  }
  const result = new Map<string, FunctionFacts["callersGradOff"]>();
  for (const name of functions.keys()) {
    const some = methodSome.get(called(name)) === true || (callers.get(name) ?? []).some(mayBeOff);
    if (off.has(name)) result.set(name, grounded.has(name) ? "always" : "unknown");
    else if (some) result.set(name, "sometimes");
    else
      result.set(
        name,
        escapes.has(name) || !(callers.has(name) || byMethod.has(called(name))) ? "unknown" : "never",
      );
  }
  return result;
}
