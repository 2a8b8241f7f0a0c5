"""python src/main.py cmd=train model=phi4 task=finetune_lora ddp=True"""
import argparse
import os
import sys
from pathlib import Path

import torch
from torch.utils.data import DataLoader, DistributedSampler

HERE = Path(__file__).resolve().parents[1]
sys.path.append(str(HERE.parents[1]))
from harness import adapters, measure
from harness.data import Counting
from harness.losses import CausalLoss

from config import load
from engine.loop import train
from models.phi4 import Phi4ModelConfig, build


def build_optimizer(name, model, lr):
    trained = [p for p in model.parameters() if p.requires_grad]
    if name == "adamw8bit":
        import bitsandbytes as bnb

        return bnb.optim.AdamW8bit(trained, lr=lr)
    return torch.optim.AdamW(trained, lr=lr, fused=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE")
    measure.add_arguments(parser)
    args = parser.parse_args()
    config = load(HERE / "configs", args.overrides)
    args.size = config["size"]
    settings = config["train"]
    meter = measure.Meter(args, "phi4_lora", "phi4")

    ddp = bool(config["ddp"])
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if ddp:
        torch.distributed.init_process_group()
        if device.type == "cuda":
            device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
            torch.cuda.set_device(device)

    torch.manual_seed(config["seed"])
    weights = HERE.parent / f"{args.size}.json"
    model_config = Phi4ModelConfig(**config["model"])
    tuned = build(model_config, config["task"]["lora"], weights, device)
    meter.built(tuned)
    optimizer = build_optimizer(settings["optimizer"], tuned, settings["lr"])
    model = CausalLoss(tuned, settings["loss"], model_config.autocast)
    if ddp:
        model = torch.nn.parallel.DistributedDataParallel(
            model, device_ids=[device.index] if device.type == "cuda" else None
        )
    data = Counting(tuned.config.vocab_size, settings["max_length"])
    sampler = DistributedSampler(data, shuffle=False) if ddp else None
    loader = DataLoader(data, batch_size=settings["batch"], sampler=sampler, num_workers=settings["num_workers"])
    with adapters.computing_in(tuned, model_config.autocast):
        train(model, loader, optimizer, settings, device, meter)
    meter.report(model=config["model"], train=settings)


if __name__ == "__main__":
    main()
