import type { Comment, SyntaxDiagnostic } from "./tree.ts";

// Up to `DEDENT` they stand between lines.
export const EOF: number = 0;
export const NEWLINE: number = 1;
export const INDENT: number = 2;
export const DEDENT: number = 3;
export const NAME: number = 4;
export const NUMBER: number = 5;
export const STRING: number = 6;
export const FSTRING: number = 7;
const UNKNOWN: number = 8;
const FIRST_TEXT = 9;

const OPERATORS = [
  "(",
  ")",
  "[",
  "]",
  "{",
  "}",
  ",",
  ":",
  ";",
  ".",
  "...",
  "->",
  "=",
  ":=",
  "@",
  "+",
  "-",
  "*",
  "/",
  "//",
  "%",
  "**",
  "&",
  "|",
  "^",
  "~",
  "<<",
  ">>",
  "<",
  ">",
  "==",
  "!=",
  "<=",
  ">=",
  "+=",
  "-=",
  "*=",
  "/=",
  "//=",
  "%=",
  "@=",
  "&=",
  "|=",
  "^=",
  "<<=",
  ">>=",
  "**=",
  "!",
  "`",
  "$",
  "?",
];
const KEYWORDS = [
  "False",
  "None",
  "True",
  "and",
  "as",
  "assert",
  "async",
  "await",
  "break",
  "class",
  "continue",
  "def",
  "del",
  "elif",
  "else",
  "except",
  "finally",
  "for",
  "from",
  "global",
  "if",
  "import",
  "in",
  "is",
  "lambda",
  "nonlocal",
  "not",
  "or",
  "pass",
  "raise",
  "return",
  "try",
  "while",
  "with",
  "yield",
];
const TEXTS = [...OPERATORS, ...KEYWORDS];
const CODES = new Map(TEXTS.map((text, at) => [text, at + FIRST_TEXT]));
/** The factors give each keyword a slot of its own: found by trying. */
const keywordSlot = (first: number, last: number, length: number): number =>
  (first + 11 * last + length) & 127;
const KEYWORD_TABLE: (string | undefined)[] = Array.from({ length: 128 });
const KEYWORD_CODES = new Uint8Array(128);
for (const keyword of KEYWORDS) {
  const slot = keywordSlot(keyword.charCodeAt(0), keyword.charCodeAt(keyword.length - 1), keyword.length);
  KEYWORD_TABLE[slot] = keyword;
  KEYWORD_CODES[slot] = CODES.get(keyword)!;
}
/** As `text.startsWith(keyword, start)`, which takes longer than all the rest of a word. */
export function stands(keyword: string, text: string, start: number): boolean {
  for (let at = 0; at < keyword.length; at++)
    if (text.charCodeAt(start + at) !== keyword.charCodeAt(at)) return false;
  return true;
}
/** The kinds of operators by the code of their first character: alone, twice, and each with `=` after it. */
const SINGLE = new Uint8Array(128);
const DOUBLED = new Uint8Array(128);
const ASSIGNED = new Uint8Array(128);
const DOUBLED_ASSIGNED = new Uint8Array(128);
for (const text of OPERATORS) {
  const first = text[0]!;
  for (const [table, like] of [
    [SINGLE, first],
    [DOUBLED, first + first],
    [ASSIGNED, `${first}=`],
    [DOUBLED_ASSIGNED, `${first}${first}=`],
  ] as const)
    if (text === like && !(table === DOUBLED && first === "=")) table[first.charCodeAt(0)] = CODES.get(text)!;
}

/** The kind of the token that is exactly this operator or keyword. */
export function code(text: string): number {
  return CODES.get(text)!;
}
export function textOf(kind: number): string {
  return TEXTS[kind - FIRST_TEXT] ?? "";
}

/** Columns, one entry a token. */
export interface Tokens {
  kinds: Uint8Array;
  starts: Int32Array;
  ends: Int32Array;
  count: number;
  readonly comments: Comment[];
  readonly errors: SyntaxDiagnostic[];
  /** For each FSTRING token's index: start and end of each replacement field's expression, flat. */
  readonly fields: Map<number, number[]>;
}

