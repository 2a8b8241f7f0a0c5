import { describe, expect, it } from "vitest";
import { simulate } from "../../src/allocator/simulate.ts";
import { type Found, search, type SearchOptions } from "../../src/fit/search.ts";
import { axesOf, microBatches } from "../../src/fit/space.ts";
import { speedOf } from "../../src/fit/speed.ts";
import { footprintOf, leastPeak, profileOf } from "../../src/fit/structure.ts";
import { cardOf, CONTEXT } from "../../src/plan/cards.ts";
import { execute } from "../../src/plan/execute.ts";
import { RULES } from "../../src/plan/levers.ts";
import { effectiveBatch, type Recipe } from "../../src/plan/recipe.ts";
import { CHECKPOINTED, LORA, recipe } from "../plan/recipes.ts";

const options = (base: Recipe, card: string, more: Partial<SearchOptions> = {}): SearchOptions => ({
  base,
  card: cardOf(card),
  ranks: 1,
  nodes: 1,
  mayPack: false,
  mayAutocastAdapters: false,
  keep: new Set(),
  host: null,
  known: true,
  wanted: 4,
  ...more,
});

const small = recipe("Qwen/Qwen2.5-0.5B", { seq: 1024, accumulation: 8 });

describe("search", () => {
  it("keeps model, method, sequence and effective batch", () => {
    const { ranked } = search(options(small, "8GB"));
    expect(ranked.length).toBeGreaterThan(0);
    for (const { recipe: one } of ranked) {
      expect(one.model).toEqual(small.model);
      expect(one.method).toEqual(small.method);
      expect(one.seq).toBe(1024);
      expect(one.batch * one.accumulation).toBe(8);
    }
  });

  it("ranks only recipes that fit and that no rule forbids", () => {
    const card = cardOf("8GB");
    for (const found of search(options(small, "8GB")).ranked) {
      expect(found.verdict.fits).toBe(true);
      expect(found.reserved).toBeLessThanOrEqual(card.memory - CONTEXT);
      expect(RULES.filter(({ broken }) => broken(found.recipe, card))).toEqual([]);
    }
  });

  it("finds what trying every recipe finds", () => {
    const keep = new Set(["optimizer", "offload", "allocator"] as const);
    const asked = options(small, "8GB", { keep, wanted: 1 });
    const axes = axesOf(asked);
    let best = 0;
    for (const checkpointing of axes.checkpointings)
      for (const loss of axes.losses)
        for (const batch of microBatches(asked, small.parallel)) {
          const one: Recipe = { ...small, checkpointing, loss, batch, accumulation: 8 / batch };
          if (RULES.some(({ broken }) => broken(one, asked.card))) continue;
          const short = { ...one, accumulation: Math.min(2, one.accumulation) };
          const execution = execute(short, 2, asked.card.capability);
          if (simulate(execution.tape).stats.reserved.peak > asked.card.memory - CONTEXT) continue;
          best = Math.max(best, speedOf(execution, one, asked.card).tokensPerSecond);
        }
    const [first] = search(asked).ranked;
    expect(first!.speed.tokensPerSecond).toBeGreaterThan(0.96 * best);
    expect(first!.speed.tokensPerSecond).toBeLessThanOrEqual(best * 1.0001);
  });

  it("shares the effective batch over the cards of a layout, and divides layers within a machine only", () => {
    const base = recipe("Qwen/Qwen2.5-0.5B", { seq: 512, accumulation: 8 });
    const layouts = (ranks: number, nodes: number): string[] =>
      axesOf(options(base, "8GB", { ranks, nodes })).parallels.map(
        (p) => `${p.kind} ${p.ranks}${p.replicas ? ` × ${p.replicas}` : ""}`,
      );
    expect(layouts(2, 1)).toEqual(["ddp 2", "zero2 2", "fsdp2 2", "tensor 2", "pipeline 2"]);
    // Two key-value heads are not divided by four; a batch of eight is not shared by sixteen.
    expect(layouts(4, 2)).toEqual(["ddp 4", "zero2 4", "fsdp2 4", "pipeline 4", "fsdp2 2 × 2"]);
    expect(layouts(16, 2)).toEqual(["pipeline 16"]);
    const { ranked } = search(options(base, "8GB", { ranks: 4, nodes: 2, wanted: 2 }));
    expect(ranked.length).toBeGreaterThan(0);
    for (const found of ranked) expect(effectiveBatch(found.recipe)).toBe(8);
  });

  it("packs rows only where it may, and says what that gives up", () => {
    const padded = recipe("Qwen/Qwen2.5-0.5B", { seq: 1024, accumulation: 4, mask: true });
    const keep = new Set(["optimizer", "offload", "allocator", "checkpointing", "loss"] as const);
    const found = (mayPack: boolean): Found[] => [
      ...search(options(padded, "24GB", { keep, wanted: 4, mayPack })).ranked,
    ];
    expect(found(false).every((one) => one.recipe.mask)).toBe(true);
    const packed = found(true).filter((one) => !one.recipe.mask);
    expect(packed.length).toBeGreaterThan(0);
    for (const { changes, grade } of packed) {
      expect(changes.map(({ name }) => name)).toContain("rows packed with samples");
      expect(grade).toBe(2);
    }
  });

  it("lets adapters compute under autocast only where it may: leaner, faster, and said to round", () => {
    const base = recipe("Qwen/Qwen2.5-0.5B", { seq: 1024, method: LORA });
    const keep = new Set([
      "optimizer",
      "offload",
      "allocator",
      "checkpointing",
      "loss",
      "quantization",
    ] as const);
    const found = (mayAutocastAdapters: boolean): Found[] => [
      ...search(options(base, "24GB", { keep, wanted: 2, mayAutocastAdapters })).ranked,
    ];
    const [plain] = found(false);
    const [first] = found(true);
    expect(plain!.recipe.method).toEqual(base.method);
    expect(first!.recipe.method).toMatchObject({ adapter: { autocast: true } });
    expect(first!.changes.map(({ name, grade }) => [name, grade])).toEqual([
      ["adapters computed under autocast", 1],
    ]);
    const peak = (one: Recipe): number => simulate(execute(one).tape).stats.allocated.peak;
    expect(peak(first!.recipe)).toBeLessThan(peak(plain!.recipe));
    expect(speedOf(execute(first!.recipe), first!.recipe, cardOf("24GB")).device).toBeLessThan(
      speedOf(execute(base), base, cardOf("24GB")).device,
    );
  });

  it("gives the same answer twice", () => {
    const once = search(options(small, "8GB"));
    const again = search(options(small, "8GB"));
    expect(again.ranked.map((one) => one.recipe)).toEqual(once.ranked.map((one) => one.recipe));
    expect(again.counts).toEqual(once.counts);
  });

  it("leaves alone what it is told to keep", () => {
    const keep = new Set(["checkpointing", "loss", "micro-batch"] as const);
    for (const { recipe: one } of search(options(small, "16GB", { keep })).ranked) {
      expect(one.checkpointing).toEqual(small.checkpointing);
      expect(one.loss).toBe("default");
      expect(one.batch).toBe(1);
    }
  });

  it("places nothing in host memory unless some is given", () => {
    for (const found of search(options(small, "4GB")).ranked) expect(found.host).toBeNull();
    const roomy = search(options(small, "3GB", { host: 64e9 }));
    for (const found of roomy.ranked) expect(found.host?.total ?? 0).toBeLessThanOrEqual(64e9);
  });

  it("names the nearest miss when nothing fits", () => {
    const { ranked, nearest } = search(options(recipe("Qwen/Qwen2.5-7B"), "8GB"));
    expect(ranked).toEqual([]);
    expect(nearest!.reserved).toBeGreaterThan(8e9);
    expect(nearest!.verdict.fits).toBe(false);
  });

  it("has a front on which less memory is slower", () => {
    const { front } = search(options(small, "8GB"));
    for (const [at, point] of front.entries()) {
      if (at === 0) continue;
      expect(point.peak).toBeLessThan(front[at - 1]!.peak);
      expect(point.tokensPerSecond).toBeLessThanOrEqual(front[at - 1]!.tokensPerSecond);
    }
  });

  it("prefers the exact recipe among those as fast", () => {
    const [first] = search(options(small, "H200")).ranked;
    expect(first!.grade).toBe(0);
  });
});

