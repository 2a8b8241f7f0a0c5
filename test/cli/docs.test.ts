import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { documents, refreshed } from "../../scripts/docs.mjs";
import { COMMANDS, loadCommands } from "../../src/cli/commands.ts";
import { GLOBAL_OPTIONS } from "../../src/cli/parse.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");

test.each(Object.keys(COMMANDS))("%s has a page that shows its help and is in the index", (name) => {
  expect(read(`docs/commands/${name}.md`)).toContain(`<!-- $ plimsoll ${name} --help -->`);
  expect(read("docs/README.md")).toContain(`(commands/${name}.md)`);
});

test.each(documents())("%s shows what the commands print today (if not: npm run docs)", (file) => {
  const text = read(file);
  expect(text).toBe(refreshed(text));
});

test.each(documents())("%s uses only commands and options that exist", async (file) => {
  const commands = await loadCommands();
  const unknown = read(file)
    .split("\n")
    .map((line) => /^\s*(?:\$ |npx )?plimsoll ([a-z]+)\b(.*)$/.exec(line))
    .filter((match) => match !== null)
    .flatMap(([line, name, words]) => {
      if (name === "help") return [];
      const command = commands.find((command) => command.name === name);
      if (!command) return [line];
      const known = { ...command.options, ...GLOBAL_OPTIONS };
      const used = words!.split(/ -- | #/)[0]!.matchAll(/(?<=[\s[])--([a-z][a-z0-9-]*)/g);
      return [...used]
        .filter(([, option]) => !Object.hasOwn(known, option!))
        .map(([option]) => `${option} in ${line}`);
    });
  expect(unknown).toEqual([]);
});

test.each([...documents(), "ARCHITECTURE.md"])("%s links to files that exist", (file) => {
  const targets = [...read(file).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, target]) => target!);
  expect(targets.filter((target) => !existsSync(join(ROOT, dirname(file), target)))).toEqual([]);
});

test("ARCHITECTURE.md gives a reason for every dependency", () => {
  const rows = read("ARCHITECTURE.md").matchAll(/^\| ([a-z0-9@/, -]+) \|/gm);
  const named = new Set([...rows].flatMap(([, names]) => names!.split(", ")));
  const used = Object.keys(packageJson.devDependencies).filter((name) => !name.startsWith("@types/"));
  expect(used.filter((name) => !named.has(name))).toEqual([]);
});

test("docs/benches.md names every bench", () => {
  const benches = Object.keys(packageJson.scripts).filter((name) => name.startsWith("bench:"));
  const page = read("docs/benches.md");
  expect(
    benches.filter(
      (name) => !page.includes(`npm run --silent ${name}\``) && !page.includes(`npm run --silent ${name} `),
    ),
  ).toEqual([]);
});

test("the index links every page", () => {
  const index = read("docs/README.md");
  const pages = documents().filter(
    (file) => /^docs\/(commands\/)?[^/]+\.md$/.test(file) && file !== "docs/README.md",
  );
  expect(pages.filter((page) => !index.includes(`(${page.slice("docs/".length)})`))).toEqual([]);
});
