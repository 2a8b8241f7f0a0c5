import { expect, test } from "vitest";
import { GB, GiB } from "../../src/base/units.ts";
import { CARDS, cardOf, cardsOf } from "../../src/plan/cards.ts";

test("holds at least 25 cards, each with every figure", () => {
  expect(CARDS.length).toBeGreaterThanOrEqual(25);
  for (const card of CARDS) {
    expect(card.memory).toBeGreaterThan(9 * GiB);
    expect(card.capability).toBeGreaterThanOrEqual(7);
    // What keeps an entry from being in the wrong unit: a card moves 0.2 to 10 TB/s and computes 20 to 3000 TFLOP/s.
    expect(card.bandwidth).toBeGreaterThan(200 * GB);
    expect(card.bandwidth).toBeLessThan(10_000 * GB);
    expect(card.half).toBeGreaterThan(20e12);
    expect(card.half).toBeLessThan(3000e12);
    expect(card.single).toBeLessThan(card.half);
    expect(card.peerLink).toBeGreaterThanOrEqual(card.hostLink);
  }
});

test.each([
  ["4090", "RTX 4090"],
  ["RTX-4090", "RTX 4090"],
  ["NVIDIA GeForce RTX 3090", "RTX 3090"],
  ["a5000", "RTX A5000"],
  ["A100-80GB", "A100 80GB"],
  ["H200", "H200"],
  ["L40S", "L40S"],
])("reads %s as the %s", (text, name) => {
  expect(cardOf(text).name).toBe(name);
});

test("every card is found by its own name", () => {
  for (const card of CARDS) expect(cardOf(card.name)).toBe(card);
});

test("a bare size is a card of that size", () => {
  expect(cardOf("24GB")).toMatchObject({ memory: 24 * GB, capability: 8.6 });
  expect(cardOf("22.5GiB").memory).toBe(22.5 * GiB);
});

test.each(["2xA5000", "A5000x2", "2 x RTX A5000"])("%s is two of them", (text) => {
  expect(cardsOf(text)).toEqual({ count: 2, card: cardOf("A5000") });
});

test.each([
  ["A100", /could be A100 40GB or A100 80GB/],
  ["banana", /unknown card "banana"/],
  ["", /unknown card ""/],
  ["12MB", /12\.0 MB/],
])("says what is wrong with %j", (text, message) => {
  expect(() => cardOf(text)).toThrow(message);
});

test("says what is wrong with no cards at all", () => {
  expect(() => cardsOf("0xA5000")).toThrow(/0 of them/);
});

test("reads a part of a card", () => {
  const part = cardOf("H200@24GB");
  expect(part).toEqual({ ...cardOf("H200"), name: "H200 (24.0 GB of it)", memory: 24 * GB });
  expect(() => cardOf("4090@80GB")).toThrow('"80GB" is no part of the RTX 4090');
});
