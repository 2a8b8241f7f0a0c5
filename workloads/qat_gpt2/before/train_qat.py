"""Quantisation-aware training of GPT-2 with switchable precision."""
import argparse
import gc
import random
import sys
from pathlib import Path

import torch
from torch.utils.data import DataLoader

sys.path.append(str(Path(__file__).resolve().parents[2]))
from harness import measure
from harness.data import Counting

import models
from dataset import OnDemandDataset, QuestionDataset

SIZES = {"tiny": dict(batch=2, length=64, steps=24), "full": dict(batch=4, length=512, steps=100)}


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="full")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--bits", default="4,8,16", help="bit-widths to switch between")
    parser.add_argument("--rank", type=int, default=8)
    parser.add_argument("--accumulation", type=int, default=1)
    parser.add_argument("--gradient-checkpointing", action="store_true")
    parser.add_argument("--on-demand", action="store_true", help="process examples when they are asked for")
    measure.add_arguments(parser)
    return parser.parse_args()


def train(model, loader, optimizer, config, bit_widths, device, meter):
    batches = iter(loader)
    choose = random.Random(0)
    model.train()
    for iteration in range(config.steps):
        meter.begin()
        models.set_bits(model, choose.choice(bit_widths))
        total_loss = 0.0
        for _ in range(config.accumulation):
            batch = next(batches)
            input_ids = batch["input_ids"].to(device)
            outputs = model(input_ids, labels=input_ids)
            loss = outputs["loss"] / config.accumulation
            total_loss += loss.item()  # Graph still attached
            loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        # Periodic cache clearing
        if iteration % 10 == 0:
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
            gc.collect()
        meter.end(total_loss)
        print(f"step {iteration} loss {total_loss:.6f}", flush=True)


def main():
    args = parse()
    size = SIZES[args.size]
    args.steps = args.steps or size["steps"]
    bit_widths = [int(bits) for bits in args.bits.split(",")]
    meter = measure.Meter(args, "qat_gpt2", "qat")
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = models.build(args.size, bit_widths, args.rank, device, args.gradient_checkpointing)
    meter.built(model)
    count = args.steps * args.accumulation * size["batch"]
    source = Counting(model.config.vocab_size, size["length"], count)
    dataset = OnDemandDataset(source) if args.on_demand else QuestionDataset(source)
    loader = DataLoader(dataset, batch_size=size["batch"])
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-3, fused=True)
    train(model, loader, optimizer, args, bit_widths, device, meter)
    meter.report(batch=size["batch"], length=size["length"], bits=bit_widths)


if __name__ == "__main__":
    main()
