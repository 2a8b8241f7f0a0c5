import type { Binding, Definition } from "./scopes.ts";

/** The Python tree: plain objects with offsets into the source. `parent` is set once, by `link` in index.ts. */
interface Base {
  readonly start: number;
  readonly end: number;
  parent: Node | null;
}

export interface Name extends Base {
  readonly kind: "Name";
  readonly id: string;
  /** Set by `link`: what it is evaluated in. */
  scope: ScopeNode | null;
  /** Set by `Scopes`: it is written here, not read. */
  binds: boolean;
  /** What PythonFile.dotted, Scopes.lookup and Scopes.reaching answered: kept here, because every rule asks again. */
  dotted: string | null | undefined;
  binding: Binding | null | undefined;
  reaching: readonly Definition[] | undefined;
}
/** What has names of its own. */
export type ScopeNode =
  | NodeOf<"Module">
  | NodeOf<"FunctionDef">
  | NodeOf<"Lambda">
  | NodeOf<"ClassDef">
  | NodeOf<"Comp">;
export interface Num extends Base {
  readonly kind: "Num";
  readonly text: string;
}
/** A literal or several adjacent ones. `value` is null for f-strings and bytes; `parts` are the fields of f-strings. */
export interface Str extends Base {
  readonly kind: "Str";
  readonly value: string | null;
  readonly bytes: boolean;
  readonly parts: readonly Expr[];
}
/** None, True, False, ... */
export interface Const extends Base {
  readonly kind: "Const";
  readonly value: null | boolean | "...";
}
export interface Attribute extends Base {
  readonly kind: "Attribute";
  readonly value: Expr;
  readonly attr: string;
  readonly attrStart: number;
  /** As in Name. */
  dotted: string | null | undefined;
}
/** `star` 1 is `*value`, 2 is `**value`. */
export interface Arg extends Base {
  readonly kind: "Arg";
  readonly name: string | null;
  readonly star: 0 | 1 | 2;
  readonly value: Expr;
}
/** `open` is the offset of the parenthesis. */
export interface Call extends Base {
  readonly kind: "Call";
  readonly func: Expr;
  readonly args: readonly Arg[];
  readonly open: number;
  /** Which function it goes to, once somebody has worked that out; as `dotted` in Name. */
  target: string | null | undefined;
}
export interface Subscript extends Base {
  readonly kind: "Subscript";
  readonly value: Expr;
  readonly index: Expr;
}
export interface Slice extends Base {
  readonly kind: "Slice";
  readonly lower: Expr | null;
  readonly upper: Expr | null;
  readonly step: Expr | null;
}
export interface Unary extends Base {
  readonly kind: "Unary";
  readonly op: string;
  readonly operand: Expr;
}
export interface Binary extends Base {
  readonly kind: "Binary";
  readonly op: string;
  readonly left: Expr;
  readonly right: Expr;
}
export interface Bool extends Base {
  readonly kind: "Bool";
  readonly op: "and" | "or";
  readonly values: readonly Expr[];
}
export interface Compare extends Base {
  readonly kind: "Compare";
  readonly left: Expr;
  readonly ops: readonly string[];
  readonly rights: readonly Expr[];
}
export interface Lambda extends Base {
  readonly kind: "Lambda";
  readonly params: readonly Param[];
  readonly body: Expr;
}
export interface IfExp extends Base {
  readonly kind: "IfExp";
  readonly test: Expr;
  readonly body: Expr;
  readonly orelse: Expr;
}
export interface Sequence extends Base {
  readonly kind: "Tuple" | "List" | "Set";
  readonly items: readonly Expr[];
}
/** A null key is `**value`. */
export interface Dict extends Base {
  readonly kind: "Dict";
  readonly keys: readonly (Expr | null)[];
  readonly values: readonly Expr[];
}
export interface Clause extends Base {
  readonly kind: "Clause";
  readonly target: Expr;
  readonly iter: Expr;
  readonly tests: readonly Expr[];
}
/** `value` only for dict comprehensions, where `element` is the key. */
export interface Comp extends Base {
  readonly kind: "Comp";
  readonly flavour: "list" | "set" | "dict" | "generator";
  readonly element: Expr;
  readonly value: Expr | null;
  readonly clauses: readonly Clause[];
}
export interface Await extends Base {
  readonly kind: "Await";
  readonly value: Expr;
}
export interface Yield extends Base {
  readonly kind: "Yield";
  readonly from: boolean;
  readonly value: Expr | null;
}
export interface Starred extends Base {
  readonly kind: "Starred";
  readonly value: Expr;
}
export interface Walrus extends Base {
  readonly kind: "Walrus";
  readonly target: Expr;
  readonly value: Expr;
}

export type Expr =
  | Name
  | Num
  | Str
  | Const
  | Attribute
  | Call
  | Subscript
  | Slice
  | Unary
  | Binary
  | Bool
  | Compare
  | Lambda
  | IfExp
  | Sequence
  | Dict
  | Comp
  | Await
  | Yield
  | Starred
  | Walrus;

