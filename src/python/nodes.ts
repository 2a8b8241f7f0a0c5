import type { Expr, Module, Name, Node, NodeOf, ScopeNode, Stmt } from "./tree.ts";

/** Pushes the direct children of a node, in source order. V8 tries one kind after the other: those of most nodes come first. */
function pushChildren(node: Node, out: Node[]): void {
  switch (node.kind) {
    case "Name":
      return;
    case "Attribute":
    case "Arg":
      out.push(node.value);
      return;
    case "Call":
      out.push(node.func);
      pushAll(node.args, out);
      return;
    case "Num":
    case "Const":
      return;
    case "Str":
      return pushAll(node.parts, out);
    case "Subscript":
      out.push(node.value, node.index);
      return;
    case "Binary":
      out.push(node.left, node.right);
      return;
    case "Assign":
      pushAll(node.targets, out);
      pushOne(node.annotation, out);
      out.push(node.value);
      return;
    case "ExprStmt":
      out.push(node.value);
      return;
    case "Tuple":
    case "List":
    case "Set":
      return pushAll(node.items, out);
    case "Param":
      pushOne(node.annotation, out);
      return pushOne(node.default, out);
    case "If":
    case "While":
      out.push(node.test);
      pushAll(node.body, out);
      return pushAll(node.orelse, out);
    case "Compare":
      out.push(node.left);
      return pushAll(node.rights, out);
    case "Return":
    case "Yield":
      return pushOne(node.value, out);
    case "Slice":
      pushOne(node.lower, out);
      pushOne(node.upper, out);
      return pushOne(node.step, out);
    case "Unary":
      out.push(node.operand);
      return;
    case "Bool":
      return pushAll(node.values, out);
    case "Lambda":
      pushAll(node.params, out);
      out.push(node.body);
      return;
    case "IfExp":
      out.push(node.body, node.test, node.orelse);
      return;
    case "Dict":
      for (let at = 0; at < node.values.length; at++) {
        pushOne(node.keys[at]!, out);
        out.push(node.values[at]!);
      }
      return;
    case "Clause":
      out.push(node.target, node.iter);
      return pushAll(node.tests, out);
    case "Comp":
      out.push(node.element);
      pushOne(node.value, out);
      return pushAll(node.clauses, out);
    case "Walrus":
      out.push(node.target, node.value);
      return;
    case "FunctionDef":
      pushAll(node.decorators, out);
      pushAll(node.params, out);
      pushOne(node.returns, out);
      return pushAll(node.body, out);
    case "ClassDef":
      pushAll(node.decorators, out);
      pushAll(node.args, out);
      return pushAll(node.body, out);
    case "Delete":
      return pushAll(node.targets, out);
    case "AugAssign":
      out.push(node.target, node.value);
      return;
    case "AnnAssign":
      out.push(node.target, node.annotation);
      return;
    case "For":
      out.push(node.target, node.iter);
      pushAll(node.body, out);
      return pushAll(node.orelse, out);
    case "WithItem":
      out.push(node.context);
      return pushOne(node.target, out);
    case "With":
      pushAll(node.items, out);
      return pushAll(node.body, out);
    case "Raise":
      pushOne(node.value, out);
      return pushOne(node.cause, out);
    case "Handler":
      pushOne(node.type, out);
      return pushAll(node.body, out);
    case "Try":
      pushAll(node.body, out);
      pushAll(node.handlers, out);
      pushAll(node.orelse, out);
      return pushAll(node.final, out);
    case "Assert":
      out.push(node.test);
      return pushOne(node.message, out);
    case "Case":
      pushAll(node.binds, out);
      pushOne(node.guard, out);
      return pushAll(node.body, out);
    case "Match":
      out.push(node.subject);
      return pushAll(node.cases, out);
    case "TypeAlias":
      out.push(node.name, node.value);
      return;
    case "Module":
      return pushAll(node.body, out);
    case "Import":
    case "ImportFrom":
      return pushAll(node.names, out);
    case "Await":
    case "Starred":
      out.push(node.value);
      return;
    case "Alias":
    case "Global":
    case "Nonlocal":
    case "Pass":
    case "Break":
    case "Continue":
    case "Error":
      return;
  }
}

function pushOne(node: Node | null, out: Node[]): void {
  if (node) out.push(node);
}

function pushAll(nodes: readonly Node[], out: Node[]): void {
  for (let at = 0; at < nodes.length; at++) out.push(nodes[at]!);
}

/** Turns around what was pushed since `from`, so that the first child is popped first. */
function turn(stack: Node[], from: number): void {
  for (let low = from, high = stack.length - 1; low < high; low++, high--) {
    const node = stack[low]!;
    stack[low] = stack[high]!;
    stack[high] = node;
  }
}

export type NodesByKind = ReadonlyMap<Node["kind"], readonly Node[]>;

