import fc from "fast-check";
import { expect, test } from "vitest";
import { Overlay } from "../../src/base/overlay.ts";

test("an overlay is what the two maps would be as one", () => {
  const entries = fc.uniqueArray(fc.tuple(fc.string(), fc.integer()), { selector: ([key]) => key });
  fc.assert(
    fc.property(entries, fc.nat(), (all, cut) => {
      const [own, under] = [new Map(all.slice(0, cut)), new Map(all.slice(cut))];
      const both = new Overlay(own, under);
      expect(both.size).toBe(all.length);
      expect([...both]).toEqual([...own, ...under]);
      expect([...both.keys()]).toEqual(all.map(([key]) => key));
      expect([...both.values()]).toEqual(all.map(([, value]) => value));
      for (const [key, value] of all) expect([both.has(key), both.get(key)]).toEqual([true, value]);
      expect([both.has("not there, whatever"), both.get("not there, whatever")]).toEqual([false, undefined]);
      const seen: [string, number][] = [];
      both.forEach((value, key) => seen.push([key, value]));
      expect(seen).toEqual(all);
    }),
  );
});
