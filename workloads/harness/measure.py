"""Memory, time and loss of every step, as one JSON object. Without --measure it does nothing: no synchronisation."""
import fcntl
import json
import os
import statistics
import time

import torch


def add_arguments(parser):
    parser.add_argument("--measure", metavar="FILE", help="write peak memory, step times and losses there")
    parser.add_argument("--cap-gb", type=float, help="let PyTorch have this much of the card and no more")
    parser.add_argument("--turn", metavar="FILE", help="wait for this lock before using the card (true step times)")


class Meter:
    def __init__(self, args, workload, variant):
        self.file = args.measure
        self.cuda = torch.cuda.is_available()
        self.head = {"workload": workload, "variant": variant, "size": args.size}
        self.steps = []
        self._turn = None
        if args.turn:
            self._turn = open(args.turn, "w")
            fcntl.flock(self._turn, fcntl.LOCK_EX)  # until the process ends
        if self.cuda and args.cap_gb:
            total = torch.cuda.get_device_properties(0).total_memory
            torch.cuda.set_per_process_memory_fraction(args.cap_gb * 1e9 / total)
            self.head["cap"] = int(args.cap_gb * 1e9)

    def built(self, model):
        self.head["parameters"] = sum(p.numel() for p in model.parameters())
        self.head["trained"] = sum(p.numel() for p in model.parameters() if p.requires_grad)
        if self.cuda:
            self.head["loaded"] = torch.cuda.memory_allocated()

    def begin(self):
        if not self.file:
            return
        if self.cuda:
            torch.cuda.reset_peak_memory_stats()
            torch.cuda.synchronize()
        self.began = time.perf_counter()

    def end(self, loss):
        if not self.file:
            return
        row = {}
        if self.cuda:
            torch.cuda.synchronize()
            stats = torch.cuda.memory_stats()
            row = {
                "peak": stats["allocated_bytes.all.peak"],
                "rest": stats["allocated_bytes.all.current"],
                "reserved": stats["reserved_bytes.all.peak"],
            }
        row["seconds"] = time.perf_counter() - self.began
        row["loss"] = float(loss.detach()) if torch.is_tensor(loss) else loss  # noqa: PLM025 (it is what was asked for)
        self.steps.append(row)

    def report(self, **more):
        if not self.file:
            return
        import transformers

        settled = self.steps[2:] or self.steps[-1:]
        result = {
            **self.head,
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "seconds": statistics.median(s["seconds"] for s in settled),
            "losses": [s["loss"] for s in self.steps],
            **more,
        }
        if self.cuda:
            result["card"] = torch.cuda.get_device_name(0)
            result["allocConf"] = os.environ.get("PYTORCH_CUDA_ALLOC_CONF", "")
            result["peak"] = max(s["peak"] for s in self.steps)
            result["reserved"] = max(s["reserved"] for s in self.steps)
            first, last = settled[0]["rest"], settled[-1]["rest"]
            result["growthPer100Steps"] = round(100 * (last - first) / max(len(settled) - 1, 1))
        result["steps"] = self.steps
        with open(self.file, "w") as f:
            json.dump(result, f, indent=1)
