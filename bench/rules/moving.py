"""Copies between host and device, shapes that cost, and settings."""
import io
import time

import numpy
import torch
import torch.nn.functional as F
from torch import nn

from harness import DEVICE, LARGE, ON_GPU, case, gpt, loss_of, one_process, tokens, trainer

SIDE = 4096 if LARGE else 8


@case("PLM035", "torch.zeros(4096, 4096).to(device) against device=")
def _():
    return {
        "before": lambda: lambda: torch.zeros(SIDE, SIDE).to(DEVICE),
        "after": lambda: lambda: torch.zeros(SIDE, SIDE, device=DEVICE),
    }


def pinned(*shape):
    tensor = torch.randn(*shape)
    return tensor.pin_memory() if ON_GPU else tensor


@case("PLM037", "64 MB of pinned batch copied before each step, blocking against non_blocking")
def _():
    def copying(non_blocking):
        batch = pinned(4096 if LARGE else 8, 4096 if LARGE else 8)
        plain = trainer()

        def step():
            batch.to(DEVICE, non_blocking=non_blocking)
            plain()

        return step

    return {"before": lambda: copying(False), "after": lambda: copying(True)}


@case("PLM072", "64 MB of batch copied from pageable memory (pinning lost) against pinned and non_blocking")
def _():
    def copying(host, **settings):
        plain = trainer()

        def step():
            host.to(DEVICE, **settings)
            plain()

        return step

    return {
        "before": lambda: copying(torch.randn(SIDE, SIDE)),
        "after": lambda: copying(pinned(SIDE, SIDE), non_blocking=True),
    }


class Slow(torch.utils.data.Dataset):
    """An item takes half a millisecond of the host, as a small decode does."""

    def __len__(self):
        return 1 << 20

    def __getitem__(self, at):
        until = time.perf_counter() + 0.0005
        while time.perf_counter() < until:
            pass
        return torch.zeros(1024)


def loading(**settings):
    loader = iter(torch.utils.data.DataLoader(Slow(), batch_size=32, **settings))
    plain = trainer()

    def step():
        next(loader).to(DEVICE, non_blocking=True)
        plain()

    return step


@case("PLM038", "num_workers=0 against 4 workers and pinned memory (an item costs 0.5 ms)")
def _():
    return {
        "before": lambda: loading(),
        "after": lambda: loading(num_workers=4 if LARGE else 1, pin_memory=ON_GPU),
    }


class Images(torch.utils.data.Dataset):
    """Ready on the host; moved one by one where `device` says so."""

    def __init__(self, device):
        self.device = device

    def __len__(self):
        return 1 << 20

    def __getitem__(self, at):
        image = torch.zeros(3, 224, 224)
        return image.to(self.device) if self.device else image


@case("PLM039", "32 images moved one by one in __getitem__ against their batch moved once")
def _():
    def loading_images(inside):
        loader = iter(torch.utils.data.DataLoader(Images(DEVICE if inside else None), batch_size=32))
        return lambda: next(loader).to(DEVICE)

    return {"before": lambda: loading_images(True), "after": lambda: loading_images(False)}


@case("PLM076", "a loader with two workers rebuilt every step against one iterator", steps=2, warm=1)
def _():
    settings = {"batch_size": 4, "num_workers": 2}

    def rebuilding():
        next(iter(torch.utils.data.DataLoader(Slow(), **settings)))

    def steady():
        loader = iter(torch.utils.data.DataLoader(Slow(), **settings))
        return lambda: next(loader)

    return {"before": lambda: rebuilding, "after": steady}


@case("PLM043", "a float64 NumPy array sent to the device against float32")
def _():
    wide = numpy.random.default_rng(0).standard_normal((SIDE, SIDE))
    narrow = wide.astype(numpy.float32)
    return {
        "before": lambda: lambda: torch.from_numpy(wide).to(DEVICE),
        "after": lambda: lambda: torch.from_numpy(narrow).to(DEVICE),
    }


def heads(batch=4, count=16, length=2048, width=64):
    if not LARGE:
        batch, count, length, width = 1, 2, 8, 4
    return [
        torch.randn(batch, count, length, width, device=DEVICE, dtype=torch.bfloat16, requires_grad=True)
        for _ in range(3)
    ]


