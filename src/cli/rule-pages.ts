import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The documentation page of a rule, Markdown as in docs/rules; null when there is none. */
export function rulePage(code: string): string | null {
  // The bundle's depth differs from the source's: docs/ is looked for upward from either.
  for (let at = import.meta.dirname; ; at = dirname(at)) {
    const file = join(at, "docs", "rules", `${code}.md`);
    if (existsSync(file)) return readFileSync(file, "utf8");
    if (dirname(at) === at) return null;
  }
}
