"""What a process that `plimsoll verify` compares leaves behind."""
import json
import math
import os
import sys


def write(session, content):
    """One file for each training process, beside its record. Whole or not at all."""
    from . import process

    rank, _, world = process.rank()
    # As it was at the first step: by now the process may have left its group.
    rank = getattr(session, "rank", rank)
    name = "verify-%d-%s-%d.json" % (rank, process.host(), os.getpid())
    content = dict(content, rank=rank, world=world, outside=_outside())
    os.makedirs(session.folder, exist_ok=True)
    part = os.path.join(session.folder, name + ".part")
    with open(part, "w") as file:
        json.dump(content, file, allow_nan=False)
    os.replace(part, os.path.join(session.folder, name))


def number(value):
    """JSON has no NaN and no infinity."""
    return value if value is None or math.isfinite(value) else str(value)


def _outside():
    """Modules that were loaded from the folder this run's tree is a copy of, instead of from the tree."""
    origin = os.environ.get("PLIMSOLL_ORIGIN")
    if not origin:
        return []
    origin = os.path.realpath(origin) + os.sep
    here = os.path.realpath(os.environ.get("PLIMSOLL_TREE", os.getcwd())) + os.sep
    found = set()
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if not isinstance(path, str):
            continue
        path = os.path.realpath(path)
        if path.startswith(origin) and not path.startswith(here) and not _installed(path):
            found.add(path[len(origin):])
    return sorted(found)[:20]


def _installed(path):
    parts = path.split(os.sep)
    # The probe itself may be shipped inside the folder.
    return "site-packages" in parts or "dist-packages" in parts or "plimsoll_probe" in parts or parts[-2:-1] == ["site"]
