import type { RecordedEvent } from "./record.ts";

export interface Rung {
  readonly change: string;
  readonly effect: string;
}

/**
 * What usually makes a run fit again, cheapest first, for a run whose recipe is not known. No numbers: without the
 * recipe there is nothing to compute them from.
 */
export function generalLadder(oom: RecordedEvent): Rung[] {
  const kinds = (oom["kinds"] ?? {}) as { readonly [kind: string]: number };
  const allocated = Number(oom["allocated"] ?? 0);
  const state = kinds["optimizer state"] ?? 0;
  const rungs: Rung[] = [];
  if (isFragmented(oom))
    rungs.push({
      change: "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
      effect: "enough was free in pieces: this makes the pieces one, at no cost",
    });
  if (oom["phase"] === "evaluation")
    rungs.push({
      change: "torch.no_grad() around evaluation, a smaller evaluation batch, logits to the CPU",
      effect: "it ran out in evaluation",
    });
  rungs.push(
    {
      change: "half the micro-batch, twice the accumulation steps",
      effect: "halves activations, same gradients, some speed",
    },
    {
      change: "gradient checkpointing",
      effect: "activations fall to about one layer's, a third more compute",
    },
    {
      change: "a chunked or fused loss (Liger, cut cross-entropy)",
      effect: "the logits are never whole: large vocabularies",
    },
  );
  if (state > 0.25 * allocated || state === 0)
    rungs.push({ change: "an 8-bit or paged optimizer", effect: "optimizer state falls to a quarter" });
  rungs.push(
    {
      change: "LoRA, or QLoRA with a 4-bit base",
      effect: "gradients and optimizer state only for the adapters",
    },
    {
      change: "shard with FSDP or ZeRO, offload optimizer state",
      effect: "needs more cards, or time on the bus",
    },
  );
  return rungs;
}

/** Out of memory although the allocator held more than what was asked, in blocks too small for it. */
export function isFragmented(oom: RecordedEvent): boolean {
  const asked = Number(oom["asked"] ?? 0);
  return (
    asked > 0 && Number(oom["reserved_free"] ?? 0) >= asked && Number(oom["largest_free_block"] ?? 0) < asked
  );
}
