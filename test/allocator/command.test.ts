import { describe, expect, test } from "vitest";
import { plimsoll } from "../support/cli.ts";

const OOM = "test/fixtures/snapshots/qwen-oom.pickle.gz";
const PLAIN = "test/fixtures/snapshots/gpt2-expandable.pickle.gz";

describe("plimsoll replay", () => {
  test("puts recorded and simulated side by side", async () => {
    const { code, stdout, stderr } = await plimsoll([
      "replay",
      PLAIN,
      "--alloc-conf",
      "expandable_segments:False",
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^recorded +3\.47 GB +73$/m);
    expect(stdout).toMatch(/^simulated, the same +3\.47 GB /m);
    expect(stdout).toMatch(/^torch's defaults +3\.76 GB /m);
    expect(stdout).toContain("agrees with the recording: 73 segment events");
  });

  test("says that no settings avoid an out-of-memory, and exits 1", async () => {
    const { code, stdout } = await plimsoll(["replay", OOM, "--sweep"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /OOM at 159 MB under the recorded settings .* none of the \d+ settings tried avoids it\./,
    );
  });

  test("says when there would be none, and what is spare", async () => {
    const { code, stdout } = await plimsoll([
      "replay",
      OOM,
      "--alloc-conf",
      "expandable_segments:True",
      "--cap",
      "13GB",
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^expandable_segments:True .* no OOM, \d+(\.\d+)? MB spare$/m);
  });

  test("names the settings that would have avoided a real out-of-memory", async () => {
    const caught = "evidence/allocator/cap-oom-caught.pickle.gz";
    const { code, stdout } = await plimsoll(["replay", caught, "--sweep", "--cap", "0.925GiB"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^simulated, the same .* out of memory: 74\.8 MB asked, fragmented$/m);
    expect(stdout).toMatch(
      /; no OOM with \S+, \d.* spare at its peak\. What the run would have asked for next/,
    );
  });

  test("--json holds the same, best first", async () => {
    const { code, stdout } = await plimsoll(["replay", PLAIN, "--sweep", "--json"]);
    expect(code).toBe(0);
    const { devices } = JSON.parse(stdout);
    expect(devices).toHaveLength(1);
    const [device] = devices;
    expect(device).toMatchObject({
      exact: true,
      truncated: false,
      limit: null,
      recorded: { conf: "expandable_segments:True", peakReserved: 3466592256, segmentEvents: 73, ooms: 0 },
      same: { conf: "expandable_segments:True", peakReserved: 3466592256, oom: null },
    });
    const peaks = device.others.map((one: { peakReserved: number }) => one.peakReserved);
    expect(peaks).toEqual(peaks.toSorted((a: number, b: number) => a - b));
  });

  test.each([
    [["--alloc-conf", "foo:1"], 'unknown key "foo"'],
    [["--cap", "lots"], '--cap takes an amount of memory, not "lots"'],
    [["--alloc-conf", "backend:cudaMallocAsync"], "backend:cudaMallocAsync cannot be simulated"],
  ])("%j is a mistake in one line", async (words, message) => {
    const { code, stdout, stderr } = await plimsoll(["replay", PLAIN, ...words]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^plimsoll: [^\n]*\n$/);
    expect(stderr).toContain(message);
  });
});
