import fc from "fast-check";
import { expect, test } from "vitest";
import { raw } from "../../src/autograd/pointwise.ts";
import {
  type Tensor,
  contiguousStrides,
  isContiguous,
  isDense,
  numel,
  viewStrides,
} from "../../src/autograd/tensor.ts";
import { python } from "../support/python.ts";
import { newTorch } from "./events.ts";

interface Layout {
  readonly shape: readonly number[];
  readonly order: readonly number[];
  /** Dimensions of size one that are expanded to this size (stride 0); 0 for none. */
  readonly expanded: number;
}

const layout = (rank: number): fc.Arbitrary<Layout> =>
  fc.record({
    shape: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: rank, maxLength: rank }),
    order: fc.shuffledSubarray(
      Array.from({ length: rank }, (_, d) => d),
      { minLength: rank, maxLength: rank },
    ),
    expanded: fc.constantFrom(0, 0, 0, 3),
  });

function laidOut({ shape, order, expanded }: Layout): { shape: number[]; strides: number[] } {
  const strides = contiguousStrides(shape);
  const grown = order.map((d) => (shape[d] === 1 && expanded ? expanded : shape[d]!));
  return { shape: grown, strides: order.map((d, i) => (grown[i] !== shape[d] ? 0 : strides[d]!)) };
}

/** Another shape of as many elements: factors of the first, regrouped, with ones thrown in. */
function regrouped(shape: readonly number[], picks: readonly number[]): number[] {
  let left = numel(shape);
  const out: number[] = [];
  for (const pick of picks) {
    const divisors = Array.from({ length: left }, (_, i) => i + 1).filter((n) => left % n === 0);
    const factor = divisors[pick % divisors.length]!;
    out.push(factor);
    left /= factor;
  }
  return [...out, left];
}

const MAKE = `
import json, sys, torch
def make(c):
    t = torch.empty(c["shape"])
    t = t.permute(c["order"])
    if c["expanded"]:
        t = t.expand([c["expanded"] if n == 1 else n for n in t.shape])
    return t
cases = json.loads(sys.argv[1])
`;

test("views have the strides torch gives them, or need a copy where torch refuses", async () => {
  const cases = fc
    .sample(
      fc
        .integer({ min: 1, max: 4 })
        .chain((rank) => fc.tuple(layout(rank), fc.array(fc.nat(50), { maxLength: 3 }))),
      { numRuns: 600, seed: 1 },
    )
    .map(([of, picks]) => ({
      shape: of.shape,
      order: of.order,
      expanded: of.expanded,
      wanted: regrouped(laidOut(of).shape, picks),
    }));
  const answers = JSON.parse(
    await python(
      `${MAKE}
def answer(c):
    t = make(c)
    try: view = list(t.view(c["wanted"]).stride())
    except RuntimeError: view = None
    return [list(t.stride()), view, t.is_contiguous(), list(torch.empty_like(t).stride()) == list(t.stride())]
print(json.dumps([answer(c) for c in cases]))`,
      [JSON.stringify(cases)],
    ),
  ) as [number[], number[] | null, boolean, boolean][];
  cases.forEach((c, i) => {
    const [strides, view, contiguous, dense] = answers[i]!;
    const t = laidOut(c);
    expect(t.strides, JSON.stringify(c)).toEqual(strides);
    expect(viewStrides(t.shape, t.strides, c.wanted), JSON.stringify(c)).toEqual(view);
    expect(isContiguous(t), JSON.stringify(c)).toBe(contiguous);
    if (isDense(t)) expect(dense, JSON.stringify(c)).toBe(true);
  });
  expect(answers.filter(([, view]) => view === null).length).toBeGreaterThan(30);
});

test("a result is laid out as torch lays it out", async () => {
  const cases = fc
    .sample(
      fc
        .integer({ min: 1, max: 4 })
        .chain((rank) =>
          fc.tuple(layout(rank), fc.shuffledSubarray([0, 1, 2, 3].slice(0, rank)), fc.boolean()),
        ),
      { numRuns: 600, seed: 2 },
    )
    .map(([a, kept, alone]) => {
      // The second operand: contiguous, its dimensions the first's or one.
      const { shape } = laidOut(a);
      const second = shape.map((n, d) => (kept.includes(d) ? n : 1));
      return { a, b: alone ? null : second };
    });
  const answers = JSON.parse(
    await python(
      `${MAKE}
print(json.dumps([list(((make(c["a"]) + torch.empty(c["b"])) if c["b"] is not None else make(c["a"]) * 2).stride()) for c in cases]))`,
      [JSON.stringify(cases)],
    ),
  ) as number[][];
  const torch = newTorch();
  cases.forEach(({ a, b }, i) => {
    const { shape, strides } = laidOut(a);
    const base = torch.empty([numel(a.shape)], "fp32");
    const first: Tensor = torch.alias(base, shape, strides);
    const operands = b ? [first, torch.empty(b, "fp32")] : [first];
    const got = raw(torch, operands, shape, "fp32").strides;
    const matters = (list: readonly number[]): (number | null)[] =>
      list.map((s, d) => (shape[d] === 1 ? null : s));
    expect(matters(got), JSON.stringify(cases[i])).toEqual(matters(answers[i]!));
  });
});