/** Deeper than this, an explicit stack takes over: chains of operators may be thousands long. */
const MAX_RECURSION = 400;

/** Sets every `parent` and returns all nodes by kind, each list in source order. */
export function link(module: Module): NodesByKind {
  const linker = new Linker();
  linker.visit(module, null, module, 0);
  return linker.finish();
}

/** The kinds that most nodes are of are taken one by one; the others by `pushChildren`. */
class Linker {
  readonly #byKind = new Map<Node["kind"], Node[]>();
  readonly #names: Node[] = this.#list("Name");
  readonly #attributes: Node[] = this.#list("Attribute");
  readonly #calls: Node[] = this.#list("Call");
  readonly #args: Node[] = this.#list("Arg");
  readonly #numbers: Node[] = this.#list("Num");
  readonly #constants: Node[] = this.#list("Const");
  readonly #assigns: Node[] = this.#list("Assign");
  readonly #subscripts: Node[] = this.#list("Subscript");
  readonly #binaries: Node[] = this.#list("Binary");
  readonly #strings: Node[] = this.#list("Str");
  readonly #expressions: Node[] = this.#list("ExprStmt");
  readonly #tuples: Node[] = this.#list("Tuple");
  readonly #params: Node[] = this.#list("Param");
  readonly #tests: Node[] = this.#list("If");
  readonly #compares: Node[] = this.#list("Compare");
  readonly #returns: Node[] = this.#list("Return");
  readonly #children: Node[] = [];
  readonly #deep: { readonly node: Node; readonly parent: Node | null; readonly scope: ScopeNode }[] = [];

