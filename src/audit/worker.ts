import { parentPort, workerData } from "node:worker_threads";
import type { FoundFile } from "./discover.ts";
import type { Settings } from "./settings.ts";
import { Share } from "./work.ts";
import type { Task } from "./work.ts";

/** The second thread of an audit: does its share of each task. */
const { files, settings } = workerData as { files: readonly FoundFile[]; settings: Settings };
const share = new Share(files, settings, false);
parentPort!.on("message", (task: Task) => {
  parentPort!.postMessage(share.do(task));
});
