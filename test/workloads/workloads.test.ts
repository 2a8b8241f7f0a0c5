import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { runProgram } from "../support/cli.ts";
import { PYTHON } from "../support/python.ts";

/** The workloads' own Python tests: all five at their tiny size, and the LS-LoRA library. */
const SUITES = ["workloads/tests", "workloads/lslora/tests"];
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

test.each(SUITES)("%s", { timeout: 600_000 }, async (folder) => {
  const { code, stderr } = await runProgram(PYTHON, ["-m", "unittest", "discover", "-s", folder], {
    cwd: ROOT,
    env: { OMP_NUM_THREADS: "1" },
  });
  expect(stderr).toMatch(/Ran \d+ tests/);
  expect(code, stderr).toBe(0);
});
