import { UserError } from "../base/errors.ts";

/** Longest line of a text opcode: a number, a memo index, or the module and name of a global. */
const MAX_LINE = 4096;

/** What is wrong; the machine adds where. */
export function bad(message: string): never {
  throw new UserError(message);
}

/** Two's complement, as LONG1 and LONG4 have it; Infinity when the number has more than eight bytes. */
export function littleEndian(data: Uint8Array, from: number, length: number): number {
  if (length === 0) return 0;
  if (length > 8) return Number.POSITIVE_INFINITY;
  let value = 0;
  for (let i = from + length - 1; i >= from; i--) value = value * 256 + data[i]!;
  return data[from + length - 1]! >= 128 ? value - 2 ** (8 * length) : value;
}

export function lengthAt(view: DataView, at: number, width: number): number {
  if (width === 1) return view.getUint8(at);
  if (width === 4) return view.getUint32(at, true);
  const length = Number(view.getBigUint64(at, true));
  if (length > Number.MAX_SAFE_INTEGER) bad(`a claimed length of ${length} bytes`);
  return length;
}

/** The text up to the newline, one character a byte; undefined when the chunk ends before it. */
export function lineAt(data: Uint8Array, from: number): string | undefined {
  const stop = data.subarray(from, from + MAX_LINE + 1).indexOf(0x0a);
  if (stop < 0 && data.length - from > MAX_LINE) bad(`a line of more than ${MAX_LINE} bytes`);
  return stop < 0 ? undefined : String.fromCharCode(...data.subarray(from, from + stop));
}

/** The text of INT, LONG (with its L) or FLOAT. */
export function numberOf(line: string): number {
  const text = line.endsWith("L") ? line.slice(0, -1) : line;
  if (/^[+-]?(inf|nan)$/i.test(text))
    return text.toLowerCase().endsWith("nan") ? Number.NaN : Number.POSITIVE_INFINITY;
  if (!/^[+-]?[0-9.]+(e[+-]?[0-9]+)?$/i.test(text)) bad("a number that is not one");
  return Number(text);
}
