// node scripts/new-emitter.mjs lightning: an emitter's file, and its lines in the table.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, say } from "./process.mjs";

const [name] = process.argv.slice(2);
if (!name || !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) {
  say("usage: node scripts/new-emitter.mjs kebab-case-name");
  process.exit(2);
}
const id = name.replaceAll(/-([a-z0-9])/g, (_, letter) => letter.toUpperCase());
const path = `src/emit/${name}.ts`;
if (existsSync(join(ROOT, path))) {
  say(`${path} is there already`);
  process.exit(2);
}
writeFileSync(
  join(ROOT, path),
  `import { type Emitter, unsayable, type Vocabulary } from "./emitter.ts";
import { yaml } from "./lines.ts";
import { OPTIM, trainerLines } from "./settings.ts";

const CAN: Vocabulary = {
  loop: "trainer",
  optimizers: OPTIM,
  checkpointings: ["none", "full"],
  losses: ["default"],
  inBackward: false,
  prepares: false,
  spread: ["none"],
};

export const ${id}: Emitter = {
  name: "${name}",
  summary: "",
  loop: CAN.loop,
  cannot: (recipe) => unsayable(recipe, CAN),
  files: (recipe) => [{ name: "${name}.yaml", text: yaml(trainerLines(recipe)) }],
};
`,
);
say(`wrote ${path}`);

const table = join(ROOT, "src/emit/emitters.ts");
const lines = readFileSync(table, "utf8").split("\n");
const after = lines.findLastIndex((line) => line.startsWith("import ") && line < `import { ${id} }`);
lines.splice(after + 1, 0, `import { ${id} } from "./${name}.ts";`);
lines.splice(lines.lastIndexOf("];"), 0, `  ${id},`);
writeFileSync(table, lines.join("\n"));
say(`entered ${name} in src/emit/emitters.ts; next: its page, docs/emit.md, and test/emit/emit.test.ts`);