  #list(kind: Node["kind"]): Node[] {
    const list: Node[] = [];
    this.#byKind.set(kind, list);
    return list;
  }

  visit(node: Node, parent: Node | null, scope: ScopeNode, depth: number): void {
    if (depth > MAX_RECURSION) {
      this.#deep.push({ node, parent, scope });
      return;
    }
    node.parent = parent;
    switch (node.kind) {
      case "Name":
        node.scope = scope;
        this.#names.push(node);
        return;
      case "Attribute":
        this.#attributes.push(node);
        this.visit(node.value, node, scope, depth + 1);
        return;
      case "Arg":
        this.#args.push(node);
        this.visit(node.value, node, scope, depth + 1);
        return;
      case "Call":
        this.#calls.push(node);
        this.visit(node.func, node, scope, depth + 1);
        this.#all(node.args, node, scope, depth);
        return;
      case "Num":
        this.#numbers.push(node);
        return;
      case "Const":
        this.#constants.push(node);
        return;
      case "Assign":
        this.#assigns.push(node);
        this.#all(node.targets, node, scope, depth);
        if (node.annotation) this.visit(node.annotation, node, scope, depth + 1);
        this.visit(node.value, node, scope, depth + 1);
        return;
      case "Subscript":
        this.#subscripts.push(node);
        this.visit(node.value, node, scope, depth + 1);
        this.visit(node.index, node, scope, depth + 1);
        return;
      case "Binary":
        this.#binaries.push(node);
        this.visit(node.left, node, scope, depth + 1);
        this.visit(node.right, node, scope, depth + 1);
        return;
      case "Str":
        this.#strings.push(node);
        this.#all(node.parts, node, scope, depth);
        return;
      case "ExprStmt":
        this.#expressions.push(node);
        this.visit(node.value, node, scope, depth + 1);
        return;
      case "Tuple":
        this.#tuples.push(node);
        this.#all(node.items, node, scope, depth);
        return;
      case "Param":
        this.#params.push(node);
        if (node.annotation) this.visit(node.annotation, node, scope, depth + 1);
        if (node.default) this.visit(node.default, node, scope, depth + 1);
        return;
      case "If":
        this.#tests.push(node);
        this.visit(node.test, node, scope, depth + 1);
        this.#all(node.body, node, scope, depth);
        this.#all(node.orelse, node, scope, depth);
        return;
      case "Compare":
        this.#compares.push(node);
        this.visit(node.left, node, scope, depth + 1);
        this.#all(node.rights, node, scope, depth);
        return;
      case "Return":
        this.#returns.push(node);
        if (node.value) this.visit(node.value, node, scope, depth + 1);
        return;
      default:
        this.#other(node, scope, depth);
    }
  }

  #all(nodes: readonly Node[], parent: Node, scope: ScopeNode, depth: number): void {
    for (let at = 0; at < nodes.length; at++) this.visit(nodes[at]!, parent, scope, depth + 1);
  }

  #other(node: Node, scope: ScopeNode, depth: number): void {
    (this.#byKind.get(node.kind) ?? this.#list(node.kind)).push(node);
    // One array for all: what the visits below put on top is gone again when they return.
    const children = this.#children;
    const from = children.length;
    pushChildren(node, children);
    const to = children.length;
    const opens = isScope(node);
    for (let at = from; at < to; at++) {
      const child = children[at]!;
      this.visit(child, node, opens && runsInside(node, child) ? node : scope, depth + 1);
    }
    // Faster than setting the length.
    while (children.length > from) children.pop();
  }

  finish(): NodesByKind {
    const cut = this.#deep.length > 0;
    for (let one = this.#deep.pop(); one !== undefined; one = this.#deep.pop())
      this.visit(one.node, one.parent, one.scope, 0);
    if (cut)
      for (const list of this.#byKind.values()) list.sort((a, b) => a.start - b.start || b.end - a.end);
    return this.#byKind;
  }
}

export function isScope(node: Node): node is ScopeNode {
  return (
    node.kind === "FunctionDef" ||
    node.kind === "Lambda" ||
    node.kind === "ClassDef" ||
    node.kind === "Comp" ||
    node.kind === "Module"
  );
}

/** Whether a child of a scope's node is evaluated in that scope: a function's decorators and defaults are not. */
export function runsInside(scope: ScopeNode, child: Node): boolean {
  switch (scope.kind) {
    case "FunctionDef":
      return child.kind === "Param" || isStatement(child);
    case "ClassDef":
      return isStatement(child);
    case "Lambda":
      return child === scope.body || child.kind === "Param";
    // The first iterable is evaluated outside; the difference matters to nobody here.
    case "Comp":
      return true;
    case "Module":
      return true;
  }
}

/** The node and everything below it, in source order; `enter` returning false leaves a node's children out. */
export function walk(root: Node, enter: (node: Node) => boolean | void): void {
  const stack: Node[] = [root];
  while (stack.length > 0) {
    const node = stack.pop()!;
    if (enter(node) === false) continue;
    const from = stack.length;
    pushChildren(node, stack);
    turn(stack, from);
  }
}

const STATEMENTS: ReadonlySet<Node["kind"]> = new Set<Node["kind"]>([
  "FunctionDef",
  "ClassDef",
  "Return",
  "Delete",
  "Assign",
  "AugAssign",
  "AnnAssign",
  "For",
  "While",
  "If",
  "With",
  "Raise",
  "Try",
  "Assert",
  "Import",
  "ImportFrom",
  "Global",
  "Nonlocal",
  "ExprStmt",
  "Pass",
  "Break",
  "Continue",
  "Error",
  "Match",
  "TypeAlias",
]);

/** The last word of `a.b.word`, or of a plain name; "" of anything else. */
export function lastWord(expr: Expr): string {
  return expr.kind === "Name" ? expr.id : expr.kind === "Attribute" ? expr.attr : "";
}

/** The names that an expression reads when it is evaluated; a lambda in it reads its own later. */
export function namesIn(expr: Expr): Name[] {
  const names: Name[] = [];
  walk(expr, (node) => {
    if (node.kind === "Name") names.push(node);
    return node.kind !== "Lambda";
  });
  return names;
}

export function isStatement(node: Node): node is Stmt {
  return STATEMENTS.has(node.kind);
}

/** The block that a statement stands in; null for what is none. */
export function blockOf(node: Node): readonly Stmt[] | null {
  const { parent } = node;
  if (!parent || !isStatement(node)) return null;
  switch (parent.kind) {
    case "Module":
    case "FunctionDef":
    case "ClassDef":
    case "With":
    case "Handler":
    case "Case":
      return parent.body;
    case "For":
    case "While":
    case "If":
      return parent.body.includes(node) ? parent.body : parent.orelse;
    case "Try":
      return [parent.body, parent.orelse, parent.final].find((block) => block.includes(node)) ?? null;
    default:
      return null;
  }
}

/** The statement a node belongs to: itself when it is one. */
export function statementOf(node: Node): Stmt | null {
  let at: Node | null = node;
  while (at && !isStatement(at)) at = at.parent;
  return at;
}

/** Ancestors from the parent up to the module. */
export function ancestors(node: Node): readonly Node[] {
  const found: Node[] = [];
  for (let at = node.parent; at; at = at.parent) found.push(at);
  return found;
}

export function contains(outer: Node, inner: Node): boolean {
  return outer.start <= inner.start && inner.end <= outer.end;
}

/** The innermost function (or lambda) around a node; null at module or class level. */
export function functionOf(node: Node): NodeOf<"FunctionDef"> | NodeOf<"Lambda"> | null {
  for (let at = node.parent, child: Node = node; at; child = at, at = at.parent) {
    if (at.kind === "Lambda" && at.body === child) return at;
    // Decorators, parameters and annotations are no statements.
    if (at.kind === "FunctionDef" && isStatement(child)) return at;
  }
  return null;
}

export function classOf(node: Node): NodeOf<"ClassDef"> | null {
  for (let at = node.parent; at; at = at.parent) if (at.kind === "ClassDef") return at;
  return null;
}
