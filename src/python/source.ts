import { isAscii } from "node:buffer";

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
const UTF8 = /^(?:utf-?8(?:-sig)?|ascii|us-ascii)$/i;
const LATIN = /^(?:latin-?1|iso-?8859-?1|cp1252|windows-1252)$/i;

/** The text of a Python file, or one line saying why it cannot be read as one. */
export function decode(bytes: Uint8Array): Decoded | string {
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff))
    return "UTF-16 is not a Python source encoding";
  if (bytes.subarray(0, 8192).includes(0)) return "binary file";
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const cookie = COOKIE.exec(buffer.toString("latin1", bom ? 3 : 0, 400))?.[1];
  if (cookie !== undefined && !bom && LATIN.test(cookie))
    return { text: buffer.toString("latin1"), encoding: "latin1", bom: false };
  if (cookie !== undefined && !UTF8.test(cookie)) return `encoding "${cookie}" is not supported`;
  // Nearly all files, and many times faster than checking each byte.
  if (isAscii(bytes)) return { text: buffer.toString("latin1"), encoding: "utf-8", bom };
  try {
    return { text: UTF8_DECODER.decode(bom ? bytes.subarray(3) : bytes), encoding: "utf-8", bom };
  } catch {
    return "not valid UTF-8, and no encoding declared";
  }
}

export function encode(decoded: Omit<Decoded, "text">, text: string): Buffer {
  return Buffer.from((decoded.bom ? "\uFEFF" : "") + text, decoded.encoding);
}
