import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { allocatedCurve, peakOf, phasePeaks, reservedCurve } from "../../src/tape/curve.ts";
import { diffTapes } from "../../src/tape/diff.ts";
import { lifetimes, liveAt } from "../../src/tape/lifetimes.ts";
import { groupBy, labelOf, type Dimension } from "../../src/tape/makeup.ts";
import { stepSurvivors } from "../../src/tape/survivors.ts";
import { Tape } from "../../src/tape/tape.ts";
import { Action, Kind, Phase } from "../../src/tape/vocabulary.ts";
import { anyTape } from "./arbitrary.ts";

/** Straight from the words: walk the rows with a set of living storages. */
function bruteForce(tape: Tape): { value: number; live: Set<number> }[] {
  const { action, storage, bytes } = tape.columns;
  const live = new Map<number, number>();
  const born = new Set<number>();
  for (let row = 0; row < tape.length; row++) {
    if (action[row] === Action.alloc) born.add(storage[row]!);
    else if (action[row] !== Action.free_completed && !born.has(storage[row]!))
      live.set(storage[row]!, bytes[row]!);
  }
  const states = [];
  for (let row = 0; row < tape.length; row++) {
    if (action[row] === Action.alloc) live.set(storage[row]!, bytes[row]!);
    else if (action[row] === Action.free || action[row] === Action.free_requested) live.delete(storage[row]!);
    states.push({
      value: [...live.values()].reduce((sum, size) => sum + size, 0),
      live: new Set(live.keys()),
    });
  }
  return states;
}

/** Two steps: a weight from before, an activation freed in its step, gradient kept, logits kept by each step. */
function smallTape(): Tape {
  const tape = new Tape();
  const at = (
    action: number,
    id: number,
    bytes: number,
    phase: number,
    kind: number,
    step: number,
    module = "",
  ): void => {
    tape.append(
      action,
      id,
      bytes,
      0,
      phase,
      kind,
      tape.modules.id(module),
      step,
      tape.stacks.id(`${module}.py:1:f`),
    );
  };
  at(Action.alloc, 0, 1000, Phase.load, Kind.weight, 0, "lm_head");
  at(Action.alloc, 1, 300, Phase.forward, Kind.activation, 1, "mlp");
  at(Action.alloc, 2, 50, Phase.forward, Kind.activation, 1, "lm_head");
  at(Action.alloc, 3, 1000, Phase.backward, Kind.gradient, 1, "lm_head");
  at(Action.free_requested, 1, 300, Phase.backward, Kind.activation, 1, "mlp");
  at(Action.free_completed, 1, 300, Phase.backward, Kind.activation, 1, "mlp");
  at(Action.alloc, 4, 50, Phase.forward, Kind.activation, 2, "lm_head");
  at(Action.free, 3, 1000, Phase.optimizer, Kind.gradient, 2, "lm_head");
  return tape;
}

describe("value at an instant", () => {
  it("equals a walk over the rows, for any history", () => {
    fc.assert(
      fc.property(anyTape, (tape) => {
        const lives = lifetimes(tape);
        const curve = allocatedCurve(tape, lives);
        bruteForce(tape).forEach(({ value, live }, row) => {
          expect(curve[row]).toBe(value);
          const ids = liveAt(lives, row);
          expect(new Set(ids)).toEqual(live);
        });
      }),
    );
  });

  it("drops at free_requested, not at free_completed", () => {
    const tape = smallTape();
    expect([...allocatedCurve(tape, lifetimes(tape))]).toEqual([
      1000, 1300, 1350, 2350, 2050, 2050, 2100, 1100,
    ]);
  });

  it("takes reserved bytes from segment events and fits a lost beginning to the known end", () => {
    const tape = new Tape();
    tape.append(Action.segment_alloc, -1, 20);
    tape.append(Action.alloc, 0, 5);
    tape.append(Action.segment_free, -1, 20);
    expect([...reservedCurve(tape)]).toEqual([20, 20, 0]);
    expect([...reservedCurve(tape, 100)]).toEqual([120, 120, 100]);
  });
});

