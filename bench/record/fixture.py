"""Turns a recorded history into the compact fixture that test/nets compares a predicted tape with.

    python bench/record/fixture.py RUNS.jsonl SNAPSHOT_DIR OUT_DIR NAME...

RUNS.jsonl and SNAPSHOT_DIR/NAME.pickle.gz are what steps.py writes for cases with `trace`. For each NAME it writes
OUT_DIR/NAME.json: the case, the distinct `sizes` in bytes, and `events`, one number each: the size's index + 1,
negative for a free. Kept are allocations and frees of 2,048 bytes and more whose allocation was seen. Within a run
of frees the order is that of their sizes, because it changes nothing that follows; frees after the last
allocation are the recorder's own clean-up and left out.
"""
import gzip
import json
import os
import pickle
import sys

SMALLEST = 2048


def history(path):
    with gzip.open(path) as file:
        trace = pickle.load(file)["device_traces"][0]
    events, live = [], set()
    for entry in trace:
        if entry["action"] == "alloc":
            live.add(entry["addr"])
            sign = 1
        elif entry["action"] == "free_completed" and entry["addr"] in live:
            live.discard(entry["addr"])
            sign = -1
        else:
            continue
        if entry["size"] >= SMALLEST:
            events.append(sign * entry["size"])
    return events


def normal(events):
    while events and events[-1] < 0:
        events.pop()
    out, frees = [], []
    for event in events:
        if event < 0:
            frees.append(event)
        else:
            out += sorted(frees, reverse=True) + [event]
            frees = []
    return out


def main(runs, snapshots, out, *names):
    cases = {}
    with open(runs) as file:
        for line in file:
            case = json.loads(line)["case"]
            cases[case["name"]] = case
    for name in names:
        events = normal(history(os.path.join(snapshots, name + ".pickle.gz")))
        sizes = sorted({abs(e) for e in events})
        at = {size: i + 1 for i, size in enumerate(sizes)}
        case = {k: v for k, v in cases[name].items() if k not in ("name", "trace", "context")}
        fixture = {"case": case, "sizes": sizes, "events": [at[e] if e > 0 else -at[-e] for e in events]}
        with open(os.path.join(out, name + ".json"), "w") as file:
            json.dump(fixture, file, separators=(",", ":"))
            file.write("\n")


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
