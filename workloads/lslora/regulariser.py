"""The identity penalty of 128 curves three ways, forward and backward: as found, as its audit mended it, in one go.

    python workloads/lslora/regulariser.py --measure FILE
"""
import argparse
import importlib.util
import json
import statistics
import sys
import time
from pathlib import Path

import torch
from peft import get_peft_model
from transformers import AutoConfig, AutoModelForCausalLM

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.append(str(HERE.parent))
from harness import measure
from lslora import IdentityPenalty, LSLoraConfig

spec = importlib.util.spec_from_file_location("lslora_before", HERE / "before/lslora.py")
found = importlib.util.module_from_spec(spec)
spec.loader.exec_module(found)

TARGETS = ["qkv_proj", "o_proj", "gate_up_proj", "down_proj"]


def stacked(model):
    """The audit's own mend: the losses are stacked; the constant is still copied for every module."""
    losses = []
    identity = torch.tensor([0.0, 1.0, 0.0, 0.0])
    for module in model.modules():
        if isinstance(module, found.LSLoraLayer):
            for params in module.fourier_params.values():
                target = identity.to(params.weight.device)
                losses.append(torch.mean((params.weight - target) ** 2))
    return torch.stack(losses).mean()


def milliseconds(penalty, device, rounds):
    """The median of `rounds` times forward and backward, each waited for."""
    wait = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    times = []
    for _ in range(rounds + 5):
        wait()
        begin = time.perf_counter()
        penalty().backward()
        wait()
        times.append(1000 * (time.perf_counter() - begin))
    return statistics.median(times[5:])


def build(device):
    """Phi-3's 32 layers and its module tree, with narrow layers: only the number of modules counts here."""
    with open(HERE / "tiny.json") as f:
        config = {**json.load(f), "num_hidden_layers": 32}
    with torch.device(device):
        return AutoModelForCausalLM.from_config(AutoConfig.for_model(**config))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=50)
    parser.set_defaults(size="tiny")
    measure.add_arguments(parser)
    args = parser.parse_args()
    measure.Meter(args, "lslora", "regulariser")  # waits for its turn
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(0)
    before = found.LSLoraModel(build(device), TARGETS, 16, 32).to(device)
    after = get_peft_model(build(device), LSLoraConfig(r=16, target_modules=TARGETS))
    penalty = IdentityPenalty(after)
    result = {
        "modules": penalty.count,
        "found": milliseconds(before.get_fourier_loss, device, args.rounds),
        "stacked": milliseconds(lambda: stacked(before), device, args.rounds),
        "vectorised": milliseconds(penalty, device, args.rounds),
        "torch": torch.__version__,
        "card": torch.cuda.get_device_name(0) if device.type == "cuda" else "cpu",
    }
    result["times"] = result["stacked"] / result["vectorised"]
    text = json.dumps(result, indent=1)
    print(text)
    if args.measure:
        Path(args.measure).write_text(text)


if __name__ == "__main__":
    main()
