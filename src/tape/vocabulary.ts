/** The closed vocabularies of the tape. Their order is part of the file format: append, never reorder. */

export const ACTIONS = [
  /** A storage comes to life: `bytes` as requested. */
  "alloc",
  /** Requested and completed at once: the usual free. */
  "free",
  /** The owner let go, but another stream still uses the block: no longer allocated, not yet reusable. */
  "free_requested",
  /** The other streams are done with it: the block is reusable from here. */
  "free_completed",
  "segment_alloc",
  "segment_free",
  "segment_map",
  "segment_unmap",
  "snapshot",
  /** An allocation of `bytes` failed. */
  "oom",
  /** The user called `torch.cuda.empty_cache()` (predicted tapes only; recorded ones show its segment_frees). */
  "empty_cache",
] as const;

export const PHASES = [
  "unknown",
  "load",
  "forward",
  "loss",
  "backward",
  "clip",
  "optimizer",
  "evaluation",
  "save",
] as const;
export type PhaseName = (typeof PHASES)[number];

export const KINDS = [
  "unknown",
  "weight",
  "adapter",
  "gradient",
  "optimizer state",
  "activation",
  "temporary",
  "workspace",
  "input",
] as const;
export type KindName = (typeof KINDS)[number];

function codes<const T extends readonly string[]>(names: T): { readonly [N in T[number]]: number } {
  return Object.fromEntries(names.map((name, code) => [name, code])) as { [N in T[number]]: number };
}

export const Action = codes(ACTIONS);
export const Phase = codes(PHASES);
export const Kind = codes(KINDS);
