"""The host waits for the device, or the device for the host."""
import gc
import io
import math
from functools import partial

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

import harness
from harness import DEVICE, LARGE, LONG, ON_GPU, gpt, loss_of

case = partial(harness.case, steps=6, warm=2)
tokens = partial(harness.tokens, *LONG)
trainer = partial(harness.trainer, size=LONG)


@harness.measured_once
def plain():
    return trainer()


def both(before, after=None):
    """A training step with one thing done at its end."""
    return {
        "before": lambda: trainer(in_step=before),
        "after": (lambda: trainer(in_step=after)) if after else plain,
    }


@case("PLM025", "loss.item() every step")
def _():
    return both(lambda loss, _: loss.item())


@case("PLM026", "the loss printed every step")
def _():
    out = io.StringIO()
    return both(lambda loss, _: print(f"loss {loss:.4f}", file=out))


@case("PLM027", "a branch on the loss every step")
def _():
    return both(lambda loss, _: 1 if torch.isnan(loss) else 0)


@case("PLM028", "logits[mask] in the step against a mask multiplied in")
def _():
    mask = tokens() % 2 == 0
    return both(lambda _, logits: logits[mask].mean(), lambda _, logits: (logits * mask[..., None]).mean())


@case("PLM029", "eight .item() a step against one transfer of the stack")
def _():
    return both(
        lambda loss, _: [(loss * n).item() for n in range(8)],
        lambda loss, _: torch.stack([loss * n for n in range(8)]).tolist(),
    )


@case("PLM030", "torch.cuda.synchronize() every step")
def _():
    return both(lambda *_: torch.cuda.synchronize() if ON_GPU else None)


@case("PLM031", "torch.cuda.empty_cache() every step")
def _():
    return both(lambda *_: torch.cuda.empty_cache() if ON_GPU else None)


@case("PLM031-gc", "gc.collect() every step")
def _():
    return both(lambda *_: gc.collect())


@case("PLM031-both", "gc.collect() and empty_cache() every step")
def _():
    return both(lambda *_: (gc.collect(), torch.cuda.empty_cache() if ON_GPU else None))


@case("PLM031-layers", "empty_cache() after every fourth block's forward")
def _():
    def emptying(often):
        model = gpt()
        if often:
            for block in list(model.blocks)[3::4]:
                block.register_forward_hook(lambda *_: torch.cuda.empty_cache() if ON_GPU else None)
        return trainer(model)

    return {"before": lambda: emptying(True), "after": lambda: emptying(False)}


@case("PLM032", "clip_grad_norm_(error_if_nonfinite=True) every step")
def _():
    def clipping(**settings):
        model, data = gpt(), tokens()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)

        def step():
            loss_of(model(data), data).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0, **settings)
            optimizer.step()
            optimizer.zero_grad()

        return step

    return {"before": lambda: clipping(error_if_nonfinite=True), "after": lambda: clipping()}


@case("PLM032-scale", "scaler.get_scale() read every step")
def _():
    def scaled(read):
        model, data = gpt(torch.float32), tokens()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
        scaler = torch.amp.GradScaler(DEVICE)

        def step():
            with torch.autocast(DEVICE, torch.float16):
                loss = loss_of(model(data), data)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            if read:
                scaler.get_scale()
            scaler.update()
            optimizer.zero_grad()

        return step

    return {"before": lambda: scaled(True), "after": lambda: scaled(False)}


def constants(model, make):
    """Every block of the model adds a constant that `make` supplies."""
    for block in model.blocks:
        block.register_forward_hook(lambda _, __, output: output + make(output))
    return model


@case("PLM033", "a constant made from Python data and copied to the device in each of 12 blocks")
def _():
    ready = torch.tensor([0.1], device=DEVICE, dtype=torch.bfloat16)
    return {
        "before": lambda: trainer(
            constants(gpt(), lambda x: torch.tensor([0.1], dtype=x.dtype).to(x.device))
        ),
        "after": lambda: trainer(constants(gpt(), lambda _: ready)),
    }


@case("PLM033-device", "torch.tensor(0.1, device=…) in each of 12 blocks")
def _():
    ready = torch.tensor(0.1, device=DEVICE, dtype=torch.bfloat16)
    return {
        "before": lambda: trainer(
            constants(gpt(), lambda x: torch.tensor(0.1, device=x.device, dtype=x.dtype))
        ),
        "after": lambda: trainer(constants(gpt(), lambda _: ready)),
    }


