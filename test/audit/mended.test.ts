import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { plimsoll, runProgram } from "../support/cli.ts";
import { emptyFolder } from "../support/folder.ts";
import { PYTHON } from "../support/python.ts";

const SEEDS = join(import.meta.dirname, "../fixtures/audit/seeds");
const FILES = ["quantized.py", "curved.py"];
const STEPS = 12;

interface Trained {
  readonly losses: readonly number[];
  /** Bytes that graphs keep after each step. */
  readonly kept: readonly number[];
}

test("what hand-written audits found, mended, trains with the same losses and keeps nothing", async () => {
  const folder = emptyFolder();
  for (const name of FILES) copyFileSync(join(SEEDS, name), join(folder, name));
  const mended = await plimsoll(["audit", ".", "--fix", "--unsafe-fixes", "--exit-zero", "--json"], {
    cwd: folder,
  });
  const { findings, fixed, diagnostics } = JSON.parse(mended.stdout) as {
    findings: { severity: string; fix: unknown }[];
    fixed: { path: string }[];
    diagnostics: unknown[];
  };
  expect(diagnostics).toEqual([]);
  expect(fixed.map(({ path }) => path).sort()).toEqual([...FILES].sort());
  expect(findings.filter(({ severity, fix }) => severity === "error" || fix !== null)).toEqual([]);

  const paths = FILES.flatMap((name) => [join(SEEDS, name), join(folder, name)]);
  const { code, stdout, stderr } = await runProgram(
    PYTHON,
    ["-B", join(SEEDS, "drive.py"), String(STEPS), ...paths],
    {},
  );
  expect(code, stderr).toBe(0);
  const runs = JSON.parse(stdout) as Trained[];
  for (const [at, name] of FILES.entries()) {
    const [before, after] = [runs[2 * at]!, runs[2 * at + 1]!];
    expect(after.losses, name).toHaveLength(STEPS);
    // AdamW's fused kernel rounds in another order than the one it replaces.
    for (const [step, loss] of before.losses.entries())
      expect(after.losses[step], `${name} ${step}`).toBeCloseTo(loss, 5);
    expect(before.kept[STEPS - 1]!, name).toBeGreaterThan(before.kept[STEPS / 2]!);
    expect(after.kept, name).toEqual(Array.from({ length: STEPS }, () => 0));
  }
}, 240_000);
