import { expect, test } from "vitest";
import { fixtureBytes, read } from "./fixtures.ts";
import { mutated, outcome } from "./mutate.ts";
import { event, snapshotOf } from "./pickles.ts";

const BASES = [
  fixtureBytes("small-p2.pickle"),
  fixtureBytes("small-p4.pickle"),
  fixtureBytes("small-p5.pickle"),
  snapshotOf([
    event("alloc", 512),
    event("free_requested", 512),
    event("free_completed", 512),
    event("oom", 3),
  ]),
];

test("3000 damaged files are read or refused in one line", () => {
  const counts = { read: 0, refused: 0 };
  for (let seed = 1; seed <= 3000; seed++) {
    const found = outcome(() => read(mutated(BASES, seed), 1 + (seed % 5000)));
    expect(found === "read" || found === "refused", `seed ${seed}: ${found}`).toBe(true);
    counts[found as "read" | "refused"]++;
  }
  // Both must occur, or the damage is too small or too great to find anything.
  expect(counts.read).toBeGreaterThan(100);
  expect(counts.refused).toBeGreaterThan(1000);
});
