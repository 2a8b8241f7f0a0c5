import { listRuns, readRun, RUNS_FOLDER } from "../../monitor/run-folder.ts";
import { summarize } from "../../monitor/summary.ts";
import { ROWS, Tail } from "../../monitor/tail.ts";
import { runsText } from "../../report/run-text.ts";
import type { Command } from "../command.ts";
import { showRun } from "../show-run.ts";

export const command: Command = {
  name: "runs",
  summary: "the runs recorded here, or one of them in full",
  usage: "plimsoll runs [RUN] [--dir DIR] [--json]",
  examples: [
    { line: "plimsoll runs", says: "list them" },
    {
      line: "plimsoll runs .plimsoll/runs/20261115-090000-train",
      says: "one run's summary, also while it runs",
    },
  ],
  options: {
    dir: { type: "string", value: "DIR", summary: `where run folders are (default ${RUNS_FOLDER})` },
    json: { type: "boolean", summary: "print the result as JSON" },
  },
  arguments: { name: "RUN", min: 0, max: 1 },
  async run(input, io) {
    const one = input.positionals[0];
    if (one !== undefined) return showRun(one, { json: input.options["json"] === true }, io);
    const root = typeof input.options["dir"] === "string" ? input.options["dir"] : RUNS_FOLDER;
    const runs = listRuns(root).map((folder) => ({
      folder,
      run: readRun(folder),
      summary: summarize(new Tail(folder, ROWS).read()),
    }));
    io.out(input.options["json"] ? `${JSON.stringify(runs, null, 2)}\n` : runsText(runs));
    return 0;
  },
};
