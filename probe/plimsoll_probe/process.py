"""Who this process is: a training rank, or one of the helpers that never train."""
import os
import sys

# Modules whose command line shows a process that only starts or serves others. torchrun, accelerate and deepspeed
# import torch, but the optimizer steps happen in the processes they start.
_LAUNCHER_SCRIPTS = ("torchrun", "accelerate", "accelerate-launch", "deepspeed", "ds")
_LAUNCHER_MODULES = (
    "torch.distributed.run",
    "torch.distributed.launch",
    "accelerate.commands.launch",
    "accelerate.commands.accelerate_cli",
    "deepspeed.launcher.runner",
    "deepspeed.launcher.launch",
)
_SERVER_CODE = ("multiprocessing.resource_tracker", "multiprocessing.forkserver")


def command_line():
    """As typed; ``sys.argv`` does not exist yet while ``sitecustomize`` runs."""
    original = getattr(sys, "orig_argv", None)
    if original:
        return list(original)
    try:
        with open("/proc/self/cmdline", "rb") as file:
            return [part.decode("utf-8", "replace") for part in file.read().split(b"\0")[:-1]]
    except OSError:
        return []


def is_bystander(argv=None):
    """True for resource trackers, fork servers and launchers."""
    argv = command_line() if argv is None else argv
    options = iter(argv[1:])
    for option in options:
        if option == "-c":
            code = next(options, "")
            return any(name in code for name in _SERVER_CODE)
        if option == "-m":
            return next(options, "") in _LAUNCHER_MODULES
        if option in ("-W", "-X", "--check-hash-based-pycs"):
            next(options, None)
            continue
        if option.startswith("-"):
            continue
        return os.path.basename(option) in _LAUNCHER_SCRIPTS
    return False


def rank():
    """(rank, local rank, world size). Asked at the first step, when the user's code has joined its group."""
    distributed = sys.modules.get("torch.distributed")
    local = _number("LOCAL_RANK", 0)
    try:
        if distributed is not None and distributed.is_available() and distributed.is_initialized():
            return distributed.get_rank(), local, distributed.get_world_size()
    except Exception:
        pass
    return _number("RANK", _number("SLURM_PROCID", 0)), local, _number("WORLD_SIZE", 1)


def host():
    import socket

    return socket.gethostname()


def _number(name, default):
    try:
        return int(os.environ[name])
    except (KeyError, ValueError):
        return default
