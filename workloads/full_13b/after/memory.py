"""Memory now and then: to the log, to W&B where it is installed and asked for, and an alert over a threshold."""
import logging

import torch

logger = logging.getLogger("training")

try:
    import wandb
except ImportError:
    wandb = None


class MemoryLog:
    def __init__(self, every, threshold_gb, to_wandb=False, read=None):
        self.every, self.threshold = every, threshold_gb * 1e9
        self.wandb = wandb if to_wandb else None
        self.read = read or read_card
        self.alerts = 0

    def step(self, step):
        if step % self.every:
            return
        now = self.read()
        if now is None:
            return
        logger.info("step %d: %s", step, ", ".join(f"{k} {v / 1e9:.2f} GB" for k, v in now.items()))
        if now["peak"] > self.threshold:
            self.alerts += 1
            logger.warning("peak %.2f GB is over the threshold of %.2f GB", now["peak"] / 1e9, self.threshold / 1e9)
        if self.wandb and self.wandb.run:
            self.wandb.log({f"memory/{k}_gb": v / 1e9 for k, v in now.items()}, step=step)


def read_card():
    if not torch.cuda.is_available():
        return None
    return {
        "allocated": torch.cuda.memory_allocated(),
        "reserved": torch.cuda.memory_reserved(),
        "peak": torch.cuda.max_memory_allocated(),
    }
