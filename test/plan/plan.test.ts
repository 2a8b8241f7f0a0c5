import { expect, test } from "vitest";
import { GB, MiB } from "../../src/base/units.ts";
import { COMPONENTS } from "../../src/plan/budget.ts";
import { cardOf, CONTEXT } from "../../src/plan/cards.ts";
import { plan } from "../../src/plan/plan.ts";
import { CHECKPOINTED, LORA, QLORA, recipe } from "./recipes.ts";

test("the budget adds up to what is reserved, and the context", () => {
  for (const method of [recipe("gpt2").method, LORA, QLORA]) {
    const made = plan(recipe("Qwen2.5-0.5B", { method, batch: 2 }));
    const total = COMPONENTS.reduce((sum, name) => sum + made.budget[name], 0);
    expect(total).toBe(made.peakReserved + CONTEXT);
    for (const name of COMPONENTS) expect(made.budget[name], name).toBeGreaterThanOrEqual(0);
  }
});

test("the highest phase is the peak", () => {
  const made = plan(recipe("gpt2", { batch: 2 }));
  expect(Math.max(...made.phases.map(({ bytes }) => bytes))).toBe(made.peakAllocated);
  expect(made.allocated[made.moment.row]).toBe(made.peakAllocated);
});

test("a large vocabulary binds in the backward of the loss: fp32 log-probabilities and two gradients as large", () => {
  const { moment } = plan(recipe("Qwen2.5-7B", { method: LORA, batch: 2, checkpointing: CHECKPOINTED }));
  expect(moment.when).toBe("backward of the loss");
  const logits = 2 * 512 * 152_064 * 4;
  expect(moment.parts.slice(0, 2)).toEqual([
    { what: "gradients of the fp32 logits", bytes: 2 * logits, count: 2 },
    { what: "fp32 log-probabilities", bytes: logits, count: 1 },
  ]);
});

test("with the loss in chunks a layer binds instead", () => {
  const { moment } = plan(
    recipe("Qwen2.5-7B", { method: LORA, batch: 2, checkpointing: CHECKPOINTED, loss: "chunked" }),
  );
  expect(moment.when).toMatch(/^recomputation and backward of layer \d+ \(mlp/);
  expect(moment.parts.map(({ what }) => what)).toContainEqual(
    expect.stringMatching(/^temporaries of layer \d+$/),
  );
});

test("parts and what stays make up the peak, but for rounding", () => {
  const { moment, peakAllocated } = plan(recipe("Qwen2.5-0.5B", { batch: 4 }));
  const live = moment.parts.reduce((sum, { bytes }) => sum + bytes, moment.standing);
  expect(peakAllocated - live).toBeGreaterThanOrEqual(0);
  expect(peakAllocated / live).toBeLessThan(1.02);
});

test("fits, fits only by giving back cached memory, and does not fit", () => {
  const base = recipe("Qwen2.5-0.5B", { method: LORA, batch: 8, checkpointing: CHECKPOINTED });
  const { peakReserved, peakAllocated } = plan(base, cardOf("80GB"));
  const usable = (bytes: number) => plan(base, cardOf(`${bytes + CONTEXT}B`)).verdict!;
  expect(usable(peakReserved)).toEqual({ fits: true, usable: peakReserved, spare: 0, retries: 0 });
  expect(usable(peakAllocated - MiB).fits).toBe(false);
  expect(usable(peakReserved - 20 * MiB)).toMatchObject({ fits: true });
  expect(usable(peakReserved - 20 * MiB).retries).toBeGreaterThan(0);
});

test("the card's capability chooses the workspace", () => {
  const on = (card: string) => plan(recipe("gpt2"), cardOf(card)).budget.workspace;
  expect(on("H100 80GB") - on("A100-80GB")).toBe(2 * (32 * MiB - 8_519_680));
});

test("the optimizer's state in host memory has a budget there", () => {
  const made = plan(recipe("gpt2", { optimizerOnHost: true, clip: false }));
  const bytes = 124_439_808 * 2;
  expect(made.host!.optimizerState / (2 * bytes)).toBeCloseTo(1, 2);
  // Copies of weights and gradients are pinned, which rounds each up to a power of two.
  expect(made.host!.copies).toBeGreaterThan(2 * bytes);
  expect(made.host!.copies).toBeLessThan(4 * bytes);
  expect(made.budget["optimizer state"]).toBeLessThan(0.01 * GB);
  expect(plan(recipe("gpt2")).host).toBeNull();
});

test("offloaded checkpoints wait in host memory", () => {
  const { host } = plan(recipe("gpt2", { batch: 3, checkpointing: { ...CHECKPOINTED, offload: true } }));
  // Twelve inputs of 3 × 512 × 768 bf16 numbers, pinned in blocks of 4 MiB.
  expect(host).toEqual({ copies: 0, optimizerState: 0, activations: 12 * 4 * MiB, total: 12 * 4 * MiB });
});
