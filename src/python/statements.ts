import { Unparsable } from "./cursor.ts";
import { nameNode } from "./expressions.ts";
import { SimpleParser } from "./simple-statements.ts";
import { DEDENT, EOF, INDENT, NAME, NEWLINE, code, textOf, tokenize } from "./tokens.ts";
import type { Tokens } from "./tokens.ts";
import type { Arg, Case, Expr, Handler, Name, Stmt, SyntaxDiagnostic, Tree, WithItem } from "./tree.ts";

const LPAR = code("("),
  RPAR = code(")"),
  COMMA = code(","),
  COLON = code(":"),
  DOT = code("."),
  EQUAL = code("="),
  STAR = code("*"),
  AT = code("@"),
  ARROW = code("->"),
  FIRST_AUGMENTED = code("+="),
  LAST_AUGMENTED = code("**=");
const DEF = code("def"),
  CLASS = code("class"),
  IF = code("if"),
  ELIF = code("elif"),
  ELSE = code("else"),
  FOR = code("for"),
  WHILE = code("while");
const WITH = code("with"),
  TRY = code("try"),
  EXCEPT = code("except"),
  FINALLY = code("finally"),
  AS = code("as"),
  ASYNC = code("async"),
  IN = code("in");
const BLOCK_ONLY = new Set([ELIF, ELSE, EXCEPT, FINALLY]);

type Cells = readonly { readonly start: number; readonly end: number }[];

/** CPython allows 100 levels of indentation. */
const MAX_BLOCKS = 100;
/** And about as many branches as this. */
const MAX_BRANCHES = 1000;

class Parser extends SimpleParser {
  blocks = 0;
  /** Without the bodies of functions, but of constructors. */
  readonly #outline: boolean;

  constructor(text: string, tokens: Tokens, outline: boolean) {
    super(text, tokens);
    this.#outline = outline;
  }

  readonly errors: SyntaxDiagnostic[] = [];

  file(): Stmt[] {
    const body: Stmt[] = [];
    for (;;) {
      while (this.kind !== EOF) {
        if (this.kind === NEWLINE || this.kind === INDENT || this.kind === DEDENT) this.next();
        else this.statement(body);
      }
      // Of a notebook each cell ends so.
      if (this.at + 1 >= this.tokens.count) return body;
      this.read(this.tokens, this.at + 1);
    }
  }

  statement(into: Stmt[]): void {
    const start = this.start;
    const at = this.at;
    const blocks = this.blocks;
    try {
      if (!this.compound(into)) this.simpleLine(into);
    } catch (problem) {
      if (!(problem instanceof Unparsable)) throw problem;
      this.errors.push({ offset: problem.offset, message: problem.message });
      this.depth = 0;
      this.blocks = blocks;
      this.skipLine(at);
      into.push({ kind: "Error", start, end: this.last, parent: null });
      // The block under a broken header still holds statements worth reading.
      if (this.kind === INDENT && this.blocks < MAX_BLOCKS) {
        this.next();
        this.blocks++;
        this.rest(into);
        this.blocks--;
      }
    }
  }

  skipLine(from: number): void {
    if (this.at === from) this.next();
    while (this.kind !== NEWLINE && this.kind !== EOF && this.kind !== DEDENT && this.kind !== INDENT)
      this.next();
    if (this.kind === NEWLINE) this.next();
  }

  /** Statements up to the dedent that closes this block. */
  rest(into: Stmt[]): void {
    while (this.kind !== DEDENT && this.kind !== EOF) {
      if (this.kind === NEWLINE || this.kind === INDENT) this.next();
      else this.statement(into);
    }
    this.take(DEDENT);
  }

  /** Never empty: where the statements are missing, an `Error` stands for them. */
  block(): Stmt[] {
    const body: Stmt[] = [];
    this.expect(COLON);
    if (this.kind !== NEWLINE) {
      this.simpleLine(body);
      return body.length > 0 ? body : this.missing();
    }
    this.next();
    if (this.kind !== INDENT) return this.missing();
    if (++this.blocks > MAX_BLOCKS) this.fail("nested too deeply");
    this.next();
    this.rest(body);
    this.blocks--;
    return body.length > 0 ? body : this.missing();
  }

  /** What stands for a block that nobody asks for; null where it is no block. */
  passedOver(): Stmt[] | null {
    if (this.kind !== COLON || this.peek() !== NEWLINE) return null;
    const start = this.start;
    this.next();
    this.next();
    if (!this.take(INDENT)) return this.missing();
    for (let depth = 1; depth > 0 && this.kind !== EOF; this.next())
      if (this.kind === INDENT) depth++;
      else if (this.kind === DEDENT) depth--;
    return [{ kind: "Pass", start, end: this.last, parent: null }];
  }

  missing(): Stmt[] {
    this.errors.push({ offset: this.start, message: "expected an indented block" });
    return [{ kind: "Error", start: this.last, end: this.last, parent: null }];
  }

