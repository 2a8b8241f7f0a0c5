import { blockOf, functionOf, isScope, runsInside, statementOf } from "./nodes.ts";
import type { NodesByKind } from "./nodes.ts";
import type { Expr, Name, Node, NodeOf, ScopeNode, Stmt } from "./tree.ts";

/** One place where a name gets a value. */
export interface Definition {
  readonly name: string;
  readonly how:
    | "assign"
    | "augment"
    | "walrus"
    | "unpack"
    | "iterate"
    | "with"
    | "except"
    | "param"
    | "import"
    | "function"
    | "class"
    | "match"
    | "delete";
  /** The node that binds: the target Name, Param, Alias, FunctionDef, ClassDef or Handler. */
  readonly node: Node;
  /** What the name is bound to: the value itself for assign, augment (the right side), annotate and walrus; what it is taken from for unpack, iterate and with. */
  readonly value: Expr | null;
  /** Position in the unpacked tuple, where known. */
  readonly index: number | null;
}

export interface Scope {
  readonly node: ScopeNode;
  readonly parent: Scope | null;
  readonly bindings: Map<string, Definition[]>;
  /** Names declared global or nonlocal here. */
  readonly outer: Set<string>;
}

export interface Binding {
  readonly scope: Scope;
  readonly definitions: readonly Definition[];
}

export class Scopes {
  readonly #scopes = new Map<Node, Scope>();
  #latest: Scope | null = null;
  readonly #nodes: NodesByKind;
  #names: ReadonlyMap<string, readonly Name[]> | null = null;

  constructor(nodes: NodesByKind) {
    this.#nodes = nodes;
    this.#collect(nodes);
  }

  /** The scope a node is evaluated in. */
  scopeOf(node: Node): Scope {
    if (node.kind === "Name" && node.scope) return this.#scope(node.scope);
    let child = node;
    let at = node.parent;
    while (at) {
      if (isScope(at) && runsInside(at, child)) return this.#scope(at);
      child = at;
      at = at.parent;
    }
    return this.#scope(child as NodeOf<"Module">);
  }

  #scope(node: ScopeNode): Scope {
    // One name after the other is asked for in the same scope.
    if (this.#latest?.node === node) return this.#latest;
    let scope = this.#scopes.get(node);
    if (!scope) {
      scope = {
        node,
        parent: node.kind === "Module" ? null : this.scopeOf(node),
        bindings: new Map(),
        outer: new Set(),
      };
      this.#scopes.set(node, scope);
    }
    this.#latest = scope;
    return scope;
  }

  /** All definitions of the name the expression refers to, whatever their order; empty for builtins and unknowns. */
  lookup(name: Name): Binding | null {
    if (name.binding === undefined) name.binding = this.#find(name);
    return name.binding;
  }

