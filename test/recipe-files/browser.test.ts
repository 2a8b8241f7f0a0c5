import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";
import { readRecipe } from "../../src/recipe-files/read.ts";
import { launchBrowser } from "../support/browser.ts";

test("files are read the same way in a browser", async () => {
  const bundle = await rolldown({
    input: fileURLToPath(new URL("../../src/recipe-files/read.ts", import.meta.url)),
  });
  const { output } = await bundle.generate({ format: "iife", name: "reader" });
  await bundle.close();
  const files = ["sft_qlora.py", "train.ipynb", "axolotl.yaml"].map((name) => ({
    name,
    text: readFileSync(fileURLToPath(new URL(`files/${name}`, import.meta.url)), "utf8"),
  }));
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage();
    await page.addScriptTag({ content: output[0].code });
    const there = await page.evaluate((given) => {
      const { reader } = globalThis as unknown as { reader: { readRecipe: typeof readRecipe } };
      return given.map((file) => reader.readRecipe(file));
    }, files);
    expect(there).toEqual(files.map((file) => readRecipe(file)));
  } finally {
    await browser.close();
  }
});
