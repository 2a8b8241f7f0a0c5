import { setTimeout as sleep } from "node:timers/promises";
import type { Bytes } from "../base/units.ts";
import type { Gpu } from "./gpus.ts";

/** Often enough for a person; each look is one short nvidia-smi. */
const LOOK_MS = 2000;

/** Looks until every card has that much free, or the time is up. Leaves every other process alone. */
export async function waitForRoom(
  need: Bytes,
  read: () => Promise<readonly Gpu[]>,
  minutes: number,
  say: (gpus: readonly Gpu[]) => void,
): Promise<void> {
  const end = performance.now() + 60_000 * minutes;
  for (;;) {
    const gpus = await read();
    if (gpus.every(({ free }) => free >= need)) return;
    const left = end - performance.now();
    if (left <= 0) return;
    say(gpus);
    await sleep(Math.min(LOOK_MS, left));
  }
}
