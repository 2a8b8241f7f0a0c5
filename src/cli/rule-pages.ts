import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Links from file to file, which lead nowhere from a terminal, an editor or GitHub's pages. */
const RELATIVE_LINK = /\[([^\]]+)\]\((?!\w+:)[^)]*\)/g;

/** The documentation page of a rule, Markdown as in docs/rules; null when there is none. */
export function rulePage(code: string): string | null {
  // The bundle's depth differs from the source's: docs/ is looked for upward from either.
  for (let at = import.meta.dirname; ; at = dirname(at)) {
    const file = join(at, "docs", "rules", `${code}.md`);
    if (existsSync(file)) return readFileSync(file, "utf8").replace(RELATIVE_LINK, "$1");
    if (dirname(at) === at) return null;
  }
}
