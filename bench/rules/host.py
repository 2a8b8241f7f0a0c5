"""What Python objects cost the host: a dataset held as a list of strings against one array, read by worker processes.

    python bench/rules/host.py > evidence/rules/host.json

Linux only: the memory of a process is what /proc says is its own (private) after an epoch.
"""
import json
import os
import platform
import time

import numpy
import torch
from torch.utils.data import DataLoader, Dataset

EXAMPLES, WORKERS = 2_000_000, 4


class Listed(Dataset):
    def __init__(self):
        self.texts = [f"example {at:08d} of a text of some length" for at in range(EXAMPLES)]

    def __len__(self):
        return EXAMPLES

    def __getitem__(self, at):
        return len(self.texts[at])


class Joined(Dataset):
    """One string of bytes and where each text begins."""

    def __init__(self):
        texts = [f"example {at:08d} of a text of some length".encode() for at in range(EXAMPLES)]
        self.bytes = numpy.frombuffer(b"".join(texts), dtype=numpy.uint8)
        self.starts = numpy.cumsum([0] + [len(text) for text in texts])

    def __len__(self):
        return EXAMPLES

    def __getitem__(self, at):
        return len(bytes(self.bytes[self.starts[at] : self.starts[at + 1]]))


def private(pid):
    """Bytes of a process that no other shares."""
    with open(f"/proc/{pid}/smaps_rollup") as file:
        return sum(int(line.split()[1]) * 1024 for line in file if line.startswith("Private_"))


def measure(kind):
    began = time.perf_counter()
    dataset = kind()
    made = time.perf_counter() - began
    loader = DataLoader(dataset, batch_size=1024, num_workers=WORKERS, shuffle=True, persistent_workers=True)
    batches = iter(loader)
    next(batches)
    workers = [process.pid for process in batches._workers]
    before = [private(pid) for pid in workers]
    for _ in batches:
        pass
    after = [private(pid) for pid in workers]
    return {
        "seconds_to_make": round(made, 1),
        "private_bytes_of_a_worker_at_first": round(sum(before) / WORKERS),
        "private_bytes_of_a_worker_after_an_epoch": round(sum(after) / WORKERS),
    }


if __name__ == "__main__":
    print(
        json.dumps(
            {
                "command": "python bench/rules/host.py",
                "machine": f"{os.cpu_count()} cores, {platform.machine()}",
                "python": platform.python_version(),
                "torch": torch.__version__,
                "examples": EXAMPLES,
                "workers": WORKERS,
                "list of strings": measure(Listed),
                "one array": measure(Joined),
            },
            indent=1,
        )
    )
