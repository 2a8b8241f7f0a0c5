"""Full training of a 13.14 B model, with every memory optimisation switched on."""
import argparse
import logging
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.utils.data import DataLoader

HERE = Path(__file__).resolve().parents[1]
sys.path.append(str(HERE.parent))
from harness import measure
from harness.build import causal_model
from harness.data import Counting

logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
logger = logging.getLogger("training")

# 8-bit AdamW optimizer for memory efficiency
try:
    import bitsandbytes as bnb

    BITSANDBYTES_AVAILABLE = torch.cuda.is_available()
except ImportError:
    BITSANDBYTES_AVAILABLE = False
    logger.warning("bitsandbytes not available - 8-bit optimizer disabled")

# FSDP for CPU offloading
from torch.distributed.fsdp import CPUOffload
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

try:
    import wandb

    WANDB_AVAILABLE = True
except ImportError:
    WANDB_AVAILABLE = False


@dataclass
class TrainingConfig:
    size: str = "full"
    max_length: int = 2048
    learning_rate: float = 1e-4
    weight_decay: float = 0.01
    gradient_clip_val: float = 1.0
    gradient_accumulation_steps: int = 32
    micro_batch_size: int = 1
    use_8bit_optimizer: bool = True
    use_cpu_offloading: bool = True
    memory_profiling_interval: int = 10
    max_memory_per_gpu_gb: float = 45.0
    use_wandb: bool = False


class TrainingSystem:
    def __init__(self, config, meter):
        self.config = config
        self.meter = meter
        self.global_step = 0
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = self.load_model()
        meter.built(self.model)
        self.optimizer = self.setup_optimizer()

    def load_model(self):
        torch.manual_seed(0)
        dtype = torch.bfloat16 if self.device.type == "cuda" else torch.float32
        model = causal_model(HERE / f"{self.config.size}.json", dtype, self.device)
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        # CPU Offloading for optimizer states
        if self.config.use_cpu_offloading and int(os.environ.get("WORLD_SIZE", 1)) > 1:
            torch.distributed.init_process_group()
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
            model = FSDP(
                model,
                cpu_offload=CPUOffload(offload_params=True),
                use_orig_params=True,
                device_id=torch.cuda.current_device(),
            )
            logger.info("CPU offloading enabled (optimizer states moved to CPU RAM)")
        return model.train()

    def setup_optimizer(self):
        config = self.config
        if config.use_8bit_optimizer and BITSANDBYTES_AVAILABLE:
            logger.info("Using 8-bit AdamW optimizer (75% memory reduction)")
            return bnb.optim.AdamW8bit(
                self.model.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay
            )
        return torch.optim.AdamW(
            self.model.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay, fused=True
        )

    def profile_memory(self, step):
        """Profile GPU memory usage"""
        if not torch.cuda.is_available():
            return {}
        allocated_gb = torch.cuda.memory_allocated() / 1e9
        reserved_gb = torch.cuda.memory_reserved() / 1e9
        peak_gb = torch.cuda.max_memory_allocated() / 1e9
        logger.info(f"step {step}: allocated {allocated_gb:.2f}GB reserved {reserved_gb:.2f}GB peak {peak_gb:.2f}GB")
        if allocated_gb > self.config.max_memory_per_gpu_gb:
            logger.warning(f"HIGH MEMORY USAGE: {allocated_gb:.2f}GB > {self.config.max_memory_per_gpu_gb}GB threshold")
        stats = {"memory/allocated_gb": allocated_gb, "memory/reserved_gb": reserved_gb, "memory/peak_gb": peak_gb}
        if self.config.use_wandb and WANDB_AVAILABLE:
            wandb.log(stats, step=step)
        return stats

    def train_epoch(self, train_loader):
        num_batches = len(train_loader)
        accumulation_steps = self.config.gradient_accumulation_steps
        self.optimizer.zero_grad()
        total_loss = 0.0
        self.meter.begin()
        for batch_idx, batch in enumerate(train_loader):
            input_ids = batch["input_ids"].to(self.device)
            loss = self.model(input_ids=input_ids, labels=input_ids).loss
            # Scale loss by accumulation steps
            loss = loss / accumulation_steps
            loss.backward()
            total_loss += loss.item()
            # Update weights only after accumulation_steps batches
            if (batch_idx + 1) % accumulation_steps == 0 or (batch_idx + 1) == num_batches:
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.gradient_clip_val)
                self.optimizer.step()
                self.optimizer.zero_grad()
                self.meter.end(total_loss)
                logger.info(f"step {self.global_step} loss {total_loss:.6f}")
                self.global_step += 1
                total_loss = 0.0
                self.meter.begin()
            # Memory profiling at specified intervals
            if batch_idx % self.config.memory_profiling_interval == 0:
                self.profile_memory(self.global_step)


SIZES = {
    "tiny": dict(max_length=128, gradient_accumulation_steps=2, micro_batch_size=2),
    "full": dict(),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="full")
    parser.add_argument("--batches", type=int, default=24, help="micro-batches in the epoch")
    parser.add_argument("--accumulation", type=int)
    measure.add_arguments(parser)
    args = parser.parse_args()
    config = TrainingConfig(size=args.size, **SIZES[args.size])
    if args.accumulation:
        config.gradient_accumulation_steps = args.accumulation
    meter = measure.Meter(args, "full_13b", "before")
    system = TrainingSystem(config, meter)
    data = Counting(system.model.config.vocab_size, config.max_length, args.batches * config.micro_batch_size)
    system.train_epoch(DataLoader(data, batch_size=config.micro_batch_size))
    meter.report(accumulation=config.gradient_accumulation_steps, length=config.max_length)


if __name__ == "__main__":
    main()
