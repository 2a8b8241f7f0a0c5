import type { Module, Node, NodeOf, ScopeNode, Stmt } from "./tree.ts";

/** Pushes the direct children of a node, in source order. */
function pushChildren(node: Node, out: Node[]): void {
  switch (node.kind) {
    case "Name":
    case "Num":
    case "Const":
    case "Alias":
    case "Global":
    case "Nonlocal":
    case "Pass":
    case "Break":
    case "Continue":
    case "Error":
      return;
    case "Attribute":
    case "Arg":
    case "Await":
    case "Starred":
    case "ExprStmt":
      out.push(node.value);
      return;
    case "Call":
      out.push(node.func);
      pushAll(node.args, out);
      return;
    case "Import":
    case "ImportFrom":
      return pushAll(node.names, out);
    case "Str":
      return pushAll(node.parts, out);
    case "Subscript":
      out.push(node.value, node.index);
      return;
    case "Slice":
      pushOne(node.lower, out);
      pushOne(node.upper, out);
      return pushOne(node.step, out);
    case "Unary":
      out.push(node.operand);
      return;
    case "Binary":
      out.push(node.left, node.right);
      return;
    case "Bool":
      return pushAll(node.values, out);
    case "Compare":
      out.push(node.left);
      return pushAll(node.rights, out);
    case "Lambda":
      pushAll(node.params, out);
      out.push(node.body);
      return;
    case "IfExp":
      out.push(node.body, node.test, node.orelse);
      return;
    case "Tuple":
    case "List":
    case "Set":
      return pushAll(node.items, out);
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
    case "Yield":
    case "Return":
      return pushOne(node.value, out);
    case "Walrus":
      out.push(node.target, node.value);
      return;
    case "Param":
      pushOne(node.annotation, out);
      return pushOne(node.default, out);
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
    case "Assign":
      pushAll(node.targets, out);
      out.push(node.value);
      return;
    case "AugAssign":
      out.push(node.target, node.value);
      return;
    case "AnnAssign":
      out.push(node.target, node.annotation);
      return pushOne(node.value, out);
    case "For":
      out.push(node.target, node.iter);
      pushAll(node.body, out);
      return pushAll(node.orelse, out);
    case "While":
    case "If":
      out.push(node.test);
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
  const byKind = new Map<Node["kind"], Node[]>();
  // Half of all nodes are of these kinds: their lists need not be looked up.
  const [names, attributes, calls, args]: [Node[], Node[], Node[], Node[]] = [[], [], [], []];
  byKind.set("Name", names).set("Attribute", attributes).set("Call", calls).set("Arg", args);
  const children: Node[] = [];

  const visit = (node: Node, scope: ScopeNode, depth: number): void => {
    switch (node.kind) {
      case "Name":
        node.scope = scope;
        names.push(node);
        return;
      case "Attribute":
        attributes.push(node);
        node.value.parent = node;
        return below(node.value, scope, depth);
      case "Call":
        calls.push(node);
        node.func.parent = node;
        below(node.func, scope, depth);
        for (const arg of node.args) {
          arg.parent = node;
          args.push(arg);
          arg.value.parent = arg;
          below(arg.value, scope, depth);
        }
        return;
    }
    const list = byKind.get(node.kind);
    if (list) list.push(node);
    else byKind.set(node.kind, [node]);
    const from = children.length;
    pushChildren(node, children);
    const to = children.length;
    const opens = isScope(node);
    for (let at = from; at < to; at++) {
      const child = children[at]!;
      child.parent = node;
      below(child, opens && runsInside(node, child) ? node : scope, depth);
    }
    children.length = from;
  };

  const below = (node: Node, scope: ScopeNode, depth: number): void => {
    if (depth < MAX_RECURSION) visit(node, scope, depth + 1);
    else deep.push({ node, scope });
  };
  const deep: { readonly node: Node; readonly scope: ScopeNode }[] = [{ node: module, scope: module }];
  let cut = false;
  for (let one = deep.pop(); one !== undefined; one = deep.pop()) {
    visit(one.node, one.scope, 0);
    cut ||= deep.length > 0;
  }
  if (cut) for (const list of byKind.values()) list.sort((a, b) => a.start - b.start || b.end - a.end);
  return byKind;
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

export function isStatement(node: Node): node is Stmt {
  return STATEMENTS.has(node.kind);
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

/** The blocks of a compound statement, each a list of statements. */
export function blocksOf(node: Node): readonly (readonly Stmt[])[] {
  switch (node.kind) {
    case "FunctionDef":
    case "ClassDef":
    case "With":
    case "Handler":
    case "Case":
    case "Module":
      return [node.body];
    case "For":
    case "While":
    case "If":
      return [node.body, node.orelse];
    case "Try":
      return [node.body, ...node.handlers.map((handler) => handler.body), node.orelse, node.final];
    default:
      return [];
  }
}
