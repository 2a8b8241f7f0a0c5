import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "./process.mjs";

/**
 * One hash over the names and contents of files and folders; missing ones count as empty.
 * @param {readonly string[]} paths
 */
export function hashOf(paths) {
  const hash = createHash("sha256");
  for (const file of paths.flatMap(filesUnder))
    hash
      .update(file)
      .update("\0")
      .update(readFileSync(join(ROOT, file)));
  return hash.digest("hex");
}

/** @param {string} path @returns {string[]} */
function filesUnder(path) {
  const full = join(ROOT, path);
  if (!existsSync(full)) return [];
  if (!statSync(full).isDirectory()) return [path];
  return readdirSync(full)
    .filter((name) => name !== "__pycache__")
    .sort()
    .flatMap((name) => filesUnder(`${path}/${name}`));
}

/** @param {string} file @param {string} stamp */
export function isFresh(file, stamp) {
  return existsSync(join(ROOT, file)) && readFileSync(join(ROOT, file), "utf8") === stamp;
}

/** @param {string} file @param {string} stamp */
export function markFresh(file, stamp) {
  mkdirSync(dirname(join(ROOT, file)), { recursive: true });
  writeFileSync(join(ROOT, file), stamp);
}
