import { UserError } from "../base/errors.ts";
import type { Inspection } from "../inspect/result.ts";

/** A snapshot or a tape, inspected: of a snapshot with several devices, the one asked for or the fullest. */
export async function readRecording(file: string, device: number | undefined): Promise<Inspection> {
  const { inspect } = await import("../inspect/inspect.ts");
  if (file.endsWith(".arrow")) {
    const { readTapeFile } = await import("../tape/file.ts");
    return inspect(await readTapeFile(file), file);
  }
  const { readSnapshotFile } = await import("../snapshot/file.ts");
  const { finalLayout } = await import("../inspect/layout.ts");
  const snapshot = await readSnapshotFile(file);
  const chosen = snapshot.devices.filter((one) => device === undefined || one.device === device);
  const inspections = chosen
    .filter(({ tape }) => tape.length > 0)
    .map(({ tape, segments }) =>
      inspect(tape, file, { marks: snapshot.annotations, final: finalLayout(segments) }),
    );
  inspections.sort((a, b) => b.result.peak.allocated - a.result.peak.allocated);
  const highest = inspections[0];
  if (highest) return highest;
  if (device !== undefined && snapshot.devices.length > 0) {
    const known = snapshot.devices.map((one) => one.device).join(", ");
    throw new UserError(`${file}: no history of device ${device}`, `the snapshot has device ${known}`);
  }
  throw new UserError(
    `${file}: no history in it`,
    "call torch.cuda.memory._record_memory_history() before the run",
  );
}
