// npm run docs: runs every command line the documents show and puts what it prints beneath it.
// A marker `<!-- $ plimsoll … -->` stands above each such block; a test fails when one is out of date.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bootstrapNode } from "./bootstrap.mjs";
import { ROOT, say, script } from "./process.mjs";

const SHOWN = /<!-- \$ plimsoll (.*) -->\n```text\n[\s\S]*?```\n/g;

export function documents() {
  const pages = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" });
  return [
    "README.md",
    "CONTRIBUTING.md",
    ...pages.filter((page) => page.endsWith(".md")).map((page) => `docs/${page}`),
  ];
}

/** The document as it should be today. @param {string} text */
export function refreshed(text) {
  return text.replace(SHOWN, (_, words) => {
    const shown = `$ plimsoll ${words}\n${outputOf(words)}`.trimEnd();
    return `<!-- $ plimsoll ${words} -->\n\`\`\`text\n${shown}\n\`\`\`\n`;
  });
}

/** @param {string} words */
function outputOf(words) {
  const { FORCE_COLOR: _, ...env } = process.env;
  const { stdout, stderr } = spawnSync(process.execPath, ["dist/plimsoll.js", ...words.split(" ")], {
    cwd: ROOT,
    encoding: "utf8",
    env: { ...env, NO_COLOR: "1", COLUMNS: "100" },
  });
  return stdout + stderr;
}

if (process.argv[1] === import.meta.filename) {
  await script(() => {
    bootstrapNode();
    for (const file of documents()) {
      const text = readFileSync(join(ROOT, file), "utf8");
      const fresh = refreshed(text);
      if (fresh === text) continue;
      writeFileSync(join(ROOT, file), fresh);
      say(`updated ${file}`);
    }
  });
}
