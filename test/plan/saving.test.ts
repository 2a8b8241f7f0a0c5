import { expect, it } from "vitest";
import { plan } from "../../src/plan/plan.ts";
import { DEFAULT_RECIPE } from "../../src/plan/recipe.ts";

const recipe = {
  ...DEFAULT_RECIPE,
  model: { name: "gpt2", config: { model_type: "gpt2", n_layer: 2 } },
  seq: 128,
};

it("saving stands on the card with weights and optimizer state, and takes nothing more", () => {
  const without = plan(recipe);
  const saving = plan({ ...recipe, saves: true });
  expect(without.phases.some((p) => p.phase === "save")).toBe(false);
  const save = saving.phases.find((p) => p.phase === "save")!;
  const standing = saving.budget.weights + saving.budget["optimizer state"];
  expect(save.bytes).toBeGreaterThan(standing);
  expect(save.bytes).toBeLessThan(saving.peakAllocated);
  expect(saving.peakReserved).toBe(without.peakReserved);
});