  end(body: readonly Stmt[]): number {
    const last = body[body.length - 1];
    return last ? last.end : this.last;
  }

  compound(into: Stmt[]): boolean {
    const start = this.start;
    switch (this.kind) {
      case DEF:
        into.push(this.functionDef(start, [], false));
        return true;
      case CLASS:
        into.push(this.classDef(start, []));
        return true;
      case AT:
        into.push(this.decorated(start));
        return true;
      case IF:
        this.next();
        into.push(this.ifRest(start));
        return true;
      case FOR:
        into.push(this.forLoop(start, false));
        return true;
      case WHILE: {
        this.next();
        const test = this.named();
        const body = this.block();
        const orelse = this.elseBlock();
        into.push({
          kind: "While",
          start,
          end: this.end(orelse.length ? orelse : body),
          parent: null,
          test,
          body,
          orelse,
        });
        return true;
      }
      case WITH:
        into.push(this.withBlock(start, false));
        return true;
      case TRY:
        into.push(this.tryBlock(start));
        return true;
      case ASYNC: {
        const next = this.peek();
        this.next();
        if (next === DEF) into.push(this.functionDef(start, [], true));
        else if (next === FOR) into.push(this.forLoop(start, true));
        else if (next === WITH) into.push(this.withBlock(start, true));
        else this.fail("expected def, for or with after async");
        return true;
      }
      case NAME:
        return this.says("match") && this.matchBlock(start, into);
      default:
        if (BLOCK_ONLY.has(this.kind)) this.fail("no block to continue");
        return false;
    }
  }

  decorated(start: number): Stmt {
    const decorators: Expr[] = [];
    while (this.take(AT)) {
      decorators.push(this.named());
      if (!this.take(NEWLINE)) this.fail("expected the end of the decorator");
    }
    if (this.kind === CLASS) return this.classDef(start, decorators);
    const async = this.take(ASYNC);
    return this.functionDef(start, decorators, async);
  }