/** By code of a character; beyond ASCII all count. */
const IDENTIFIER = new Uint8Array(65_536).fill(1, 128);
for (let c = 0; c < 128; c++) if (/[A-Za-z0-9_]/.test(String.fromCharCode(c))) IDENTIFIER[c] = 1;
const ARROW = CODES.get("->")!;
const ELLIPSIS = CODES.get("...")!;
const isIdentifier = (c: number): boolean => IDENTIFIER[c] === 1;
/** What a token may be that begins with this character; 0 is an operator. */
const SPACE = 1,
  LINE_END = 2,
  WORD = 3,
  QUOTE = 4,
  DIGIT = 5,
  POINT = 6,
  HASH = 7,
  BACKSLASH = 8;
const BEGINS = IDENTIFIER.map((isWord) => (isWord === 1 ? WORD : 0));
for (const [kind, characters] of [
  [SPACE, " \t\f"],
  [LINE_END, "\n\r"],
  [QUOTE, "\"'"],
  [DIGIT, "0123456789"],
  [POINT, "."],
  [HASH, "#"],
  [BACKSLASH, "\\"],
] as const)
  for (const character of characters) BEGINS[character.charCodeAt(0)] = kind;
const STRING_PREFIX = /^(?:[rbuft]|[bft]r|r[bft])$/i;
/** A line that starts so cannot continue a bracket: an unclosed bracket above it ends there. */
const RESTART = /(?:def|class|return|import|while|try|raise|with|del|assert)\b/y;
const NUMBER_TEXT =
  /0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9_]+)?[jJ]?/y;

/** The codes of the characters of a text, with zeros after it: to look at a string for each of them takes several times as long. */
let codes = new Uint16Array(0);
let codesOf = "";
const ZEROS = 4;

function readCodes(text: string): void {
  const { length } = text;
  if (codes.length < length + ZEROS) codes = new Uint16Array(length * 2 + ZEROS);
  // In one go; a browser, which reads single recipes, goes through them.
  if (typeof Buffer === "undefined") for (let at = 0; at < text.length; at++) codes[at] = text.charCodeAt(at);
  else Buffer.from(codes.buffer).write(text, "utf16le");
  codes.fill(0, length, length + ZEROS);
  codesOf = text;
}

/** The columns of whole files: nobody keeps tokens beyond the parse, so the next file writes over them. */
let scratch = { kinds: new Uint8Array(0), starts: new Int32Array(0), ends: new Int32Array(0) };

class Tokenizer {
  readonly text: string;
  readonly out: Tokens;
  /** Depth of open brackets: line ends inside them are nothing. */
  depth: number;
  /** The next backslash, as far as it has been looked for. */
  backslash = -1;
  readonly returns: boolean;

  constructor(text: string, from: number, to: number, bracketed: boolean) {
    this.text = text;
    // A field of a format string has no comments.
    this.returns = bracketed || text.includes("\r");
    if (codesOf !== text) readCodes(text);
    const guess = Math.max(16, (to - from) >> 1);
    if (!bracketed && scratch.kinds.length < guess)
      scratch = {
        kinds: new Uint8Array(guess),
        starts: new Int32Array(guess),
        ends: new Int32Array(guess),
      };
    this.out = {
      kinds: bracketed ? new Uint8Array(guess) : scratch.kinds,
      starts: bracketed ? new Int32Array(guess) : scratch.starts,
      ends: bracketed ? new Int32Array(guess) : scratch.ends,
      count: 0,
      comments: [],
      errors: [],
      fields: new Map(),
    };
    this.depth = bracketed ? 1 : 0;
  }

  push(kind: number, start: number, end: number): void {
    const out = this.out;
    const at = out.count++;
    if (at === out.kinds.length) this.grow();
    out.kinds[at] = kind;
    out.starts[at] = start;
    out.ends[at] = end;
  }

