import { DEDENT, EOF, INDENT, NAME, NEWLINE, stands, textOf } from "./tokens.ts";
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
  /** The columns of the tokens: looked at for each of them, several times. */
  #kinds: Uint8Array;
  #starts: Int32Array;
  #ends: Int32Array;
  at = 0;
  /** Kind of the current token. */
  kind: number;

  constructor(text: string, tokens: Tokens) {
    this.text = text;
    this.tokens = tokens;
    this.#kinds = tokens.kinds;
    this.#starts = tokens.starts;
    this.#ends = tokens.ends;
    this.kind = tokens.kinds[0]!;
  }

  /** From here on of these tokens. */
  read(tokens: Tokens, at: number): void {
    this.tokens = tokens;
    this.#kinds = tokens.kinds;
    this.#starts = tokens.starts;
    this.#ends = tokens.ends;
    this.at = at;
    this.kind = tokens.kinds[at]!;
  }
  get start(): number {
    return this.#starts[this.at]!;
  }
  /** End of the token before the current one. */
  get last(): number {
    return this.at === 0 ? 0 : this.#ends[this.at - 1]!;
  }
  /** The last token ends the file: there it stays. */
  next(): void {
    if (this.kind !== EOF) this.kind = this.#kinds[++this.at]!;
  }
  peek(): number {
    return this.kind === EOF ? EOF : this.#kinds[this.at + 1]!;
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
    return this.text.slice(this.#starts[this.at], this.#ends[this.at]);
  }
  /** Whether that is this word. */
  says(word: string): boolean {
    const start = this.#starts[this.at]!;
    return this.#ends[this.at]! - start === word.length && stands(word, this.text, start);
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
