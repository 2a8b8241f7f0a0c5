"""What a training computes: its loss and gradient norm at each step, and its weights at the end. All read in fp64.

A step is everything from one backward to the next that follows an optimizer's step: so micro-batches belong to one
step, and so do the many optimizers of a step taken inside backward. Its loss is the sum of the scalars backward was
called on, which is what its gradient is the gradient of.
"""
import atexit
import contextlib
import functools
import os

from . import readings
from .modules import Modules
from .sketch import Sketcher

_ORDER = ("float64", "float32", "tf32", "float16", "bfloat16")
# Half the distance between 1 and the next number: the largest relative error of one rounding.
_ROUNDOFF = {"float64": 2.0**-53, "float32": 2.0**-24, "tf32": 2.0**-11, "float16": 2.0**-11, "bfloat16": 2.0**-8}


def install(torch, session, nudge):
    from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

    from . import tensor_bytes

    fingerprint = Fingerprint(torch, session, nudge, tensor_bytes.start(torch))
    register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: fingerprint.optimizer_begins(optimizer))
    register_optimizer_step_post_hook(lambda optimizer, args, kwargs: fingerprint.optimizer_ended(optimizer))
    _before(torch.autograd, "backward", fingerprint.backward)
    _wrap_clip(torch, fingerprint)
    _before(torch.amp.autocast_mode.autocast, "__enter__", fingerprint.autocast)
    _wrap_scale(torch, fingerprint)


def _before(owner, name, look):
    real = getattr(owner, name)

    @functools.wraps(real)
    def looked_at(*args, **kwargs):
        look(*args, **kwargs)
        return real(*args, **kwargs)

    setattr(owner, name, looked_at)


def _wrap_clip(torch, fingerprint):
    real = torch.nn.utils.clip_grad_norm_

    @functools.wraps(real)
    def clip_grad_norm_(parameters, *args, **kwargs):
        parameters = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
        fingerprint.clips(parameters)
        return real(parameters, *args, **kwargs)

    torch.nn.utils.clip_grad_norm_ = clip_grad_norm_
    torch.nn.utils.clip_grad.clip_grad_norm_ = clip_grad_norm_


def _wrap_scale(torch, fingerprint):
    scaler = getattr(getattr(torch.amp, "grad_scaler", None), "GradScaler", None) or torch.cuda.amp.GradScaler
    real = scaler.scale

    @functools.wraps(real)
    def scale(self, outputs):
        scaled = real(self, outputs)
        fingerprint.scaled(outputs, scaled)
        return scaled

    scaler.scale = scale


def _quiet(method):
    """The first error ends the record, never the training."""

    @functools.wraps(method)
    def guarded(self, *args, **kwargs):
        if self.failed is not None:
            return
        try:
            method(self, *args, **kwargs)
        except Exception as error:
            self.failed = "%s: %s" % (type(error).__name__, error)

    return guarded


