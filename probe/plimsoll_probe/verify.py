"""What `plimsoll verify` asks of a process it compares: the same seeds, and either its values or its time and memory.

Off unless PLIMSOLL_VERIFY is set:

- ``values``   losses, gradient norms and final weights (on a CPU also the bytes of live tensors); slows the run down
- ``nudge``    the same, after every weight was moved by one rounding behind the first step
- ``measure``  the time and the resident memory of each step; touches no tensor
"""
import os


def begin(session):
    from . import imports

    seed = int(os.environ.get("PLIMSOLL_SEED", "0"))
    _seed_python(seed)
    imports.after("numpy", lambda numpy: numpy.random.seed(seed % 2**32))
    imports.after("torch", lambda torch: _torch_arrived(torch, session, seed))


def _seed_python(seed):
    import random

    random.seed(seed)


def _torch_arrived(torch, session, seed):
    torch.manual_seed(seed)
    mode = os.environ["PLIMSOLL_VERIFY"]
    if mode == "measure":
        from . import timeline

        timeline.install(torch, session)
        return
    if os.environ.get("PLIMSOLL_DETERMINISTIC") == "1":
        torch.use_deterministic_algorithms(True, warn_only=True)
    from . import fingerprint

    fingerprint.install(torch, session, mode == "nudge")
