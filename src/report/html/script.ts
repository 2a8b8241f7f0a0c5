import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** From a chunk of the bundle, and from source, where the last build's is taken. */
const PLACES = ["../page.js", "../../../dist/page.js"];

/** The page's script as scripts/build.mjs bundled it from page/main.ts. */
export function pageScript(): string {
  const files = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const file = files.find((one) => existsSync(one));
  if (file === undefined) throw new Error("page.js is missing: run npm run build");
  return readFileSync(file, "utf8");
}
