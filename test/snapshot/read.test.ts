import { gzipSync } from "node:zlib";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatBytes } from "../../src/base/units.ts";
import { readSnapshotFile } from "../../src/snapshot/file.ts";
import { BLOCK_STATES } from "../../src/snapshot/records.ts";
import type { Snapshot } from "../../src/snapshot/snapshot.ts";
import { ACTIONS } from "../../src/tape/vocabulary.ts";
import { emptyFolder } from "../support/folder.ts";
import { python } from "../support/python.ts";
import { balance, fixtureBytes, fixturePath, read, RECORDED, rows } from "./fixtures.ts";

/** What a person would want to check by eye. */
function summary({ devices, allocatorSettings, allocConf, annotations }: Snapshot): string {
  const lines = [
    `alloc conf: ${JSON.stringify(allocConf)}`,
    `settings: ${JSON.stringify(allocatorSettings)}`,
  ];
  for (const { device, tape, segments, ignored } of devices) {
    const { action, stack } = tape.columns;
    const counts = ACTIONS.map((name, code) => [
      name,
      action.subarray(0, tape.length).filter((c) => c === code).length,
    ]);
    const { allocated, reserved } = balance(tape);
    const deepest = tape.stacks.texts.reduce((a, b) => (b.split("\n").length > a.split("\n").length ? b : a));
    const states = BLOCK_STATES.map(
      (name, code) => `${segments.blocks.state.filter((c) => c === code).length} ${name}`,
    );
    const peak = Math.max(...allocated);
    lines.push(
      `device ${device}: ${tape.length} rows, ${ignored} ignored, truncated ${tape.info.truncated}`,
      `  rows by action: ${counts
        .filter(([, n]) => n)
        .map(([name, n]) => `${n} ${name}`)
        .join(", ")}`,
      `  streams: ${tape.streams.join(", ")}`,
      `  peak allocated: ${peak} (${formatBytes(peak)}) after row ${allocated.indexOf(peak)}`,
      `  allocated at the end: ${allocated.at(-1)}`,
      `  peak reserved: ${Math.max(...reserved)}`,
      `  segments: ${segments.length} of ${segments.bytes.reduce((a, b) => a + b, 0)} bytes, ${segments.large.filter((l) => l).length} large, ${segments.expandable.filter((e) => e).length} expandable`,
      `  blocks: ${states.join(", ")}`,
      `  stacks: ${tape.stacks.size - 1}, the deepest with ${deepest.split("\n").length} frames`,
      `  first row's stack: ${JSON.stringify(tape.stacks.text(stack[0]!).split("\n").slice(0, 3))}`,
      `  last row's stack: ${JSON.stringify(
        tape.stacks
          .text(stack[tape.length - 1]!)
          .split("\n")
          .slice(0, 3),
      )}`,
    );
    for (const row of [0, 1, 2, tape.length - 1])
      lines.push(`  row ${row}: ${JSON.stringify(rows(tape)[row]!.toSpliced(4, 1))}`);
  }
  lines.push(
    `annotations: ${annotations.length}`,
    ...annotations.slice(0, 2).map((one) => `  ${JSON.stringify(one)}`),
  );
  return `${lines.join("\n")}\n`;
}

test.each(RECORDED)("reads %s as a person checked it", async (name) => {
  const snapshot = await readSnapshotFile(fixturePath(`${name}.pickle.gz`));
  await expect(summary(snapshot)).toMatchFileSnapshot(`golden/${name}.txt`);
});

test("reads every protocol alike", async () => {
  await expect(summary(read(fixtureBytes("small-p4.pickle")))).toMatchFileSnapshot("golden/small.txt");
  for (const protocol of [2, 3, 5]) {
    expect(read(fixtureBytes(`small-p${protocol}.pickle`))).toEqual(read(fixtureBytes("small-p4.pickle")));
  }
});

