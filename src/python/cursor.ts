import { DEDENT, EOF, INDENT, NAME, NEWLINE, textOf } from "./tokens.ts";
import type { Tokens } from "./tokens.ts";

/** Thrown by the parser to leave the statement it is in; never leaves src/python. */
export class Unparsable extends Error {
  readonly offset: number;
  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/** Walks a file's tokens: what every part of the parser looks at. */
export class Cursor {
  readonly text: string;
  tokens: Tokens;
  at = 0;
  /** Kind of the current token. */
  kind: number;

  constructor(text: string, tokens: Tokens) {
    this.text = text;
    this.tokens = tokens;
    this.kind = tokens.kinds[0]!;
  }

  get start(): number {
    return this.tokens.starts[this.at]!;
  }
  /** End of the token before the current one. */
  get last(): number {
    return this.at === 0 ? 0 : this.tokens.ends[this.at - 1]!;
  }
  next(): void {
    if (this.at < this.tokens.count - 1) this.at++;
    this.kind = this.tokens.kinds[this.at]!;
  }
  peek(): number {
    return this.tokens.kinds[Math.min(this.at + 1, this.tokens.count - 1)]!;
  }
  take(kind: number): boolean {
    if (this.kind !== kind) return false;
    this.next();
    return true;
  }
  expect(kind: number): void {
    if (!this.take(kind)) this.fail(`expected "${textOf(kind)}"`);
  }
  word(): string {
    return this.text.slice(this.tokens.starts[this.at], this.tokens.ends[this.at]);
  }
  name(): string {
    if (this.kind !== NAME) this.fail("expected a name");
    const word = this.word();
    this.next();
    return word;
  }
  fail(message: string): never {
    const found =
      this.kind === EOF
        ? "end of file"
        : this.kind === NEWLINE
          ? "end of line"
          : this.kind === INDENT || this.kind === DEDENT
            ? "indentation"
            : JSON.stringify(this.word().slice(0, 20));
    throw new Unparsable(this.start, `invalid syntax: ${message}, found ${found}`);
  }
}
