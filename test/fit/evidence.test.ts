import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { simulate } from "../../src/allocator/simulate.ts";
import { abridged } from "../../src/fit/space.ts";
import { type Case, recipeOfCase } from "../../src/plan/case.ts";
import { execute } from "../../src/plan/execute.ts";

interface Run {
  readonly id: string;
  readonly ok: boolean;
  readonly peak_allocated?: number;
  readonly peak_reserved: number;
  readonly case: Case & { readonly cap_gb: number };
}

const runs = readFileSync(new URL("../../evidence/fit/runs.jsonl", import.meta.url), "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line) as Run)
  .filter(({ id }) => /seed003|grid-qwen15|fit-(?:qwen05|gemma2|llama1b|phi3)/.test(id));

describe("what ran under a cap of memory", () => {
  it.each(runs.map((run) => [run.id, run] as const))("%s", (_id, { ok, case: c, ...measured }) => {
    const { tape } = execute(abridged(recipeOfCase(c)));
    const under = simulate(tape, { allowed: c.cap_gb * 1e9 });
    expect(under.oom === null).toBe(ok);
    if (!ok) return;
    const { allocated, reserved } = under.stats;
    expect(Math.abs(allocated.peak / measured.peak_allocated! - 1)).toBeLessThan(0.03);
    expect(Math.abs(reserved.peak / measured.peak_reserved - 1)).toBeLessThan(0.03);
  });
});
