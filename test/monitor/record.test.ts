import fc from "fast-check";
import { expect, test } from "vitest";
import { Record } from "../../src/monitor/record.ts";

const HEAD = { k: "head", rank: 2, t: 1, host: "h", columns: ["step", "seconds", "allocated"] };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function read(text: string, cuts: readonly number[] = []): Record {
  const record = new Record();
  const whole = bytes(text);
  let from = 0;
  for (const cut of [...cuts.toSorted((a, b) => a - b), whole.length]) {
    record.feed(whole.subarray(from, Math.max(from, cut)));
    from = Math.max(from, cut);
  }
  return record;
}

const number = fc.oneof(
  fc.integer({ min: 0, max: 2 ** 45 }),
  fc.integer({ min: -1000, max: 1000 }),
  fc.double({ min: 0, max: 2e9, noNaN: true }).map((value) => Math.round(value * 1e6) / 1e6),
  fc.constantFrom(1e-7, 5e-324, 1e21, 0.1),
);

test("whatever numbers it holds and however its bytes arrive, a record reads the same", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(number, number, number), { maxLength: 40 }),
      fc.array(fc.nat(2000), { maxLength: 6 }),
      (rows, cuts) => {
        const event = JSON.stringify({ k: "leak", t: 1, text: "größer → []" });
        const text =
          [JSON.stringify(HEAD), event, ...rows.map((row) => JSON.stringify(row)), event].join("\n") + "\n";
        const length = bytes(text).length;
        const record = read(
          text,
          cuts.map((cut) => Math.min(cut, length)),
        );
        expect(record.events).toHaveLength(2);
        expect(record.events[0]!["text"]).toBe("größer → []");
        expect(record.steps).toBe(rows.length);
        for (const [column, name] of HEAD.columns.entries())
          expect([...record.column(name)]).toEqual(rows.map((row) => row[column]! + 0));
      },
    ),
  );
});

test("torn and foreign lines are skipped, the rest is kept", () => {
  const record = read(
    `${JSON.stringify(HEAD)}\n[1,0.5,10]\n[2,0.5\n{"k":"lea\n[3]\n[]\nnoise\n[4,0.25,20]\n[5,0.1`,
  );
  expect([...record.column("step")]).toEqual([1, 4]);
  expect(record.last("allocated")).toBe(20);
  expect(record.events).toEqual([]);
});

test("a file that is no record has no steps", () => {
  expect(read("[1,2,3]\nhello\n").steps).toBe(0);
  expect(read("").head).toBeNull();
});

test("a record that is only followed holds few rows, and knows totals, maxima and the latest of all", () => {
  const rows = Array.from({ length: 5000 }, (_, step) => [step + 1, 0.5, step === 3210 ? 9000 : step]);
  const text = [HEAD, ...rows].map((row) => JSON.stringify(row)).join("\n") + "\n";
  const record = new Record(64);
  record.feed(bytes(text));
  expect(record.steps).toBe(5000);
  expect(record.column("step").length).toBeLessThanOrEqual(64);
  const steps = [...record.column("step")];
  expect(new Set(steps.slice(1).map((step, index) => step - steps[index]!)).size).toBe(1);
  expect(record.total("seconds")).toBe(4999 * 0.5);
  expect(record.atLargest("allocated", "step")).toBe(3211);
  expect(record.last("step")).toBe(5000);
});