@case("PLM042", "a CPU tensor attribute moved in each of 12 blocks' forward against a buffer")
def _():
    attribute = torch.full((768 if LARGE else 32,), 0.1, dtype=torch.bfloat16)
    buffer = attribute.to(DEVICE)
    return {
        "before": lambda: trainer(constants(gpt(), lambda x: attribute.to(x.device))),
        "after": lambda: trainer(constants(gpt(), lambda _: buffer)),
    }


@case("PLM034", "a penalty on 128 modules: a loop of small kernels against one expression over the stack")
def _():
    parameters = [nn.Parameter(torch.randn(4, device=DEVICE)) for _ in range(128)]

    def before():
        total = 0.0
        for one in parameters:
            total = total + (one.sigmoid() - 0.5).square().sum() + one.abs().sum()
        total.backward()

    def after():
        stacked = torch.stack(parameters)
        ((stacked.sigmoid() - 0.5).square().sum() + stacked.abs().sum()).backward()

    return {"before": lambda: before, "after": lambda: after}


@case("PLM036", "1000 × .to(device) of what is there already", steps=5)
def _():
    weight = torch.randn(64, 64, device=DEVICE)

    def before():
        for _ in range(1000):
            weight.to(DEVICE)

    def after():
        for _ in range(1000):
            weight  # noqa: B018

    return {"before": lambda: before, "after": lambda: after}


@case("PLM061-scaler", "GradScaler with bf16 autocast")
def _():
    def scaled(scaling):
        model, data = gpt(torch.float32), tokens()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
        scaler = torch.amp.GradScaler(DEVICE, enabled=scaling)

        def step():
            with torch.autocast(DEVICE, torch.bfloat16):
                loss = loss_of(model(data), data)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()

        return step

    return {"before": lambda: scaled(True), "after": lambda: scaled(False)}


@case("PLM068", "math.isnan(loss) and Python's any() over 64 elements, every step")
def _():
    return both(
        lambda loss, logits: (math.isnan(loss), any(logits[0, 0, :64] > 1e9)),
        lambda loss, logits: (torch.isnan(loss), (logits[0, 0, :64] > 1e9).any()),
    )


@case("PLM069", "four tensors handed to a logger every step against one throttled transfer")
def _():
    log = {}

    def before(loss, _):
        for n in range(4):
            log[n] = float(loss * n)

    def after(loss, _):
        for n in range(4):
            log[n] = (loss * n).detach()

    return both(before, after)


@case("PLM070", "logits indexed by a Python list every step against a device tensor")
def _():
    rows = list(range(0, 8))
    ready = torch.tensor(rows, device=DEVICE)
    return both(lambda _, logits: logits[0, rows].mean(), lambda _, logits: logits[0, ready].mean())


@case("PLM073", "torch.distributions.Categorical with validation on, every step")
def _():
    def sample(validate):
        return lambda _, logits: torch.distributions.Categorical(
            logits=logits[:, -1].detach().float(), validate_args=validate
        ).sample()

    return both(sample(True), sample(False))


@case("PLM071", "a barrier every step (one process, NCCL)")
def _():
    harness.one_process()
    return both(lambda *_: dist.barrier())


@case("PLM071-reduce", "eight scalar all_reduces against one of the stack (one process, NCCL)")
def _():
    harness.one_process()

    def separate(loss, _):
        for n in range(8):
            dist.all_reduce(loss.detach() * n)

    def together(loss, _):
        dist.all_reduce(torch.stack([loss.detach() * n for n in range(8)]))

    return both(separate, together)


@case("PLM079", "clip_grad_norm_ on each of four micro-steps against once")
def _():
    def clipping(always):
        model, data = gpt(), tokens()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)

        def step():
            for micro in range(4):
                (loss_of(model(data), data) / 4).backward()
                if always or micro == 3:
                    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()

        return step

    return {"before": lambda: clipping(True), "after": lambda: clipping(False)}


@case("PLM074", "the loss in double precision")
def _():
    model, data = gpt(), tokens()

    def stepping(dtype):
        def step():
            logits = model(data)
            F.cross_entropy(logits.flatten(0, 1).to(dtype), data.flatten()).backward()
            model.zero_grad()

        return step

    return {"before": lambda: stepping(torch.float64), "after": lambda: stepping(torch.float32)}