@case("PLM044", "softmax(QKᵀ)V by hand against scaled_dot_product_attention (4 × 16 heads × 2048 × 64, bf16, backward too)")
def _():
    q, k, v = heads()
    mask = torch.ones(q.shape[2], q.shape[2], device=DEVICE, dtype=torch.bool).tril()

    def before():
        scores = (q @ k.transpose(-2, -1)) / q.shape[-1] ** 0.5
        (scores.masked_fill(~mask, float("-inf")).softmax(-1) @ v).sum().backward()

    def after():
        F.scaled_dot_product_attention(q, k, v, is_causal=True).sum().backward()

    return {"before": lambda: before, "after": lambda: after}


@case("PLM045", "256 rows joined by cat one at a time against once")
def _():
    rows = [torch.randn(1, SIDE, device=DEVICE) for _ in range(256)]

    def before():
        result = rows[0]
        for row in rows[1:]:
            result = torch.cat([result, row])

    return {"before": lambda: before, "after": lambda: lambda: torch.cat(rows)}


@case("PLM045-repeat", "x.repeat(64, 1, 1) + y against x.expand")
def _():
    x, y = torch.randn(1, 512, 1024, device=DEVICE), torch.randn(64, 512, 1024, device=DEVICE)
    return {
        "before": lambda: lambda: x.repeat(64, 1, 1) + y,
        "after": lambda: lambda: x.expand(64, -1, -1) + y,
    }


@case("PLM046", "logits.float() over a vocabulary of 50257 (4 × 512 tokens) against chunks of 256 tokens")
def _():
    model, data = gpt(), tokens()

    def before():
        logits = model(data).float()
        loss_of(logits, data).backward()
        model.zero_grad()

    def chunk(hidden, labels):
        return F.cross_entropy(model.head(hidden).float(), labels, reduction="sum")

    def after():
        hidden = model.hidden(data).flatten(0, 1)
        total = sum(
            torch.utils.checkpoint.checkpoint(chunk, part, labels, use_reentrant=False)
            for part, labels in zip(hidden.split(256), data.flatten().split(256))
        )
        (total / data.numel()).backward()
        model.zero_grad()

    return {"before": lambda: before, "after": lambda: after}


def asked_for(training, checkpointing=False, attention="sdpa", **settings):
    from transformers import GPT2Config, GPT2Model

    size = {"n_embd": 1024, "n_layer": 24, "n_head": 16} if LARGE else {"n_embd": 32, "n_layer": 2, "n_head": 2}
    model = GPT2Model(GPT2Config(**size, attn_implementation=attention)).to(DEVICE, torch.bfloat16).train(training)
    if checkpointing:
        model.gradient_checkpointing_enable({"use_reentrant": False})
    data = torch.randint(0, 50257, (4, 1024) if LARGE else (1, 8), device=DEVICE)

    def step():
        with torch.set_grad_enabled(training):
            output = model(data, use_cache=False, **settings)
            if training:
                output.last_hidden_state.float().mean().backward()
                model.zero_grad()

    return step


@case("PLM047", "output_hidden_states=True (24 layers of width 1024, 4 × 1024, evaluation)")
def _():
    return {"before": lambda: asked_for(False, output_hidden_states=True), "after": lambda: asked_for(False)}


@case("PLM047-training", "output_hidden_states=True, the same in training")
def _():
    return {"before": lambda: asked_for(True, output_hidden_states=True), "after": lambda: asked_for(True)}


@case("PLM047-checkpointing", "output_hidden_states=True, the same in training with activation checkpointing")
def _():
    return {
        "before": lambda: asked_for(True, True, output_hidden_states=True),
        "after": lambda: asked_for(True, True),
    }


@case("PLM047-attentions", "output_attentions=True, the same in training")
def _():
    return {
        # Only the eager attention has matrices to return.
        "before": lambda: asked_for(True, attention="eager", output_attentions=True),
        "after": lambda: asked_for(True),
    }


