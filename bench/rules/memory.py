"""What is kept alive, and gradients that nobody asked for."""
import copy
import functools

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from harness import DEVICE, LARGE, case, gpt, loss_of, tokens, trainer


@case("PLM001", "the loss summed as a tensor, after its backward")
def _():
    kept = {"sum": 0.0}

    def keep(loss, _):
        kept["sum"] = kept["sum"] + loss

    def detach(loss, _):
        kept["sum"] = kept["sum"] + loss.detach()

    return {"before": lambda: trainer(in_step=keep), "after": lambda: trainer(in_step=detach)}


@case("PLM001-no-backward", "the loss summed as a tensor over evaluation batches, gradients recorded", steps=3, warm=1)
def _():
    model, data, kept = gpt(), tokens(), {"sum": 0.0}

    def before():
        kept["sum"] = kept["sum"] + loss_of(model(data), data)

    def after():
        kept["sum"] = kept["sum"] + loss_of(model(data), data).detach()

    return {"before": lambda: before, "after": lambda: after}


@case("PLM002", "losses in a list, after their backward")
def _():
    kept = []
    return {
        "before": lambda: trainer(in_step=lambda loss, _: kept.append(loss)),
        "after": lambda: trainer(in_step=lambda loss, _: kept.append(loss.detach())),
    }


@case("PLM003", "an evaluation that keeps every batch's logits on the device", steps=4, warm=1)
def _():
    model, data, kept = gpt(), tokens(), []

    def before():
        with torch.no_grad():
            kept.append(model(data))

    def after():
        with torch.no_grad():
            kept.append(model(data).argmax(-1).cpu())

    return {"before": lambda: before, "after": lambda: after}


@case("PLM004", "a forward's output kept on the module with its graph, nothing differentiated")
def _():
    def keeping(detached):
        model, data = gpt(), tokens()

        def step():
            output = model(data)
            model.last = output.detach() if detached else output

        return step

    return {"before": lambda: keeping(False), "after": lambda: keeping(True)}


def micro_steps(each):
    model, data = gpt(), tokens()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)

    def step():
        total = 0
        for _ in range(4):
            loss = loss_of(model(data), data) / 4
            if each:
                loss.backward()
            else:
                total = total + loss
        if not each:
            total.backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


@case("PLM005", "four micro-losses summed before one backward")
def _():
    return {"before": lambda: micro_steps(False), "after": lambda: micro_steps(True)}


@case("PLM006", "an LSTM's state carried on with its graph (and so with retain_graph)", steps=10, warm=2)
def _():
    width, length = (512, 64) if LARGE else (8, 4)

    def recurrent(detached):
        net = nn.LSTM(width, width).to(DEVICE)
        data, state = torch.randn(length, 16, width, device=DEVICE), {"now": None}

        def step():
            output, (h, c) = net(data, state["now"])
            output.square().mean().backward(retain_graph=not detached)
            state["now"] = (h.detach(), c.detach()) if detached else (h, c)

        return step

    return {"before": lambda: recurrent(False), "after": lambda: recurrent(True)}


def backward_with(model=None, **settings):
    model = model or gpt()
    data = tokens()
    held = {}

    def step():
        held["loss"] = loss_of(model(data), data)
        held["loss"].backward(**settings)
        model.zero_grad()

    return step


@case("PLM007", "retain_graph=True with one backward")
def _():
    return {"before": lambda: backward_with(retain_graph=True), "after": lambda: backward_with()}


@case("PLM008", "backward(create_graph=True) against autograd.grad", steps=3, warm=1)
def _():
    # The fused attention kernels have no second derivative: a plain network instead.
    width = 1024 if LARGE else 8

    def net():
        return nn.Sequential(*(nn.Sequential(nn.Linear(width, width), nn.Tanh()) for _ in range(12))).to(DEVICE)

    data = torch.randn(4096 if LARGE else 4, width, device=DEVICE)

    def before_of(model):
        def step():
            model(data).square().mean().backward(create_graph=True)
            penalty = sum(one.grad.square().sum() for one in model.parameters())
            penalty.backward()
            model.zero_grad()

        return step

    def after_of(model):
        def step():
            loss = model(data).square().mean()
            gradients = torch.autograd.grad(loss, list(model.parameters()), create_graph=True)
            (loss + sum(one.square().sum() for one in gradients)).backward()
            model.zero_grad()

        return step

    return {"before": lambda: before_of(net()), "after": lambda: after_of(net())}


def looping(drop, inside):
    """`inside`: the model computes the loss itself, as transformers' do, so that it runs beside the old logits."""
    model, data, held = gpt(), tokens(), {}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)

    def loss_and_logits():
        logits = model(data)
        return loss_of(logits, data), logits

    def step():
        if inside:
            loss, held["logits"] = loss_and_logits()
        else:
            held["logits"] = model(data)
            loss = loss_of(held["logits"], data)
        loss.backward()
        if drop:
            del held["logits"]
        optimizer.step()
        optimizer.zero_grad()

    return step


