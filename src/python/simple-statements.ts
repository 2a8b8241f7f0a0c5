import { ExpressionParser, nameNode } from "./expressions.ts";
import { DEDENT, EOF, NAME, NEWLINE, code, textOf } from "./tokens.ts";
import type { Alias, Stmt } from "./tree.ts";

const LPAR = code("("),
  RPAR = code(")"),
  LSQB = code("["),
  RSQB = code("]"),
  COMMA = code(","),
  COLON = code(":"),
  SEMI = code(";"),
  DOT = code("."),
  ELLIPSIS = code("..."),
  EQUAL = code("="),
  STAR = code("*"),
  WALRUS = code(":=");
const RETURN = code("return"),
  DEL = code("del"),
  RAISE = code("raise"),
  FROM = code("from"),
  IMPORT = code("import"),
  AS = code("as"),
  GLOBAL = code("global"),
  NONLOCAL = code("nonlocal"),
  PASS = code("pass"),
  BREAK = code("break"),
  CONTINUE = code("continue"),
  ASSERT = code("assert"),
  IN = code("in");
const FIRST_AUGMENTED = code("+="),
  LAST_AUGMENTED = code("**=");
const SIMPLE: Readonly<Record<number, "Pass" | "Break" | "Continue">> = {
  [PASS]: "Pass",
  [BREAK]: "Break",
  [CONTINUE]: "Continue",
};

/** Statements that stand on one line, several with semicolons between them. */
export class SimpleParser extends ExpressionParser {
  simpleLine(into: Stmt[]): void {
    do {
      if (this.kind === NEWLINE || this.kind === EOF) break;
      into.push(this.simple());
    } while (this.take(SEMI));
    if (this.kind === EOF || this.kind === DEDENT) return;
    if (!this.take(NEWLINE)) this.fail("expected the end of the line");
  }

  simple(): Stmt {
    const start = this.start;
    const k = this.kind;
    switch (k) {
      case PASS:
      case BREAK:
      case CONTINUE:
        this.next();
        return { kind: SIMPLE[k]!, start, end: this.last, parent: null };
      case RETURN: {
        this.next();
        const value = this.ends() ? null : this.expressionList();
        return { kind: "Return", start, end: this.last, parent: null, value };
      }
      case DEL: {
        this.next();
        const list = this.expressionList();
        return {
          kind: "Delete",
          start,
          end: this.last,
          parent: null,
          targets: list.kind === "Tuple" ? list.items : [list],
        };
      }
      case RAISE: {
        this.next();
        const value = this.ends() ? null : this.expression();
        const cause = this.take(FROM) ? this.expression() : null;
        return { kind: "Raise", start, end: this.last, parent: null, value, cause };
      }
      case ASSERT: {
        this.next();
        const test = this.expression();
        const message = this.take(COMMA) ? this.expression() : null;
        return { kind: "Assert", start, end: this.last, parent: null, test, message };
      }
      case IMPORT:
        return this.importStatement(start);
      case FROM:
        return this.importFrom(start);
      case GLOBAL:
      case NONLOCAL: {
        this.next();
        const names = [this.name()];
        while (this.take(COMMA)) names.push(this.name());
        return { kind: k === GLOBAL ? "Global" : "Nonlocal", start, end: this.last, parent: null, names };
      }
      default:
        return k === NAME && this.peek() === NAME && this.says("type")
          ? this.typeAlias(start)
          : this.expressionStatement(start);
    }
  }

  ends(): boolean {
    return this.kind === NEWLINE || this.kind === SEMI || this.kind === EOF;
  }

  typeAlias(start: number): Stmt {
    this.next();
    const at = this.start;
    const id = this.name();
    const name = nameNode(id, at, this.last);
    this.typeParams();
    this.expect(EQUAL);
    const value = this.expression();
    return { kind: "TypeAlias", start, end: this.last, parent: null, name, value };
  }

  expressionStatement(start: number): Stmt {
    const first = this.expressionList();
    if (this.kind === COLON) {
      this.next();
      const annotation = this.expression();
      if (!this.take(EQUAL))
        return { kind: "AnnAssign", start, end: this.last, parent: null, target: first, annotation };
      const value = this.expressionList();
      return { kind: "Assign", start, end: this.last, parent: null, targets: [first], value, annotation };
    }
    if (this.kind >= FIRST_AUGMENTED && this.kind <= LAST_AUGMENTED) {
      const op = textOf(this.kind).slice(0, -1);
      this.next();
      const value = this.expressionList();
      return { kind: "AugAssign", start, end: this.last, parent: null, target: first, op, value };
    }
    if (this.kind !== EQUAL) {
      if (this.kind === WALRUS || this.kind === IN) this.fail("expected the end of the line");
      return { kind: "ExprStmt", start, end: this.last, parent: null, value: first };
    }
    const targets = [first];
    let value = first;
    while (this.take(EQUAL)) {
      value = this.expressionList();
      targets.push(value);
    }
    targets.pop();
    return { kind: "Assign", start, end: this.last, parent: null, targets, value, annotation: null };
  }

  dotted(): string {
    let name = this.name();
    while (this.take(DOT)) name += `.${this.name()}`;
    return name;
  }

  importStatement(start: number): Stmt {
    this.next();
    const names: Alias[] = [];
    do {
      const at = this.start;
      const name = this.dotted();
      const as = this.take(AS) ? this.name() : null;
      names.push({ kind: "Alias", start: at, end: this.last, parent: null, name, as });
    } while (this.take(COMMA));
    return { kind: "Import", start, end: this.last, parent: null, names };
  }

  importFrom(start: number): Stmt {
    this.next();
    let level = 0;
    while (this.kind === DOT || this.kind === ELLIPSIS) {
      level += this.kind === DOT ? 1 : 3;
      this.next();
    }
    const module = this.kind === IMPORT ? "" : this.dotted();
    this.expect(IMPORT);
    const names: Alias[] = [];
    if (this.kind === STAR) {
      names.push({
        kind: "Alias",
        start: this.start,
        end: this.start + 1,
        parent: null,
        name: "*",
        as: null,
      });
      this.next();
    } else {
      const bracket = this.take(LPAR);
      do {
        if (bracket && this.kind === RPAR) break;
        const at = this.start;
        const name = this.name();
        const as = this.take(AS) ? this.name() : null;
        names.push({ kind: "Alias", start: at, end: this.last, parent: null, name, as });
      } while (this.take(COMMA));
      if (bracket) this.expect(RPAR);
    }
    return { kind: "ImportFrom", start, end: this.last, parent: null, module, level, names };
  }

  /** Skipped: nothing is asked about the parameters of a generic. */
  typeParams(): void {
    if (this.kind !== LSQB) return;
    let open = 0;
    do {
      if (this.kind === LSQB) open++;
      else if (this.kind === RSQB) open--;
      else if (this.kind === EOF || this.kind === NEWLINE) this.fail("expected ]");
      this.next();
    } while (open > 0);
  }
}
