"""The flag set by a helper that is told the turn and how many there are."""

from contextlib import contextmanager

from torch.nn.parallel import DistributedDataParallel


class Backend:
    @contextmanager
    def never(self, model, micro_step, accumulation_steps):
        model.require_backward_grad_sync = micro_step == accumulation_steps  # expect: PLM084
        yield

    @contextmanager
    def first(self, model, micro_step, accumulation_steps):
        model.require_backward_grad_sync = micro_step == 0  # expect: PLM084
        yield

    @contextmanager
    def last(self, model, micro_step, accumulation_steps):
        model.require_backward_grad_sync = micro_step == accumulation_steps - 1  # trap: the last one
        yield

    @contextmanager
    def alone(self, model, step):
        model.require_backward_grad_sync = step == 0  # trap: who knows of how many
        yield
