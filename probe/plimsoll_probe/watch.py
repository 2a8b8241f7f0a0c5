"""Finds the line at which something is kept: watches a few containers and bindings while lines of user code run.

Only switched on for a handful of steps, once growth is proven and its holder is known, and never when somebody else
traces (a debugger, coverage).
"""
import collections
import sys

from . import holders, source


class Watch:
    """`things` are functions of no argument (or, for locals, of the running frame) that return a fingerprint."""

    def __init__(self, things):
        self._things = things
        self._last = [None] * len(things)
        self._at = None
        self._frames = []
        self.changes = [collections.Counter() for _ in things]
        self.net = [0] * len(things)
        self.lines = collections.Counter()
        self.running = False

    def start(self, frame):
        if sys.gettrace() is not None:
            return False
        while frame is not None:
            if source.is_user_file(frame.f_code.co_filename):
                if self._at is None:
                    self._at = (frame.f_code.co_filename, frame.f_lineno)
                self._frames.append(frame)
                frame.f_trace = self._line
            frame = frame.f_back
        if not self._frames:
            return False
        self._check(None, count=False)
        self.running = True
        sys.settrace(self._call)
        return True

    def stop(self):
        if not self.running:
            return
        self.running = False
        if sys.gettrace() == self._call:
            sys.settrace(None)
        for frame in self._frames:
            frame.f_trace = None
            if sys.version_info < (3, 13):
                values = frame.f_locals
                holders.forget_locals(frame, values)
        self._frames = []

    def _call(self, frame, event, argument):
        if not self.running or not source.is_user_file(frame.f_code.co_filename):
            return None
        return self._line

    def _line(self, frame, event, argument):
        if not self.running:
            return None
        try:
            self._check(frame)
            if event == "line":
                self._at = (frame.f_code.co_filename, frame.f_lineno)
                self.lines[self._at] += 1
            elif event == "return":
                above = frame.f_back
                while above is not None and not source.is_user_file(above.f_code.co_filename):
                    above = above.f_back
                if above is not None:
                    self._at = (above.f_code.co_filename, above.f_lineno)
        except Exception:
            self.running = False
            return None
        return self._line

    def _check(self, frame, count=True):
        last = self._last
        for index, thing in enumerate(self._things):
            now = thing(frame)
            if now is not None and now != last[index]:
                if count and last[index] is not None:
                    self.changes[index][self._at] += 1
                    if thing.counts:
                        self.net[index] += now - last[index]
                last[index] = now


class Length:
    """How many things a container holds."""

    counts = True

    def __init__(self, container):
        self._container = container

    def __call__(self, frame):
        return len(self._container)


class Binding:
    """What a dictionary (a module's, an instance's) has under a name."""

    counts = False

    def __init__(self, dictionary, name):
        self._dictionary = dictionary
        self._name = name

    def __call__(self, frame):
        return id(self._dictionary.get(self._name))


class LocalBinding:
    """What a local variable of a running function is bound to."""

    counts = False

    def __init__(self, local):
        self._local = local

    def __call__(self, frame):
        if frame is None or frame.f_code is not self._local.code:
            return None
        return id(frame.f_locals.get(self._local.name))
