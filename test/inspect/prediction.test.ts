import { join } from "node:path";
import { expect, test } from "vitest";
import { plimsoll } from "../support/cli.ts";
import { emptyFolder } from "../support/folder.ts";

interface Inspected {
  readonly steps: number;
  readonly peak: {
    readonly allocated: number;
    readonly step: number;
    readonly phase: string;
    readonly byKind: readonly { readonly label: string; readonly bytes: number }[];
  };
  readonly phasePeaks: readonly { readonly phase: string; readonly bytes: number }[];
}

test("a plan's own snapshot is read back with the kinds, phases and steps of its tape", async () => {
  const folder = emptyFolder();
  const [snapshot, tape] = [join(folder, "plan.pickle"), join(folder, "plan.arrow")];
  await plimsoll(["plan", "gpt2", "--seq", "128", "--snapshot", snapshot, "--tape", tape]);
  const read = async (file: string): Promise<Inspected> =>
    JSON.parse((await plimsoll(["inspect", file, "--json"])).stdout) as Inspected;
  const [fromSnapshot, fromTape] = [await read(snapshot), await read(tape)];
  expect(fromSnapshot.peak.byKind).toEqual(fromTape.peak.byKind);
  expect(fromSnapshot.peak).toMatchObject({ step: fromTape.peak.step, phase: fromTape.peak.phase });
  expect(fromSnapshot.steps).toBe(fromTape.steps);
  const peaks = ({ phasePeaks }: Inspected): object =>
    phasePeaks.map(({ phase, bytes }) => ({ phase, bytes }));
  expect(peaks(fromSnapshot)).toEqual(peaks(fromTape));
});