  functionDef(start: number, decorators: Expr[], async: boolean): Stmt {
    const defStart = this.tokens.starts[async ? this.at - 1 : this.at]!;
    this.expect(DEF);
    const nameStart = this.start;
    const name = this.name();
    this.typeParams();
    this.expect(LPAR);
    const params = this.params(RPAR, true);
    this.expect(RPAR);
    const returns = this.take(ARROW) ? this.expressionList() : null;
    const body = (this.#outline && name !== "__init__" && this.passedOver()) || this.block();
    return {
      kind: "FunctionDef",
      start,
      end: this.end(body),
      parent: null,
      name,
      nameStart,
      async,
      params,
      returns,
      decorators,
      body,
      defStart,
    };
  }

  classDef(start: number, decorators: Expr[]): Stmt {
    this.expect(CLASS);
    const nameStart = this.start;
    const name = this.name();
    this.typeParams();
    const args: Arg[] = this.kind === LPAR ? this.callArgs() : [];
    const body = this.block();
    return {
      kind: "ClassDef",
      start,
      end: this.end(body),
      parent: null,
      name,
      nameStart,
      args,
      decorators,
      body,
    };
  }

  /** One `elif` after the other; in the tree each stands in the `else` of the one before. */
  ifRest(start: number): Stmt {
    const branches = [{ start, test: this.named(), body: this.block() }];
    while (this.kind === ELIF) {
      if (branches.length > MAX_BRANCHES) this.fail("nested too deeply");
      const at = this.start;
      this.next();
      branches.push({ start: at, test: this.named(), body: this.block() });
    }
    let orelse = this.elseBlock();
    for (const branch of branches.reverse()) {
      const end = this.end(orelse.length ? orelse : branch.body);
      orelse = [{ kind: "If", end, parent: null, ...branch, orelse }];
    }
    return orelse[0]!;
  }

  elseBlock(): Stmt[] {
    return this.take(ELSE) ? this.block() : [];
  }

  forLoop(start: number, async: boolean): Stmt {
    this.expect(FOR);
    const target = this.targets();
    this.expect(IN);
    const iter = this.expressionList();
    const body = this.block();
    const orelse = this.elseBlock();
    return {
      kind: "For",
      start,
      end: this.end(orelse.length ? orelse : body),
      parent: null,
      async,
      target,
      iter,
      body,
      orelse,
    };
  }

  withBlock(start: number, async: boolean): Stmt {
    this.expect(WITH);
    const items =
      this.kind === LPAR ? (this.parenthesisedItems() ?? this.withItems(COLON)) : this.withItems(COLON);
    const body = this.block();
    return { kind: "With", start, end: this.end(body), parent: null, async, items, body };
  }

  withItems(close: number): WithItem[] {
    const items: WithItem[] = [];
    while (this.kind !== close) {
      const start = this.start;
      const context = this.starOrNamed();
      const target = this.take(AS) ? this.targets1() : null;
      items.push({ kind: "WithItem", start, end: this.last, parent: null, context, target });
      if (!this.take(COMMA)) break;
    }
    return items;
  }

  targets1(): Expr {
    return this.postfix(this.atom());
  }

  /** `with (a as b, c as d):`. The bracket may also belong to an expression; then nothing is consumed and null comes back. */
  parenthesisedItems(): WithItem[] | null {
    const at = this.at;
    const depth = this.depth;
    try {
      this.next();
      const items = this.withItems(RPAR);
      if (this.take(RPAR) && this.kind === COLON && items.length > 0) return items;
    } catch (problem) {
      if (!(problem instanceof Unparsable)) throw problem;
    }
    this.depth = depth;
    this.at = at;
    this.kind = this.tokens.kinds[at]!;
    return null;
  }

  tryBlock(start: number): Stmt {
    this.next();
    const body = this.block();
    const handlers: Handler[] = [];
    while (this.kind === EXCEPT) {
      const at = this.start;
      this.next();
      this.take(STAR);
      const type = this.kind === COLON ? null : this.expressionList();
      const name = this.take(AS) ? this.name() : null;
      const inner = this.block();
      handlers.push({
        kind: "Handler",
        start: at,
        end: this.end(inner),
        parent: null,
        type,
        name,
        body: inner,
      });
    }
    const orelse = this.elseBlock();
    const final = this.take(FINALLY) ? this.block() : [];
    if (handlers.length === 0 && final.length === 0) this.fail("expected except or finally");
    const last = final.length ? final : orelse.length ? orelse : (handlers.at(-1)?.body ?? body);
    return { kind: "Try", start, end: this.end(last), parent: null, body, handlers, orelse, final };
  }

  /** `match` is a keyword only when a subject, a colon and an indented `case` follow. */
  matchBlock(start: number, into: Stmt[]): boolean {
    const next = this.peek();
    if (
      next === EQUAL ||
      next === DOT ||
      next === COMMA ||
      next === NEWLINE ||
      next === COLON ||
      next === RPAR ||
      (next >= FIRST_AUGMENTED && next <= LAST_AUGMENTED)
    )
      return false;
    const at = this.at;
    const depth = this.depth;
    const rewind = (): false => {
      this.at = at;
      this.depth = depth;
      this.kind = this.tokens.kinds[at]!;
      return false;
    };
    this.next();
    let subject: Expr;
    try {
      subject = this.expressionList();
    } catch (problem) {
      if (!(problem instanceof Unparsable)) throw problem;
      return rewind();
    }
    if (this.kind !== COLON || this.peek() !== NEWLINE) return rewind();
    this.next();
    this.next();
    if (this.kind !== INDENT) return rewind();
    this.next();
    if (this.kind !== NAME || !this.says("case")) return rewind();
    const cases: Case[] = [];
    while (this.kind === NAME && this.says("case")) {
      const from = this.start;
      this.next();
      const binds = this.pattern();
      const guard = this.take(IF) ? this.named() : null;
      const body = this.block();
      cases.push({ kind: "Case", start: from, end: this.end(body), parent: null, binds, guard, body });
    }
    if (!this.take(DEDENT) && this.kind !== EOF) this.fail("expected case");
    into.push({ kind: "Match", start, end: this.last, parent: null, subject, cases });
    return true;
  }

  /** Skims a pattern up to its guard or colon, keeping the bare names, which are what it binds. */
  pattern(): Name[] {
    const binds: Name[] = [];
    let open = 0;
    while (open > 0 || (this.kind !== COLON && this.kind !== IF)) {
      const k = this.kind;
      if (k === NEWLINE || k === EOF) this.fail("expected :");
      const text = textOf(k);
      if (text === "(" || text === "[" || text === "{") open++;
      else if (text === ")" || text === "]" || text === "}") open--;
      else if (k === NAME) {
        const before = this.at > 0 ? this.tokens.kinds[this.at - 1] : 0;
        const after = this.peek();
        if (before !== DOT && after !== DOT && after !== LPAR && after !== EQUAL)
          binds.push(nameNode(this.word(), this.start, this.tokens.ends[this.at]!));
      }
      this.next();
    }
    return binds;
  }
}

/** Never throws on bad input: what cannot be parsed becomes an Error statement and a diagnostic. */
/** `outline`: of functions only what stands before their bodies, but for constructors. `cells`: nothing goes on from one to the next. */
export function parse(text: string, outline = false, cells: Cells | null = null): Tree {
  const tokens = tokenize(text, cells);
  const parser = new Parser(text, tokens, outline);
  const body = parser.file();
  const errors = [...tokens.errors, ...parser.errors].sort((a, b) => a.offset - b.offset);
  return {
    module: { kind: "Module", start: 0, end: text.length, parent: null, body },
    errors,
    comments: tokens.comments,
  };
}
