import type { Module, Node, NodeOf, Stmt } from "./tree.ts";

/** Calls `visit` on each direct child, in source order. */
export function eachChild(node: Node, visit: (child: Node) => void): void {
  const one = (child: Node | null): void => {
    if (child) visit(child);
  };
  const all = (children: readonly (Node | null)[]): void => {
    for (const child of children) if (child) visit(child);
  };
  switch (node.kind) {
    case "Name": case "Num": case "Const": case "Alias": case "Import": case "ImportFrom": case "Global": case "Nonlocal":
    case "Pass": case "Break": case "Continue": case "Error":
      if (node.kind === "Import" || node.kind === "ImportFrom") all(node.names);
      return;
    case "Str": return all(node.parts);
    case "Attribute": return visit(node.value);
    case "Arg": return visit(node.value);
    case "Call": visit(node.func); return all(node.args);
    case "Subscript": visit(node.value); return visit(node.index);
    case "Slice": one(node.lower); one(node.upper); return one(node.step);
    case "Unary": return visit(node.operand);
    case "Binary": visit(node.left); return visit(node.right);
    case "Bool": return all(node.values);
    case "Compare": visit(node.left); return all(node.rights);
    case "Lambda": all(node.params); return visit(node.body);
    case "IfExp": visit(node.body); visit(node.test); return visit(node.orelse);
    case "Tuple": case "List": case "Set": return all(node.items);
    case "Dict": for (const [at, value] of node.values.entries()) { one(node.keys[at]!); visit(value); } return;
    case "Clause": visit(node.target); visit(node.iter); return all(node.tests);
    case "Comp": visit(node.element); one(node.value); return all(node.clauses);
    case "Await": case "Starred": return visit(node.value);
    case "Yield": return one(node.value);
    case "Walrus": visit(node.target); return visit(node.value);
    case "Param": one(node.annotation); return one(node.default);
    case "FunctionDef": all(node.decorators); all(node.params); one(node.returns); return all(node.body);
    case "ClassDef": all(node.decorators); all(node.args); return all(node.body);
    case "Return": return one(node.value);
    case "Delete": return all(node.targets);
    case "Assign": all(node.targets); return visit(node.value);
    case "AugAssign": visit(node.target); return visit(node.value);
    case "AnnAssign": visit(node.target); visit(node.annotation); return one(node.value);
    case "For": visit(node.target); visit(node.iter); all(node.body); return all(node.orelse);
    case "While": case "If": visit(node.test); all(node.body); return all(node.orelse);
    case "WithItem": visit(node.context); return one(node.target);
    case "With": all(node.items); return all(node.body);
    case "Raise": one(node.value); return one(node.cause);
    case "Handler": one(node.type); return all(node.body);
    case "Try": all(node.body); all(node.handlers); all(node.orelse); return all(node.final);
    case "Assert": visit(node.test); return one(node.message);
    case "ExprStmt": return visit(node.value);
    case "Case": all(node.binds); one(node.guard); return all(node.body);
    case "Match": visit(node.subject); return all(node.cases);
    case "TypeAlias": visit(node.name); return visit(node.value);
    case "Module": return all(node.body);
  }
}

export type NodesByKind = ReadonlyMap<Node["kind"], readonly Node[]>;

/** Sets every `parent` and returns all nodes by kind, each list in source order. An explicit stack: chains may be thousands long. */
export function link(module: Module): NodesByKind {
  const byKind = new Map<Node["kind"], Node[]>();
  const stack: Node[] = [module];
  const children: Node[] = [];
  while (stack.length > 0) {
    const node = stack.pop()!;
    const list = byKind.get(node.kind);
    if (list) list.push(node);
    else byKind.set(node.kind, [node]);
    children.length = 0;
    eachChild(node, (child) => {
      child.parent = node;
      children.push(child);
    });
    for (let at = children.length - 1; at >= 0; at--) stack.push(children[at]!);
  }
  return byKind;
}

/** The node and everything below it, in source order; `enter` returning false leaves a node's children out. */
export function walk(root: Node, enter: (node: Node) => boolean | void): void {
  const stack: Node[] = [root];
  const children: Node[] = [];
  while (stack.length > 0) {
    const node = stack.pop()!;
    if (enter(node) === false) continue;
    children.length = 0;
    eachChild(node, (child) => children.push(child));
    for (let at = children.length - 1; at >= 0; at--) stack.push(children[at]!);
  }
}

const STATEMENTS: ReadonlySet<Node["kind"]> = new Set<Node["kind"]>([
  "FunctionDef", "ClassDef", "Return", "Delete", "Assign", "AugAssign", "AnnAssign", "For", "While", "If", "With", "Raise", "Try", "Assert",
  "Import", "ImportFrom", "Global", "Nonlocal", "ExprStmt", "Pass", "Break", "Continue", "Error", "Match", "TypeAlias",
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
export function* ancestors(node: Node): Generator<Node> {
  for (let at = node.parent; at; at = at.parent) yield at;
}

export function contains(outer: Node, inner: Node): boolean {
  return outer.start <= inner.start && inner.end <= outer.end;
}

/** The innermost function (or lambda) around a node; null at module or class level. */
export function functionOf(node: Node): NodeOf<"FunctionDef"> | NodeOf<"Lambda"> | null {
  for (let at = node.parent, child: Node = node; at; child = at, at = at.parent) {
    if (at.kind === "Lambda" && at.body === child) return at;
    if (at.kind === "FunctionDef" && at.body.includes(child as Stmt)) return at;
  }
  return null;
}

export function classOf(node: Node): NodeOf<"ClassDef"> | null {
  for (const at of ancestors(node)) if (at.kind === "ClassDef") return at;
  return null;
}

/** The blocks of a compound statement, each a list of statements. */
export function blocksOf(node: Node): readonly (readonly Stmt[])[] {
  switch (node.kind) {
    case "FunctionDef": case "ClassDef": case "With": case "Handler": case "Case": case "Module": return [node.body];
    case "For": case "While": case "If": return [node.body, node.orelse];
    case "Try": return [node.body, ...node.handlers.map((handler) => handler.body), node.orelse, node.final];
    default: return [];
  }
}
