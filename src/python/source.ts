import { isAscii, isUtf8 } from "node:buffer";

/** Offsets to lines and columns, for one text. Line ends are \n, \r\n or a lone \r, as Python counts them. */
export class Lines {
  readonly #starts: Int32Array;
  readonly #length: number;

  constructor(text: string) {
    const starts: number[] = [0];
    if (!text.includes("\r"))
      for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
    else
      for (let at = 0; at < text.length; at++) {
        const c = text.charCodeAt(at);
        if (c === 10 || (c === 13 && text.charCodeAt(at + 1) !== 10)) starts.push(at + 1);
      }
    this.#starts = Int32Array.from(starts);
    this.#length = text.length;
  }

  get count(): number {
    return this.#starts.length;
  }

  /** 1-based. */
  line(offset: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  }

  /** 1-based, in UTF-16 units. */
  column(offset: number): number {
    return offset - this.#starts[this.line(offset) - 1]! + 1;
  }

  /** Offset of a 1-based line's first character; past the last line, the end of the text. */
  start(line: number): number {
    return line > this.#starts.length ? this.#length : this.#starts[Math.max(0, line - 1)]!;
  }
}

export interface Decoded {
  readonly text: string;
  readonly encoding: "utf-8" | "latin1";
  readonly bom: boolean;
}

/** In the first or the second line. */
const COOKIE = /^(?:[^\r\n]*(?:\r\n|\r|\n))??[ \t\f]*#[^\r\n]*?coding[:=][ \t]*([-\w.]+)/;
const UTF8_DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** As Python reads them, whatever comes after a further dash: `# -*-coding:utf-8-*-` names "utf-8-". */
const UTF8 = /^(?:utf[-_]?8(?:[-_].*)?|ascii|us-ascii)$/i;
const LATIN = /^(?:latin[-_]?1|iso[-_]?8859[-_]?1|cp1252|windows-1252)(?:[-_].*)?$/i;

/** The text of a Python file, or one line saying why it cannot be read as one. */
export function decode(bytes: Uint8Array): Decoded | string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const known = declared(buffer);
  if (typeof known === "string") return known;
  const { encoding, bom } = known;
  // ASCII: nearly all files, and many times faster than checking each byte.
  if (encoding === "latin1" || isAscii(bytes)) return { text: buffer.toString("latin1"), encoding, bom };
  try {
    return { text: UTF8_DECODER.decode(bom ? bytes.subarray(3) : bytes), encoding, bom };
  } catch {
    return NOT_UTF8;
  }
}

const NOT_UTF8 = "not valid UTF-8, and no encoding declared";

/** Stands for a character beyond U+00FF. Python has no use for it outside of strings and comments. */
export const STAND_IN = "\x7f";

/** The bytes of a character in UTF-8, as Latin-1 has them. */
const BEYOND_ASCII = /[\xc2\xc3][\x80-\xbf]|[\xc4-\xf4][\x80-\xbf]+/g;

/**
 * The same with one byte a character, whatever it takes in UTF-8: `STAND_IN`s where that is too little, one for each UTF-16
 * unit, so that all offsets hold. V8 reads such texts faster, and they are half as large.
 */
export function decodeNarrow(bytes: Buffer): { readonly text: string; readonly exact: boolean } | string {
  const known = declared(bytes);
  if (typeof known === "string") return known;
  const text = bytes.toString("latin1", known.bom ? 3 : 0);
  if (known.encoding === "latin1" || isAscii(bytes)) return { text, exact: true };
  if (!isUtf8(bytes)) return NOT_UTF8;
  let exact = true;
  const narrow = text.replace(BEYOND_ASCII, (character) => {
    const first = character.charCodeAt(0);
    if (first < 0xc4) return String.fromCharCode(((first & 3) << 6) | (character.charCodeAt(1) & 0x3f));
    exact = false;
    return first < 0xf0 ? STAND_IN : STAND_IN + STAND_IN;
  });
  return { text: narrow, exact };
}

/** What the first bytes say about the rest, or why it cannot be read. */
function declared(bytes: Buffer): Omit<Decoded, "text"> | string {
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff))
    return "UTF-16 is not a Python source encoding";
  if (bytes.subarray(0, 8192).includes(0)) return "binary file";
  const cookie = COOKIE.exec(bytes.toString("latin1", bom ? 3 : 0, 400))?.[1];
  if (cookie !== undefined && !bom && LATIN.test(cookie)) return { encoding: "latin1", bom };
  if (cookie !== undefined && !UTF8.test(cookie)) return `encoding "${cookie}" is not supported`;
  return { encoding: "utf-8", bom };
}

export function encode(decoded: Omit<Decoded, "text">, text: string): Buffer {
  return Buffer.from((decoded.bom ? "\uFEFF" : "") + text, decoded.encoding);
}

/** V8 makes a part of a long text a view of it, and the whole text would live as long. */
export const copied = (part: string): string => ` ${part}`.slice(1);
