import { readFileSync, readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Case, recipeOfCase } from "../../src/plan/case.ts";
import { execute } from "../../src/plan/execute.ts";
import type { Tape } from "../../src/tape/tape.ts";
import { Action } from "../../src/tape/vocabulary.ts";

/** What bench/record/fixture.py writes: a recorded history of one training recipe. */
interface Fixture {
  readonly case: Case & { readonly steps: number };
  readonly sizes: readonly number[];
  readonly events: readonly number[];
}

const FOLDER = new URL("../fixtures/families/", import.meta.url);
const SMALLEST = 2048;

/** Allocations positive, frees negative; a run of frees by size, none after the last allocation. */
function normal(tape: Tape): number[] {
  const { action, bytes } = tape.columns;
  const out: number[] = [];
  let frees: number[] = [];
  for (let row = 0; row < tape.length; row++) {
    const size = bytes[row]!;
    if (size < SMALLEST) continue;
    if (action[row] === Action.alloc) {
      out.push(...frees.sort((a, b) => b - a), size);
      frees = [];
    } else {
      frees.push(-size);
    }
  }
  return out;
}

describe("the predicted tape is the recorded history, event by event", () => {
  for (const file of readdirSync(FOLDER)) {
    test(file.replace(".json", ""), () => {
      const fixture = JSON.parse(readFileSync(new URL(file, FOLDER), "utf8")) as Fixture;
      const recorded = fixture.events.map((e) => Math.sign(e) * fixture.sizes[Math.abs(e) - 1]!);
      const predicted = normal(execute(recipeOfCase(fixture.case), fixture.case.steps).tape);
      expect(predicted).toEqual(recorded);
    });
  }
});
