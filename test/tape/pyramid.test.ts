import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Pyramid } from "../../src/tape/pyramid.ts";

describe("pyramid", () => {
  it("gives the min and max that looking at every row would give", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -1e12, max: 1e12 }), { maxLength: 300 }),
        fc.integer({ min: -5, max: 310 }),
        fc.integer({ min: -5, max: 310 }),
        fc.integer({ min: 0, max: 40 }),
        (values, from, to, pixels) => {
          const { min, max } = new Pyramid(Float64Array.from(values)).query(from, to, pixels);
          const first = Math.max(0, from);
          const last = Math.min(values.length, to);
          if (last <= first) {
            expect([min.length, max.length]).toEqual([0, 0]);
            return;
          }
          expect([min.length, max.length]).toEqual([pixels, pixels]);
          for (let pixel = 0; pixel < pixels; pixel++) {
            const left = first + Math.floor(((last - first) * pixel) / pixels);
            const right = first + Math.floor(((last - first) * (pixel + 1)) / pixels);
            const slice = values.slice(left, Math.max(right, left + 1));
            expect(min[pixel]).toBe(Math.min(...slice));
            expect(max[pixel]).toBe(Math.max(...slice));
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it("keeps a one-row spike visible at every zoom", () => {
    const curve = new Float64Array(1_000_000).fill(7);
    curve[654_321] = 1e9;
    const pyramid = new Pyramid(curve);
    for (const pixels of [1, 10, 800, 4000]) {
      const { min, max } = pyramid.query(0, curve.length, pixels);
      expect(max[Math.floor((654_321 * pixels) / 1_000_000)]).toBe(1e9);
      expect(Math.min(...min)).toBe(7);
    }
  });
});
