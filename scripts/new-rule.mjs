// node scripts/new-rule.mjs 21 zero-grad-to-zero: a rule's file, sample and page, and its line in the table.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, say } from "./process.mjs";

const [number, name] = process.argv.slice(2);
if (!number || !/^\d{1,3}$/.test(number) || !name || !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) {
  say("usage: node scripts/new-rule.mjs NUMBER kebab-case-name");
  process.exit(2);
}
const digits = number.padStart(3, "0");
const code = `PLM${digits}`;
const id = `plm${digits}`;

create(
  `src/audit/rules/${id}-${name}.ts`,
  `import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "${code}",
    name: "${name}",
    summary: "",
    severity: "warning",
    fix: "none",
    patterns: [${Number(number)}],
  },
  *check(facts) {
    for (const call of facts.file.all("Call")) {
      if (facts.file.dotted(call.func) !== "torch.") continue;
      yield { at: call, message: "" };
    }
  },
};
`,
);
create(
  `test/audit/samples/${id}.py`,
  `import torch


def found():
    torch.todo()  # expect: ${code}


def silent():
    # trap:
    # trap:
    # trap:
    pass
`,
);
create(
  `docs/rules/${code}.md`,
  `# ${code} ${name}

**What.**

**Why.**

**Cost.**

**Fix.**

**Ignore it when**
`,
);

const table = join(ROOT, "src/audit/rules.ts");
const lines = readFileSync(table, "utf8").split("\n");
insertSorted(
  lines,
  /^import \{ rule as (plm\d+)/,
  `import { rule as ${id} } from "./rules/${id}-${name}.ts";`,
);
insertSorted(lines, /^ {2}(plm\d+),$/, `  ${id},`);
writeFileSync(table, lines.join("\n"));
say(`entered ${code} in src/audit/rules.ts`);

/** @param {string[]} lines @param {RegExp} pattern @param {string} line */
function insertSorted(lines, pattern, line) {
  let at = -1;
  for (const [index, text] of lines.entries()) {
    const found = pattern.exec(text)?.[1];
    if (found === undefined) continue;
    if (found === id) return;
    if (at < 0 || found < id) at = found < id ? index + 1 : index;
  }
  lines.splice(at, 0, line);
}

/** @param {string} path @param {string} text */
function create(path, text) {
  const file = join(ROOT, path);
  if (existsSync(file)) {
    say(`${path} is there already`);
    process.exit(2);
  }
  writeFileSync(file, text);
  say(`wrote ${path}`);
}
