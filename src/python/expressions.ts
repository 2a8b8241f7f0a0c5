import { Cursor, Unparsable } from "./cursor.ts";
import { stringValue } from "./literals.ts";
import { EOF, FSTRING, NAME, NEWLINE, NUMBER, STRING, code, textOf, tokenizeField } from "./tokens.ts";
import type { Arg, Clause, Expr, Name, Param } from "./tree.ts";

const LPAR = code("("),
  RPAR = code(")"),
  LSQB = code("["),
  RSQB = code("]"),
  LBRACE = code("{"),
  RBRACE = code("}");
const COMMA = code(","),
  COLON = code(":"),
  DOT = code("."),
  ELLIPSIS = code("..."),
  EQUAL = code("="),
  WALRUS = code(":="),
  SEMI = code(";");
const FIRST_AUGMENTED = code("+="),
  LAST_AUGMENTED = code("**=");
const STAR = code("*"),
  POWER = code("**"),
  PLUS = code("+"),
  MINUS = code("-"),
  TILDE = code("~"),
  SLASH = code("/");
const NOT = code("not"),
  AND = code("and"),
  OR = code("or"),
  IF = code("if"),
  ELSE = code("else"),
  IN = code("in"),
  IS = code("is");
const LAMBDA = code("lambda"),
  AWAIT = code("await"),
  YIELD = code("yield"),
  FROM = code("from"),
  FOR = code("for"),
  ASYNC = code("async");
const NONE = code("None"),
  TRUE = code("True"),
  FALSE = code("False");

/** How tightly each binary operator binds, by token kind; 0 is not one. */
const BINDING = new Uint8Array(256);
for (const [level, operators] of [
  ["|"],
  ["^"],
  ["&"],
  ["<<", ">>"],
  ["+", "-"],
  ["*", "/", "//", "%", "@"],
].entries())
  for (const operator of operators) BINDING[code(operator)] = level + 1;
const COMPARISON = new Uint8Array(256);
for (const operator of ["<", ">", "==", "!=", "<=", ">=", "in", "is"]) COMPARISON[code(operator)] = 1;
/** Whether an expression goes on after an operand. */
const CONTINUES = new Uint8Array(256);
for (let kind = 0; kind < 256; kind++) CONTINUES[kind] = BINDING[kind]! | COMPARISON[kind]!;
for (const kind of [NOT, AND, OR, IF]) CONTINUES[kind] = 1;
const CONSTANTS = new Map<number, null | boolean | "...">([
  [NONE, null],
  [TRUE, true],
  [FALSE, false],
  [ELLIPSIS, "..."],
]);

/** CPython refuses more than 200 nested brackets; the same bound keeps our own stack safe. */
const MAX_DEPTH = 200;
/** Of one chain, `a + b + …` or `a.b().c()…`, each link of which is nested in the next: CPython compiles 1,000 of them, not 3,000. */
const MAX_LINKS = 2000;

export function nameNode(id: string, start: number, end: number): Name {
  return {
    kind: "Name",
    start,
    end,
    parent: null,
    id,
    scope: null,
    binds: false,
    dotted: undefined,
    binding: undefined,
    reaching: undefined,
  };
}

/** Expressions by recursive descent; the one statement forms are read with. */
export class ExpressionParser extends Cursor {
  depth = 0;

  /** Comma-separated expressions: a tuple when there is a comma. Accepts stars, yields and walruses. */
  expressionList(): Expr {
    const start = this.start;
    const first = this.starOrNamed();
    if (this.kind !== COMMA) return first;
    const items = [first];
    while (this.take(COMMA)) {
      if (this.endsList()) break;
      items.push(this.starOrNamed());
    }
    return { kind: "Tuple", start, end: this.last, parent: null, items };
  }

  endsList(): boolean {
    const k = this.kind;
    return (
      k === NEWLINE ||
      k === EOF ||
      k === RPAR ||
      k === RSQB ||
      k === RBRACE ||
      k === EQUAL ||
      k === COLON ||
      k === IN ||
      k === FOR ||
      (k >= FIRST_AUGMENTED && k <= LAST_AUGMENTED) ||
      k === SEMI
    );
  }

