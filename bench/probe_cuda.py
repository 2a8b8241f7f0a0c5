"""What the probe costs and finds on a CUDA machine, in one process, without Node.

    PYTHONPATH=probe/site PLIMSOLL_RUN_DIR=/tmp/run python bench/probe_cuda.py [small] [large] [leak] [oom] > result.json

small, large: the ratio of step times with and without the probe, blocks of steps alternating within one run.
leak: the line that keeps each step's statistics, and how many steps it took to name it. oom: the report of one.
Each part's result is printed as JSON on a line of its own.
"""
import glob
import json
import os
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

session = sys.modules["plimsoll_probe"].session._session


class Block(nn.Module):
    def __init__(self, width, inner, heads):
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_mlp = nn.RMSNorm(width), nn.RMSNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.gate, self.up = nn.Linear(width, inner, bias=False), nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, -1).transpose(1, 2)
            for part in self.qkv(self.before_attention(x)).chunk(3, -1)
        )
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, length, width)
        x = x + self.out(attended)
        y = self.before_mlp(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    def __init__(self, layers, width, inner, heads, vocabulary):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width, inner, heads) for _ in range(layers))
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, ids):
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy(self.head(x).flatten(0, 1).float(), ids.flatten())


# GPT-2 124M and Llama-2 7B in width, depth and vocabulary.
SIZES = {
    "small": (dict(layers=12, width=768, inner=2048, heads=12, vocabulary=50257), (2, 256), 3, 300),
    "large": (dict(layers=32, width=4096, inner=11008, heads=32, vocabulary=32000), (1, 1024), 8, 16),
}


def overhead(name):
    shape, batch, steps, pairs = SIZES[name]
    torch.manual_seed(0)
    with torch.device("cuda"):
        previous = torch.get_default_dtype()
        torch.set_default_dtype(torch.bfloat16)
        model = Decoder(**shape)
        torch.set_default_dtype(previous)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    ids = torch.randint(0, shape["vocabulary"], batch, device="cuda")

    def block():
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(steps):
            optimizer.zero_grad()
            model(ids).backward()
            optimizer.step()
        torch.cuda.synchronize()
        return (time.perf_counter() - began) / steps

    block()
    with_probe, without = [], []
    spent_with, spent_without = [], []
    for pair in range(pairs):
        # Which of a pair goes first alternates: drift of the clock rate falls on both alike.
        for arm in (0, 1) if pair % 2 else (1, 0):
            if arm:
                began = time.thread_time()
                with_probe.append(block())
                spent_with.append(time.thread_time() - began)
            else:
                session.suspend()
                began = time.thread_time()
                without.append(block())
                spent_without.append(time.thread_time() - began)
                session.resume()
    ratios = sorted(a / b for a, b in zip(with_probe, without))
    return {
        "part": name,
        "parameters": sum(p.numel() for p in model.parameters()),
        "step_ms_without": round(1e3 * statistics.median(without), 3),
        "step_ms_with": round(1e3 * statistics.median(with_probe), 3),
        "ratio": round(statistics.median(ratios), 5),
        # Of the median, by the binomial of ranks.
        "ratio_95": [round(ratios[max(0, int(len(ratios) / 2 - 0.98 * len(ratios) ** 0.5))], 5),
                     round(ratios[min(len(ratios) - 1, int(len(ratios) / 2 + 0.98 * len(ratios) ** 0.5))], 5)],
        "processor_ratio": round(sum(spent_with) / sum(spent_without), 5),
        "ratio_quartiles": [round(ratios[len(ratios) // 4], 5), round(ratios[3 * len(ratios) // 4], 5)],
        "hook_us_a_step": round(1e6 * session._spent / max(1, session.step), 1),
        "counters_every": session._stride,
    }


class Statistics(nn.Module):
    def __init__(self):
        super().__init__()
        self.running = torch.zeros((), device="cuda")

    def forward(self, x):
        self.running = 0.9 * self.running + 0.1 * x.abs().amax()  # leak
        return x


def leak():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(256, 1024), Statistics(), nn.ReLU(), nn.Linear(1024, 8)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    first = session.step
    for step in range(60):
        loss = model(torch.randn(32 + step * 13 % 64, 256, device="cuda")).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return {"part": "leak", "first_step": first, "found": events("leak"), "looked": events("growth")}


def oom():
    hold = torch.empty(1 << 20, device="cuda")
    try:
        torch.empty(1 << 42, dtype=torch.uint8, device="cuda")
    except torch.OutOfMemoryError:
        pass
    del hold
    return {"part": "oom", "reports": events("oom")}


def events(kind):
    time.sleep(0.6)
    found = []
    for file in glob.glob(os.path.join(os.environ["PLIMSOLL_RUN_DIR"], "rank-*.jsonl")):
        with open(file) as lines:
            found.extend(record for record in map(json.loads, lines) if isinstance(record, dict) and record["k"] == kind)
    return found


PARTS = {"small": lambda: overhead("small"), "large": lambda: overhead("large"), "leak": leak, "oom": oom}

if __name__ == "__main__":
    print(json.dumps({"part": "machine", "device": torch.cuda.get_device_name(), "torch": torch.__version__,
                      "python": sys.version.split()[0]}), flush=True)
    for part in sys.argv[1:] or ("leak", "small", "large", "oom"):
        print(json.dumps(PARTS[part]()), flush=True)
        torch.cuda.empty_cache()
