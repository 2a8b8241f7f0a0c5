const FACTOR = 16;

/**
 * Where a curve is highest (or, with sign -1, lowest) within any range, at a cost that depends on the pixels drawn
 * and not on the events between them. Unlike tape/pyramid.ts it finds the moment, not the value: the timeline shows
 * what that very moment was made of.
 */
export class Extremes {
  readonly #curve: Float64Array;
  readonly #sign: number;
  /** Level n holds, for each FACTOR^(n+1) positions, that of the extreme. */
  readonly #levels: Int32Array[] = [];

  constructor(curve: Float64Array, sign: 1 | -1) {
    this.#curve = curve;
    this.#sign = sign;
    for (let below: Int32Array | null = null, length = curve.length; length > FACTOR;) {
      const level = new Int32Array(Math.ceil(length / FACTOR));
      for (let at = 0; at < level.length; at++) {
        let best = below ? below[at * FACTOR]! : at * FACTOR;
        const end = Math.min(length, (at + 1) * FACTOR);
        for (let one = at * FACTOR + 1; one < end; one++)
          best = this.#better(best, below ? below[one]! : one);
        level[at] = best;
      }
      this.#levels.push(level);
      below = level;
      length = level.length;
    }
  }

  /** The first of equals. The range holds at least one position. */
  in(from: number, to: number): number {
    let best = from;
    let left = from;
    let right = to;
    for (let depth = -1; left < right; depth++) {
      const level = depth < 0 ? null : this.#levels[depth]!;
      const top = depth === this.#levels.length - 1;
      const inner = top ? right : Math.min(right, Math.ceil(left / FACTOR) * FACTOR);
      const outer = top ? right : Math.max(inner, Math.floor(right / FACTOR) * FACTOR);
      for (let at = left; at < inner; at++) best = this.#better(best, level ? level[at]! : at);
      for (let at = outer; at < right; at++) best = this.#better(best, level ? level[at]! : at);
      left = inner / FACTOR;
      right = outer / FACTOR;
    }
    return best;
  }

  #better(a: number, b: number): number {
    const difference = (this.#curve[b]! - this.#curve[a]!) * this.#sign;
    return difference > 0 || (difference === 0 && b < a) ? b : a;
  }
}
