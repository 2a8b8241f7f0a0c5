"""Logs into the run that the user's own script has open with Weights & Biases or MLflow.

Only what the script itself imported is used; no run is ever begun or ended here. The training thread leaves its latest
row behind and goes on; a thread for each tracker sends what it finds once a second. One that is slow misses rows, one
that raises is asked again a second later, one that hangs is left behind at the end.
"""
import os
import sys
import threading
import time

SECONDS = 1.0

_NAMES = {
    "seconds": "plimsoll/step_seconds",
    "allocated": "plimsoll/gpu_memory_allocated_bytes",
    "reserved": "plimsoll/gpu_memory_reserved_bytes",
    "peak": "plimsoll/gpu_memory_allocated_peak_bytes",
    "resident": "plimsoll/process_memory_resident_bytes",
    "workers": "plimsoll/workers_memory_resident_bytes",
}


class Wandb:
    name = "wandb"

    def __init__(self):
        self._known = None

    def find(self):
        """The open run, or None. Module-wide, so any thread may ask."""
        return getattr(sys.modules.get("wandb"), "run", None)

    def send(self, run, step, values):
        try:
            if run is not self._known:
                self._known = run
                run.define_metric("plimsoll/*", step_metric="plimsoll/step")
            # Not committed: the values join the row that the script logs next, and its count of steps stays as it is.
            run.log(dict(values, **{"plimsoll/step": step}), commit=False)
        except Exception:
            if self.find() is not run:
                # Finished meanwhile, which is no failure.
                return False
            raise
        return True


class Mlflow:
    name = "mlflow"

    def __init__(self):
        self._client = None

    def find(self):
        """The id of the open run, or None. MLflow keeps it for each thread: only the training's own knows."""
        active = getattr(sys.modules.get("mlflow"), "active_run", None)
        run = active() if active is not None else None
        return run.info.run_id if run is not None else None

    def send(self, run_id, step, values):
        if self._client is None:
            self._client = sys.modules["mlflow"].MlflowClient()
        metric = sys.modules["mlflow.entities"].Metric
        now = int(time.time() * 1000)
        self._client.log_batch(run_id, metrics=[metric(name, value, now, step) for name, value in values.items()])
        return True


class Feed:
    """Between the training thread and one tracker."""

    def __init__(self, tracker, values):
        self.sent = 0
        self._tracker = tracker
        self._values = values
        self._row = None
        self._target = None
        self._asked = 0.0
        self._error = None
        self._failed = 0
        self._stop = False
        self._wake = threading.Event()
        self._thread = None

    def at_step(self, row, now):
        self._row = row
        if now - self._asked < SECONDS:
            return
        self._asked = now
        self._target = self._tracker.find()
        if self._target is not None and self._thread is None:
            self._thread = threading.Thread(target=self._loop, name="plimsoll-" + self._tracker.name, daemon=True)
            self._thread.start()

    def close(self, seconds):
        """A last row; then what went wrong, or None."""
        if self._thread is None:
            if self._tracker.name in sys.modules:
                return "the script had no run open"
            return "the script does not use it"
        # A run that the script has ended gets nothing more.
        self._target = self._tracker.find()
        self._stop = True
        self._wake.set()
        self._thread.join(seconds)
        if self._thread.is_alive():
            return "it did not return from logging; rows are missing behind the first %d" % self.sent
        if self._failed:
            return "%d of %d rows were not taken: %s" % (self._failed, self._failed + self.sent, self._error)
        return None

    def _loop(self):
        last = None
        while True:
            stopping = self._stop
            row, target = self._row, self._target
            if row is not last and target is not None:
                last = row
                try:
                    step, values = self._values(row)
                    self.sent += bool(self._tracker.send(target, step, values))
                except Exception as error:
                    self._failed += 1
                    self._error = "%s: %s" % (type(error).__name__, str(error).split("\n")[0][:200])
            if stopping:
                return
            self._wake.wait(SECONDS)


class Trackers:
    def __init__(self, session, columns, trackers):
        self._session = session
        self._columns = columns
        self._feeds = [(tracker.name, Feed(tracker, self._values)) for tracker in trackers]

    def at_step(self, row):
        now = time.monotonic()
        for _, feed in self._feeds:
            try:
                feed.at_step(row, now)
            except Exception:
                pass

    def close(self, seconds=2.0):
        for name, feed in self._feeds:
            problem = feed.close(seconds)
            if problem and not feed.sent and self._session.rank:
                # Usually only rank 0 has a run.
                problem = None
            self._session.event("tracker", name=name, sent=feed.sent, problem=problem)

    def _values(self, row):
        seen = dict(zip(self._columns, row))
        seen["resident"], seen["workers"] = self._session.host_memory
        # 0 is what was not read: a GPU's counters on a CPU and at some steps of a fast run, the host's at the first.
        return seen["step"], {name: float(seen[key]) for key, name in _NAMES.items() if seen[key]}


def from_environment(session, columns):
    names = os.environ.get("PLIMSOLL_TRACKERS", "").split(",")
    trackers = [make() for make in (Wandb, Mlflow) if make.name in names]
    return Trackers(session, columns, trackers) if trackers else None
