"""Writes what the hooks saw to one append-only file per process, from a thread of its own.

The training thread only appends to a bounded deque: when the disk is slow the oldest entries fall out (and are
counted); when it is full or gone, recording ends and training does not notice.
"""
import collections
import json
import os
import threading
import time

# One write call every quarter of a second: a reader sees the run live, and a killed process loses at most this much.
FLUSH_SECONDS = 0.25
# 65,536 steps of about 100 bytes: minutes of a stalled disk at 100 steps a second.
QUEUE_LENGTH = 65536


class Recorder:
    def __init__(self, folder, name, head):
        self.path = os.path.join(folder, name)
        self.dropped = 0
        self.ended = None
        self._queue = collections.deque(maxlen=QUEUE_LENGTH)
        self._wake = threading.Event()
        self._stop = False
        self._jobs = []
        self._pending = 0
        self._fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._put(head)
        self._thread = threading.Thread(target=self._loop, name="plimsoll-writer", daemon=True)
        self._thread.start()

    def step(self, row):
        """A step's columns, as a tuple of numbers."""
        self._put(row)

    def event(self, kind, **fields):
        fields["k"] = kind
        fields.setdefault("t", time.time())
        self._put(fields)
        self._wake.set()

    def every(self, seconds, job):
        """Runs a job now and then on the writer's thread, away from training."""
        self._jobs.append([0.0, seconds, job])

    def close(self, seconds=2.0):
        """Writes what is left; gives a stuck disk two seconds, not more."""
        self._stop = True
        self._wake.set()
        self._thread.join(seconds)

    def abandon(self):
        """In a forked child: the thread is gone and the file belongs to the parent."""
        try:
            os.close(self._fd)
        except OSError:
            pass

    def _put(self, item):
        queue = self._queue
        if len(queue) == QUEUE_LENGTH:
            self.dropped += 1
        queue.append(item)

    def _loop(self):
        while True:
            self._wake.wait(FLUSH_SECONDS)
            self._wake.clear()
            stopping = self._stop
            self._run_jobs()
            self._flush()
            if stopping or self.ended:
                return

    def _run_jobs(self):
        now = time.monotonic()
        for job in self._jobs:
            if now >= job[0]:
                job[0] = now + job[1]
                try:
                    job[2]()
                except Exception:
                    pass

    def _flush(self):
        lines = []
        while True:
            try:
                item = self._queue.popleft()
            except IndexError:
                break
            if type(item) is tuple:
                # Microseconds are enough, and keep a line near a hundred bytes.
                item = [round(value, 6) if type(value) is float else value for value in item]
            try:
                lines.append(json.dumps(item, separators=(",", ":"), allow_nan=False, default=str))
            except ValueError:
                continue
        if self.dropped and self.dropped != self._pending:
            self._pending = self.dropped
            lines.append(json.dumps({"k": "dropped", "count": self.dropped, "t": time.time()}))
        if not lines:
            return
        data = ("\n".join(lines) + "\n").encode("utf-8")
        try:
            while data:
                data = data[os.write(self._fd, data):]
        except OSError as error:
            # Full disk, quota, folder gone: what was written stays readable (a torn last line is skipped by readers).
            self.ended = str(error)
            self._queue.clear()
