import type { Live } from "../observe.ts";

/** Where a run's numbers go besides its folder. Nothing a sink does may reach the training, or stop the watching. */
export interface Sink {
  readonly name: string;
  /** Takes the run as it stands; returns at once. */
  take(live: Live): void;
  /** Hands over what is left, for a few seconds at most; resolves with what went wrong on the way, or null. */
  close(): Promise<string | null>;
}

/** How long a sink may take to hand over what is left when the training has ended. */
export const PATIENCE_MS = 5000;

/** What the promise resolves with, or `late` when it takes longer than the patience. */
export async function patiently<T>(promise: Promise<T>, late: T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const waited = new Promise<T>((resolve) => (timer = setTimeout(resolve, PATIENCE_MS, late)));
  return Promise.race([promise, waited]).finally(() => clearTimeout(timer));
}