/** `star` as in Arg; positional-only and keyword-only markers are not kept. */
export interface Param extends Base {
  readonly kind: "Param";
  readonly name: string;
  readonly star: 0 | 1 | 2;
  readonly annotation: Expr | null;
  readonly default: Expr | null;
}
export interface FunctionDef extends Base {
  readonly kind: "FunctionDef";
  readonly name: string;
  readonly nameStart: number;
  readonly async: boolean;
  readonly params: readonly Param[];
  readonly returns: Expr | null;
  readonly decorators: readonly Expr[];
  readonly body: readonly Stmt[];
  /** Where `def` or `async` stands; `start` is the first decorator's `@`. */
  readonly defStart: number;
}
export interface ClassDef extends Base {
  readonly kind: "ClassDef";
  readonly name: string;
  readonly nameStart: number;
  readonly args: readonly Arg[];
  readonly decorators: readonly Expr[];
  readonly body: readonly Stmt[];
}
export interface Return extends Base {
  readonly kind: "Return";
  readonly value: Expr | null;
}
export interface Delete extends Base {
  readonly kind: "Delete";
  readonly targets: readonly Expr[];
}
export interface Assign extends Base {
  readonly kind: "Assign";
  readonly targets: readonly Expr[];
  readonly value: Expr;
  /** Of `x: T = value`. */
  readonly annotation: Expr | null;
}
/** `op` without the equals sign: "+" for `+=`. */
export interface AugAssign extends Base {
  readonly kind: "AugAssign";
  readonly target: Expr;
  readonly op: string;
  readonly value: Expr;
}
/** `x: T`, which binds nothing. */
export interface AnnAssign extends Base {
  readonly kind: "AnnAssign";
  readonly target: Expr;
  readonly annotation: Expr;
}
export interface For extends Base {
  readonly kind: "For";
  readonly async: boolean;
  readonly target: Expr;
  readonly iter: Expr;
  readonly body: readonly Stmt[];
  readonly orelse: readonly Stmt[];
}
export interface While extends Base {
  readonly kind: "While";
  readonly test: Expr;
  readonly body: readonly Stmt[];
  readonly orelse: readonly Stmt[];
}
/** `elif` is an If alone in `orelse`. */
export interface If extends Base {
  readonly kind: "If";
  readonly test: Expr;
  readonly body: readonly Stmt[];
  readonly orelse: readonly Stmt[];
}
export interface WithItem extends Base {
  readonly kind: "WithItem";
  readonly context: Expr;
  readonly target: Expr | null;
}
export interface With extends Base {
  readonly kind: "With";
  readonly async: boolean;
  readonly items: readonly WithItem[];
  readonly body: readonly Stmt[];
}
export interface Raise extends Base {
  readonly kind: "Raise";
  readonly value: Expr | null;
  readonly cause: Expr | null;
}
export interface Handler extends Base {
  readonly kind: "Handler";
  readonly type: Expr | null;
  readonly name: string | null;
  readonly body: readonly Stmt[];
}
export interface Try extends Base {
  readonly kind: "Try";
  readonly body: readonly Stmt[];
  readonly handlers: readonly Handler[];
  readonly orelse: readonly Stmt[];
  readonly final: readonly Stmt[];
}
export interface Assert extends Base {
  readonly kind: "Assert";
  readonly test: Expr;
  readonly message: Expr | null;
}
export interface Alias extends Base {
  readonly kind: "Alias";
  readonly name: string;
  readonly as: string | null;
}
export interface Import extends Base {
  readonly kind: "Import";
  readonly names: readonly Alias[];
}
/** `names` holds one Alias "*" for a star import. */
export interface ImportFrom extends Base {
  readonly kind: "ImportFrom";
  readonly module: string;
  readonly level: number;
  readonly names: readonly Alias[];
}
export interface Global extends Base {
  readonly kind: "Global" | "Nonlocal";
  readonly names: readonly string[];
}
export interface ExprStmt extends Base {
  readonly kind: "ExprStmt";
  readonly value: Expr;
}
/** Error stands for a line that could not be parsed. */
export interface Simple extends Base {
  readonly kind: "Pass" | "Break" | "Continue" | "Error";
}
/** Patterns are kept as the names they bind and the value expressions they test. */
export interface Case extends Base {
  readonly kind: "Case";
  readonly binds: readonly Name[];
  readonly guard: Expr | null;
  readonly body: readonly Stmt[];
}
export interface Match extends Base {
  readonly kind: "Match";
  readonly subject: Expr;
  readonly cases: readonly Case[];
}
export interface TypeAlias extends Base {
  readonly kind: "TypeAlias";
  readonly name: Name;
  readonly value: Expr;
}

export type Stmt =
  | FunctionDef
  | ClassDef
  | Return
  | Delete
  | Assign
  | AugAssign
  | AnnAssign
  | For
  | While
  | If
  | With
  | Raise
  | Try
  | Assert
  | Import
  | ImportFrom
  | Global
  | ExprStmt
  | Simple
  | Match
  | TypeAlias;

export interface Module extends Base {
  readonly kind: "Module";
  readonly body: readonly Stmt[];
}

export type Node = Module | Stmt | Expr | Arg | Param | Clause | WithItem | Handler | Alias | Case;
export type NodeOf<K extends Node["kind"]> = Extract<Node, { kind: K }>;

export interface SyntaxDiagnostic {
  readonly offset: number;
  readonly message: string;
}
export interface Comment {
  readonly start: number;
  readonly end: number;
}
export interface Tree {
  readonly module: Module;
  readonly errors: readonly SyntaxDiagnostic[];
  readonly comments: readonly Comment[];
}
