"""Fine-tunes Phi-3 with LS-LoRA."""
import argparse
import functools
import os
import sys
from pathlib import Path

import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader

sys.path.append(str(Path(__file__).resolve().parents[2]))
from harness import measure
from harness.build import causal_model, fill_adapters, to_4bit
from harness.data import Counting

from lslora import LSLoraModel

HERE = Path(__file__).resolve().parents[1]
SIZES = {"tiny": dict(batch=2, length=128, steps=12), "full": dict(batch=2, length=2048, steps=8)}
TARGETS = ("qkv_proj", "o_proj", "gate_up_proj", "down_proj")


class CheckpointedLayer(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        self.attention_type = getattr(layer, "attention_type", None)

    def forward(self, hidden_states, **kwargs):
        if not self.training:
            return self.layer(hidden_states, **kwargs)
        kwargs["past_key_values"] = None
        return checkpoint(functools.partial(self.layer, **kwargs), hidden_states)


def check_fourier_behavior(model):
    """Check if Fourier coefficients are learning."""
    print("=" * 60)
    identity = torch.tensor([0.0, 1.0, 0.0, 0.0])
    for name, module in model.named_modules():
        if hasattr(module, "fourier_params"):
            for adapter_name, params in module.fourier_params.items():
                coeffs = params.weight
                dev = (coeffs - identity.to(coeffs.device)).abs().mean().item()
                nonlin = (coeffs[2].abs() + coeffs[3].abs()).item()
                print(f"{name}/{adapter_name}: deviation={dev:.4f}, non-linearity={nonlin:.4f}")


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="full")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--base", choices=("bf16", "4bit"), default="bf16")
    parser.add_argument("--reg-weight", type=float, default=0.01)
    parser.add_argument("--output-dir")
    measure.add_arguments(parser)
    return parser.parse_args()


def main():
    args = parse()
    size = SIZES[args.size]
    steps = args.steps or size["steps"]
    meter = measure.Meter(args, "lslora", "before")

    device_map = "auto"
    world_size = int(os.environ.get("WORLD_SIZE", 1))
    ddp = world_size != 1
    if ddp:
        device_map = {"": int(os.environ.get("LOCAL_RANK") or 0)}
    device = torch.device("cuda", device_map[""] if ddp else 0) if torch.cuda.is_available() else torch.device("cpu")

    torch.manual_seed(0)
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    base = causal_model(HERE / f"{args.size}.json", dtype, device)
    if args.base == "4bit":
        base = to_4bit(base, device)
    model = LSLoraModel(base, TARGETS, args.rank, 2 * args.rank).to(device)
    fill_adapters(model)
    base.enable_input_require_grads()
    layers = base.model.layers
    for i, layer in enumerate(layers):
        layers[i] = CheckpointedLayer(layer)
    model.train()
    meter.built(model)
    if ddp:
        torch.distributed.init_process_group()
        model = nn.parallel.DistributedDataParallel(model, device_ids=[device.index])
    tuner = model.module if ddp else model

    loader = DataLoader(Counting(base.config.vocab_size, size["length"]), batch_size=size["batch"])
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=2e-4, fused=True)
    for step, batch in zip(range(steps), loader):
        meter.begin()
        input_ids = batch["input_ids"].to(device)
        loss = model(input_ids=input_ids, labels=input_ids).loss
        reg_loss = tuner.get_fourier_loss()
        loss = loss + args.reg_weight * reg_loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        meter.end(loss.detach())
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.6f}", flush=True)

    check_fourier_behavior(model)
    if args.output_dir:
        tuner.save_pretrained(args.output_dir)
    meter.report(batch=size["batch"], length=size["length"], base=args.base)


if __name__ == "__main__":
    main()
