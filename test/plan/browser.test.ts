import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";
import { cardOf } from "../../src/plan/cards.ts";
import { plan } from "../../src/plan/plan.ts";
import { launchBrowser } from "../support/browser.ts";
import { LORA, recipe } from "./recipes.ts";

test("the planner gives the same numbers in a browser", async () => {
  const bundle = await rolldown({ input: fileURLToPath(new URL("../../src/plan/plan.ts", import.meta.url)) });
  const { output } = await bundle.generate({ format: "iife", name: "planner" });
  await bundle.close();

  const asked = recipe("Qwen2.5-0.5B", { method: LORA, batch: 4 });
  const card = cardOf("24GB");
  const here = plan(asked, card);
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage();
    await page.addScriptTag({ content: output[0].code });
    const there = await page.evaluate(
      ([asked, card]) => {
        const { planner } = globalThis as unknown as { planner: { plan: typeof plan } };
        const { peakAllocated, peakReserved, budget, moment, verdict } = planner.plan(asked, card);
        return { peakAllocated, peakReserved, budget, moment, verdict };
      },
      [asked, card] as const,
    );
    const { peakAllocated, peakReserved, budget, moment, verdict } = here;
    expect(there).toEqual({ peakAllocated, peakReserved, budget, moment, verdict });
  } finally {
    await browser.close();
  }
});
