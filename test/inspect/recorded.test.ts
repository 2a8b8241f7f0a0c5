import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { parseSettings } from "../../src/allocator/settings.ts";
import { inspect } from "../../src/inspect/inspect.ts";
import { finalLayout, layoutAt } from "../../src/inspect/layout.ts";
import type { Inspection } from "../../src/inspect/result.ts";
import { inspectText } from "../../src/report/inspect-text.ts";
import { readSnapshotFile } from "../../src/snapshot/file.ts";
import { decodeTape, encodeTape } from "../../src/tape/arrow.ts";

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/snapshots/${name}`, import.meta.url));

async function inspected(name: string): Promise<Inspection> {
  const snapshot = await readSnapshotFile(fixture(name));
  const { tape, segments } = snapshot.devices[0]!;
  return inspect(tape, name, { marks: snapshot.annotations, final: finalLayout(segments) });
}

/** Real recordings: GPT-2 that keeps every step's logits, GPT-2 that does not, a LoRA run that does not fit. */
describe("recorded runs", () => {
  let leak: Inspection;
  let sound: Inspection;
  let oom: Inspection;
  beforeAll(async () => {
    leak = await inspected("gpt2-leak.pickle.gz");
    sound = await inspected("gpt2-frames.pickle.gz");
    oom = await inspected("qwen-oom.pickle.gz");
  });

  it.each([
    ["gpt2-leak", () => leak],
    ["gpt2-frames", () => sound],
    ["qwen-oom", () => oom],
  ])("reads as in goldens/%s.txt", async (name, inspection) => {
    const text = inspectText(inspection().result, { width: 110, color: false, top: 5 });
    await expect(text).toMatchFileSnapshot(`goldens/${name}.txt`);
  });

  it("names the line that keeps the logits, and nothing else", () => {
    const { verdict, leaks } = leak.result.growth;
    expect(verdict).toBe("leak");
    expect(leaks).toHaveLength(1);
    // 2 × 256 tokens, 50257 words, bf16, every step.
    expect(leaks[0]).toMatchObject({
      perStep: 2 * 256 * 50257 * 2,
      count: 6,
      user: { file: "/train/traces.py", line: 39 },
    });
    expect(leaks[0]!.sites).toHaveLength(1);
    expect(leaks[0]!.sites[0]).toMatchObject({
      kind: "activation",
      phase: "forward",
      module: "modeling_gpt2.py:697/Linear",
    });
    expect(leaks[0]!.sites[0]!.allocation).toMatchObject({ line: 697, function: "forward" });
  });

  it("finds six steps, each with its phases in order", () => {
    const { step, phase } = leak.tape.columns;
    expect(leak.result.steps).toBe(6);
    const seen: string[] = [];
    for (let row = 0; row < leak.tape.length; row++) {
      const here = `${step[row]} ${phase[row]}`;
      if (seen.at(-1) !== here) seen.push(here);
    }
    // load, then forward (2), loss (3), forward's end (2), backward (4), optimizer (6).
    const oneStep = (n: number): string[] => [2, 3, 2, 4, 6].map((code) => `${n} ${code}`);
    expect(seen).toEqual(["0 1", ...[1, 2, 3, 4, 5, 6].flatMap(oneStep)]);
  });

  it("tells weights from optimizer state: AdamW keeps two copies of the trained weights", () => {
    const byKind = new Map(sound.result.peak.byKind.map((share) => [share.label, share.bytes]));
    const weights = byKind.get("weight")!;
    const state = byKind.get("optimizer state")!;
    // 148 parameters, each with a step counter of 4 bytes.
    expect(state - 2 * weights).toBe(148 * 4);
  });

  it("explains the out-of-memory in the numbers of PyTorch's own message", () => {
    const [report] = oom.result.ooms;
    expect(oom.result.ooms).toHaveLength(1);
    // "Tried to allocate 152.00 MiB … 127.16 GiB is free … 11.81 GiB is allocated … 151.11 MiB is reserved but unallocated"
    expect(report!.asked / 2 ** 20).toBe(152);
    expect((report!.deviceFree! / 2 ** 30).toFixed(2)).toBe("127.16");
    expect((report!.layout.active / 2 ** 30).toFixed(2)).toBe("11.81");
    expect((report!.layout.free / 2 ** 20).toFixed(2)).toBe("151.11");
    expect(report).toMatchObject({ cause: "full", capped: true, short: 928_256, phase: "forward", step: 1 });
    expect(report!.site.user).toMatchObject({ file: "/train/traces.py", line: 39 });
    expect(report!.byKind[0]!.label).toBe("activation");
  });

  it("rebuilds the final layout from addresses alone", async () => {
    for (const name of ["qwen-oom.pickle.gz", "gpt2-expandable.pickle.gz"]) {
      const { devices, allocConf } = await readSnapshotFile(fixture(name));
      const { tape, segments } = devices[0]!;
      expect(layoutAt(tape, tape.length - 1, parseSettings(allocConf))).toEqual(finalLayout(segments));
    }
  });

  it("says the same of the tape's file as of the snapshot", () => {
    const again = inspect(decodeTape(encodeTape(leak.tape), "t"), leak.result.file).result;
    const { fragmentation: _, ...rest } = leak.result;
    expect({ ...again, fragmentation: undefined }).toEqual({ ...rest, fragmentation: undefined });
  });

  it("is coloured only when asked, and otherwise the same", () => {
    const plain = inspectText(leak.result, { width: 110, color: false, top: 5 });
    const coloured = inspectText(leak.result, { width: 110, color: true, top: 5 });
    expect(plain).not.toContain("\u001b");
    // oxlint-disable-next-line no-control-regex
    expect(coloured.replaceAll(/\u001b\[\d+m/g, "")).toBe(plain);
    expect(coloured).not.toBe(plain);
  });
});