@case("PLM009", "the last step's logits alive while the model computes the next loss itself")
def _():
    return {"before": lambda: looping(False, True), "after": lambda: looping(True, True)}


@case("PLM009-outside", "the last step's logits alive until the name is bound again, the loss computed after that")
def _():
    return {"before": lambda: looping(False, False), "after": lambda: looping(True, False)}


@case("PLM010", "a failed attempt retried inside its except clause", steps=3, warm=1)
def _():
    model, data = gpt(), tokens()

    def attempt(fail):
        logits = model(data)
        loss = loss_of(logits, data)
        if fail:
            raise torch.OutOfMemoryError("pretended")
        loss.backward()
        model.zero_grad()

    def before():
        try:
            attempt(True)
        except torch.OutOfMemoryError:
            attempt(False)

    def after():
        failed = False
        try:
            attempt(True)
        except torch.OutOfMemoryError:
            failed = True
        if failed:
            attempt(False)

    return {"before": lambda: before, "after": lambda: after}


@case("PLM011", "the exception of a failed attempt kept", steps=3, warm=1)
def _():
    model, data, kept = gpt(), tokens(), []

    def attempt():
        loss = loss_of(model(data), data)
        raise torch.OutOfMemoryError(f"pretended {loss.shape}")

    def before():
        try:
            attempt()
        except torch.OutOfMemoryError as error:
            kept.append(error)

    def after():
        try:
            attempt()
        except torch.OutOfMemoryError as error:
            kept.append(str(error))

    return {"before": lambda: before, "after": lambda: after}


@case("PLM012", "a hook that takes the output's norm, registered on every block every step: over 33 steps", steps=10, warm=3)
def _():
    def look(_, __, output):
        output.detach().norm()

    def hooking(remove):
        model = gpt()
        plain = trainer(model)

        def step():
            handles = [block.register_forward_hook(look) for block in model.blocks]
            plain()
            if remove:
                for handle in handles:
                    handle.remove()

        return step

    return {"before": lambda: hooking(False), "after": lambda: hooking(True)}


@case("PLM013", "lru_cache around a function of tensors", steps=5, warm=1)
def _():
    shape = (4096, 4096) if LARGE else (4, 4)

    def scaled(x):
        return x * 2

    cached = functools.lru_cache(maxsize=None)(scaled)
    return {
        "before": lambda: lambda: cached(torch.randn(shape, device=DEVICE)),
        "after": lambda: lambda: scaled(torch.randn(shape, device=DEVICE)),
    }


class KeptOnCtx(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.exp = x.exp()
        return ctx.exp * 1

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.exp


class Saved(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        exp = x.exp()
        ctx.save_for_backward(exp)
        return exp * 1

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0]


@case("PLM014", "ctx.tensor against save_for_backward, 12 layers, the loss held until the next one")
def _():
    shape = (4096, 4096) if LARGE else (4, 4)

    def through(function):
        weight, held = torch.zeros(shape, device=DEVICE, requires_grad=True), {}

        def step():
            x = weight
            for _ in range(12):
                x = function.apply(x * 0.1)
            held["loss"] = x.sum()
            del x
            held["loss"].backward()
            weight.grad = None

        return step

    return {"before": lambda: through(KeptOnCtx), "after": lambda: through(Saved)}


@case("PLM015", "deepcopy(model.state_dict()) on the device against a copy on the host", steps=2, warm=1)
def _():
    model = gpt()
    return {
        "before": lambda: lambda: copy.deepcopy(model.state_dict()),
        "after": lambda: lambda: {name: value.detach().cpu() for name, value in model.state_dict().items()},
    }


@case("PLM016", "a reference copied from the model and run in the step, its parameters trainable against frozen", steps=3, warm=1)
def _():
    def stepping(frozen):
        model, data = gpt(), tokens()
        reference = copy.deepcopy(model)
        if frozen:
            reference.requires_grad_(False)

        def step():
            (model(data) - reference(data)).square().mean().backward()
            model.zero_grad()

        return step

    return {"before": lambda: stepping(False), "after": lambda: stepping(True)}


@case("PLM017", "a buffer of attached tensors against detached ones", steps=3, warm=1)
def _():
    model, data, kept = gpt(), tokens(), []

    def before():
        kept.append(model(data).mean())

    def after():
        kept.append(model(data).mean().detach())

    return {"before": lambda: before, "after": lambda: after}


@case("PLM018", "a running variance that keeps the graph", steps=4, warm=1)
def _():
    def running(detached):
        model = gpt()
        running_variance = {"now": torch.zeros((), device=DEVICE, dtype=torch.bfloat16)}

        def keep(_, logits):
            value = logits.var()
            if detached:
                with torch.no_grad():
                    running_variance["now"].lerp_(value, 0.1)
            else:
                running_variance["now"] = 0.9 * running_variance["now"] + 0.1 * value

        return trainer(model, in_step=keep)

    return {"before": lambda: running(False), "after": lambda: running(True)}


@case("PLM019", "an evaluation's forward with gradients recorded")
def _():
    model, data = gpt(), tokens()

    def before():
        loss_of(model(data), data)

    def after():
        with torch.no_grad():
            loss_of(model(data), data)

    return {"before": lambda: before, "after": lambda: after}


@case("PLM020", "a distillation step whose teacher records gradients")
def _():
    def distil(frozen):
        teacher, student, data = gpt(), gpt(), tokens()
        optimizer = torch.optim.AdamW(student.parameters(), lr=1e-5, fused=True)

        def step():
            with torch.set_grad_enabled(not frozen):
                target = teacher(data)
            (student(data) - target).float().square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()

        return step

    return {"before": lambda: distil(False), "after": lambda: distil(True)}


def zeroing(**settings):
    model, data = gpt(), tokens()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)

    def step():
        loss_of(model(data), data).backward()
        optimizer.step()
        optimizer.zero_grad(**settings)

    return step


