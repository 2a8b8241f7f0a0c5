"""Full training of a 13.14 B model on one 48 GB card, or two of 24 GB."""
import argparse
import logging
import sys
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import torch
from torch.utils.data import DataLoader, DistributedSampler

HERE = Path(__file__).resolve().parents[1]
sys.path.append(str(HERE.parent))
from harness import measure
from harness.build import causal_model
from harness.data import Counting
from harness.losses import CausalLoss

import spread
from host_optimizer import CardOptimizer, HostOptimizer
from memory import MemoryLog

logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
logger = logging.getLogger("training")


@dataclass
class Settings:
    length: int = 2048
    # Thirty-two sequences a step, as in the report, but eight at a time: gradients travel to the host four times, not 32.
    accumulation: int = 4
    micro_batch: int = 8
    learning_rate: float = 1e-4
    weight_decay: float = 0.01
    clip: float = 1.0
    log_every: int = 10
    memory_every: int = 10
    threshold_gb: float = 45.0
    checkpoint_every: int = 1


SIZES = {"tiny": Settings(length=128, accumulation=2, micro_batch=2), "full": Settings()}


def groups(batches, size):
    """Micro-batches by optimizer step; the last group may be smaller."""
    batches = iter(batches)
    while group := list(islice(batches, size)):
        yield group


def train(loss_of, optimizer, loader, settings, device, meter, memory):
    for step, group in enumerate(groups(loader, settings.accumulation)):
        meter.begin()
        total = torch.zeros((), device=device)
        for batch in group:
            ids = batch["input_ids"].to(device, non_blocking=True)
            # By the number there are, not by the number there should be: the last group weighs what the others do.
            loss = loss_of(ids) / len(group)
            loss.backward()
            total += loss.detach()
        optimizer.clip(settings.clip)
        optimizer.step()
        optimizer.zero_grad()
        meter.end(total)
        memory.step(step)
        if step % settings.log_every == 0:
            logger.info("step %d loss %.6f", step, total.item())


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="full")
    parser.add_argument("--batches", type=int, default=24, help="micro-batches in the epoch")
    parser.add_argument("--accumulation", type=int)
    parser.add_argument("--optimizer", choices=("adamw", "8bit"), default="8bit", help="8bit needs bitsandbytes and CUDA")
    parser.add_argument("--state", choices=("host", "card"), default="host", help="where optimizer state and gradients wait")
    parser.add_argument("--micro-batch", type=int)
    parser.add_argument("--checkpoint-every", type=int, help="recompute one layer in so many")
    parser.add_argument("--loss", choices=("default", "chunked", "fused"), default="default")
    parser.add_argument("--spread", choices=("none", "fsdp2", "layers"), default="none")
    parser.add_argument("--fake-ranks", type=int, help="with --spread fsdp2: one rank of so many, on this card alone")
    parser.add_argument("--wandb", action="store_true")
    measure.add_arguments(parser)
    return parser.parse_args()


def build_optimizer(args, model, settings):
    """8-bit moments where the report has them, plain ones where bitsandbytes cannot be."""
    options = {"lr": settings.learning_rate, "weight_decay": settings.weight_decay}
    trained = [p for p in model.parameters() if p.requires_grad]
    sharded = args.spread == "fsdp2"  # FSDP2 offloads gradients and state itself, and bitsandbytes knows no DTensor
    if args.optimizer == "8bit" and torch.cuda.is_available() and not sharded:
        import bitsandbytes as bnb

        optimizer = bnb.optim.AdamW8bit(trained, **options)
    else:
        optimizer = torch.optim.AdamW(trained, fused=True, **options)
    return CardOptimizer(optimizer) if sharded or args.state == "card" else HostOptimizer(optimizer)


def build(args, settings, device):
    torch.manual_seed(0)
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    if args.spread == "fsdp2":
        spread.join(args.fake_ranks)
        model = spread.shard(causal_model(HERE / f"{args.size}.json", dtype, "meta"), device)
    else:
        model = causal_model(HERE / f"{args.size}.json", dtype, device)
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False}, every_n_layers=settings.checkpoint_every)
    if args.spread == "layers":
        count = torch.cuda.device_count()
        model = spread.split(model, [f"cuda:{i}" for i in range(count)] if count else ["cpu", "cpu"])
    return model.train()


def main():
    args = parse()
    settings = SIZES[args.size]
    settings.accumulation = args.accumulation or settings.accumulation
    settings.micro_batch = args.micro_batch or settings.micro_batch
    settings.checkpoint_every = args.checkpoint_every or settings.checkpoint_every
    meter = measure.Meter(args, "full_13b", "after")
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = build(args, settings, device)
    meter.built(model)
    if torch.cuda.is_available():
        # What building the model left in the cache is no part of training.
        torch.cuda.empty_cache()
    optimizer = build_optimizer(args, model, settings)
    data = Counting(model.config.vocab_size, settings.length, args.batches * settings.micro_batch)
    shared = args.spread == "fsdp2" and not args.fake_ranks
    loader = DataLoader(
        data, batch_size=settings.micro_batch, pin_memory=device.type == "cuda",
        sampler=DistributedSampler(data, shuffle=False) if shared else None,
    )
    memory = MemoryLog(settings.memory_every, settings.threshold_gb, args.wandb)
    train(CausalLoss(model, args.loss), optimizer, loader, settings, device, meter, memory)
    meter.report(
        accumulation=settings.accumulation, micro_batch=settings.micro_batch, length=settings.length, optimizer=args.optimizer, state=args.state,
        spread=args.spread, checkpoint_every=settings.checkpoint_every, loss=args.loss, ranks=args.fake_ranks, alerts=memory.alerts,
    )


if __name__ == "__main__":
    main()
