"""What to do when the card is full, in the order in which it costs least. No rung shortens anything.

Checkpointing first, because nothing else is as large; then the loss that never holds all logits (the binding moment
once layers are recomputed); then the micro-batch, at the same effective batch; last the 8-bit optimizer, because it
rounds.
"""
import gc
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Rung:
    name: str
    checkpointing: bool = True
    fused_loss: bool = True
    split: int = 1
    eight_bit: bool = False

    def loss(self, device):
        if not self.fused_loss:
            return "default"
        return "fused" if device.type == "cuda" else "chunked"


RUNGS = (
    Rung("plain", checkpointing=False, fused_loss=False),
    Rung("checkpointing", fused_loss=False),
    Rung("fused-loss"),
    Rung("half-batch", split=2),
    Rung("8-bit", split=2, eight_bit=True),
)


def climb(first, attempt):
    """Runs `attempt` on one rung after another until one has room; the names of those tried."""
    names = [r.name for r in RUNGS]
    tried = []
    for rung in RUNGS[names.index(first) :]:
        tried.append(rung.name)
        if not out_of_memory(attempt, rung):
            return tried
        # Outside of the except block: there the failed attempt's frames, and their tensors, would still be alive.
        gc.collect()
        torch.cuda.empty_cache()
        print(f"out of memory at {rung.name}", flush=True)
    raise SystemExit("no rung of the ladder fits: plimsoll fit says what would")


def out_of_memory(attempt, rung):
    try:
        attempt(rung)
    except torch.OutOfMemoryError:
        return True
    return False