  grow(): void {
    const out = this.out;
    const size = out.kinds.length * 2;
    const kinds = new Uint8Array(size);
    const starts = new Int32Array(size);
    const ends = new Int32Array(size);
    kinds.set(out.kinds);
    starts.set(out.starts);
    ends.set(out.ends);
    out.kinds = kinds;
    out.starts = starts;
    out.ends = ends;
  }

  error(offset: number, message: string): void {
    this.out.errors.push({ offset, message });
  }

  run(from: number, to: number, bracketed: boolean): Tokens {
    const { text, out } = this;
    const all = codes;
    const indents = [0];
    let at = from;
    let lineStart = !bracketed;
    while (at < to) {
      if (lineStart) {
        lineStart = false;
        let column = 0;
        let c = 0;
        for (; at < to; at++) {
          c = all[at]!;
          if (c === 32) column++;
          else if (c === 9) column = (column | 7) + 1;
          else if (c === 12) column = 0;
          else break;
        }
        if (at >= to) break;
        // A line with nothing but a comment or a continuation changes no indentation.
        if (c !== 10 && c !== 13 && c !== 35 && c !== 92) {
          let top = indents[indents.length - 1]!;
          if (column > top) {
            indents.push(column);
            this.push(INDENT, at, at);
          } else if (column < top) {
            while (column < top) {
              indents.pop();
              top = indents[indents.length - 1]!;
              this.push(DEDENT, at, at);
            }
            if (column !== top) this.error(at, "unindent does not match any outer indentation level");
          }
        }
      }
      const c = all[at]!;
      switch (BEGINS[c]) {
        case SPACE:
          at++;
          break;
        case WORD: {
          const start = at++;
          while (at < to && IDENTIFIER[all[at]!] === 1) at++;
          at = this.word(start, at, to);
          break;
        }
        case LINE_END: {
          const next = c === 13 && all[at + 1] === 10 ? at + 2 : at + 1;
          if (this.depth === 0) {
            const last = out.count > 0 ? out.kinds[out.count - 1]! : NEWLINE;
            if (last > DEDENT) this.push(NEWLINE, at, next);
            lineStart = true;
          } else if (!bracketed) {
            let probe = next;
            while (all[probe] === 32 || all[probe] === 9) probe++;
            RESTART.lastIndex = probe;
            if (RESTART.test(text)) {
              this.error(at, "a bracket was never closed");
              this.depth = 0;
              this.push(NEWLINE, at, next);
              lineStart = true;
            }
          }
          at = next;
          break;
        }
        case HASH: {
          const start = at;
          at = this.lineEnd(at, to);
          out.comments.push({ start, end: at });
          break;
        }
        case BACKSLASH: {
          const next = all[at + 1];
          if (next === 10) at += 2;
          else if (next === 13) at += all[at + 2] === 10 ? 3 : 2;
          else {
            this.push(UNKNOWN, at, at + 1);
            at++;
          }
          break;
        }
        case QUOTE:
          at = this.string(at, at, to);
          break;
        case POINT:
          at = BEGINS[all[at + 1]!] === DIGIT ? this.number(at, to) : this.operator(at, c);
          break;
        case DIGIT:
          at = this.number(at, to);
          break;
        default:
          at = this.operator(at, c);
      }
    }
    const last = out.count > 0 ? out.kinds[out.count - 1]! : NEWLINE;
    if (!bracketed && this.depth > 0) this.error(to, "a bracket was never closed");
    if (!bracketed && last > DEDENT) this.push(NEWLINE, to, to);
    for (let at = indents.length; at > 1; at--) this.push(DEDENT, to, to);
    this.push(EOF, to, to);
    return out;
  }

  /** A name, a keyword, or a string that this is the prefix of; returns the offset after it. */
  word(start: number, at: number, to: number): number {
    const length = at - start;
    if (length <= 2) {
      const next = codes[at];
      if ((next === 34 || next === 39) && STRING_PREFIX.test(this.text.slice(start, at)))
        return this.string(start, at, to);
    }
    let kind = NAME;
    if (length >= 2 && length <= 8) {
      const slot = keywordSlot(codes[start]!, codes[at - 1]!, length);
      const keyword = KEYWORD_TABLE[slot];
      if (keyword !== undefined && keyword.length === length && stands(keyword, this.text, start))
        kind = KEYWORD_CODES[slot]!;
    }
    this.push(kind, start, at);
    return at;
  }

