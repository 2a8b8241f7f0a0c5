"""Where live GPU blocks were allocated, for those allocated while this was on. About 2 µs for each allocation."""
from . import source

_LINES = 3


class History:
    def __init__(self, torch):
        self._torch = torch
        self._on = False

    def start(self):
        torch = self._torch
        if self._on or not torch.cuda.is_initialized():
            return
        # The user's own recording is theirs: starting ours would clear it.
        if getattr(torch._C, "_cuda_isHistoryEnabled", lambda: False)():
            return
        torch.cuda.memory._record_memory_history("state", context="alloc", stacks="python")
        self._on = True

    def stop(self):
        if self._on:
            self._on = False
            self._torch.cuda.memory._record_memory_history(None)

    def places(self, least):
        """The user's lines whose blocks are alive, at least so many of them, the heaviest first."""
        if not self._on:
            return []
        found = {}
        for segment in self._torch.cuda.memory._snapshot()["segments"]:
            for block in segment["blocks"]:
                place = place_of(block) if block["state"] == "active_allocated" else None
                if place is not None:
                    entry = found.setdefault(place, [0, 0])
                    entry[0] += block["size"]
                    entry[1] += 1
        heaviest = sorted((item for item in found.items() if item[1][1] >= least), key=lambda item: -item[1][0])
        return [
            {"file": file, "line": line, "text": source.text(file, line), "bytes": size, "blocks": count}
            for (file, line), (size, count) in heaviest[:_LINES]
        ]


def place_of(block):
    """The user's line that allocated a block, where the allocator recorded its stack."""
    for frame in block.get("frames") or ():
        if source.is_user_file(frame["filename"]):
            return frame["filename"], frame["line"]
    return None
