"""Fine-tunes Qwen2.5-7B with LoRA on one 24 GB card: nothing shortened, a ladder when it does not fit."""
import argparse
import sys
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from torch.utils.data import DataLoader

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1]))
from config.config import LORA_CONFIG, MAX_SEQ_LENGTH, TRAINING_CONFIG
from harness import adapters, measure
from harness.build import causal_model, fill_adapters
from harness.data import Counting
from harness.losses import CausalLoss

from ladder import RUNGS, climb

TINY = {"batch": 2, "length": 128, "accumulation": 2, "rank": 8}


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=("tiny", "full"), default="full")
    parser.add_argument("--batch", type=int, default=TRAINING_CONFIG["per_device_train_batch_size"])
    parser.add_argument("--accumulation", type=int, default=TRAINING_CONFIG["gradient_accumulation_steps"])
    parser.add_argument("--length", type=int, default=MAX_SEQ_LENGTH)
    parser.add_argument("--rank", type=int, default=LORA_CONFIG["r"])
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--from", dest="first", choices=[r.name for r in RUNGS], default=TRAINING_CONFIG["rung"])
    measure.add_arguments(parser)
    args = parser.parse_args()
    if args.size == "tiny":
        vars(args).update(TINY)
    return args


def load_model(args, rung, device):
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    model = causal_model(HERE.parent / f"{args.size}.json", dtype, device)
    lora = LoraConfig(**{**LORA_CONFIG, "r": args.rank, "lora_alpha": 2 * args.rank}, task_type="CAUSAL_LM")
    model = get_peft_model(model, lora)
    fill_adapters(model)
    if rung.checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        model.enable_input_require_grads()
    return model


def build_optimizer(trained, rung):
    if rung.eight_bit and torch.cuda.is_available():
        import bitsandbytes as bnb

        return bnb.optim.AdamW8bit(trained, lr=TRAINING_CONFIG["learning_rate"])
    return torch.optim.AdamW(trained, lr=TRAINING_CONFIG["learning_rate"], fused=True)


def train(args, rung, meter):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = load_model(args, rung, device)
    model.train()
    meter.built(model)
    with adapters.computing_in(model, model.dtype):
        steps(args, rung, meter, model, device)


def steps(args, rung, meter, model, device):
    loss_of = CausalLoss(model, rung.loss(device), model.dtype)
    batch, accumulation = args.batch // rung.split, args.accumulation * rung.split
    data = Counting(model.config.vocab_size, args.length)
    loader = DataLoader(data, batch_size=batch, pin_memory=device.type == "cuda")
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = build_optimizer(trained, rung)
    batches = iter(loader)
    for step in range(args.steps):
        meter.begin()
        total_loss = torch.zeros((), device=device)
        for _ in range(accumulation):
            input_ids = next(batches)["input_ids"].to(device, non_blocking=True)
            loss = loss_of(input_ids) / accumulation
            loss.backward()
            total_loss += loss.detach()
        torch.nn.utils.clip_grad_norm_(trained, TRAINING_CONFIG["max_grad_norm"])
        optimizer.step()
        optimizer.zero_grad()
        meter.end(total_loss)
        if step % 10 == 0:
            print(f"step {step} loss {total_loss.item():.6f}", flush=True)


def main():
    args = parse()
    meter = measure.Meter(args, "qwen7b_lora", "after")

    def attempt(rung):
        meter.steps.clear()
        train(args, rung, meter)

    climbed = climb(args.first, attempt)
    meter.report(
        batch=args.batch, length=args.length, accumulation=args.accumulation, rank=args.rank,
        rung=climbed[-1], climbed=climbed,
    )


if __name__ == "__main__":
    main()
