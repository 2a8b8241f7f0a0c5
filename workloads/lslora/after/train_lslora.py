"""Fine-tunes Phi-3 with LS-LoRA, mended by hand where no tool can: the penalty is one expression over all curves."""
import argparse
import os
import sys
from pathlib import Path

import torch
from peft import get_peft_model
from torch.utils.data import DataLoader

HERE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE))
sys.path.append(str(HERE.parent))
from harness import measure
from harness.build import causal_model, fill_adapters, to_4bit
from harness.data import Counting
from harness.losses import CausalLoss
from lslora import IdentityPenalty, LSLoraConfig, describe

SIZES = {"tiny": dict(batch=2, length=128, steps=12), "full": dict(batch=2, length=2048, steps=8)}
TARGETS = ["qkv_proj", "o_proj", "gate_up_proj", "down_proj"]


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="full")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--base", choices=("bf16", "4bit"), default="bf16")
    parser.add_argument("--reg-weight", type=float, default=0.01)
    parser.add_argument("--loss", choices=("default", "chunked", "fused"), default="chunked")
    parser.add_argument("--output-dir")
    measure.add_arguments(parser)
    return parser.parse_args()


def card():
    """Under torchrun each rank has a card of its own."""
    if not torch.cuda.is_available():
        return torch.device("cpu")
    torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))
    return torch.device("cuda", torch.cuda.current_device())


def main():
    args = parse()
    size = SIZES[args.size]
    steps = args.steps or size["steps"]
    meter = measure.Meter(args, "lslora", "after")
    device = card()
    ddp = int(os.environ.get("WORLD_SIZE", 1)) > 1

    torch.manual_seed(0)
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    base = causal_model(HERE / f"{args.size}.json", dtype, device)
    if args.base == "4bit":
        base = to_4bit(base, device)
    tuner = get_peft_model(base, LSLoraConfig(r=args.rank, lora_alpha=2 * args.rank, target_modules=TARGETS))
    fill_adapters(tuner)
    tuner.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    tuner.enable_input_require_grads()
    tuner.train()
    meter.built(tuner)
    penalty = IdentityPenalty(tuner)
    model = CausalLoss(tuner, args.loss)
    if ddp:
        torch.distributed.init_process_group()
        model = torch.nn.parallel.DistributedDataParallel(
            model, device_ids=[device.index] if device.type == "cuda" else None, gradient_as_bucket_view=True
        )

    data = Counting(base.config.vocab_size, size["length"])
    sampler = torch.utils.data.DistributedSampler(data, shuffle=False) if ddp else None
    loader = DataLoader(data, batch_size=size["batch"], sampler=sampler, pin_memory=device.type == "cuda")
    trained = [p for p in tuner.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=2e-4, fused=True)
    for step, batch in zip(range(steps), loader):
        meter.begin()
        input_ids = batch["input_ids"].to(device, non_blocking=True)
        loss = model(input_ids) + args.reg_weight * penalty()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        meter.end(loss.detach())
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.6f}", flush=True)

    for row in describe(tuner):
        print(f"{row['name']}: deviation={row['deviation']:.4f}, non-linearity={row['nonlinearity']:.4f}")
    if args.output_dir:
        tuner.save_pretrained(args.output_dir)
    meter.report(batch=size["batch"], length=size["length"], base=args.base, loss=args.loss)


if __name__ == "__main__":
    main()