  starOrNamed(): Expr {
    if (this.kind === STAR) {
      const start = this.start;
      this.next();
      const value = this.binary(1);
      return { kind: "Starred", start, end: this.last, parent: null, value };
    }
    if (this.kind === YIELD) return this.yieldExpression();
    return this.named();
  }

  yieldExpression(): Expr {
    const start = this.start;
    this.next();
    const from = this.take(FROM);
    const value =
      this.kind === NEWLINE ||
      this.kind === RPAR ||
      this.kind === EQUAL ||
      this.kind === EOF ||
      this.kind === SEMI ||
      this.kind === RBRACE
        ? null
        : from
          ? this.expression()
          : this.expressionList();
    return { kind: "Yield", start, end: this.last, parent: null, from, value };
  }

  named(): Expr {
    const { start } = this;
    const target = this.expression();
    if (this.kind !== WALRUS) return target;
    this.next();
    const value = this.expression();
    return { kind: "Walrus", start, end: this.last, parent: null, target, value };
  }

  expression(): Expr {
    if (++this.depth > MAX_DEPTH) this.fail("nested too deeply");
    const result = this.kind === LAMBDA ? this.lambda() : this.conditional();
    this.depth--;
    return result;
  }

  lambda(): Expr {
    const start = this.start;
    this.next();
    const params = this.params(COLON, false);
    this.expect(COLON);
    const body = this.expression();
    return { kind: "Lambda", start, end: this.last, parent: null, params, body };
  }

  conditional(): Expr {
    // Most expressions are one operand, and need not go down through all the operators.
    const { start } = this;
    const operand = this.kind === NOT ? null : this.unary();
    if (operand && CONTINUES[this.kind] === 0) return operand;
    const body = this.disjunction(start, operand);
    if (this.kind !== IF) return body;
    this.next();
    const test = this.disjunction();
    this.expect(ELSE);
    const orelse = this.expression();
    return { kind: "IfExp", start, end: this.last, parent: null, test, body, orelse };
  }

  /**
   * Here and below, `given`: the first operand, where it has been read already; `start`: where it began, its parenthesis included,
   * which belongs to the whole (`(a + b) * c`).
   */
  disjunction(start = this.start, given: Expr | null = null): Expr {
    const first = this.conjunction(start, given);
    if (this.kind !== OR) return first;
    const values = [first];
    while (this.take(OR)) values.push(this.conjunction());
    return { kind: "Bool", start, end: this.last, parent: null, op: "or", values };
  }

  conjunction(start = this.start, given: Expr | null = null): Expr {
    const first = this.negation(start, given);
    if (this.kind !== AND) return first;
    const values = [first];
    while (this.take(AND)) values.push(this.negation());
    return { kind: "Bool", start, end: this.last, parent: null, op: "and", values };
  }

  negation(start = this.start, given: Expr | null = null): Expr {
    if (given || this.kind !== NOT) return this.comparison(start, given);
    if (++this.depth > MAX_DEPTH) this.fail("nested too deeply");
    this.next();
    const operand = this.negation();
    this.depth--;
    return { kind: "Unary", start, end: this.last, parent: null, op: "not", operand };
  }

  comparison(start: number, given: Expr | null): Expr {
    const left = this.binary(1, start, given);
    if (COMPARISON[this.kind] !== 1 && !(this.kind === NOT && this.peek() === IN)) return left;
    const ops: string[] = [];
    const rights: Expr[] = [];
    for (;;) {
      if (this.kind === NOT && this.peek() === IN) {
        this.next();
        this.next();
        ops.push("not in");
      } else if (COMPARISON[this.kind] === 1) {
        const is = this.kind === IS;
        let op = textOf(this.kind);
        this.next();
        if (is && this.take(NOT)) op = "is not";
        ops.push(op);
      } else break;
      rights.push(this.binary(1));
    }
    return { kind: "Compare", start, end: this.last, parent: null, left, ops, rights };
  }