@case("PLM021", "zero_grad(set_to_none=False)")
def _():
    return {"before": lambda: zeroing(set_to_none=False), "after": lambda: zeroing()}


@case("PLM022", "zero_grad just before backward against right after the step")
def _():
    model, data = gpt(), tokens()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)

    def before():
        loss = loss_of(model(data), data)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return {"before": lambda: before, "after": lambda: zeroing()}


@case("PLM023", "gradients left over during an evaluation")
def _():
    model, data = gpt(), tokens()

    def evaluating(cleared):
        def step():
            loss_of(model(data[:1, :8]), data[:1, :8]).backward()
            if cleared:
                model.zero_grad()
            with torch.no_grad():
                model(data)
            model.zero_grad()

        return step

    return {"before": lambda: evaluating(False), "after": lambda: evaluating(True)}


@case("PLM024", "set_detect_anomaly(True) left on", steps=4, warm=1)
def _():
    plain = trainer()

    def before():
        with torch.autograd.set_detect_anomaly(True):
            plain()

    return {"before": lambda: before, "after": lambda: plain}


@case("PLM053", "checkpoint(preserve_rng_state=False) against the default")
def _():
    def running(**settings):
        return trainer(gpt(checkpointed=functools.partial(checkpoint, use_reentrant=False, **settings)))

    return {"before": lambda: running(preserve_rng_state=False), "after": lambda: running()}


@case("PLM051", "the reentrant checkpoint (what a missing use_reentrant takes) against the other")
def _():
    def running(reentrant):
        return trainer(gpt(checkpointed=functools.partial(checkpoint, use_reentrant=reentrant)))

    return {"before": lambda: running(True), "after": lambda: running(False)}


@case("PLM055", "transformers' evaluation loop: 8 batches of logits gathered on the device against moved to the host", steps=1, warm=1)
def _():
    from transformers.trainer_pt_utils import EvalLoopContainer

    def evaluating(accumulation):
        model, data = gpt(), tokens()

        @torch.no_grad()
        def step():
            kept = EvalLoopContainer(do_nested_concat=True, padding_index=-100)
            for at in range(8):
                kept.add(model(data).float())
                if accumulation and (at + 1) % accumulation == 0:
                    kept.to_cpu_and_numpy()
            kept.to_cpu_and_numpy()

        return step

    return {"before": lambda: evaluating(None), "after": lambda: evaluating(2)}


@case("PLM066", "a generator's step that computes the discriminator's gradients")
def _():
    def generator_step(frozen):
        generator, judge, data = gpt(), gpt(), tokens()
        if frozen:
            judge.requires_grad_(False)
        optimizer = torch.optim.AdamW(generator.parameters(), lr=1e-5, fused=True)

        def step():
            x = generator.hidden(data)
            for block in judge.blocks:
                x = block(x)
            x.float().mean().backward()
            optimizer.step()
            optimizer.zero_grad()

        return step

    return {"before": lambda: generator_step(False), "after": lambda: generator_step(True)}


@case("PLM080", "a frozen net's forward on the same input every step against once")
def _():
    def invariant(hoisted):
        frozen, data = gpt().requires_grad_(False), tokens()
        with torch.no_grad():
            target = frozen.hidden(data).float().mean() if hoisted else None

        def again(loss, _):
            if not hoisted:
                with torch.no_grad():
                    frozen.hidden(data).float().mean()

        plain = trainer(in_step=again)
        return lambda: (target, plain())

    return {"before": lambda: invariant(False), "after": lambda: invariant(True)}

