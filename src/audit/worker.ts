import { parentPort } from "node:worker_threads";
import type { FoundFile } from "./discover.ts";
import type { Settings } from "./settings.ts";
import { Share } from "./work.ts";
import type { Task } from "./work.ts";

/** The second thread of an audit: is told the files, then does its share of each task. */
const port = parentPort!;
port.once("message", ({ files, settings }: { files: readonly FoundFile[]; settings: Settings }) => {
  const share = new Share(files, settings, false);
  port.on("message", (task: Task) => port.postMessage(share.do(task)));
});