  number(start: number, to: number): number {
    NUMBER_TEXT.lastIndex = start;
    NUMBER_TEXT.test(this.text);
    const end = Math.min(to, Math.max(start + 1, NUMBER_TEXT.lastIndex));
    this.push(NUMBER, start, end);
    return end;
  }

  operator(at: number, c: number): number {
    const second = codes[at + 1];
    let length = 1;
    let kind = 0;
    if (second === c && DOUBLED[c] !== 0) {
      length = codes[at + 2] === 61 ? 3 : 2;
      kind = length === 3 ? DOUBLED_ASSIGNED[c]! : DOUBLED[c]!;
    } else if (second === 61 && ASSIGNED[c] !== 0) {
      length = 2;
      kind = ASSIGNED[c]!;
    } else if (c === 45 && second === 62) {
      length = 2;
      kind = ARROW;
    } else if (c === 46 && second === 46 && codes[at + 2] === 46) {
      length = 3;
      kind = ELLIPSIS;
    } else {
      kind = SINGLE[c]!;
      if (c === 40 || c === 91 || c === 123) this.depth++;
      else if ((c === 41 || c === 93 || c === 125) && this.depth > 0) this.depth--;
    }
    this.push(kind === 0 ? UNKNOWN : kind, at, at + length);
    return at + length;
  }

  lineEnd(from: number, to: number): number {
    let at = from;
    if (this.returns)
      while (at < to && this.text.charCodeAt(at) !== 10 && this.text.charCodeAt(at) !== 13) at++;
    else at = this.text.indexOf("\n", from);
    return at < 0 || at > to ? to : at;
  }

  /** Where a string in triple quotes without a backslash ends: most docstrings, and most of many files. Null where one must look closer. */
  tripleEnd(from: number, to: number, quotes: string): number | null {
    const close = this.text.indexOf(quotes, from);
    if (close < 0 || close + 3 > to) return null;
    if (this.backslash < from) {
      const next = this.text.indexOf("\\", from);
      this.backslash = next < 0 ? this.text.length : next;
    }
    return this.backslash < close ? null : close + 3;
  }

  /** A whole string token, prefix included. Format strings keep the ranges of their expressions. */
  string(start: number, quoteAt: number, to: number): number {
    const prefix = start === quoteAt ? "" : this.text.slice(start, quoteAt).toLowerCase();
    const fields: number[] | null = prefix.includes("f") || prefix.includes("t") ? [] : null;
    const end = this.scanString(quoteAt, to, fields, prefix.includes("r"), 0);
    if (fields) this.out.fields.set(this.out.count, fields);
    this.push(fields ? FSTRING : STRING, start, end);
    return end;
  }

  scanString(quoteAt: number, to: number, fields: number[] | null, raw: boolean, depth: number): number {
    const all = codes;
    const quote = all[quoteAt]!;
    const triple = all[quoteAt + 1] === quote && all[quoteAt + 2] === quote;
    let at = quoteAt + (triple ? 3 : 1);
    const plainEnd = triple && !fields ? this.tripleEnd(at, to, quote === 34 ? '"""' : "'''") : null;
    if (plainEnd !== null) return plainEnd;
    while (at < to) {
      const c = all[at]!;
      if (c === 92) {
        if (fields && !raw && all[at + 1] === 78 && all[at + 2] === 123) {
          const close = this.text.indexOf("}", at);
          at = close < 0 ? to : close + 1;
        } else if (fields && (all[at + 1] === 123 || all[at + 1] === 125)) at++;
        else at += all[at + 1] === 13 && all[at + 2] === 10 ? 3 : 2;
      } else if (c === quote) {
        if (!triple) return at + 1;
        if (all[at + 1] === quote && all[at + 2] === quote) return at + 3;
        at++;
      } else if ((c === 10 || c === 13) && !triple) {
        break;
      } else if (fields && c === 123) {
        if (all[at + 1] === 123) at += 2;
        else at = this.scanField(at + 1, to, fields, quote, triple, depth + 1);
      } else {
        at++;
      }
    }
    this.error(quoteAt, "unterminated string literal");
    return Math.min(at, to);
  }