@case("PLM048", "(x @ A @ B) * s as one expression against rebinding (8192 × 4096, rank 16)")
def _():
    rows, rank = (8192, 16) if LARGE else (8, 2)
    x = torch.randn(rows, SIDE, device=DEVICE, dtype=torch.bfloat16)
    a = torch.randn(SIDE, rank, device=DEVICE, dtype=torch.bfloat16)
    b = torch.randn(rank, SIDE, device=DEVICE, dtype=torch.bfloat16)

    def after():
        result = x @ a
        result = result @ b
        result *= 2.0
        return result

    return {"before": lambda: lambda: (x @ a @ b) * 2.0, "after": lambda: after}


@case("PLM049", "torch.load of a checkpoint saved on the device, without map_location against onto the host", steps=2, warm=1)
def _():
    file = io.BytesIO()
    torch.save(gpt().state_dict(), file)
    kept = {}

    def before():
        file.seek(0)
        kept["state"] = torch.load(file)

    def after():
        file.seek(0)
        kept["state"] = torch.load(file, map_location="cpu")

    return {"before": lambda: before, "after": lambda: after}


@case("PLM050", "a frozen base in float32 against bf16, with a small trained head")
def _():
    def adapting(dtype):
        base, data = gpt(dtype).requires_grad_(False), tokens()
        extra = nn.Linear(base.norm.normalized_shape[0], 16, device=DEVICE, dtype=dtype)
        base.blocks[0].qkv.weight.requires_grad_(True)

        def step():
            extra(base.hidden(data)).float().square().mean().backward()
            extra.zero_grad()
            base.zero_grad()

        return step

    return {"before": lambda: adapting(torch.float32), "after": lambda: adapting(torch.bfloat16)}


@case("PLM056", "every batch padded to 1024 tokens against to its longest (random lengths to 512)")
def _():
    def padded(lengths):
        model = gpt()
        position = {"at": 0}

        def step():
            length = lengths[position["at"] % len(lengths)]
            position["at"] += 1
            data = tokens(length=length)
            loss_of(model(data), data).backward()
            model.zero_grad()

        return step

    longest = [233, 490, 312, 401, 505, 377] if LARGE else [4, 6]
    return {"before": lambda: padded([1024 if LARGE else 12]), "after": lambda: padded(longest)}


@case("PLM057", "AdamW's default (foreach) against fused=True: a step of GPT-2 124M in fp32")
def _():
    def stepping(**settings):
        model = gpt(torch.float32)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, **settings)
        for parameter in model.parameters():
            parameter.grad = torch.randn_like(parameter)
        return optimizer.step

    return {"before": lambda: stepping(), "after": lambda: stepping(fused=True)}


def parallel(**settings):
    one_process()
    model = nn.parallel.DistributedDataParallel(gpt(), device_ids=[0] if ON_GPU else None, **settings)
    data = tokens()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)

    def step():
        loss_of(model(data), data).backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


@case("PLM058", "DDP find_unused_parameters=True (one process, NCCL)")
def _():
    return {"before": lambda: parallel(find_unused_parameters=True), "after": lambda: parallel()}


@case("PLM058-view", "DDP without gradient_as_bucket_view (one process, NCCL)")
def _():
    return {"before": lambda: parallel(), "after": lambda: parallel(gradient_as_bucket_view=True)}


def sharded(by_block):
    """FSDP2 over one process: nothing crosses a network, but what is gathered is allocated all the same."""
    one_process()
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    model = gpt(torch.float32)
    policy = {"mp_policy": MixedPrecisionPolicy(param_dtype=torch.bfloat16)}
    if by_block:
        for block in model.blocks:
            fully_shard(block, **policy)
    fully_shard(model, **policy)
    return model


@case("PLM059", "FSDP2 around the whole model against around each block as well (one process, bf16 of fp32)", steps=3, warm=1)
def _():
    def stepping(by_block):
        model, data = sharded(by_block), tokens()

        def step():
            loss_of(model(data), data).backward()
            model.zero_grad()

        return step

    return {"before": lambda: stepping(False), "after": lambda: stepping(True)}


@case("PLM075", "a full state dict gathered on the device against on the host (FSDP2, one process)", steps=1, warm=1)
def _():
    from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict

    def gathering(offload):
        model = sharded(True)
        options = StateDictOptions(full_state_dict=True, cpu_offload=offload)
        return lambda: get_model_state_dict(model, options=options)

    return {"before": lambda: gathering(False), "after": lambda: gathering(True)}


