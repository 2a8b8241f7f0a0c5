import { parentPort, workerData } from "node:worker_threads";
import type { FoundFile } from "./discover.ts";
import type { ProjectFacts } from "./facts/project.ts";
import type { Settings } from "./settings.ts";
import { Share } from "./work.ts";

/** The second thread of an audit: scans, waits for the facts of the whole tree, checks. */
const { files, settings, counter } = workerData as {
  files: readonly FoundFile[];
  settings: Settings;
  counter: Int32Array;
};
const share = new Share(files, settings, false);
parentPort!.once(
  "message",
  ({ order, next, project }: { order: readonly number[]; next: Int32Array; project: ProjectFacts }) => {
    parentPort!.postMessage(share.check(order, next, project));
  },
);
parentPort!.postMessage(share.scan(counter));
