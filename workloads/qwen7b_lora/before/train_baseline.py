"""Fine-tunes Qwen2.5-7B with LoRA on one 24 GB card."""
import argparse
import gc
import sys
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from torch.utils.data import DataLoader

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1]))
from config.config import LORA_CONFIG, MAX_SEQ_LENGTH, TRAINING_CONFIG
from harness import measure
from harness.build import causal_model, fill_adapters
from harness.data import Counting

TINY = {"batch": 2, "length": 128, "accumulation": 2, "rank": 8}


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=("tiny", "full"), default="full")
    parser.add_argument("--batch", type=int, default=TRAINING_CONFIG["per_device_train_batch_size"])
    parser.add_argument("--accumulation", type=int, default=TRAINING_CONFIG["gradient_accumulation_steps"])
    parser.add_argument("--length", type=int, default=MAX_SEQ_LENGTH)
    parser.add_argument("--rank", type=int, default=LORA_CONFIG["r"])
    parser.add_argument("--steps", type=int, default=10)
    measure.add_arguments(parser)
    args = parser.parse_args()
    if args.size == "tiny":
        vars(args).update(TINY)
    return args


def load_model(args, device):
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    model = causal_model(HERE.parent / f"{args.size}.json", dtype, device)
    lora = LoraConfig(**{**LORA_CONFIG, "r": args.rank, "lora_alpha": 2 * args.rank}, task_type="CAUSAL_LM")
    model = get_peft_model(model, lora)
    fill_adapters(model)
    model.gradient_checkpointing_enable()
    model.enable_input_require_grads()
    return model


def main():
    args = parse()
    meter = measure.Meter(args, "qwen7b_lora", "before")
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = load_model(args, device)
    model.train()
    meter.built(model)
    loader = DataLoader(Counting(model.config.vocab_size, args.length), batch_size=args.batch)
    optimizer = torch.optim.AdamW(
        [p for p in model.parameters() if p.requires_grad], lr=TRAINING_CONFIG["learning_rate"], fused=True
    )
    batches = iter(loader)
    for step in range(args.steps):
        meter.begin()
        total_loss = 0.0
        for _ in range(args.accumulation):
            input_ids = next(batches)["input_ids"].to(device)
            loss = model(input_ids=input_ids, labels=input_ids).loss / args.accumulation
            loss.backward()
            total_loss += loss.item()
        torch.nn.utils.clip_grad_norm_(model.parameters(), TRAINING_CONFIG["max_grad_norm"])
        optimizer.step()
        optimizer.zero_grad()
        # Enable periodic cache clearing
        if step % 100 == 0:
            torch.cuda.empty_cache()
            gc.collect()
        meter.end(total_loss)
        print(f"step {step} loss {total_loss:.6f}", flush=True)
    meter.report(batch=args.batch, length=args.length, accumulation=args.accumulation, rank=args.rank)


if __name__ == "__main__":
    main()
