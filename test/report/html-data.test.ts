import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { html } from "../../src/report/html/markup.ts";
import { unpackPage } from "../../src/report/html/model.ts";
import { pageData } from "../../src/report/html/page-data.ts";
import { sampleRows } from "../../src/report/html/sample.ts";
import { fold, packNumbers, unfold, unpackNumbers } from "../../src/report/html/varint.ts";
import { allocatedCurve, peakOf } from "../../src/tape/curve.ts";
import { lifetimes, liveAt } from "../../src/tape/lifetimes.ts";
import { Tape } from "../../src/tape/tape.ts";
import { Action } from "../../src/tape/vocabulary.ts";

/** Storages come and go as the numbers say: a free of the n-th live one, or an alloc of that many bytes. */
function tapeOf(steps: readonly { readonly free: boolean; readonly number: number }[]): Tape {
  const tape = new Tape();
  const live: number[] = [];
  const sizes: number[] = [];
  for (const { free, number } of steps) {
    const id = free && live.length > 0 ? live.splice(number % live.length, 1)[0]! : -1;
    if (id >= 0) tape.append(Action.free, id, sizes[id]!);
    else {
      live.push(sizes.length);
      tape.append(Action.alloc, sizes.length, number, 0, number % 3, number % 9, 0, number % 2);
      sizes.push(number);
    }
  }
  return tape;
}

const tapes = fc
  .array(fc.record({ free: fc.boolean(), number: fc.integer({ min: 0, max: 2 ** 40 }) }), { maxLength: 300 })
  .map(tapeOf);

describe("the numbers of a page", () => {
  it("come back as they were packed", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })), (values) => {
        expect([...unpackNumbers(packNumbers(values), values.length)]).toEqual(values);
      }),
    );
    fc.assert(
      fc.property(fc.integer({ min: -(2 ** 50), max: 2 ** 50 }), (value) => unfold(fold(value)) === value),
    );
  });
});

describe("rows chosen for a page", () => {
  it("keep lowest and highest of each run, and what may not be missed", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 20, maxLength: 400 }),
        fc.nat(),
        (values, any) => {
          const curve = Float64Array.from(values);
          const always = any % curve.length;
          const rows = sampleRows(curve, 10, [always, -1]);
          expect(rows.length).toBeLessThanOrEqual(11);
          expect(rows).toContain(always);
          const shown = [...rows].map((row) => curve[row]!);
          expect(Math.max(...shown)).toBe(Math.max(...values));
          expect(Math.min(...shown)).toBe(Math.min(...values));
        },
      ),
    );
  });

  it("have their exact make-up on the page, reduced or not", () => {
    fc.assert(
      fc.property(tapes, fc.constantFrom(12, 1000), (tape, most) => {
        const lives = lifetimes(tape);
        const allocated = allocatedCurve(tape, lives);
        const flags = [{ row: peakOf(allocated).row, label: "peak", what: "peak" as const }];
        const data = pageData(
          { tape, lives, allocated, reserved: allocated, flags, limit: null, predicted: false },
          most,
        );
        const { head, columns } = unpackPage(gunzipSync(data.bytes));
        expect(data.reduced).toHaveLength(tape.length > most ? 1 : 0);
        let row = 0;
        for (let position = 0; position < head.positions; position++) {
          row = columns.row.length > 0 ? row + columns.row[position]! : position;
          let born = 0;
          const sizes: number[] = [];
          columns.born.forEach((distance, id) => {
            born += distance;
            const life = columns.life[id]!;
            if (born <= position && (life === 0 || born + life > position))
              sizes.push(head.sizes[columns.size[id]!]!);
          });
          const live = [...liveAt(lives, row)].map((id) => lives.bytes[id]!);
          expect(sizes.sort((a, b) => a - b)).toEqual(live.sort((a, b) => a - b));
        }
        if (tape.length > 0) expect(head.flags).toHaveLength(1);
      }),
    );
  });
});

describe("the names on a page", () => {
  it("are bounded, whatever the recording says", () => {
    const tape = new Tape();
    const deep = Array.from({ length: 5000 }, (_, depth) => `deep.py:${depth}:f`).join("\n");
    tape.append(Action.alloc, 0, 2 ** 30, 0, 0, 0, 0, 1, tape.stacks.id(deep));
    for (let id = 1; id <= 20_100; id++) {
      const module = tape.modules.id(`m${id}${"x".repeat(1000)}`);
      tape.append(Action.alloc, id, id, 0, 0, 0, module, 1, tape.stacks.id(`many.py:${id}:f`));
    }
    const lives = lifetimes(tape);
    const allocated = allocatedCurve(tape, lives);
    const data = pageData({
      tape,
      lives,
      allocated,
      reserved: allocated,
      flags: [],
      limit: null,
      predicted: false,
    });
    const { head } = unpackPage(gunzipSync(data.bytes));
    expect(Math.max(...head.stacks.map((stack) => stack.length))).toBeLessThan(300);
    expect(head.frames).toContain("deep.py:4999:f");
    expect(head.frames).toContain("deep.py:0:f");
    expect(head.frames).toContain("many.py:20100:f");
    expect(head.frames).not.toContain("many.py:1:f");
    expect(JSON.stringify(head).length).toBeLessThan(12_000_000);
    expect(data.reduced.join(" ")).toMatch(/\d+ stacks, those .* shown as one\. \d+ module names/);
  });
});

describe("html", () => {
  it("escapes whatever is put into it, and only that", () => {
    expect(html`<b title="${`"><script>`}">${`</b>&'\u202e`}</b>`.text).toBe(
      `<b title="&quot;&gt;&lt;script&gt;">&lt;/b&gt;&amp;&#39;\\u202e</b>`,
    );
    expect(html`${html`<i>${1}</i>`}${null}${[html`<u></u>`, html`x`]}`.text).toBe("<i>1</i><u></u>x");
  });
});
