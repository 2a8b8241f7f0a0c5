import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { lineOf, train } from "./training.ts";

const planted = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../bench/leaks/${name}.py`, import.meta.url)), "utf8");

// All sixty scripts run in bench:leaks; these four are the ways in which a tensor is kept, and kept for a while.
test("statistics that hold the graph are named by their line within 50 steps", async () => {
  const source = planted("leak_statistics_graph");
  const { script, records } = await train(source);
  const [leak] = records[0]!.leaks();
  expect(leak).toMatchObject({
    file: script,
    line: lineOf(source, "# leak"),
    why: "its autograd graph grows",
  });
  expect(leak!.held).toContain("Quantize");
  expect(leak!.step).toBeLessThanOrEqual(50);
  expect(leak!.per_step).toBeGreaterThan(1024);
});

test("a list in a running function is named, with its function", async () => {
  const source = planted("leak_list_local");
  const { script, records } = await train(source);
  expect(records[0]!.leaks()[0]).toMatchObject({ file: script, line: lineOf(source, "# leak") });
  expect(records[0]!.leaks()[0]!.held).toContain("local `losses` of train()");
});

// One process a test: importing torch takes half a minute on a busy machine.
test.each(["clean_bounded_deque", "clean_epoch_outputs"])("%s raises nothing", async (name) => {
  const { records } = await train(planted(name));
  expect(records[0]!.leaks()).toEqual([]);
});
