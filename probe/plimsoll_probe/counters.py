"""Readings that cost microseconds: allocator counters, process memory, heap in use."""
import ctypes
import os

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class _MallInfo(ctypes.Structure):
    # struct mallinfo2 of glibc >= 2.33, malloc(3)
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
        )
    ]


def _find_mallinfo():
    try:
        function = ctypes.CDLL(None).mallinfo2
    except (OSError, AttributeError):
        return None
    function.restype = _MallInfo
    function.argtypes = []
    return function


_mallinfo = _find_mallinfo()


def heap_in_use():
    """Bytes handed out by malloc and not freed, exact to the byte; 0 where the C library cannot tell.

    torch's CPU allocator sits directly on malloc, so on a CPU this is what ``allocated_bytes`` is on a GPU.
    """
    if _mallinfo is None:
        return 0
    info = _mallinfo()
    return info.uordblks + info.hblkhd


def resident():
    """Resident bytes of this process."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return 0


def children_resident():
    """Resident bytes of all descendants (dataloader workers among them), and how many there are."""
    parents = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return 0, 0
    for name in names:
        if not name.isdigit():
            continue
        try:
            with open("/proc/" + name + "/stat", "rb") as file:
                # pid (comm) state ppid …; comm may hold spaces and brackets, so cut behind its last bracket
                fields = file.read().rpartition(b")")[2].split()
            parents[int(name)] = (int(fields[1]), int(fields[21]) * _PAGE)
        except (OSError, ValueError, IndexError):
            continue
    me = os.getpid()
    total = count = 0
    for pid in parents:
        at = pid
        for _ in range(64):
            above = parents.get(at)
            if above is None:
                break
            at = above[0]
            if at == me:
                total += parents[pid][1]
                count += 1
                break
    return total, count


class Cuda:
    """The caching allocator's counters, read without initialising anything and without resetting any peak."""

    def __init__(self, torch):
        self._torch = torch
        self._read = getattr(torch._C, "_cuda_memoryStats", None)
        self._initialized = torch.cuda.is_initialized

    def ready(self):
        return self._read is not None and self._initialized()

    def device(self):
        return self._torch.cuda.current_device()

    def read(self):
        """(allocated, reserved, peak allocated, inactive split, retries, ooms) of the current device, or None."""
        if not self.ready():
            return None
        stats = self._read(self._torch._C._cuda_getDevice())
        allocated = stats["allocated_bytes"]["all"]
        return (
            allocated["current"],
            stats["reserved_bytes"]["all"]["current"],
            allocated["peak"],
            stats["inactive_split_bytes"]["all"]["current"],
            stats["num_alloc_retries"],
            stats["num_ooms"],
        )