class Fingerprint:
    def __init__(self, torch, session, nudge, tally):
        self._torch = torch
        self._session = session
        self._nudge = nudge
        self._tally = tally
        self._sketcher = Sketcher(torch)
        self._modules = Modules(torch)
        self.failed = None
        self._formats = set()
        self._loss_formats = set()
        self._steps = []
        self._loss = None
        self._squares = None
        self._stepped = False
        self._clipped = None
        self._unscaled = {}
        self._optimizers = {}
        self._names = {}
        self._convolves = False
        self._session_step = 0

    @_quiet
    def autocast(self, context):
        if getattr(context, "_enabled", True):
            self._formats.add(_name(context.fast_dtype))

    @_quiet
    def scaled(self, outputs, scaled):
        if isinstance(scaled, self._torch.Tensor) and scaled.requires_grad and scaled.numel() == 1 and self._readable():
            self._unscaled[id(scaled)] = outputs.detach().double().item()
            self._loss_formats.add(_name(outputs.dtype))

    @_quiet
    def backward(self, tensors, grad_tensors=None, *_, **__):
        torch = self._torch
        if not self._readable():
            return
        several = (tensors,) if isinstance(tensors, torch.Tensor) else tuple(tensors)
        given = (grad_tensors,) if isinstance(grad_tensors, torch.Tensor) else tuple(grad_tensors or ())
        # With gradients given it is a part of another backward (checkpointing), or of a loss that is no scalar.
        if any(gradient is not None for gradient in given) or any(tensor.numel() != 1 for tensor in several):
            return
        if self._stepped:
            self._close()
        loss = 0.0 if self._loss is None else self._loss
        for tensor in several:
            known = self._unscaled.pop(id(tensor), None)
            if known is None:
                known = tensor.detach().double().item()
                self._loss_formats.add(_name(tensor.dtype))
            loss += known
        self._unscaled.clear()
        self._loss = loss

    @_quiet
    def clips(self, parameters):
        if self._readable():
            self._clipped = self._sketcher.squares(p.grad for p in parameters if p.grad is not None)

    @_quiet
    def optimizer_begins(self, optimizer):
        if not self._readable():
            return
        squares, self._clipped = self._clipped, None
        if squares is None:
            gradients = [p.grad for p in _parameters(optimizer) if p.grad is not None]
            squares = self._sketcher.squares(gradients)
            scale = getattr(optimizer, "grad_scale", None)
            if squares is not None and isinstance(scale, self._torch.Tensor):
                squares /= scale.double().item() ** 2
        if squares is not None:
            self._squares = squares if self._squares is None else self._squares + squares

    @_quiet
    def optimizer_ended(self, optimizer):
        if not self._optimizers:
            atexit.register(self._write, os.getpid())
        if id(optimizer) not in self._optimizers:
            self._optimizers[id(optimizer)] = optimizer
            self._look_at_modules()
        self._stepped = True
        if self._nudge:
            self._nudge = False
            self._move_weights()
        if self._tally is not None and self._session.step != self._session_step:
            self._session_step = self._session.step
            self._tally.step()

    def _look_at_modules(self):
        """Now, because at exit a model that lived in a function is gone."""
        self._names.update(self._modules.names())
        self._formats.update(_name(weight.dtype) for weight in self._weights() if weight.is_floating_point())
        self._convolves = self._convolves or self._modules.convolve()

    def _close(self):
        norm = None if self._squares is None else self._squares ** 0.5
        self._steps.append((readings.number(self._loss), readings.number(norm)))
        self._loss = self._squares = None
        self._stepped = False

    def _readable(self):
        cuda = self._torch.cuda
        return not (cuda.is_initialized() and cuda.is_current_stream_capturing())

    def _move_weights(self):
        roundoff = _ROUNDOFF[self._format()]
        for salt, weight in enumerate(self._weights()):
            if weight.is_floating_point() and _name(weight.dtype) in _ROUNDOFF:
                # A weight kept more finely than the training computes still moves by a rounding of the latter.
                self._sketcher.nudge(weight, max(roundoff, _ROUNDOFF[_name(weight.dtype)]), salt)

    def _weights(self):
        """Every parameter of every module, and whatever else is optimized, each once."""
        seen = {id(weight): weight for weight in self._modules.parameters()}
        for optimizer in self._optimizers.values():
            for weight in _parameters(optimizer):
                seen[id(weight)] = weight
        return list(seen.values())

    def _format(self):
        """The coarsest number format the training computes in."""
        torch = self._torch
        formats = set(self._formats)
        if torch.cuda.is_initialized():
            if torch.get_float32_matmul_precision() != "highest" or (self._convolves and torch.backends.cudnn.allow_tf32):
                formats.add("tf32")
        return _coarsest(formats)

    def _write(self, pid):
        if os.getpid() != pid:
            return
        try:
            if self._tally is not None:
                self._tally.pause()
            if self._stepped:
                self._close()
            name = self._format()
            tally = self._tally
            readings.write(self._session, {
                "kind": "values", "failed": self.failed, "dtype": name, "roundoff": _ROUNDOFF[name],
                "loss_roundoff": _ROUNDOFF[_coarsest(self._loss_formats)],
                "steps": self._steps, "weights": self._final(),
                "rest": tally.rest if tally is not None else [], "peak": tally.peak if tally is not None else [],
            })
        except Exception as error:
            with contextlib.suppress(Exception):
                readings.write(self._session, {"kind": "values", "failed": "%s: %s" % (type(error).__name__, error)})

    def _final(self):
        names = self._names
        rows = []
        seen = set()
        for optimizer in self._optimizers.values():
            for weight in _parameters(optimizer):
                if id(weight) in seen:
                    continue
                seen.add(id(weight))
                digest, norm, sums = self._sketcher.describe(weight)
                rows.append({
                    "name": names.get(id(weight)), "shape": list(weight.shape), "dtype": _name(weight.dtype),
                    "digest": digest, "norm": readings.number(norm), "sums": [readings.number(value) for value in sums],
                })
        return rows


def _parameters(optimizer):
    return [weight for group in optimizer.param_groups for weight in group["params"]]


def _coarsest(formats):
    known = [name for name in _ORDER if name in formats]
    return known[-1] if known else "float32"


def _name(dtype):
    return str(dtype).replace("torch.", "")
