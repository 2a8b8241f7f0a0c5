"""Runs the two sides of a case and measures a step of each: time, waits for the device, peak and growth of memory."""
import gc
import statistics
import sys
import time
import traceback
import warnings

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
ON_GPU = DEVICE == "cuda"
# Without a GPU the script only proves that it runs: everything is tiny, and no number means anything.
LARGE = ON_GPU
CASES = []


def case(code, title, *, steps=10, warm=3):
    """Registers a function that returns {"before": make, "after": make}: `make()` gives the step as the rule reports it, and as its page advises."""

    def register(function):
        CASES.append((code, title, steps, warm, function))
        return function

    return register


def one_process():
    """A process group of this process alone: what is measured is the call, not the network."""
    if not dist.is_initialized():
        dist.init_process_group(
            "nccl" if ON_GPU else "gloo",
            init_method="tcp://127.0.0.1:29511",
            rank=0,
            world_size=1,
            device_id=torch.device(DEVICE, 0) if ON_GPU else None,
        )


def synchronize():
    if ON_GPU:
        torch.cuda.synchronize()


def allocated():
    return torch.cuda.memory_allocated() if ON_GPU else 0


def waits(step):
    """How often one step makes the host wait, as torch itself reports it."""
    if not ON_GPU:
        return 0
    synchronize()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        try:
            step()
        finally:
            torch.cuda.set_sync_debug_mode("default")
    return sum("synchronizing CUDA operation" in str(one.message) for one in caught)


def measure(step, steps, warm):
    for _ in range(warm):
        step()
    synchronize()
    start = allocated()
    if ON_GPU:
        torch.cuda.reset_peak_memory_stats()
    times = []
    for _ in range(3):
        began = time.perf_counter()
        for _ in range(steps):
            step()
        synchronize()
        times.append((time.perf_counter() - began) * 1e3 / steps)
    peak = torch.cuda.max_memory_allocated() if ON_GPU else 0
    grown = allocated() - start
    return {
        "ms": round(statistics.median(times), 4),
        "peak_bytes": peak,
        "held_bytes": allocated(),
        "grown_bytes_per_step": round(grown / (3 * steps)),
        "waits": waits(step),
    }


ONCE = {}


def measured_once(make):
    """Marks a side that many cases have in common."""
    ONCE[make] = None
    return make


def run_case(steps, warm, function):
    """One side after the other, each built anew, so that neither pays for what the other keeps."""
    result = {}
    for side in ("before", "after"):
        torch.manual_seed(0)
        gc.collect()
        if ON_GPU:
            torch.cuda.empty_cache()
        try:
            make = function()[side]
            if ONCE.get(make):
                result[side] = ONCE[make]
                continue
            step = make()
            result[side] = measure(step, steps, warm)
            if make in ONCE:
                ONCE[make] = result[side]
        except Exception:
            result[side] = {"error": traceback.format_exc(limit=-2)}
            print(traceback.format_exc(), file=sys.stderr)
        step = None
    return result


class Block(nn.Module):
    def __init__(self, width, heads, dropout=0.0):
        super().__init__()
        self.heads, self.dropout = heads, nn.Dropout(dropout)
        self.before_attention, self.before_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, -1).transpose(1, 2)
            for part in self.qkv(self.before_attention(x)).chunk(3, -1)
        )
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.dropout(self.out(attended.transpose(1, 2).reshape(batch, length, width)))
        return x + self.dropout(self.down(F.gelu(self.up(self.before_mlp(x)))))


class Gpt(nn.Module):
    """GPT-2's smallest size (124 M parameters) without its position embeddings, in bf16 unless told otherwise."""

    WIDTH, HEADS, LAYERS, WORDS = (768, 12, 12, 50257) if LARGE else (32, 4, 2, 97)

    def __init__(self, dropout=0.0, checkpointed=None):
        super().__init__()
        self.embed = nn.Embedding(self.WORDS, self.WIDTH)
        self.blocks = nn.ModuleList(Block(self.WIDTH, self.HEADS, dropout) for _ in range(self.LAYERS))
        self.norm = nn.LayerNorm(self.WIDTH)
        self.head = nn.Linear(self.WIDTH, self.WORDS, bias=False)
        self.head.weight = self.embed.weight
        self.checkpointed = checkpointed

    def hidden(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = self.checkpointed(block, x) if self.checkpointed else block(x)
        return self.norm(x)

    def forward(self, tokens):
        return self.head(self.hidden(tokens))


BATCH, LENGTH = (4, 512) if LARGE else (2, 8)


def gpt(dtype=torch.bfloat16, **settings):
    with torch.device(DEVICE):
        return Gpt(**settings).to(dtype)


def tokens(batch=BATCH, length=LENGTH):
    return torch.randint(0, Gpt.WORDS, (batch, length), device=DEVICE)


def loss_of(logits, labels):
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten())


# Enough tokens that the device is busy longer than the host takes to launch the step: the host can then run ahead,
# which is what a wait takes away.
LONG = (16, 1024) if LARGE else (2, 8)


def trainer(model=None, *, in_step=None, size=(BATCH, LENGTH)):
    """A plain training step of the model; `in_step(loss, logits)` is what the case is about."""
    model = model or gpt()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    data = tokens(*size)

    def step():
        logits = model(data)
        loss = loss_of(logits, data)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if in_step:
            in_step(loss, logits)

    return step