test("reads plain and gzip files alike", async () => {
  const path = join(emptyFolder(), "plain.pickle");
  writeFileSync(path, fixtureBytes("small-p4.pickle"));
  const plain = await readSnapshotFile(path);
  writeFileSync(path, gzipSync(fixtureBytes("small-p4.pickle")));
  expect(await readSnapshotFile(path)).toEqual(plain);
});

test("chunks may end anywhere", () => {
  const whole = rows(read(fixtureBytes("small-p2.pickle")).devices[0]!.tape);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 400 }), fc.constantFrom(2, 4), (chunk, protocol) => {
      expect(rows(read(fixtureBytes(`small-p${protocol}.pickle`), chunk).devices[0]!.tape)).toEqual(whole);
    }),
    { numRuns: 60 },
  );
});

test("recorded peaks are those PyTorch counted", () => {
  // reserved_bytes.all.peak of the recording process (torch.cuda.memory_stats).
  expect(
    Math.max(...balance(read(fixtureBytes("gpt2-expandable.pickle.gz")).devices[0]!.tape).reserved),
  ).toBe(3466592256);
});

describe("beside Python's pickle", () => {
  test("the columns are the events", async () => {
    const printed = await python(
      `
import gzip, json, pickle, sys
events = pickle.load(gzip.open(sys.argv[1]))["device_traces"][0]
at, out = 0, []
while at < len(events):
    e = events[at]
    action = e["action"]
    follower = events[at + 1] if at + 1 < len(events) else {}
    if action == "free_requested" and follower.get("action") == "free_completed" and follower["addr"] == e["addr"]:
        action = "free"
        at += 1
    at += 1
    stack = "\\n".join(f"{f['filename']}:{f['line']}:{f['name']}" for f in e["frames"])
    out.append([action, e["size"], e["stream"], stack, e["addr"] if "addr" in e else e["device_free"], e["time_us"]])
print(json.dumps(out))
`,
      [fixturePath("qwen-oom.pickle.gz")],
    );
    const { tape } = read(fixtureBytes("qwen-oom.pickle.gz")).devices[0]!;
    expect(rows(tape).map((row) => row.toSpliced(1, 1))).toEqual(JSON.parse(printed));
  });

  test("a free has the storage of its alloc", () => {
    const { tape } = read(fixtureBytes("gpt2-frames.pickle.gz")).devices[0]!;
    const live = new Map<unknown, unknown>();
    for (const [action, storage, , , , address] of rows(tape)) {
      if (action === "alloc") live.set(storage, address);
      if (action !== "free") continue;
      expect(live.get(storage)).toBe(address);
      live.delete(storage);
    }
  });

  test("other picklers' layouts read alike: pure Python, optimised, item by item", async () => {
    const folder = emptyFolder();
    await python(
      `
import pickle, pickletools, sys
source, folder = sys.argv[1:]
data = open(source, "rb").read()
snapshot = pickle.loads(data)
class OneByOne(pickle._Pickler):
    dispatch = dict(pickle._Pickler.dispatch)
    def _batch_setitems(self, items):
        for key, value in items:
            self.save(key); self.save(value); self.write(pickle.SETITEM)
    def _batch_appends(self, items):
        for item in items:
            self.save(item); self.write(pickle.APPEND)
for protocol in (2, 3, 4, 5):
    with open(f"{folder}/python-{protocol}", "wb") as file: pickle._Pickler(file, protocol).dump(snapshot)
    with open(f"{folder}/one-{protocol}", "wb") as file: OneByOne(file, protocol).dump(snapshot)
    with open(f"{folder}/optimised-{protocol}", "wb") as file: file.write(pickletools.optimize(pickle.dumps(snapshot, protocol)))
`,
      [fixturePath("small-p4.pickle"), folder],
    );
    const expected = read(fixtureBytes("small-p4.pickle"));
    for (const layout of ["python", "one", "optimised"]) {
      for (const protocol of [2, 3, 4, 5]) {
        expect(await readSnapshotFile(join(folder, `${layout}-${protocol}`))).toEqual(expected);
      }
    }
  });
});
