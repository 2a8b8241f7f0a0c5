"""What the memory is, as far as Python knows: each block's kind and module, and where the others were allocated."""
import gc
import re
import sys

from . import history, holders, source

_LONGEST = 8
_INDEX = re.compile(r"(?<=\.)\d+(?=\.|$)|^\d+(?=\.|$)")


class Holdings:
    """Live tensors by the address of their storage. Reads; never allocates on the device."""

    def __init__(self, torch):
        self.kinds = {
            "weight": 0, "gradient": 0, "optimizer state": 0, "buffer": 0, "activation": 0, "other tensors": 0,
        }
        self._modules = {}
        self._seen = set()
        # Addresses that belong to the model and its optimizer, whichever line allocated them.
        self._standing = set()
        self._on_gpu = torch.cuda.is_initialized()
        self._count(torch)

    def by_module(self):
        """Weights, gradients and optimizer state of the heaviest modules; a layer's number reads as *."""
        heaviest = sorted(self._modules.items(), key=lambda item: -item[1])
        return [{"module": name, "bytes": size} for name, size in heaviest[:_LONGEST]]

    def blocks(self, snapshot, device):
        """Blocks that neither model nor optimizer owns, by line where the allocator recorded stacks; and those that no
        tensor of Python's owns, by size."""
        sizes, lines = {}, {}
        for segment in snapshot["segments"]:
            if segment.get("device") != device:
                continue
            address = segment.get("address", 0)
            for block in segment["blocks"]:
                at = block.get("address", address)
                if block["state"] == "active_allocated":
                    if at not in self._seen:
                        _add(sizes, block["size"], block["size"])
                    place = history.place_of(block) if at not in self._standing else None
                    if place is not None:
                        _add(lines, place, block["size"])
                address += block["size"]
        return (
            [{"size": size, "count": count, "bytes": total} for size, (total, count) in _heaviest(sizes)],
            [
                {"file": file, "line": line, "text": source.text(file, line), "bytes": total, "blocks": count}
                for (file, line), (total, count) in _heaviest(lines)
            ],
        )

    def _count(self, torch):
        base, parameter, module_type = torch.Tensor, torch.nn.Parameter, torch.nn.Module
        tensors, optimizers, modules = [], [], []
        for candidate in gc.get_objects():
            kind = type(candidate)
            if issubclass(kind, base):
                tensors.append(candidate)
            elif issubclass(kind, torch.optim.Optimizer):
                optimizers.append(candidate)
            elif issubclass(kind, module_type):
                modules.append(candidate)
        owner, buffers = _owners(modules)
        for tensor in tensors:
            if isinstance(tensor, parameter):
                self._take(tensor, "weight", owner.get(id(tensor)))
        for tensor in tensors:
            # The gradient of what is no leaf is asked for with a warning.
            if tensor.is_leaf and tensor.grad is not None:
                self._take(tensor.grad, "gradient", owner.get(id(tensor)))
        for optimizer in optimizers:
            for weight, state in list(optimizer.state.items()):
                for value in list(state.values()) if isinstance(state, dict) else []:
                    if issubclass(type(value), base):
                        self._take(value, "optimizer state", owner.get(id(weight)))
        for tensor in tensors:
            if id(tensor) in buffers:
                self._take(tensor, "buffer", None)
        self._standing = set(self._seen)
        for tensor in tensors:
            # What has a graph behind it was computed in forward and is kept for backward.
            self._take(tensor, "other tensors" if tensor.is_leaf else "activation", None)

    def _take(self, tensor, kind, module):
        try:
            storage = tensor.untyped_storage()
            key = storage.data_ptr()
            if not key or key in self._seen or (self._on_gpu and tensor.device.type == "cpu"):
                return
            self._seen.add(key)
            self.kinds[kind] += storage.nbytes()
            if module is not None:
                self._modules[module] = self._modules.get(module, 0) + storage.nbytes()
        except Exception:
            pass


def running_module(torch, traceback=None):
    """The dotted name of the innermost module of the model that is running (or was, where the traceback ends)."""
    frames = []
    frame = None if traceback is not None else sys._getframe(1)
    while traceback is not None:
        frames.insert(0, traceback.tb_frame)
        traceback = traceback.tb_next
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    for frame in frames:
        code = frame.f_code
        if holders.is_probe_file(code.co_filename) or code.co_name != "forward":
            continue
        values = frame.f_locals
        module = values.get("self")
        holders.forget_locals(frame, values)
        if issubclass(type(module), torch.nn.Module):
            name = type(module).__name__
            path = holders.module_path(module)
            return "%s (%s)" % (path, name) if path else name
    return None


def _owners(modules):
    """({id of parameter: module's name, numbers as *}, ids of buffers)."""
    children = {id(child) for module in modules for child in list(module.__dict__.get("_modules", {}).values())}
    owner, buffers = {}, set()
    for root in modules:
        if id(root) in children:
            continue
        for name, module in root.named_modules():
            label = _INDEX.sub("*", name) or type(root).__name__
            for tensor in list(module.__dict__.get("_parameters", {}).values()):
                owner.setdefault(id(tensor), label)
            buffers.update(id(tensor) for tensor in list(module.__dict__.get("_buffers", {}).values()))
    return owner, buffers


def _add(totals, key, size):
    entry = totals.setdefault(key, [0, 0])
    entry[0] += size
    entry[1] += 1


def _heaviest(totals):
    return sorted(totals.items(), key=lambda item: -item[1][0])[:_LONGEST]
