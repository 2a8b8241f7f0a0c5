"""A window of steps with more to see, and more to pay: which lines synchronise or copy, and allocator history.

Asked for with PLIMSOLL_DEEP=FROM:TO. Every operator passes through Python while it is open: a step takes several times
as long, and compiled code runs uncompiled.
"""
import collections
import os
import pickle
import sys
import time

from . import source

# Operators that make the host wait for the device: a value is needed in Python, or a size depends on data.
_WAITING = ("_local_scalar_dense", "nonzero", "masked_select", "is_nonzero", "equal", "_unique2", "unique_dim")
_COPYING = ("_to_copy", "copy_")
_ENTRIES = 200000
_LONGEST = 40


def from_environment(torch, session):
    wanted = os.environ.get("PLIMSOLL_DEEP", "")
    first, _, last = wanted.partition(":")
    if not (first.isdigit() and last.isdigit()) or int(last) < int(first):
        return None
    return Deep(torch, session, int(first), int(last))


class Deep:
    def __init__(self, torch, session, first, last):
        self._torch = torch
        self._session = session
        self._first = first
        self._last = last
        self._mode = None
        self._history = False
        self._began = None
        self._started = None

    def at_step(self, step):
        """Behind step number `step`: opens before the first of the window, closes behind the last."""
        if self._mode is None and step >= max(1, self._first - 1) and step < self._last:
            self._open(step)
        elif self._mode is not None and step >= self._last:
            self._close(step)

    def _open(self, step):
        from torch.utils import _python_dispatch

        # Somebody else's mode is active: ours would be popped in its place.
        if _python_dispatch._get_current_dispatch_mode_stack():
            return
        self._mode = _counting_mode(self._torch)()
        self._mode.__enter__()
        self._began = time.perf_counter()
        self._started = step
        torch = self._torch
        busy = getattr(torch._C, "_cuda_isHistoryEnabled", lambda: False)
        if torch.cuda.is_initialized() and not busy():
            torch.cuda.memory._record_memory_history(max_entries=_ENTRIES, stacks="python")
            self._history = True

    def _close(self, step):
        from torch.utils import _python_dispatch

        stack = _python_dispatch._get_current_dispatch_mode_stack()
        if not stack or stack[-1] is not self._mode:
            return
        self._mode.__exit__(None, None, None)
        mode, self._mode = self._mode, None
        self._last = -1
        steps = step - self._started
        self._session.event(
            "deep",
            first=self._started + 1,
            last=step,
            seconds=round((time.perf_counter() - self._began) / steps, 6),
            waits=_table(mode.waits, steps),
            copies=_table(mode.copies, steps),
            snapshot=self._snapshot(),
        )

    def _snapshot(self):
        if not self._history:
            return None
        memory = self._torch.cuda.memory
        snapshot = memory._snapshot()
        memory._record_memory_history(None)
        name = "deep-rank-%d.pickle" % self._session.rank
        path = os.path.join(self._session.folder, name)
        try:
            with open(path + ".part", "wb") as file:
                pickle.dump(snapshot, file, protocol=4)
            os.replace(path + ".part", path)
        except OSError:
            return None
        return name


def _counting_mode(torch):
    from torch.utils._python_dispatch import TorchDispatchMode

    class Counting(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            # {(file, line, operator, from, to): [calls, bytes]}
            self.waits = collections.defaultdict(lambda: [0, 0])
            self.copies = collections.defaultdict(lambda: [0, 0])

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            try:
                self._note(function, args, result)
            except Exception:
                pass
            return result

        def _note(self, function, args, result):
            name = function.__name__.partition(".")[0]
            if name in _WAITING:
                entry = self.waits[_line() + (name, str(args[0].device), "")]
                entry[0] += 1
            elif name in _COPYING:
                origin = args[1] if name == "copy_" else args[0]
                if origin.device != result.device:
                    entry = self.copies[_line() + (name, str(origin.device), str(result.device))]
                    entry[0] += 1
                    entry[1] += result.numel() * result.element_size()

    return Counting


def _line():
    """The innermost line of the user's; where there is none (a library's own loop), the innermost outside torch."""
    frame = sys._getframe(2)
    outside = None
    while frame is not None:
        filename = frame.f_code.co_filename
        if source.is_user_file(filename):
            return os.path.abspath(filename), frame.f_lineno
        if outside is None and os.sep + "torch" + os.sep not in filename and "plimsoll_probe" not in filename:
            outside = (filename, frame.f_lineno)
        frame = frame.f_back
    return outside or ("", 0)


def _table(counts, steps):
    rows = [
        {
            "file": file, "line": line, "text": source.text(file, line), "operator": operator,
            "from": origin, "to": target, "per_step": round(calls / float(steps), 2), "bytes_per_step": size // steps,
        }
        for (file, line, operator, origin, target), (calls, size) in counts.items()
    ]
    rows.sort(key=lambda row: -row["per_step"])
    return rows[:_LONGEST]