  #find(name: Name): Binding | null {
    let scope: Scope | null = this.scopeOf(name);
    const own = scope;
    while (scope) {
      // A class body's names are seen by the body itself, not by its methods.
      if (scope === own || scope.node.kind !== "ClassDef") {
        const definitions = scope.bindings.get(name.id);
        if (definitions && (scope.outer.size === 0 || !scope.outer.has(name.id)))
          return { scope, definitions };
      }
      scope = scope.parent;
    }
    return null;
  }

  /** The definitions that may have given the name its value where it is read. */
  reaching(name: Name): readonly Definition[] {
    if (name.reaching) return name.reaching;
    const found = this.lookup(name);
    let result: readonly Definition[] = found?.definitions ?? [];
    if (found && result.length > 1 && this.#runsIn(name) === found.scope)
      result = flow(name, result, found.scope.node);
    name.reaching = result;
    return result;
  }

  /** Where the name is read as the statements come: what a comprehension reads, it reads at once. */
  #runsIn(name: Name): Scope {
    let scope = this.scopeOf(name);
    while (scope.node.kind === "Comp" && scope.parent) scope = scope.parent;
    return scope;
  }

  /** What the name is assigned, where there is only one thing it can be. */
  onlyValue(name: Name): Expr | null {
    const definitions = this.reaching(name);
    return definitions.length === 1 && definitions[0]!.how === "assign" ? definitions[0]!.value : null;
  }

  /** Every read of a name that this definition may reach. */
  uses(definition: Definition): readonly Name[] {
    const { name, how, node } = definition;
    let names = (this.#nodes.get("Name") ?? []) as readonly Name[];
    let at = 0;
    let { length } = names;
    const scope = this.scopeOf(node);
    // What is a function's own is read in the function.
    if (scope.node.kind === "FunctionDef" && how !== "walrus" && !scope.outer.has(name)) {
      at = firstFrom(names, scope.node.start);
      length = firstFrom(names, scope.node.end);
    } else {
      this.#names ??= byName(names);
      names = this.#names.get(name) ?? [];
      ({ length } = names);
    }
    const found: Name[] = [];
    for (; at < length; at++) {
      const one = names[at]!;
      if (one.id === name && !one.binds && this.reaching(one).includes(definition)) found.push(one);
    }
    return found;
  }

  /** Whether the Name node is written rather than read. The target of `+=` is both and counts as written. */
  binds(name: Name): boolean {
    return name.binds;
  }

  definitionAt(node: Node): Definition | null {
    const name =
      node.kind === "Name"
        ? node.id
        : node.kind === "Param" || node.kind === "FunctionDef" || node.kind === "ClassDef"
          ? node.name
          : null;
    if (name === null) return null;
    const scope = this.scopeOf(node);
    // `global x`: it is bound where that says.
    const bound =
      node.kind === "Name" && scope.outer.has(name)
        ? this.lookup(node)?.definitions
        : scope.bindings.get(name);
    return bound?.find((definition) => definition.node === node) ?? null;
  }

  #define(at: Node, definition: Definition): void {
    let scope = this.scopeOf(at);
    // A walrus inside a comprehension binds outside of it.
    while (definition.how === "walrus" && scope.node.kind === "Comp" && scope.parent) scope = scope.parent;
    if (scope.outer.size > 0 && scope.outer.has(definition.name)) {
      const home = this.#outerScope(scope);
      if (home) scope = home;
    }
    const list = scope.bindings.get(definition.name);
    if (list) list.push(definition);
    else scope.bindings.set(definition.name, [definition]);
    if (definition.node.kind === "Name") definition.node.binds = true;
  }

  #outerScope(scope: Scope): Scope | null {
    let at: Scope | null = scope;
    while (at && at.node.kind !== "Module") at = at.parent;
    return at;
  }

  #target(target: Expr, how: Definition["how"], value: Expr | null, index: number | null = null): void {
    if (target.kind === "Name") this.#define(target, { name: target.id, how, node: target, value, index });
    else if (target.kind === "Tuple" || target.kind === "List") {
      const items =
        value &&
        (value.kind === "Tuple" || value.kind === "List") &&
        how === "assign" &&
        value.items.length === target.items.length
          ? value.items
          : null;
      for (let at = 0; at < target.items.length; at++) {
        const item = target.items[at]!;
        if (items && items[at]!.kind !== "Starred") this.#target(item, "assign", items[at]!);
        else this.#target(item, how === "assign" ? "unpack" : how, value, at);
      }
    } else if (target.kind === "Starred") this.#target(target.value, "unpack", value);
  }

  #collect(nodes: NodesByKind): void {
    const each = <K extends Node["kind"]>(kind: K, visit: (node: NodeOf<K>) => void): void => {
      for (const node of nodes.get(kind) ?? []) visit(node as NodeOf<K>);
    };
    for (const kind of ["Global", "Nonlocal"] as const)
      each(kind, (node) => {
        const scope = this.scopeOf(node);
        for (const name of node.names) scope.outer.add(name);
      });
    each("Assign", ({ targets, value }) => {
      for (const target of targets) this.#target(target, "assign", value);
    });
    each("AugAssign", (node) => this.#target(node.target, "augment", node.value));
    each("Walrus", (node) => this.#target(node.target, "walrus", node.value));
    each("For", (node) => this.#target(node.target, "iterate", node.iter));
    each("Clause", (node) => this.#target(node.target, "iterate", node.iter));
    each("WithItem", (node) => node.target && this.#target(node.target, "with", node.context));
    each("Delete", (node) => node.targets.forEach((target) => this.#target(target, "delete", null)));
    each(
      "Handler",
      (node) =>
        node.name !== null &&
        this.#define(node, { name: node.name, how: "except", node, value: null, index: null }),
    );
    each("Case", (node) => node.binds.forEach((name) => this.#target(name, "match", null)));
    each("FunctionDef", (node) =>
      this.#define(node, { name: node.name, how: "function", node, value: null, index: null }),
    );
    each("ClassDef", (node) =>
      this.#define(node, { name: node.name, how: "class", node, value: null, index: null }),
    );
    each("Param", (node) =>
      this.#define(node, { name: node.name, how: "param", node, value: node.default, index: null }),
    );
    each("Alias", (node) => {
      const name = node.as ?? (node.parent!.kind === "Import" ? node.name.split(".")[0]! : node.name);
      this.#define(node, { name, how: "import", node, value: null, index: null });
    });
    for (const scope of this.#scopes.values())
      for (const list of scope.bindings.values())
        if (!isSorted(list)) list.sort((a, b) => a.node.start - b.node.start);
  }
}

function isSorted(list: readonly Definition[]): boolean {
  for (let at = 1; at < list.length; at++) if (list[at]!.node.start < list[at - 1]!.node.start) return false;
  return true;
}

/** Position of the first name that starts there or later. */
function firstFrom(names: readonly Name[], offset: number): number {
  let low = 0;
  let high = names.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (names[middle]!.start < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

function byName(all: readonly Name[]): Map<string, Name[]> {
  const names = new Map<string, Name[]>();
  for (const node of all) {
    const list = names.get(node.id);
    if (list) list.push(node);
    else names.set(node.id, [node]);
  }
  return names;
}

interface Effect {
  readonly definitions: Definition[];
  /** Nothing from above gets past. */
  readonly kills: boolean;
}

/** Walks backward from the use over the statements before it, out through the blocks around it. */
function flow(name: Name, all: readonly Definition[], scope: ScopeNode): readonly Definition[] {
  const found = new Set<Definition>();
  let at: Node | null = statementOf(name);
  // A name read in the header of the definition's own statement (x = x + 1) sees what came before it.
  while (at && at !== scope) {
    const parent: Node | null = at.parent;
    if (!parent) break;
    const block = blockOf(at);
    if (block) {
      const position = block.indexOf(at as Stmt);
      if (backward(block, position - 1, 0, all, found)) return [...found];
      if ((parent.kind === "For" || parent.kind === "While") && block === parent.body) {
        const header =
          parent.kind === "For" ? all.filter((definition) => within(definition.node, parent.target)) : [];
        if (header.length > 0) {
          header.forEach((definition) => found.add(definition));
          return [...found];
        }
        backward(block, block.length - 1, position, all, found);
      }
      if (parent.kind === "With") {
        const header = all.filter((definition) => parent.items.some((item) => within(definition.node, item)));
        if (header.length > 0) {
          header.forEach((definition) => found.add(definition));
          return [...found];
        }
      }
      if (parent.kind === "Try" && block !== parent.body) {
        for (const definition of all)
          if (parent.body.some((statement) => within(definition.node, statement))) found.add(definition);
      }
      if (parent.kind === "Handler") {
        for (const definition of all) if (definition.node === parent) return [definition];
        const whole = parent.parent as NodeOf<"Try">;
        for (const definition of all)
          if (whole.body.some((statement) => within(definition.node, statement))) found.add(definition);
      }
    }
    at = parent;
  }
  for (const definition of all) if (definition.how === "param") found.add(definition);
  return found.size > 0 ? [...found] : all;
}

function within(node: Node, outer: Node): boolean {
  return outer.start <= node.start && node.start < outer.end;
}

/** Adds the effects of block[from] down to block[to]; true when one of them kills. */
function backward(
  block: readonly Stmt[],
  from: number,
  to: number,
  all: readonly Definition[],
  found: Set<Definition>,
): boolean {
  for (let at = from; at >= to; at--) {
    const effect = effectOf(block[at]!, all);
    if (effect === NO_EFFECT) continue;
    for (const definition of effect.definitions) found.add(definition);
    if (effect.kills) return true;
  }
  return false;
}

function blockEffect(block: readonly Stmt[], all: readonly Definition[]): Effect {
  const last = block[block.length - 1];
  if (
    last &&
    (last.kind === "Return" || last.kind === "Raise" || last.kind === "Continue" || last.kind === "Break")
  ) {
    // What a `continue` leaves behind is seen by the next turn, and what a `break` leaves by the code after the loop.
    const definitions =
      last.kind === "Return" || last.kind === "Raise"
        ? []
        : all.filter((definition) => block.some((statement) => within(definition.node, statement)));
    return { definitions, kills: true };
  }
  const found = new Set<Definition>();
  const kills = backward(block, block.length - 1, 0, all, found);
  return { definitions: [...found], kills };
}

const NO_EFFECT: Effect = { definitions: [], kills: false };

/** The position of the first definition that starts there or later: they come in the order of the file. */
function firstDefinition(all: readonly Definition[], offset: number): number {
  let low = 0;
  let high = all.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (all[middle]!.node.start < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

function effectOf(statement: Stmt, all: readonly Definition[]): Effect {
  const first = firstDefinition(all, statement.start);
  const isTouched = first < all.length && all[first]!.node.start < statement.end;
  // Most statements above a name have none of its definitions. Nothing gets past an `if` that leaves in both of its branches.
  if (!isTouched && (statement.kind !== "If" || statement.orelse.length === 0)) return NO_EFFECT;
  if (statement.kind === "If") {
    const body = blockEffect(statement.body, all);
    const orelse = blockEffect(statement.orelse, all);
    return { definitions: [...body.definitions, ...orelse.definitions], kills: body.kills && orelse.kills };
  }
  const inside = all.slice(first, firstDefinition(all, statement.end));
  switch (statement.kind) {
    case "With": {
      const body = blockEffect(statement.body, all);
      const header = inside.filter(
        (definition) => !statement.body.some((inner) => within(definition.node, inner)),
      );
      return body.kills ? body : { definitions: [...body.definitions, ...header], kills: header.length > 0 };
    }
    case "For":
    case "While":
    case "Match":
      return { definitions: inside, kills: false };
    case "Try": {
      const body = blockEffect(statement.body, all);
      const kills = body.kills && statement.handlers.every((handler) => blockEffect(handler.body, all).kills);
      const last = blockEffect(statement.final, all);
      return last.kills ? last : { definitions: inside, kills };
    }
    default: {
      const fn = functionOf(statement);
      return {
        definitions: inside.filter(({ node }) => node === statement || functionOf(node) === fn),
        kills: true,
      };
    }
  }
}
