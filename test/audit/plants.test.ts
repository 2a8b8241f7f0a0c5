import { describe, expect, test } from "vitest";
import { RULES } from "../../src/audit/rules.ts";
import { auditTexts } from "../../src/audit/session.ts";
import { DEFAULTS } from "../../src/audit/settings.ts";
import { HOSTS } from "../support/plant-hosts.ts";
import { cleanText, planted, readPlants, tryPlants } from "../support/plants.ts";

const plants = readPlants();

test.each(HOSTS)("$file, as it is, has nothing to answer for", (host) => {
  const { findings, diagnostics } = auditTexts([{ path: host.file, text: cleanText(host) }], DEFAULTS);
  expect(diagnostics).toEqual([]);
  expect(findings.filter(({ severity }) => severity !== "note")).toEqual([]);
});

test("every pattern is planted in three wordings or more, each somewhere", () => {
  const patterns = new Set(RULES.flatMap(({ meta }) => meta.patterns));
  for (const pattern of patterns)
    expect(
      plants.filter((plant) => plant.pattern === pattern).length,
      `pattern ${pattern}`,
    ).toBeGreaterThanOrEqual(3);
  for (const plant of plants)
    expect(
      HOSTS.some((host) => planted(plant, host) !== null),
      `${plant.pattern} ${plant.what}`,
    ).toBe(true);
});

describe("planted defects are found", () => {
  // The bench plants each in every script that can take it; one of them tells as much here.
  test.each([...new Set(plants.map(({ pattern }) => pattern))].sort((a, b) => a - b))(
    "pattern %i",
    (pattern) => {
      const missed = tryPlants(
        plants.filter((plant) => plant.pattern === pattern),
        1,
      ).filter(({ found }) => !found);
      expect(missed.map(({ plant, host }) => `${plant.what} in ${host}`)).toEqual([]);
    },
  );
});
