"""When each step ended and what the process had resident then. On a GPU, time is the GPU's: an event behind each step."""
import atexit
import os
import time

# An event costs a few microseconds and some bytes; speed is judged on the first so many steps.
MOST = 4096


def install(torch, session):
    from torch.optim.optimizer import register_optimizer_step_post_hook

    timeline = Timeline(torch, session)
    register_optimizer_step_post_hook(lambda optimizer, args, kwargs: timeline.stepped())


class Timeline:
    def __init__(self, torch, session):
        self._torch = torch
        self._session = session
        self._step = 0
        self._host = []
        self._events = []
        self._resident = []

    def stepped(self):
        session = self._session
        if session.step == self._step or len(self._host) >= MOST:
            return
        try:
            from . import counters

            if not self._host:
                atexit.register(self._write, os.getpid())
            self._step = session.step
            cuda = self._torch.cuda
            if cuda.is_initialized() and not cuda.is_current_stream_capturing():
                event = cuda.Event(enable_timing=True)
                event.record()
                self._events.append(event)
            self._resident.append(counters.resident())
            self._host.append(time.perf_counter())
        except Exception:
            self._step = -1

    def _write(self, pid):
        if os.getpid() != pid:
            return
        try:
            from . import readings

            readings.write(self._session, {
                "kind": "measure", "seconds": self._seconds(), "resident": self._resident, "peak_resident": _peak(),
            })
        except Exception:
            pass

    def _seconds(self):
        events = self._events
        if len(events) == len(self._host) and len(events) > 1:
            try:
                events[-1].synchronize()
                return [before.elapsed_time(behind) / 1e3 for before, behind in zip(events, events[1:])]
            except RuntimeError:
                # Steps on several devices have no common clock.
                pass
        return [behind - before for before, behind in zip(self._host, self._host[1:])]


def _peak():
    try:
        with open("/proc/self/status") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0
