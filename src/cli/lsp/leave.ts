import { Worker } from "node:worker_threads";

const EVERY_MS = 2000;

/** In a thread of its own: the other one may be in the middle of a long file when its editor goes. */
const WATCH = `
const { workerData: { client, parent } } = require("node:worker_threads");
const isGone = () => {
  if (client === null) return process.ppid !== parent;
  try {
    process.kill(client, 0);
    return false;
  } catch ({ code }) {
    return code === "ESRCH";
  }
};
// One of another machine, or another container, is not here to be seen at all.
if (!isGone()) setInterval(() => isGone() && process.kill(process.pid, "SIGKILL"), ${EVERY_MS});
`;

/** Ends this process when its editor has ended, however busy it is. `client`: the editor, where it says; else whoever started it. */
export function leaveWith(client: number | null): void {
  const worker = new Worker(WATCH, {
    eval: true,
    workerData: { client, parent: process.ppid },
    resourceLimits: { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 8 },
  });
  worker.on("error", () => {});
  worker.unref();
}
