import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** An empty folder outside the repository that goes away with the test. */
export function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "plimsoll-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
