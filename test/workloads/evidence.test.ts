import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { farFrom, under, type Predicted } from "../../bench/seeds/evidence.ts";
import { WORKLOADS } from "../../bench/seeds/workloads.ts";
import { plimsoll } from "../support/cli.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const EVIDENCE = fileURLToPath(new URL("../../evidence/seeds", import.meta.url));
const PLANS = WORKLOADS.flatMap(({ plans }) => Object.entries(plans));

describe("the recorded workloads", () => {
  test.each(PLANS)("%s is predicted within 3 %", { timeout: 180_000 }, async (run, args) => {
    const { stdout, stderr } = await plimsoll(["plan", ...args, "--json"], { cwd: ROOT });
    expect(stderr).toBe("");
    expect(farFrom(run, JSON.parse(stdout) as Predicted, EVIDENCE)).toBeNull();
  });

  test.each(WORKLOADS)("$name reaches its bars", ({ bars }) => {
    for (const bar of bars) expect(under(bar, EVIDENCE)).toBeNull();
  });

  test("what is missed is named", () => {
    const half = { peak: { allocated: 1e9, reserved: 1e9 } };
    expect(farFrom("phi4_lora-after", half, EVIDENCE)).toMatch(
      /phi4_lora-after: predicted 1\.00 GB, measured/,
    );
    expect(farFrom("never-recorded", half, EVIDENCE)).toBe("never-recorded: no evidence");
    expect(under({ what: "steady", run: "qat_gpt2-before" }, EVIDENCE)).toMatch(/grows by 52/);
    expect(under({ what: "fits", run: "full_13b-before", card: 48e9 }, EVIDENCE)).toMatch(/took 82/);
  });
});
