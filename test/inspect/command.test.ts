import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { Io } from "../../src/cli/command.ts";
import { command } from "../../src/cli/commands/inspect.ts";
import { UserError } from "../../src/base/errors.ts";
import type { InspectResult } from "../../src/inspect/result.ts";
import { emptyFolder } from "../support/folder.ts";

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/snapshots/${name}`, import.meta.url));

async function run(
  file: string,
  options: Record<string, string | boolean> = {},
): Promise<{ code: number; out: string }> {
  let out = "";
  const io: Io = {
    out: (text) => (out += text),
    err: () => {},
    color: false,
    width: 100,
    interactive: false,
  };
  const code = await command.run({ options, positionals: [file], rest: [] }, io);
  return { code, out };
}

describe("plimsoll inspect", () => {
  it("exits 0 when nothing is wrong, 1 on a leak, 1 on an out-of-memory", async () => {
    expect((await run(fixture("gpt2-frames.pickle.gz"))).code).toBe(0);
    expect((await run(fixture("gpt2-leak.pickle.gz"))).code).toBe(1);
    expect((await run(fixture("qwen-oom.pickle.gz"))).code).toBe(1);
  });

  it("prints the documented JSON", async () => {
    const { out } = await run(fixture("gpt2-leak.pickle.gz"), { json: true });
    const result = JSON.parse(out) as InspectResult;
    expect(result.schema).toBe("plimsoll.inspect/1");
    expect(Object.keys(result)).toEqual([
      "schema",
      "file",
      "source",
      "device",
      "events",
      "steps",
      "truncated",
      "frames",
      "allocConf",
      "peak",
      "reservedPeak",
      "phasePeaks",
      "growth",
      "fragmentation",
      "fragmentationAtPeak",
      "ooms",
    ]);
    expect(result.growth.leaks[0]!.user).toEqual({ file: "/train/traces.py", line: 39, function: "run" });
    // As torch.cuda.max_memory_reserved() reported at the end of the run.
    expect(result.reservedPeak.bytes).toBe(1_816_133_632);
  });

  it("saves a tape that inspects the same", async () => {
    const tape = join(emptyFolder(), "run.arrow");
    const first = await run(fixture("gpt2-leak.pickle.gz"), { tape });
    const second = await run(tape);
    const body = (out: string): string => out.slice(out.indexOf("Peak:"), out.indexOf("Fragmentation"));
    expect(second.code).toBe(1);
    expect(body(second.out)).toBe(body(first.out));
  });

  it("lays one run against another", async () => {
    const against = fixture("gpt2-frames.pickle.gz");
    const { out } = await run(fixture("gpt2-leak.pickle.gz"), { against, top: "2" });
    // Six steps' logits kept against one step's: 5 × 51.5 MB.
    expect(out).toContain("gpt2-frames.pickle.gz: peak 1.47 GB → 1.73 GB (+257 MB)");
    expect(out).toMatch(
      /only here, at the peak\n +257 MB {2}5 × 51.5 MB activation {2}modeling_gpt2.py:697\/Linear/,
    );
    const json = JSON.parse((await run(against, { against, json: true })).out);
    expect(json.against.peak.before).toBe(json.against.peak.after);
    expect(json.against.onlyBefore).toEqual([]);
  });

  it("lists as many lines as asked for", async () => {
    const { out } = await run(fixture("gpt2-frames.pickle.gz"), { top: "2" });
    expect(out).toMatch(/by kind\n.*\n.*\n {4}… and \d+ more\n {2}by line/);
  });

  it("handles a snapshot without any history", async () => {
    await expect(run(fixture("small-p4.pickle"), { device: "7" })).rejects.toThrow(/no history of device 7/);
  });

  it.each([
    ["top", "many"],
    ["top", "-1"],
    ["device", "1.5"],
  ])("refuses --%s %s", async (option, value) => {
    await expect(run(fixture("gpt2-frames.pickle.gz"), { [option]: value })).rejects.toThrow(UserError);
  });

  it("refuses what is neither snapshot nor tape", async () => {
    const folder = emptyFolder();
    for (const name of ["x.pickle", "x.arrow"]) {
      writeFileSync(join(folder, name), "nothing of the sort");
      await expect(run(join(folder, name))).rejects.toThrow(UserError);
      await expect(run(join(folder, `no-such-${name}`))).rejects.toThrow(UserError);
    }
  });
});
