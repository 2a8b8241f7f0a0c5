import { readdirSync, writeFileSync, mkdirSync } from "node:fs";
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
  const completion = await runProgram(program, ["completion", "bash"], { cwd, env });
  expect(completion.code, completion.stderr).toBe(0);
  expect(completion.stdout).toContain("complete -o filenames -F _plimsoll plimsoll");
});
