import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { runProgram } from "../support/cli.ts";
import { emptyFolder } from "../support/folder.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

test("the packed package installs offline and runs where the repository is not", async () => {
  const away = emptyFolder();
  const env = {
    HOME: join(away, "home"),
    npm_config_cache: join(away, "cache"),
    npm_config_userconfig: join(away, "home/.npmrc"),
    // A registry that cannot answer: whoever asks it fails.
    npm_config_registry: "http://127.0.0.1:9/",
  };
  mkdirSync(join(away, "home"));
  mkdirSync(join(away, "app"));
  writeFileSync(join(away, "app/package.json"), "{}");

  const packed = await runProgram("npm", ["pack", "--ignore-scripts", "--pack-destination", away], {
    cwd: ROOT,
    env,
  });
  expect(packed.code, packed.stderr).toBe(0);
  const tarball = readdirSync(away).find((name) => name.endsWith(".tgz"));
  expect(tarball).toBe(`plimsoll-${packageJson.version}.tgz`);

  const cwd = join(away, "app");
  const install = ["install", "--offline", "--no-audit", "--no-fund", join(away, tarball!)];
  const installed = await runProgram("npm", install, { cwd, env });
  expect(installed.code, installed.stderr).toBe(0);
  expect(readdirSync(join(cwd, "node_modules")).filter((name) => !name.startsWith("."))).toEqual([
    "plimsoll",
  ]);

  const program = join(cwd, "node_modules/.bin/plimsoll");
  const version = await runProgram(program, ["--version"], { cwd, env });
  expect(version).toEqual({ code: 0, stdout: `${packageJson.version}\n`, stderr: "" });
  copyFileSync(join(ROOT, "test/fixtures/snapshots/gpt2-expandable.pickle.gz"), join(cwd, "run.pickle.gz"));
  const replay = await runProgram(program, ["replay", "run.pickle.gz", "--json"], { cwd, env });
  expect(replay.code, replay.stderr).toBe(0);
  expect(JSON.parse(replay.stdout)).toMatchObject({ devices: [{ exact: true }] });

  // What comes with the package beside the code: the models' catalogue, the rules' pages, the probe.
  const plan = await runProgram(program, ["plan", "Qwen/Qwen2.5-0.5B", "--card", "24GB"], { cwd, env });
  expect(plan.code, plan.stderr).toBe(0);
  const explain = await runProgram(program, ["explain", "PLM001"], { cwd, env });
  expect(explain.code, explain.stderr).toBe(0);
  const run = await runProgram(program, ["run", "--", process.execPath, "--version"], { cwd, env });
  expect(run.code, run.stderr).toBe(0);
  expect(run.stdout).toBe(`${process.version}\n`);
});

test("the lock file names no registry", () => {
  expect(readFileSync(join(ROOT, "package-lock.json"), "utf8")).not.toContain('"resolved"');
});
