import { join } from "node:path";
import { expect, test } from "vitest";
import { readSnapshotFile } from "../../src/snapshot/file.ts";
import { emptyFolder } from "../support/folder.ts";
import { python } from "../support/python.ts";
import { balance, fixtureBytes, fixturePath, read, RECORDED, rows } from "./fixtures.ts";

const CUT = `
import gzip, pickle, sys
source, folder, *cuts = sys.argv[1:]
snapshot = pickle.load(gzip.open(source))
events = snapshot["device_traces"][0]
for cut in map(int, cuts):
    pickle.dump({**snapshot, "device_traces": [events[cut:]]}, open(f"{folder}/{cut}", "wb"), 4)
`;

test.each(RECORDED)(
  "%s without its beginning: allocated and reserved are right at every row",
  async (name) => {
    const folder = emptyFolder();
    const whole = read(fixtureBytes(`${name}.pickle.gz`)).devices[0]!.tape;
    const expected = balance(whole);
    const events = whole.length + rows(whole).filter(([action]) => action === "free").length;
    // Two neighbouring cuts each: one of them may fall between a free's request and its completion.
    const cuts = [1, 700, 701, 702, 2000, 2001, 3400, 3401];
    await python(CUT, [fixturePath(`${name}.pickle.gz`), folder, ...cuts.map(String)]);
    for (const cut of cuts) {
      const { tape } = (await readSnapshotFile(join(folder, String(cut)))).devices[0]!;
      const { allocated, reserved } = balance(tape);
      expect(tape.info.truncated).toBe(true);
      // The rows put before the first event are as many as it takes; from there on the two tapes end alike.
      const common = sharedTail(rows(whole), rows(tape));
      expect(common).toBeGreaterThanOrEqual(Math.floor((events - cut) / 2) - 1);
      expect(allocated.slice(-common)).toEqual(expected.allocated.slice(-common));
      expect(reserved.slice(-common)).toEqual(expected.reserved.slice(-common));
    }
  },
);

/** How many rows at the end say the same, storage ids apart. */
function sharedTail(a: unknown[][], b: unknown[][]): number {
  const text = (row: unknown[] | undefined): string => JSON.stringify(row?.toSpliced(1, 1));
  let count = 0;
  while (count < Math.min(a.length, b.length) && text(a.at(-1 - count)) === text(b.at(-1 - count))) count++;
  return count;
}

test("a snapshot without a history still shows what is alive", async () => {
  const folder = emptyFolder();
  await python(CUT, [fixturePath("gpt2-frames.pickle.gz"), folder, "1000000"]);
  const { tape } = (await readSnapshotFile(join(folder, "1000000"))).devices[0]!;
  const whole = balance(read(fixtureBytes("gpt2-frames.pickle.gz")).devices[0]!.tape);
  expect(balance(tape).allocated.at(-1)).toBe(whole.allocated.at(-1));
  expect(balance(tape).reserved.at(-1)).toBe(whole.reserved.at(-1));
});