  binary(level: number, start = this.start, given: Expr | null = null): Expr {
    let left = given ?? this.unary();
    for (let links = 0; ; links++) {
      const binding = BINDING[this.kind]!;
      if (binding < level || binding === 0) return left;
      if (links > MAX_LINKS) this.fail("nested too deeply");
      const op = textOf(this.kind);
      this.next();
      const right = this.binary(binding + 1);
      left = { kind: "Binary", start, end: this.last, parent: null, op, left, right };
    }
  }

  unary(): Expr {
    const k = this.kind;
    if (k === MINUS || k === PLUS || k === TILDE) {
      const start = this.start;
      if (++this.depth > MAX_DEPTH) this.fail("nested too deeply");
      this.next();
      const operand = this.unary();
      this.depth--;
      return { kind: "Unary", start, end: this.last, parent: null, op: textOf(k), operand };
    }
    const { start } = this;
    let base: Expr;
    if (k === AWAIT) {
      this.next();
      const value = this.postfix(this.atom());
      base = { kind: "Await", start, end: this.last, parent: null, value };
    } else {
      base = this.postfix(this.atom());
    }
    if (this.kind !== POWER) return base;
    if (++this.depth > MAX_DEPTH) this.fail("nested too deeply");
    this.next();
    const right = this.unary();
    this.depth--;
    return { kind: "Binary", start, end: this.last, parent: null, op: "**", left: base, right };
  }

  postfix(base: Expr): Expr {
    let value = base;
    // A parenthesised atom starts at its own first character; what follows belongs to the bracket.
    const start = this.atomStart;
    for (let links = 0; ; links++) {
      if (links > MAX_LINKS) this.fail("nested too deeply");
      if (this.kind === DOT) {
        this.next();
        const attrStart = this.start;
        // Keywords are no attributes in Python 3, but half-typed code has them.
        const attr = this.name();
        value = {
          kind: "Attribute",
          start,
          end: this.last,
          parent: null,
          value,
          attr,
          attrStart,
          dotted: undefined,
        };
      } else if (this.kind === LPAR) {
        const open = this.start;
        const args = this.callArgs();
        value = {
          kind: "Call",
          start,
          end: this.last,
          parent: null,
          func: value,
          args,
          open,
          target: undefined,
        };
      } else if (this.kind === LSQB) {
        this.next();
        const index = this.subscriptIndex();
        this.expect(RSQB);
        value = { kind: "Subscript", start, end: this.last, parent: null, value, index };
      } else return value;
    }
  }

  callArgs(): Arg[] {
    this.expect(LPAR);
    const args: Arg[] = [];
    while (this.kind !== RPAR) {
      const start = this.start;
      if (this.kind === STAR || this.kind === POWER) {
        const star = this.kind === STAR ? 1 : 2;
        this.next();
        const value = this.expression();
        args.push({ kind: "Arg", start, end: this.last, parent: null, name: null, star, value });
      } else if (this.kind === NAME && this.peek() === EQUAL) {
        const name = this.name();
        this.next();
        const value = this.expression();
        args.push({ kind: "Arg", start, end: this.last, parent: null, name, star: 0, value });
      } else {
        let value = this.named();
        if (this.kind === FOR || this.kind === ASYNC) {
          const clauses = this.clauses();
          value = {
            kind: "Comp",
            start,
            end: this.last,
            parent: null,
            flavour: "generator",
            element: value,
            value: null,
            clauses,
          };
        }
        args.push({ kind: "Arg", start, end: this.last, parent: null, name: null, star: 0, value });
      }
      if (!this.take(COMMA)) break;
    }
    this.expect(RPAR);
    return args;
  }

  subscriptIndex(): Expr {
    const start = this.start;
    const first = this.subscriptItem();
    if (this.kind !== COMMA) return first;
    const items = [first];
    while (this.take(COMMA)) {
      if (this.kind === RSQB) break;
      items.push(this.subscriptItem());
    }
    return { kind: "Tuple", start, end: this.last, parent: null, items };
  }

