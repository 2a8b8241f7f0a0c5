"""Sends a process's record on to a collector. The file on disk is the buffer: what was not taken is sent again.

Each request says from which byte on it speaks; the collector answers how many bytes it has. So nothing is lost or
doubled by a retry, and a collector that is away costs this thread a little waiting and the training nothing.
"""
import os
import threading

CHUNK = 1 << 20
SECONDS = 1.0
LONGEST_PAUSE = 30.0
TIMEOUT = 5.0


class Sender:
    def __init__(self, path, address, token):
        self._path = path
        self._url = "%s/v1/records/%s" % (address.rstrip("/"), os.path.basename(path))
        self._token = token
        self._taken = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="plimsoll-sender", daemon=True)
        self._thread.start()

    def close(self, seconds=2.0):
        """A last try with what is left."""
        self._stop.set()
        self._thread.join(seconds)

    def _loop(self):
        pause = SECONDS
        while True:
            stopping = self._stop.wait(pause)
            try:
                while self._send():
                    pass
                pause = SECONDS
            except Exception:
                pause = min(2 * pause, LONGEST_PAUSE)
            if stopping:
                return

    def _send(self):
        """One request; True when there may be more to send."""
        from urllib import request

        with open(self._path, "rb") as file:
            file.seek(self._taken)
            data = file.read(CHUNK)
        if not data:
            return False
        headers = {"Content-Type": "application/x-ndjson", "Authorization": "Bearer " + self._token}
        # No proxy: the collector is named by its own address.
        opener = request.build_opener(request.ProxyHandler({}))
        asked = request.Request("%s?offset=%d" % (self._url, self._taken), data, headers, method="POST")
        with opener.open(asked, timeout=TIMEOUT) as answer:
            self._taken = int(answer.read())
        return len(data) == CHUNK


def from_environment(path):
    address = os.environ.get("PLIMSOLL_COLLECTOR")
    if not address:
        return None
    return Sender(path, address, os.environ.get("PLIMSOLL_TOKEN", ""))
