/**
 * Lowest and highest value of a curve over any range at a cost that depends on the pixels drawn, not on the
 * events between them. Level 0 is the curve; each level above holds the min and max of FACTOR below.
 */
const FACTOR = 4;

export interface Envelope {
  readonly min: Float64Array;
  readonly max: Float64Array;
}

interface Level {
  readonly min: Float64Array;
  readonly max: Float64Array;
}

export class Pyramid {
  readonly #levels: Level[];

  constructor(curve: Float64Array) {
    this.#levels = [{ min: curve, max: curve }];
    for (let below = this.#levels[0]!; below.min.length > FACTOR;) {
      below = above(below);
      this.#levels.push(below);
    }
  }

  get length(): number {
    return this.#levels[0]!.min.length;
  }

  /**
   * The min and max of each of `pixels` equal slices of rows [from, to). Where there are more pixels than rows,
   * a pixel shows the row it falls in. Rows outside the curve are cut off first.
   */
  query(from: number, to: number, pixels: number): Envelope {
    const first = Math.max(0, Math.floor(from));
    const last = Math.min(this.length, Math.ceil(to));
    const count = last > first ? Math.max(0, Math.floor(pixels)) : 0;
    const min = new Float64Array(count);
    const max = new Float64Array(count);
    for (let pixel = 0; pixel < count; pixel++) {
      const left = first + Math.floor(((last - first) * pixel) / count);
      const right = first + Math.floor(((last - first) * (pixel + 1)) / count);
      this.#slice(left, Math.max(right, left + 1), pixel, min, max);
    }
    return { min, max };
  }

  /** At each level reads only the entries outside [inner, outer), which the level above covers: under 2·FACTOR. */
  #slice(left: number, right: number, pixel: number, outMin: Float64Array, outMax: Float64Array): void {
    let min = Infinity;
    let max = -Infinity;
    for (let depth = 0; left < right; depth++) {
      const level = this.#levels[depth]!;
      const top = depth === this.#levels.length - 1;
      const inner = top ? right : Math.min(right, Math.ceil(left / FACTOR) * FACTOR);
      const outer = top ? right : Math.max(inner, Math.floor(right / FACTOR) * FACTOR);
      for (let at = left; at < right; at++) {
        if (at === inner) at = outer;
        if (at >= right) break;
        if (level.min[at]! < min) min = level.min[at]!;
        if (level.max[at]! > max) max = level.max[at]!;
      }
      left = inner / FACTOR;
      right = outer / FACTOR;
    }
    outMin[pixel] = min;
    outMax[pixel] = max;
  }
}

function above(below: Level): Level {
  const length = Math.ceil(below.min.length / FACTOR);
  const min = new Float64Array(length).fill(Infinity);
  const max = new Float64Array(length).fill(-Infinity);
  for (let at = 0; at < below.min.length; at++) {
    const up = (at / FACTOR) | 0;
    if (below.min[at]! < min[up]!) min[up] = below.min[at]!;
    if (below.max[at]! > max[up]!) max[up] = below.max[at]!;
  }
  return { min, max };
}
