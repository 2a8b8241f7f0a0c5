"""The moment memory runs out: what was asked, what was there, what it was full of. Written before anybody unwinds."""
import os
import pickle
import sys
import time

from . import holdings

_MOST = 5


def install(torch, session):
    state = {"count": 0}
    attach = getattr(torch._C, "_cuda_attach_out_of_memory_observer", None) or getattr(
        torch._C, "_cuda_attachOutOfMemoryObserver", None
    )
    if attach is not None:

        def observe(device, asked, total, free):
            try:
                _record(torch, session, state, device=device, asked=asked, total=total, free=free)
            except Exception:
                pass

        # Attaching initialises CUDA; queued, it waits until the user's code does that.
        torch.cuda._lazy_call(lambda: attach(observe))
    _watch_exceptions(torch, session, state)


def _watch_exceptions(torch, session, state):
    """Uncaught errors that mean "no memory" and never passed the CUDA observer: the CPU's allocator, other backends."""
    before = sys.excepthook

    def excepthook(kind, error, traceback):
        try:
            if _is_out_of_memory(torch, kind, error) and not state["count"]:
                _record(torch, session, state, message=str(error).split("\n")[0], traceback=traceback)
        except Exception:
            pass
        before(kind, error, traceback)

    sys.excepthook = excepthook


def _is_out_of_memory(torch, kind, error):
    known = getattr(torch, "OutOfMemoryError", None) or getattr(torch.cuda, "OutOfMemoryError", ())
    if known and issubclass(kind, known):
        return True
    return issubclass(kind, MemoryError) or (
        issubclass(kind, RuntimeError) and "DefaultCPUAllocator" in str(error)
    )


def _record(torch, session, state, traceback=None, **facts):
    if state["count"] >= _MOST:
        return
    state["count"] += 1
    facts["stack"] = _stack(traceback)
    facts.update(session.memory())
    facts["module"] = holdings.running_module(torch, traceback)
    # Nothing marks the first forward's beginning, but a module that runs is one.
    facts["phase"] = "forward" if session.phase == "load" and facts["module"] else session.phase
    held = holdings.Holdings(torch)
    facts["kinds"] = held.kinds
    facts["modules"] = held.by_module()
    if "asked" in facts:
        snapshot = torch._C._cuda_memorySnapshot(None) if _takes_argument() else torch._C._cuda_memorySnapshot()
        facts.update(_free_blocks(snapshot, facts["device"]))
        facts["unnamed"], facts["stacks"] = held.blocks(snapshot, facts["device"])
        name = "oom-rank-%d-%d.pickle" % (getattr(session, "rank", 0), state["count"])
        temporary = os.path.join(session.folder, name + ".part")
        try:
            with open(temporary, "wb") as file:
                pickle.dump(snapshot, file, protocol=4)
            os.replace(temporary, os.path.join(session.folder, name))
            facts["snapshot"] = name
        except OSError:
            pass
    facts["t"] = time.time()
    session.event("oom", **facts)


def _takes_argument():
    # torch >= 2.6 passes a mempool id (or None); before, the function took nothing.
    import torch

    return tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 6)


def _free_blocks(snapshot, device):
    largest = reserved_free = 0
    for segment in snapshot["segments"]:
        if segment.get("device") != device:
            continue
        for block in segment["blocks"]:
            if block["state"] == "inactive":
                reserved_free += block["size"]
                largest = max(largest, block["size"])
    return {"largest_free_block": largest, "reserved_free": reserved_free}


def _stack(traceback):
    """The user's lines, innermost first."""
    from . import source

    places = []
    if traceback is not None:
        while traceback is not None:
            places.insert(0, (traceback.tb_frame.f_code.co_filename, traceback.tb_lineno, traceback.tb_frame.f_code.co_name))
            traceback = traceback.tb_next
    else:
        frame = sys._getframe(1)
        while frame is not None:
            places.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
            frame = frame.f_back
    return [
        {"file": os.path.abspath(file), "line": line, "function": name, "text": source.text(file, line)}
        for file, line, name in places
        if source.is_user_file(file)
    ][:12]