describe("peak", () => {
  it("is the first highest row, with its make-up adding up to it in every dimension", () => {
    fc.assert(
      fc.property(anyTape, (tape) => {
        const lives = lifetimes(tape);
        const peak = peakOf(allocatedCurve(tape, lives));
        const values = bruteForce(tape).map((state) => state.value);
        if (values.length === 0) {
          expect(peak).toEqual({ row: -1, bytes: 0 });
          return;
        }
        const highest = Math.max(...values);
        expect(peak).toEqual({ row: values.indexOf(highest), bytes: highest });
        const live = liveAt(lives, peak.row);
        for (const dimension of ["kind", "module", "phase", "stack", "step", "size"] satisfies Dimension[]) {
          const groups = groupBy(tape, lives, live, dimension);
          expect(groups.reduce((sum, group) => sum + group.bytes, 0)).toBe(highest);
          expect(groups.reduce((sum, group) => sum + group.count, 0)).toBe(live.length);
        }
      }),
    );
  });

  it("names what it is made of", () => {
    const tape = smallTape();
    const lives = lifetimes(tape);
    const live = liveAt(lives, peakOf(allocatedCurve(tape, lives)).row);
    const named = (dimension: Dimension): [string, number][] =>
      groupBy(tape, lives, live, dimension).map((group) => [
        labelOf(tape, dimension, group.key),
        group.bytes,
      ]);
    expect(named("kind")).toEqual([
      ["weight", 1000],
      ["gradient", 1000],
      ["activation", 350],
    ]);
    expect(named("module")).toEqual([
      ["lm_head", 2050],
      ["mlp", 300],
    ]);
    expect(named("size")).toEqual([
      ["1.00 kB", 2000],
      ["300 B", 300],
      ["50 B", 50],
    ]);
  });

  it("is also known per phase", () => {
    const tape = smallTape();
    const peaks = phasePeaks(tape, allocatedCurve(tape, lifetimes(tape)));
    expect(peaks.map((peak) => [peak.phase, peak.bytes, peak.row])).toEqual([
      ["load", 1000, 0],
      ["forward", 2100, 6],
      ["backward", 2350, 3],
      ["optimizer", 1100, 7],
    ]);
  });
});

describe("survivors", () => {
  it("counts what outlives the step that made it", () => {
    const tape = smallTape();
    expect(stepSurvivors(tape, lifetimes(tape))).toEqual([
      { step: 0, allocated: 1000, atStepEnd: 1000, afterNext: 1000, atEnd: 1000 },
      { step: 1, allocated: 1350, atStepEnd: 1050, afterNext: 50, atEnd: 50 },
      { step: 2, allocated: 50, atStepEnd: 50, afterNext: 50, atEnd: 50 },
    ]);
  });
});

describe("diff of two tapes", () => {
  it("finds nothing between a tape and itself", () => {
    fc.assert(
      fc.property(anyTape, (tape) => {
        const diff = diffTapes(tape, tape);
        expect(diff.peak.before).toBe(diff.peak.after);
        expect(diff.matched.bytes).toBe(diff.peak.before);
        expect([diff.onlyBefore, diff.onlyAfter]).toEqual([[], []]);
        for (const delta of [...diff.byKind, ...diff.byModule, ...diff.byPhase])
          expect(delta.before).toBe(delta.after);
      }),
    );
  });

  it("names the storages that have no partner", () => {
    const after = smallTape();
    after.append(
      Action.alloc,
      5,
      5000,
      0,
      Phase.optimizer,
      Kind["optimizer state"],
      after.modules.id("lm_head"),
      2,
    );
    const diff = diffTapes(smallTape(), after);
    expect(diff.peak).toEqual({ before: 2350, after: 6100 });
    expect(diff.byKind[0]).toEqual({ label: "optimizer state", before: 0, after: 5000 });
    expect(diff.byPhase[0]).toEqual({ label: "optimizer", before: 1100, after: 6100 });
    expect(diff.onlyAfter.map((one) => [one.kind, one.bytes, one.count])).toEqual([
      ["optimizer state", 5000, 1],
      ["activation", 50, 1],
    ]);
    expect(diff.onlyBefore.map((one) => [one.kind, one.module, one.bytes])).toEqual([
      ["gradient", "lm_head", 1000],
      ["activation", "mlp", 300],
    ]);
    expect(diff.matched).toEqual({ count: 2, bytes: 1050 });
  });
});
