// Bundles the command line with everything it imports into dist/: the package has no dependencies at run time.
import { chmodSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { ROOT } from "./process.mjs";

const dist = join(ROOT, "dist");
const fresh = join(ROOT, `.cache/dist-${process.pid}`);
const stale = join(ROOT, `.cache/stale-${process.pid}`);

mkdirSync(join(ROOT, ".cache"), { recursive: true });
const bundle = await rolldown({
  cwd: ROOT,
  input: { plimsoll: "src/cli/main.ts", "audit-worker": "src/audit/worker.ts" },
  platform: "node",
  logLevel: "warn",
});
await bundle.write({
  dir: fresh,
  format: "esm",
  // Names without a hash, so that a process that is running while dist/ is replaced still finds its chunks.
  entryFileNames: "[name].js",
  chunkFileNames: "chunks/[name].js",
  banner: (chunk) => (chunk.isEntry ? "#!/usr/bin/env node" : ""),
});
await bundle.close();
chmodSync(join(fresh, "plimsoll.js"), 0o755);

// Swapped in whole: whoever runs plimsoll meanwhile sees the old build or the new one, never half of each.
try {
  renameSync(dist, stale);
} catch (error) {
  if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
}
renameSync(fresh, dist);
rmSync(stale, { recursive: true, force: true });
