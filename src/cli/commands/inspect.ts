import { existsSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../base/errors.ts";
import type { Command } from "../command.ts";
import { readRecording } from "../recording.ts";

const TOP = 10;

export const command: Command = {
  name: "inspect",
  summary:
    "a memory snapshot, tape or recorded run: its peak, leaks, fragmentation and out-of-memory, by line",
  usage: "plimsoll inspect FILE [--top N] [--device N] [--against FILE] [--json] [--html OUT] [--tape OUT]",
  examples: [
    { line: "plimsoll inspect snapshot.pickle", says: "what the peak is made of and what grows" },
    { line: "plimsoll inspect oom.pickle --top 20", says: "longer lists" },
    { line: "plimsoll inspect after.pickle --against before.pickle", says: "what a change changed" },
    {
      line: "plimsoll inspect snapshot.pickle --html memory.html",
      says: "timeline and flame graph, one file",
    },
    {
      line: "plimsoll inspect .plimsoll/runs/20261115-090000-train --html run.html",
      says: "a recorded run: timeline, leaks, out-of-memory",
    },
    { line: "plimsoll inspect run.pickle.gz --tape run.arrow", says: "the events as an Arrow table" },
  ],
  options: {
    top: { type: "string", value: "N", summary: `lines in each list (default ${TOP})` },
    device: {
      type: "string",
      value: "N",
      summary: "which GPU of the snapshot (default: the one with the highest peak)",
    },
    against: { type: "string", value: "FILE", summary: "another snapshot or tape: what differs at the peak" },
    json: { type: "boolean", summary: "print the result as JSON" },
    html: { type: "string", value: "OUT", summary: "write timeline and flame graph as one HTML file" },
    tape: { type: "string", value: "OUT", summary: "write the events as an Arrow file" },
  },
  arguments: { name: "FILE", min: 1, max: 1 },
  async run(input, io) {
    const file = input.positionals[0]!;
    if (isRunFolder(file)) {
      const { json, html } = input.options;
      const { showRun } = await import("../show-run.ts");
      return showRun(file, { json: json === true, html: html as string | undefined }, io);
    }
    const top = wholeNumber("top", input.options["top"]) ?? TOP;
    const device = wholeNumber("device", input.options["device"]);
    const inspection = await readRecording(file, device);
    const { result, tape } = inspection;
    if (typeof input.options["tape"] === "string") {
      const { writeTapeFile } = await import("../../tape/file.ts");
      await writeTapeFile(input.options["tape"], tape);
    }
    if (typeof input.options["html"] === "string") {
      const { renderInspectPage } = await import("../../report/html/inspect-page.ts");
      const { writeWhole } = await import("../../tape/file.ts");
      await writeWhole(input.options["html"], renderInspectPage(inspection));
    }
    const { against } = input.options;
    const before = typeof against === "string" ? (await readRecording(against, device)).tape : null;
    const { diffTapes } = await import("../../tape/diff.ts");
    const diff = before && diffTapes(before, tape);
    if (input.options["json"]) {
      io.out(
        `${JSON.stringify(diff ? { ...result, against: { file: against, ...diff } } : result, null, 2)}\n`,
      );
    } else {
      const { inspectText } = await import("../../report/inspect-text.ts");
      const { diffText } = await import("../../report/diff-text.ts");
      io.out(inspectText(result, { width: io.width, color: io.color, top }));
      if (diff) io.out(`\n${diffText(diff, String(against), io.color, top)}`);
    }
    return result.growth.verdict === "leak" || result.ooms.length > 0 ? 1 : 0;
  },
};

function wholeNumber(name: string, text: unknown): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || text === "")
    throw new UserError(`--${name} takes a whole number, not "${String(text)}"`);
  return value;
}

/** What `plimsoll run` recorded, rather than a snapshot. */
function isRunFolder(file: string): boolean {
  return existsSync(join(file, "run.json"));
}
