import * as fc from "fast-check";
import { Tape } from "../../src/tape/tape.ts";
import { Action, KINDS, PHASES } from "../../src/tape/vocabulary.ts";

/** A tape of valid history: every free names a storage that is alive; some storages were alive before row 0. */
export const anyTape: fc.Arbitrary<Tape> = fc
  .record({
    before: fc.integer({ min: 0, max: 3 }),
    moves: fc.array(
      fc.record({
        free: fc.boolean(),
        twoPart: fc.boolean(),
        pick: fc.nat(),
        bytes: fc.integer({ min: 1, max: 2 ** 40 }),
        phase: fc.nat(PHASES.length - 1),
        kind: fc.nat(KINDS.length - 1),
        module: fc.constantFrom("", "model.layers.0", "model.layers.1.mlp", "lm_head"),
        stack: fc.constantFrom("", "train.py:3:main", "a.py:1:f\ntrain.py:4:main"),
        stepUp: fc.nat(9),
      }),
      { maxLength: 120 },
    ),
  })
  .map(({ before, moves }) => {
    const tape = new Tape({ source: "test" }, 1);
    const alive: { id: number; bytes: number }[] = [];
    const pending: { id: number; bytes: number }[] = [];
    let next = 0;
    for (; next < before; next++) alive.push({ id: next, bytes: 1000 + next });
    let step = 0;
    for (const move of moves) {
      if (move.stepUp === 0) step++;
      const append = (action: number, id: number, bytes: number): number =>
        tape.append(
          action,
          id,
          bytes,
          0,
          move.phase,
          move.kind,
          tape.modules.id(move.module),
          step,
          tape.stacks.id(move.stack),
        );
      if (move.free && alive.length > 0) {
        const [gone] = alive.splice(move.pick % alive.length, 1);
        append(move.twoPart ? Action.free_requested : Action.free, gone!.id, gone!.bytes);
        if (move.twoPart) pending.push(gone!);
      } else if (move.free && pending.length > 0) {
        const gone = pending.shift()!;
        append(Action.free_completed, gone.id, gone.bytes);
      } else {
        alive.push({ id: next, bytes: move.bytes });
        append(Action.alloc, next++, move.bytes);
      }
    }
    return tape;
  });
