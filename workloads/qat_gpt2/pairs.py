"""Step times of two versions of this workload in one process, block by block: python pairs.py BEFORE AFTER

BEFORE and AFTER are folders with train_qat.py in them. Steps of this training wait for the host, and a shared machine's
host is uneven: blocks of a few steps in turn (ABBA…) see the same of it, whole runs do not.
"""
import argparse
import contextlib
import io
import json
import math
import statistics
import sys
import time
from pathlib import Path

import torch
from torch.utils.data import DataLoader

sys.path.append(str(Path(__file__).resolve().parents[1]))
from harness.data import Counting

OWN = ("models", "dataset", "lora", "quantization", "train_qat")


class Clock:
    """Stands in for the workload's meter."""

    def __init__(self):
        self.seconds = []

    def begin(self):
        self._wait()
        self.began = time.perf_counter()

    def end(self, loss):
        self._wait()
        self.seconds.append(time.perf_counter() - self.began)

    def _wait(self):
        if torch.cuda.is_available():
            torch.cuda.synchronize()


class Side:
    def __init__(self, folder, size, steps):
        sys.path.insert(0, folder)
        import train_qat

        sys.path.pop(0)
        for name in OWN:  # the other side has modules of the same names
            del sys.modules[name]
        self.train = train_qat.train
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        torch.manual_seed(0)
        model = train_qat.models.build(size, [4, 8, 16], 8, device)
        settings = train_qat.SIZES[size]
        data = Counting(model.config.vocab_size, settings["length"], steps * settings["batch"])
        loader = DataLoader(train_qat.QuestionDataset(data), batch_size=settings["batch"])
        trained = [p for p in model.parameters() if p.requires_grad]
        optimizer = torch.optim.AdamW(trained, lr=1e-3, fused=True)
        self.arguments = (model, iter(loader), optimizer)
        self.device, self.clock = device, Clock()

    def run(self, steps):
        """The mean of this block's steps, the first left out: at it the script empties the cache."""
        self.clock.seconds.clear()
        config = argparse.Namespace(steps=steps, accumulation=1)
        with contextlib.redirect_stdout(io.StringIO()):
            self.train(*self.arguments, config, [4, 8, 16], self.device, self.clock)
        return statistics.mean(self.clock.seconds[1:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs=2, metavar="FOLDER")
    parser.add_argument("--size", choices=("tiny", "full"), default="full")
    parser.add_argument("--pairs", type=int, default=16)
    parser.add_argument("--steps", type=int, default=5, help="a block")
    parser.add_argument("--measure", metavar="FILE")
    args = parser.parse_args()
    a, b = (Side(folder, args.size, (args.pairs + 1) * args.steps) for folder in args.folders)
    for side in (a, b):
        side.run(args.steps)
    blocks = []
    for pair in range(args.pairs):
        first, second = (a, b) if pair % 2 == 0 else (b, a)
        times = {first: first.run(args.steps), second: second.run(args.steps)}
        blocks.append((times[a], times[b]))
    logs = [math.log(after / before) for before, after in blocks]
    # 99 % of Student's t for 15 degrees of freedom is 2.95, and nearer 2.58 with more.
    spread = 2.95 * statistics.stdev(logs) / math.sqrt(len(logs))
    result = {
        "pairs": args.pairs, "stepsInBlock": args.steps,
        "before": statistics.median(x for x, _ in blocks), "after": statistics.median(y for _, y in blocks),
        "change": math.expm1(statistics.mean(logs)),
        "interval99": [math.expm1(statistics.mean(logs) - spread), math.expm1(statistics.mean(logs) + spread)],
        "blocks": blocks, "torch": torch.__version__,
        "card": torch.cuda.get_device_name(0) if torch.cuda.is_available() else "cpu",
    }
    print(json.dumps({k: v for k, v in result.items() if k != "blocks"}))
    if args.measure:
        Path(args.measure).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