  subscriptItem(): Expr {
    const start = this.start;
    const lower = this.kind === COLON ? null : this.starOrNamed();
    if (this.kind !== COLON) return lower!;
    this.next();
    const ends = (): boolean => this.kind === COLON || this.kind === COMMA || this.kind === RSQB;
    const upper = ends() ? null : this.expression();
    const step = this.take(COLON) && !ends() ? this.expression() : null;
    return { kind: "Slice", start, end: this.last, parent: null, lower, upper, step };
  }

  /** Where the last atom began, its parenthesis included. */
  atomStart = 0;

  atom(): Expr {
    const start = this.start;
    const k = this.kind;
    let result: Expr;
    if (k === NAME) {
      const id = this.word();
      this.next();
      result = nameNode(id, start, this.last);
    } else if (k === NUMBER) {
      const text = this.word();
      this.next();
      result = { kind: "Num", start, end: this.last, parent: null, text };
    } else if (k === STRING || k === FSTRING) {
      result = this.strings();
    } else if (CONSTANTS.has(k)) {
      this.next();
      result = { kind: "Const", start, end: this.last, parent: null, value: CONSTANTS.get(k)! };
    } else if (k === LPAR) {
      result = this.parenthesised();
    } else if (k === LSQB) {
      this.next();
      result = this.display(start, "List", "list", RSQB);
    } else if (k === LBRACE) {
      result = this.braces(start);
    } else {
      this.fail("expected an expression");
    }
    this.atomStart = start;
    return result;
  }

  parenthesised(): Expr {
    const start = this.start;
    if (++this.depth > MAX_DEPTH) this.fail("nested too deeply");
    this.next();
    if (this.take(RPAR)) {
      this.depth--;
      return { kind: "Tuple", start, end: this.last, parent: null, items: [] };
    }
    const first = this.starOrNamed();
    let result: Expr = first;
    if (this.kind === FOR || this.kind === ASYNC) {
      const clauses = this.clauses();
      this.expect(RPAR);
      result = {
        kind: "Comp",
        start,
        end: this.last,
        parent: null,
        flavour: "generator",
        element: first,
        value: null,
        clauses,
      };
    } else if (this.kind === COMMA) {
      const items = [first];
      while (this.take(COMMA)) {
        if (this.kind === RPAR) break;
        items.push(this.starOrNamed());
      }
      this.expect(RPAR);
      result = { kind: "Tuple", start, end: this.last, parent: null, items };
    } else {
      this.expect(RPAR);
    }
    this.depth--;
    return result;
  }

  display(start: number, kind: "List" | "Set", flavour: "list" | "set", close: number, given?: Expr): Expr {
    if (++this.depth > MAX_DEPTH) this.fail("nested too deeply");
    const items: Expr[] = [];
    if (given || this.kind !== close) {
      const first = given ?? this.starOrNamed();
      if (this.kind === FOR || this.kind === ASYNC) {
        const clauses = this.clauses();
        this.expect(close);
        this.depth--;
        return {
          kind: "Comp",
          start,
          end: this.last,
          parent: null,
          flavour,
          element: first,
          value: null,
          clauses,
        };
      }
      items.push(first);
      while (this.take(COMMA)) {
        if (this.kind === close) break;
        items.push(this.starOrNamed());
      }
    }
    this.expect(close);
    this.depth--;
    return { kind, start, end: this.last, parent: null, items };
  }

  braces(start: number): Expr {
    this.next();
    if (this.take(RBRACE)) return { kind: "Dict", start, end: this.last, parent: null, keys: [], values: [] };
    const keys: (Expr | null)[] = [];
    const values: Expr[] = [];
    while (this.kind !== RBRACE) {
      if (this.take(POWER)) {
        keys.push(null);
        values.push(this.binary(1));
      } else {
        const key = this.starOrNamed();
        if (keys.length === 0 && this.kind !== COLON) return this.display(start, "Set", "set", RBRACE, key);
        this.expect(COLON);
        const value = this.expression();
        if (keys.length === 0 && (this.kind === FOR || this.kind === ASYNC)) {
          const clauses = this.clauses();
          this.expect(RBRACE);
          return {
            kind: "Comp",
            start,
            end: this.last,
            parent: null,
            flavour: "dict",
            element: key,
            value,
            clauses,
          };
        }
        keys.push(key);
        values.push(value);
      }
      if (!this.take(COMMA)) break;
    }
    this.expect(RBRACE);
    return { kind: "Dict", start, end: this.last, parent: null, keys, values };
  }