  /** After the opening brace of a replacement field; returns the offset after its closing brace. */
  scanField(
    from: number,
    to: number,
    fields: number[],
    quote: number,
    triple: boolean,
    depth: number,
  ): number {
    const { text } = this;
    const all = codes;
    if (depth > 20) {
      this.error(from, "f-string nested too deeply");
      return to;
    }
    let brackets = 0;
    let at = from;
    let expressionEnd = -1;
    while (at < to) {
      const c = all[at]!;
      if (c === 34 || c === 39) {
        // Before 3.12 the enclosing quote could not be reused, so meeting it outside brackets there is the end of a broken string.
        const nested = this.nestedStringFields(from, at);
        at = this.scanString(at, to, nested ? [] : null, false, depth);
      } else if (c === 40 || c === 91 || c === 123) {
        brackets++;
        at++;
      } else if (brackets > 0 && (c === 41 || c === 93 || c === 125)) {
        brackets--;
        at++;
      } else if (c === 125) {
        fields.push(from, expressionEnd < 0 ? at : expressionEnd);
        return at + 1;
      } else if ((c === 10 || c === 13) && !triple && brackets === 0 && all[at + 1] === quote) {
        break;
      } else if (c === 35) {
        while (at < to && all[at] !== 10) at++;
      } else if (brackets === 0 && c === 33 && all[at + 1] !== 61) {
        if (expressionEnd < 0) expressionEnd = at;
        at++;
      } else if (
        brackets === 0 &&
        c === 61 &&
        /[=\s]*[}!:]/y.test(text.slice(at + 1, at + 4)) &&
        !/[=!<>]/.test(text[at - 1]!) &&
        all[at + 1] !== 61
      ) {
        if (expressionEnd < 0) expressionEnd = at;
        at++;
      } else if (brackets === 0 && c === 58) {
        if (expressionEnd < 0) expressionEnd = at;
        at = this.scanSpec(at + 1, to, fields, quote, triple, depth);
      } else {
        at++;
      }
    }
    this.error(from, "unterminated f-string field");
    return at;
  }

  nestedStringFields(from: number, quoteAt: number): boolean {
    return (
      quoteAt > from &&
      /[fFtT]/.test(this.text[quoteAt - 1]!) &&
      (quoteAt - 2 < from || !isIdentifier(this.text.charCodeAt(quoteAt - 2)))
    );
  }

  /** The format spec: literal text with nested fields, up to (not past) the closing brace. */
  scanSpec(
    from: number,
    to: number,
    fields: number[],
    quote: number,
    triple: boolean,
    depth: number,
  ): number {
    const all = codes;
    let at = from;
    while (at < to) {
      const c = all[at]!;
      if (c === 125) return at;
      if (c === quote && !triple) return at;
      if (c === 123) at = this.scanField(at + 1, to, fields, quote, triple, depth + 1);
      else at++;
    }
    return at;
  }
}

/** `cells`: parts that are each a text of its own, with an end of file behind it. */
export function tokenize(
  text: string,
  cells: readonly { readonly start: number; readonly end: number }[] | null = null,
): Tokens {
  const tokenizer = new Tokenizer(text, 0, text.length, false);
  if (cells === null || cells.length === 0) return tokenizer.run(0, text.length, false);
  for (const { start, end } of cells) {
    tokenizer.depth = 0;
    tokenizer.run(start, end, false);
  }
  return tokenizer.out;
}

/** The tokens of an expression inside a format string, where line ends mean nothing. */
export function tokenizeField(text: string, from: number, to: number): Tokens {
  return new Tokenizer(text, from, to, true).run(from, to, true);
}
