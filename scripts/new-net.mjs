// npm run new:net -- MODEL_TYPE: a model family's file, begun as llama's, its line in the table, its cases to record.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, say, script, Stop } from "./process.mjs";

const TABLE = join(ROOT, "src/nets/families.ts");
const CASES = join(ROOT, "bench/record/families.jsonl");

/** Two layers, small enough to record in seconds; the widths are to be made the family's real ones. */
const CONFIG = {
  hidden_size: 1024,
  intermediate_size: 2816,
  num_hidden_layers: 2,
  num_attention_heads: 16,
  num_key_value_heads: 4,
  vocab_size: 32000,
};
/** The two recipes that between them take every kernel's path: see docs/nets.md. */
const RECIPES = [
  { kind: "full-bf16-sdpa-fused", param_dtype: "bf16", attn: "sdpa", optim: "adamw_fused" },
  {
    kind: "full-autocast-eager-foreach",
    param_dtype: "fp32",
    autocast: true,
    attn: "eager",
    optim: "adamw_foreach",
  },
];

await script(() => {
  const [type] = process.argv.slice(2);
  if (!type || !/^[a-z][a-z0-9]*([_-][a-z0-9]+)*$/.test(type)) {
    throw new Stop("usage: npm run new:net -- MODEL_TYPE   (as in the model's config.json: qwen3_moe)");
  }
  const file = `${type.replaceAll("_", "-")}.ts`;
  const name = type.replaceAll(/[_-]([a-z0-9])/g, (_, letter) => letter.toUpperCase());
  const path = join(ROOT, "src/nets", file);
  if (existsSync(path)) throw new Stop(`src/nets/${file} exists`);

  const template = readFileSync(join(ROOT, "src/nets/llama.ts"), "utf8");
  writeFileSync(path, template.replace("const llama:", `const ${name}:`).replace('["llama"]', `["${type}"]`));
  say(`wrote src/nets/${file}, a copy of llama's: change what differs in modeling_${type}.py`);

  const table = readFileSync(TABLE, "utf8");
  writeFileSync(
    TABLE,
    table
      .replace("import type { Family }", `import { ${name} } from "./${file}";\nimport type { Family }`)
      .replace(/\n\];/, `\n  ${name},\n];`),
  );
  say("entered it in src/nets/families.ts");

  for (const { kind, ...recipe } of RECIPES) {
    const config = { model_type: type, ...CONFIG };
    const run = { config, trace: true, steps: 2, batch: 2, seq: 256, name: `${type}--${kind}`, ...recipe };
    appendFileSync(CASES, `${JSON.stringify(run)}\n`);
  }
  say(
    "added two cases to bench/record/families.jsonl: give them the family's real widths, then see docs/nets.md",
  );
});