  clauses(): Clause[] {
    const clauses: Clause[] = [];
    while (this.kind === FOR || this.kind === ASYNC) {
      const start = this.start;
      this.take(ASYNC);
      this.expect(FOR);
      const target = this.targets();
      this.expect(IN);
      const iter = this.disjunction();
      const tests: Expr[] = [];
      while (this.take(IF)) tests.push(this.conditionNoElse());
      clauses.push({ kind: "Clause", start, end: this.last, parent: null, target, iter, tests });
    }
    return clauses;
  }

  conditionNoElse(): Expr {
    const { start } = this;
    const test = this.kind === LAMBDA ? this.lambda() : this.disjunction();
    if (this.kind !== WALRUS) return test;
    this.next();
    const value = this.disjunction();
    return { kind: "Walrus", start, end: this.last, parent: null, target: test, value };
  }

  /** The target list of `for`: stops at `in`, which a comparison would swallow. */
  targets(): Expr {
    const start = this.start;
    const one = (): Expr => {
      const from = this.start;
      if (this.take(STAR)) {
        const value = this.postfix(this.atom());
        return { kind: "Starred", start: from, end: this.last, parent: null, value };
      }
      return this.postfix(this.atom());
    };
    const first = one();
    if (this.kind !== COMMA) return first;
    const items = [first];
    while (this.take(COMMA)) {
      if (this.kind === IN || this.kind === EQUAL) break;
      items.push(one());
    }
    return { kind: "Tuple", start, end: this.last, parent: null, items };
  }

  strings(): Expr {
    const start = this.start;
    let value: string | null = "";
    let bytes = false;
    const parts: Expr[] = [];
    while (this.kind === STRING || this.kind === FSTRING) {
      if (this.kind === STRING) {
        const one = stringValue(this.word());
        if (one === null) bytes = true;
        value = one === null || value === null ? null : value + one;
      } else {
        value = null;
        this.fields(parts);
      }
      this.next();
    }
    return { kind: "Str", start, end: this.last, parent: null, value, bytes, parts };
  }

  fields(parts: Expr[]): void {
    const ranges = this.tokens.fields.get(this.at) ?? [];
    const outer = this.tokens;
    const at = this.at;
    for (let n = 0; n < ranges.length; n += 2) {
      this.read(tokenizeField(this.text, ranges[n]!, ranges[n + 1]!), 0);
      try {
        if (this.kind !== EOF) parts.push(this.expressionList());
      } catch (problem) {
        if (!(problem instanceof Unparsable)) throw problem;
        outer.errors.push({ offset: problem.offset, message: problem.message });
      }
      for (const error of this.tokens.errors) outer.errors.push(error);
    }
    this.read(outer, at);
  }

  params(close: number, annotated: boolean): Param[] {
    const params: Param[] = [];
    while (this.kind !== close) {
      const start = this.start;
      let star: 0 | 1 | 2 = 0;
      if (this.take(SLASH)) {
        if (!this.take(COMMA)) break;
        continue;
      }
      if (this.take(STAR)) {
        if (this.take(COMMA)) continue;
        star = 1;
      } else if (this.take(POWER)) star = 2;
      const name = this.name();
      const annotation = annotated && this.take(COLON) ? this.starOrNamed() : null;
      const fallback = this.take(EQUAL) ? this.expression() : null;
      params.push({
        kind: "Param",
        start,
        end: this.last,
        parent: null,
        name,
        star,
        annotation,
        default: fallback,
      });
      if (!this.take(COMMA)) break;
    }
    return params;
  }
}
