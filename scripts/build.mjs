// Bundles the command line with everything it imports into dist/: the package has no dependencies at run time.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
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
  // Of a package in both formats, the one whose unused parts can be left out: OpenTelemetry is a sixth of it then.
  resolve: { mainFields: ["module", "main"] },
  logLevel: "warn",
});
const { output } = await bundle.write({
  dir: fresh,
  format: "esm",
  // Names without a hash, so that a process that is running while dist/ is replaced still finds its chunks.
  entryFileNames: "[name].js",
  chunkFileNames: "chunks/[name].js",
  // Half the text for V8 to read at every start. The names stay: `--debug` shows them.
  minify: { mangle: { keepNames: true }, compress: true, codegen: { removeWhitespace: true } },
  banner: (chunk) => (chunk.isEntry ? "#!/usr/bin/env node" : ""),
});
await bundle.close();
// The script inside every HTML report (src/report/html): for browsers, in one piece, read back by script.ts.
const page = await rolldown({
  cwd: ROOT,
  input: "src/report/html/page/main.ts",
  platform: "browser",
  tsconfig: false,
  logLevel: "warn",
});
await page.write({ file: join(fresh, "page.js"), format: "iife", minify: true });
await page.close();
writeFileSync(
  join(fresh, "LICENSES.txt"),
  licences(output.flatMap((one) => (one.type === "chunk" ? one.moduleIds : []))),
);
chmodSync(join(fresh, "plimsoll.js"), 0o755);

// Swapped in whole: whoever runs plimsoll meanwhile sees the old build or the new one, never half of each.
// Another build may be doing the same: then its dist/ gives way like any older one.
while (existsSync(fresh)) {
  rmSync(stale, { recursive: true, force: true });
  attempt(() => renameSync(dist, stale));
  attempt(() => renameSync(fresh, dist));
}
rmSync(stale, { recursive: true, force: true });

/** @param {() => void} move */
function attempt(move) {
  try {
    move();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code !== "ENOENT" && code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
  }
}

/** What the authors of the bundled packages ask to travel with their code. @param {readonly string[]} modules */
function licences(modules) {
  const folders = modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []);
  return [...new Set(folders)]
    .sort()
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)/i.test(file));
      const texts = files.map((file) => readFileSync(join(folder, file), "utf8").trim());
      return [`${name} ${version} (${license})`, ...texts].join("\n\n");
    })
    .join(`\n\n${"-".repeat(80)}\n\n`);
}