describe("bounds", () => {
  const card = cardOf("24GB");
  it.each([
    ["full training", recipe("Qwen/Qwen2.5-0.5B", { batch: 2, accumulation: 4 })],
    ["LoRA, checkpointed", recipe("Qwen/Qwen2.5-0.5B", { method: LORA, checkpointing: CHECKPOINTED })],
    ["8-bit", recipe("Qwen/Qwen2.5-0.5B", { optimizer: "adamw_bnb_8bit", loss: "chunked" })],
    ["in backward", recipe("Qwen/Qwen2.5-0.5B", { optimizerInBackward: true, clip: false })],
  ])("no run allocates less than its bound, nor much more: %s", (_, one) => {
    const profile = profileOf(one, card);
    const footprint = footprintOf(profile.trainable, one, () => true);
    const least = leastPeak(profile, footprint, one);
    const { tape } = execute(one, 2, card.capability);
    const { peak } = simulate(tape).stats.allocated;
    expect(least).toBeLessThanOrEqual(peak);
    expect(least).toBeGreaterThan(0.85 * peak);
  });
});

describe("two micro-batches stand for all", () => {
  it.each([
    ["full training", recipe("Qwen/Qwen2.5-0.5B", { accumulation: 8, checkpointing: CHECKPOINTED })],
    ["LoRA", recipe("Qwen/Qwen2.5-0.5B", { accumulation: 8, method: LORA })],
  ])("%s", (_, one) => {
    const peak = (accumulation: number, steps: number): number =>
      simulate(execute({ ...one, accumulation }, steps).tape).stats.reserved.peak;
    expect(peak(2, 2)).toBe(peak(8, 3));
  });
});
