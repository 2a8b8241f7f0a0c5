import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readRecipeFile } from "../../src/recipe-files/file.ts";
import { placeText } from "../../src/recipe-files/located.ts";
import type { RecipeReading } from "../../src/recipe-files/reading.ts";

const files = fileURLToPath(new URL("files/", import.meta.url));

function summary(reading: RecipeReading): string {
  const short = (text: string): string => text.replaceAll(files, "");
  const { framework, model, found, assumed, warnings } = reading;
  return short(
    [
      `${framework}: ${model?.name ?? "no model"}`,
      ...found.map(
        (one) => `${one.field} = ${JSON.stringify(one.value)}  ${one.key}  ${placeText(one.place)}`,
      ),
      ...assumed.map((one) => `assumed ${one.field} = ${JSON.stringify(one.value)}: ${one.why}`),
      ...warnings.map((one) => `warning ${one}`),
      "",
    ].join("\n"),
  );
}

test.each([
  "sft_qlora.py",
  "baseline/train.py",
  "baseline/config/config.py",
  "loop.py",
  "uncertain.py",
  "parsed_args.py",
  "unsloth_dpo.py",
  "from_scratch.py",
  "train.ipynb",
  "axolotl.yaml",
  "axolotl_full.yaml",
  "llama_factory.yaml",
  "llama_factory_freeze.yaml",
  "torchtune.yaml",
  "trl_sft.yaml",
  "deepspeed/zero3.json",
  "accelerate_fsdp2.yaml",
  "accelerate_deepspeed.yaml",
  "hydra/configs/config.yaml",
  "hydra/train.py",
])("reads %s as its golden says", async (name) => {
  const text = summary(readRecipeFile(files + name));
  await expect(text).toMatchFileSnapshot(`goldens/${name.replaceAll("/", "-")}.txt`);
});
