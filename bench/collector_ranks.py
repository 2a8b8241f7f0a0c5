"""Many simulated ranks in one process, each with the probe's own recorder and sender: collector_ranks.py DIR SECONDS RANKS RATE"""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "probe"))
from plimsoll_probe import recorder, sender, session  # noqa: E402

folder, seconds, ranks, rate = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
recorders, senders = [], []
for rank in range(ranks):
    head = {
        "k": "head", "v": 1, "rank": rank, "local_rank": rank % 8, "world": ranks, "host": "node%d" % (rank // 8),
        "pid": 1000 + rank, "python": "", "torch": None, "t": time.time(), "columns": list(session.COLUMNS),
    }
    one = recorder.Recorder(folder, "rank-%d-node%d-%d.jsonl" % (rank, rank // 8, 1000 + rank), head)
    recorders.append(one)
    senders.append(sender.from_environment(one.path))
began = time.monotonic()
for step in range(1, seconds * rate + 1):
    time.sleep(max(0.0, began + step / rate - time.monotonic()))
    for one in recorders:
        one.step((step, time.time(), 1.0 / rate, 0.02, 0.01, 0.0, 0.0, 0.0, 1, 20 * 10**9, 22 * 10**9, 21 * 10**9, 10**8, 0, 0, 0))
for one in recorders:
    one.close()
for one in senders:
    one.close(30.0)
