import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Emitter } from "../../src/emit/emitter.ts";
import { EMITTERS } from "../../src/emit/emitters.ts";
import { RULES } from "../../src/plan/levers.ts";
import { DEFAULT_RECIPE, type Recipe } from "../../src/plan/recipe.ts";
import { readRecipe } from "../../src/recipe-files/read.ts";
import { recipe } from "../plan/recipes.ts";
import { recipes } from "./recipes.ts";

const emitter = (name: string): Emitter => EMITTERS.find((one) => one.name === name)!;
const whole = ["trl", "trainer", "pytorch", "axolotl", "llamafactory", "torchtune", "hydra"];

/** In these only scripts name the allocator's settings; torchtune names every layer that "all-linear" means. */
function comparable(name: string, one: Recipe): Record<string, unknown> {
  const allocConf = ["trl", "trainer", "pytorch"].includes(name) ? one.allocConf : "";
  const method =
    name === "torchtune" && one.method.kind === "lora"
      ? {
          ...one.method,
          adapter: {
            ...one.method.adapter,
            targets:
              one.method.adapter.targets === "all-linear"
                ? ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
                : one.method.adapter.targets,
          },
        }
      : one.method;
  return { ...one, method, allocConf };
}

describe.each(whole)("%s", (name) => {
  const { cannot, files, loop, always } = emitter(name);

  it("is read back as the recipe it was written from", () => {
    let said = 0;
    fc.assert(
      fc.property(recipes, (made) => {
        const one = { ...made, loop: loop! };
        if (said === 100 || cannot(one) !== null || RULES.some(({ broken }) => broken(one, null))) return;
        said++;
        const [file] = files(one);
        const reading = readRecipe(file!);
        expect(reading.model?.name).toBe(name === "torchtune" ? "Qwen2.5-7B" : "Qwen/Qwen2.5-7B");
        expect(comparable(name, { ...DEFAULT_RECIPE, ...reading.recipe, model: one.model })).toEqual(
          comparable(name, one),
        );
      }),
      { numRuns: 2000, seed: 4 },
    );
    expect(said).toBeGreaterThan(2);
  });

  it("gives a reason for each setting", () => {
    const [file] = files({ ...recipe("Qwen/Qwen2.5-7B"), loop: loop! });
    const lines = file!.text.split("\n");
    const settings = lines.flatMap((line, at) =>
      /^ {4}\w+=|^\w+: [^|]|^[A-Z_]+ = \d/.test(line) &&
      !/=(?:model|args|peft_config|load_dataset|dataset)\b/.test(line)
        ? [lines[at - 1]!]
        : [],
    );
    expect(settings.length).toBeGreaterThan(3);
    for (const before of settings) expect(before).toMatch(/^\s*# \S/);
  });

  it("refuses another loop's recipe and says why", () => {
    const other = loop === "plain" ? "trainer" : "plain";
    expect(cannot({ ...recipe("Qwen/Qwen2.5-7B"), ...always, loop: other })).toContain(other);
  });
});
