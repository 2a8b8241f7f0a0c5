/**
 * Whole numbers in as few bytes as they need (LEB128): most differences between neighbouring events fit in one,
 * and gzip finds the repetition of a training loop in what remains.
 */
export function packNumbers(values: ArrayLike<number>): Uint8Array {
  let out = new Uint8Array(Math.max(16, values.length * 2));
  let at = 0;
  for (let index = 0; index < values.length; index++) {
    // The longest: 2^53 in groups of seven bits.
    if (at + 8 > out.length) {
      const larger = new Uint8Array(out.length * 2);
      larger.set(out);
      out = larger;
    }
    let value = values[index]!;
    while (value >= 128) {
      out[at++] = (value % 128) + 128;
      value = Math.floor(value / 128);
    }
    out[at++] = value;
  }
  return out.subarray(0, at);
}

export function unpackNumbers(bytes: Uint8Array, count: number): Float64Array {
  const values = new Float64Array(count);
  let at = 0;
  for (let index = 0; index < count; index++) {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++]!;
      if (byte < 128) {
        value += byte * scale;
        break;
      }
      value += (byte - 128) * scale;
    }
    values[index] = value;
  }
  return values;
}

/** A number of either sign as one without: 0, -1, 1, -2, … become 0, 1, 2, 3, … */
export const fold = (value: number): number => (value < 0 ? -2 * value - 1 : 2 * value);
export const unfold = (value: number): number => (value % 2 === 0 ? value / 2 : -(value + 1) / 2);
