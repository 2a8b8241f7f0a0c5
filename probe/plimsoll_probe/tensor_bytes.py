"""The bytes of live tensors on a CPU, exactly, from PyTorch's own profiler: what allocator counters are on a GPU.

The profiler sees every allocation from the import of torch on; it is stopped and started at each step, so that its
record stays short. Costs milliseconds a step: only for runs whose speed does not matter.
"""
import contextlib
import functools
import os


def start(torch):
    """None where there is a GPU, whose counters say more."""
    if torch.version.cuda is not None and torch.cuda.is_available():
        return None
    from torch.autograd import profiler

    tally = TensorBytes(profiler)
    tally.resume()
    _give_way(profiler, tally)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=tally.pause, after_in_parent=tally.resume, after_in_child=tally.end)
    return tally


class TensorBytes:
    def __init__(self, profiler):
        self._profiler = profiler
        self._running = None
        self._total = 0
        self._highest = 0
        self.ended = False
        self.rest = []
        self.peak = []

    def pause(self):
        running, self._running = self._running, None
        if running is None:
            return
        running.__exit__(None, None, None)
        for event in running.kineto_results.events():
            if event.name() == "[memory]":
                self._total += event.nbytes()
                if self._total > self._highest:
                    self._highest = self._total

    def resume(self):
        if self.ended or self._running is not None:
            return
        running = self._profiler.profile(use_cpu=True, profile_memory=True)
        running.plimsoll = True
        running.__enter__()
        self._running = running

    @contextlib.contextmanager
    def aside(self):
        """What happens in here is the probe's own."""
        self.pause()
        try:
            yield
        finally:
            self.resume()

    def step(self):
        """Behind an optimizer step."""
        if self.ended:
            return
        self.pause()
        self.rest.append(self._total)
        self.peak.append(self._highest)
        self._highest = self._total
        self.resume()

    def end(self):
        self.ended = True
        self._running = None


def _give_way(profiler, tally):
    """There is one profiler a process: a script that uses it gets it, and the tally ends."""

    def wrap(name):
        real = getattr(profiler.profile, name, None)
        if real is None:
            return

        @functools.wraps(real)
        def first(self):
            if not getattr(self, "plimsoll", False) and not tally.ended:
                tally.pause()
                tally.end()
                del tally.rest[:], tally.peak[:]
            return real(self)

        setattr(profiler.profile, name, first)

    wrap("__enter__")
    # torch.profiler goes past __enter__.
    wrap("_prepare_trace")
