"""The bytes of live tensors on a CPU, exactly, from PyTorch's own profiler: what allocator counters are on a GPU.

The profiler sees every allocation from the import of torch on; it is stopped and started behind each step, so that its
record stays short. It must not be stopped inside a ``record_function``, whose end would be written to memory that went
with the record: hooks of an optimizer run inside one, so a step is closed when the outermost one has ended. Costs
milliseconds a step: only for runs whose speed does not matter.
"""
import functools
import os
import threading


def start(torch):
    """None where there is a GPU, whose counters say more."""
    if torch.version.cuda is not None and torch.cuda.is_available():
        return None
    from torch.autograd import profiler

    tally = TensorBytes(profiler)
    tally.resume()
    _count_scopes(profiler, tally)
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
        self._thread = threading.get_ident()
        self._scopes = 0
        self._pending = False
        self.ended = False
        self.rest = []
        self.peak = []

    def pause(self):
        if self._scopes or self._running is None:
            return
        running, self._running = self._running, None
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

    def scope(self, change):
        """A record_function of the script's own thread begins or has ended."""
        if threading.get_ident() != self._thread:
            return
        self._scopes += change
        if self._pending and not self._scopes:
            self._pending = False
            self.step()

    def step(self):
        """Behind an optimizer's step; inside a scope, behind that."""
        if self.ended:
            return
        if self._scopes:
            self._pending = True
            return
        self.pause()
        self.rest.append(self._total)
        self.peak.append(self._highest)
        self._highest = self._total
        self.resume()

    def end(self):
        self.ended = True
        self._running = None


def _count_scopes(profiler, tally):
    scope = profiler.record_function
    enter, leave = scope.__enter__, scope.__exit__

    @functools.wraps(enter)
    def entered(self):
        tally.scope(1)
        return enter(self)

    @functools.wraps(leave)
    def left(self, *error):
        try:
            return leave(self, *error)
        finally:
            tally.scope(-1)

    scope.__enter__, scope.__exit__ = entered, left


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
