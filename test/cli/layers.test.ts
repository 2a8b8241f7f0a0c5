import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { runProgram } from "../support/cli.ts";
import { emptyFolder } from "../support/folder.ts";

const CHECK = fileURLToPath(new URL("../../scripts/layers.mjs", import.meta.url));

async function check(files: Readonly<Record<string, string>>) {
  const folder = emptyFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const { code, stderr } = await runProgram(process.execPath, [CHECK, folder]);
  return { code, problems: stderr.trim().split("\n").filter(Boolean) };
}

test("a house in order passes", async () => {
  const { code, problems } = await check({
    "base/a.ts": `// import "node:fs";\nexport const text = 'import "node:fs"';\n`,
    "snapshot/file.ts": `import { readFileSync } from "node:fs";\nexport { readFileSync };\n`,
    "plan/a.ts": `import { text } from "../base/a.ts";\nexport { text };\n`,
    "cli/main.ts": `import "../snapshot/file.ts";\nconsole.log(process.argv);\n`,
  });
  expect({ code, problems }).toEqual({ code: 0, problems: [] });
});

test.each([
  [
    "an import from above",
    "tape/a.ts",
    `\nimport type { Plan } from "../plan/p.ts";`,
    "src/tape/a.ts:2: tape cannot import from plan",
  ],
  [
    "a dynamic import from above",
    "base/a.ts",
    `await import("../cli/main.ts");`,
    "src/base/a.ts:1: base cannot import from cli",
  ],
  [
    "a re-export from the same row",
    "fit/a.ts",
    `export * from "../audit/a.ts";`,
    "src/fit/a.ts:1: fit cannot import from audit",
  ],
  [
    "a Node module in the browser",
    "plan/a.ts",
    `import fs from "fs";`,
    "src/plan/a.ts:1: plan must run in a browser, so it cannot use fs",
  ],
  [
    "a Node global in the browser",
    "base/a.ts",
    `\n\nprocess.exit(1);`,
    "src/base/a.ts:3: base must run in a browser, so it cannot use process",
  ],
  [
    "the file door in the browser",
    "snapshot/a.ts",
    `import "./file.ts";`,
    "src/snapshot/a.ts:1: snapshot must run in a browser, so it cannot import snapshot/file.ts",
  ],
  [
    "printing below the command line",
    "audit/a.ts",
    `console.log(1);`,
    "src/audit/a.ts:1: audit cannot print: only cli does",
  ],
  ["a folder on no floor", "misc/a.ts", ``, "src/misc/a.ts:1: misc is on no floor"],
])("%s is named with its line", async (_, file, text, problem) => {
  const { code, problems } = await check({ [file]: text });
  expect(code).toBe(1);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(problem);
});
