import * as fc from "fast-check";
import { expect, test } from "vitest";
import { whatIf } from "../../src/allocator/what-if.ts";
import { UserError } from "../../src/base/errors.ts";
import { Tape } from "../../src/tape/tape.ts";
import { ACTIONS, Action } from "../../src/tape/vocabulary.ts";

const odd = fc.oneof(
  fc.integer({ min: 0, max: 2 ** 28 }),
  fc.constantFrom(0, -1, 0.5, 512, 2 ** 21, 2 ** 40, 2 ** 53, 2 ** 63, Number.NaN, Infinity, -Infinity),
);

const row = fc.record({
  action: fc.oneof(
    { weight: 2, arbitrary: fc.nat(ACTIONS.length - 1) },
    {
      weight: 3,
      arbitrary: fc.constantFrom(Action.alloc, Action.free, Action.free_requested, Action.free_completed),
    },
  ),
  storage: fc.integer({ min: -1, max: 2 }),
  bytes: fc.oneof(
    { weight: 60, arbitrary: fc.integer({ min: 0, max: 2 ** 28 }) },
    { weight: 1, arbitrary: odd },
  ),
  stream: fc.nat(2),
  address: odd,
});

test("rows in no order, with no sense: an answer, or the user's mistake, never a bug of ours", () => {
  fc.assert(
    fc.property(fc.array(row, { maxLength: 60 }), fc.option(odd), (rows, cap) => {
      const tape = new Tape({ source: "snapshot" }, 8);
      for (const { action, storage, bytes, stream, address } of rows) {
        tape.append(action, storage, bytes, tape.streamIndex(stream), 0, 0, 0, 0, 0, address);
      }
      try {
        const { others } = whatIf(tape, ["expandable_segments:True", "max_split_size_mb:20"], cap);
        expect(others).toHaveLength(2);
      } catch (error) {
        expect(error).toBeInstanceOf(UserError);
      }
    }),
    { numRuns: 1000 },
  );
});
