import { randomBytes } from "node:crypto";
import {
  accessSync,
  constants,
  existsSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

/**
 * Whoever reads the file meanwhile sees the old text or the new one, never half of each, and a full disk leaves the old one.
 * A link stays one, and what may not be written is not replaced either.
 */
export function writeAtomically(given: string, content: Uint8Array | string): void {
  const there = existsSync(given);
  const path = there ? realpathSync.native(given) : given;
  if (there) accessSync(path, constants.W_OK);
  const temporary = join(dirname(path), `.plimsoll-${randomBytes(6).toString("hex")}`);
  try {
    writeFileSync(temporary, content, there ? { mode: statSync(path).mode & 0o7777 } : {});
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
