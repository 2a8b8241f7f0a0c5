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


_statm = (0, -1)


def resident():
    """Resident bytes of this process. The file is opened once: a reading then costs a microsecond or two."""
    global _statm
    try:
        pid, handle = _statm
        if pid != os.getpid():
            # A forked child would read its parent's.
            handle = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
            _statm = (os.getpid(), handle)
        return int(os.pread(handle, 128, 0).split()[1]) * _PAGE
    except (OSError, ValueError, IndexError, AttributeError):
        return 0


def children_resident():
    """Resident bytes of all descendants (dataloader workers among them), and how many there are."""
    total = count = 0
    below = _children(os.getpid())
    while below and count < 4096:
        pid = below.pop()
        try:
            with open("/proc/%d/statm" % pid, "rb") as file:
                total += int(file.read().split()[1]) * _PAGE
        except (OSError, ValueError, IndexError):
            continue
        count += 1
        below.extend(_children(pid))
    return total, count


def _children(pid):
    """The kernel lists them by the thread that forked. Looking through all of /proc would cost milliseconds."""
    found = []
    try:
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/children" % (pid, task), "rb") as file:
                found.extend(int(child) for child in file.read().split())
    except (OSError, ValueError):
        pass
    return found


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
