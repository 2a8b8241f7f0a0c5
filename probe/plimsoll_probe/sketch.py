"""Tensors as a few numbers: a digest, a norm, and projections from which the distance of two tensors can be told.

A projection is the sum of a tensor's elements, each with a fixed random sign. The square of the difference of two
tensors' projections is, on average over signs, the square of their distance (Johnson and Lindenstrauss, in the form
with signs of Achlioptas 2003): so runs need not be kept to be compared. Everything is summed in fp64, in pieces.
"""
import ctypes
import hashlib
import zlib

PROJECTIONS = 8
PIECE = 1 << 18
# For norms, which are taken while tensors are counted: 128 kB of fp64 at a time.
SMALL_PIECE = 1 << 14
# Odd constants of the splitmix64 generator (Steele, Lea and Flood 2014), as signed integers.
_MIX = (0x9E3779B97F4A7C15 - (1 << 64), 0xBF58476D1CE4E5B9 - (1 << 64), 0x94D049BB133111EB - (1 << 64))


class Sketcher:
    def __init__(self, torch):
        self._torch = torch
        self._signs = {}

    def describe(self, tensor):
        """Digest of the bytes, norm, projections."""
        flat = plain(tensor).reshape(-1)
        squares, sums = 0.0, [0.0] * PROJECTIONS
        digest = hashlib.blake2b(digest_size=16)
        for index, piece in enumerate(_pieces(flat)):
            host = piece.cpu().contiguous()
            digest.update(_raw(host))
            wide = self._wide(piece)
            signs = self._signs_on(wide.device)[: wide.numel()]
            found = self._torch.cat([wide.dot(wide).reshape(1), wide @ signs]).tolist()
            squares += found[0]
            flips = _flips(index)
            sums = [total + flip * value for total, flip, value in zip(sums, flips, found[1:])]
        return digest.hexdigest(), squares ** 0.5, sums

    def squares(self, tensors):
        """The sum of all squares, in one read."""
        torch = self._torch
        totals = []
        for tensor in tensors:
            flat = plain(tensor).reshape(-1)
            for piece in _pieces(flat, PIECE if flat.device.type == "cuda" else SMALL_PIECE):
                wide = self._wide(piece)
                totals.append(wide.dot(wide).cpu() if wide.device.type != "cuda" else wide.dot(wide))
        if not totals:
            return None
        first = totals[0].device
        return torch.stack([total.to(first) for total in totals]).sum().item()

    def nudge(self, tensor, roundoff, salt):
        """Moves every element by at most one rounding of its size, up or down."""
        flat = plain(tensor)
        whole = flat.view(-1) if flat.is_contiguous() else flat.reshape(-1)
        for index, piece in enumerate(_pieces(whole)):
            wide = self._wide(piece)
            signs = self._signs_on(wide.device)[: wide.numel(), (index + salt) % PROJECTIONS]
            piece.copy_(wide * (1.0 + roundoff * signs))
        if not flat.is_contiguous():
            flat.copy_(whole.view(flat.shape))

    def _wide(self, piece):
        # Apple's GPUs have no fp64.
        return (piece.cpu() if piece.device.type == "mps" else piece).to(self._torch.float64)

    def _signs_on(self, device):
        known = self._signs.get(device)
        if known is None:
            torch = self._torch
            bits = torch.arange(1, PIECE + 1, dtype=torch.int64, device=device) * _MIX[0]
            bits = (bits ^ (bits >> 30)) * _MIX[1]
            bits = (bits ^ (bits >> 27)) * _MIX[2]
            places = torch.arange(8, 8 + 4 * PROJECTIONS, 4, dtype=torch.int64, device=device)
            known = ((bits.unsqueeze(1) >> places) & 1).to(torch.float64) * 2 - 1
            self._signs[device] = known
        return known


def plain(tensor):
    """This rank's own values, without autograd and without torch's wrappers."""
    tensor = tensor.detach()
    if hasattr(tensor, "to_local"):
        tensor = tensor.to_local()
    if tensor.is_sparse:
        tensor = tensor.coalesce().values()
    return tensor


def _pieces(flat, size=PIECE):
    return (flat[start : start + size] for start in range(0, flat.numel(), size))


def _flips(index):
    mask = zlib.crc32(b"%d" % index)
    return [1.0 if mask >> place & 1 else -1.0 for place in range(PROJECTIONS)]


def _raw(host):
    """The bytes of a contiguous tensor on the CPU, as long as it lives."""
    return (ctypes.c_char * (host.numel() * host.element_size())).from_address(host.data_ptr())