@case("PLM061-autocast", "backward under autocast against outside of it")
def _():
    def stepping(inside):
        model, data = gpt(torch.float32), tokens()

        def step():
            with torch.autocast(DEVICE, torch.bfloat16):
                loss = loss_of(model(data), data)
                if inside:
                    loss.backward()
            if not inside:
                loss.backward()
            model.zero_grad()

        return step

    return {"before": lambda: stepping(True), "after": lambda: stepping(False)}


@case("PLM062", "torch.compile of a fresh function every step against once", steps=1, warm=1)
def _():
    x = torch.randn(1024, device=DEVICE)

    def fresh():
        def one(value):
            return (value.sin() + 1).square().sum()

        return torch.compile(one)

    def once():
        compiled = fresh()
        return lambda: compiled(x)

    return {"before": lambda: lambda: fresh()(x), "after": once}


@case("PLM063", "a 4-bit layer's matmul with the default compute dtype (float32) against bf16")
def _():
    def quantized(**settings):
        import bitsandbytes

        layer = bitsandbytes.nn.Linear4bit(4096, 4096, bias=False, **settings).to(DEVICE)
        x = torch.randn(2048, 4096, device=DEVICE, dtype=torch.bfloat16)
        return lambda: layer(x)

    return {
        "before": lambda: quantized(compute_dtype=torch.float32),
        "after": lambda: quantized(compute_dtype=torch.bfloat16),
    }


@case("PLM064", "cudnn.benchmark with a new image size every step", steps=8, warm=1)
def _():
    def convolving(benchmark):
        width = 64 if LARGE else 2
        net = nn.Sequential(*(nn.Conv2d(width if n else 3, width, 3, padding=1) for n in range(8))).to(DEVICE)
        size = {"now": 96 if LARGE else 8}

        def step():
            torch.backends.cudnn.benchmark = benchmark
            size["now"] += 1
            net(torch.randn(8, 3, size["now"], size["now"], device=DEVICE)).mean().backward()
            torch.backends.cudnn.benchmark = False

        return step

    return {"before": lambda: convolving(True), "after": lambda: convolving(False)}


@case("PLM067", "MultiheadAttention's weights computed and thrown away (4 × 16 heads × 2048, width 1024, bf16)")
def _():
    def attending(**settings):
        width, length = (1024, 2048) if LARGE else (16, 8)
        net = nn.MultiheadAttention(width, 16, batch_first=True).to(DEVICE, torch.bfloat16)
        x = torch.randn(4, length, width, device=DEVICE, dtype=torch.bfloat16)

        def step():
            net(x, x, x, **settings)[0].sum().backward()
            net.zero_grad()

        return step

    return {"before": lambda: attending(), "after": lambda: attending(need_weights=False)}


@case("PLM078", "a rotary table of 4096 × 64 built in each of 12 forwards against once")
def _():
    def table():
        angles = torch.arange(4096, device=DEVICE)[:, None] / 10000 ** (
            torch.arange(0, 64, 2, device=DEVICE) / 64
        )
        return angles.cos(), angles.sin()

    def before():
        for _ in range(12):
            table()

    ready = table()

    def after():
        for _ in range(12):
            ready  # noqa: B018

    return {"before": lambda: before, "after": lambda: after}


@case("PLM081", "a matmul's fresh result cloned (8192 × 4096, bf16)")
def _():
    x = torch.randn(2 * SIDE, SIDE, device=DEVICE, dtype=torch.bfloat16)
    weight = torch.randn(SIDE, SIDE, device=DEVICE, dtype=torch.bfloat16)
    return {"before": lambda: lambda: (x @ weight).clone(), "after": lambda: lambda: x @ weight}


@case("PLM036-cast", "a weight of 4096 × 4096 cast to bfloat16 in every forward against one kept in it (64 tokens, with backward)")
def _():
    def projecting(dtype):
        weight = nn.Parameter(torch.randn(SIDE, SIDE, device=DEVICE, dtype=dtype))
        tokens_in = torch.randn(64, SIDE, device=DEVICE, dtype=torch.bfloat16)

        def step():
            F.linear(tokens_in, weight.to(torch.bfloat16)).float().square().mean().backward()
            weight.grad = None

        return step

    return {"before": lambda: projecting(torch.float32), "after": lambda: projecting(torch.bfloat16)}
