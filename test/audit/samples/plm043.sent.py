import numpy as np
import torch

MEAN = (0.485, 0.456)
COUNTS = (1, 2)


def tensor_of(data):
    if isinstance(data, np.ndarray):
        made = torch.from_numpy(data)
    else:
        made = data.detach()
    return made.cuda()


def floats_of(data):
    return torch.from_numpy(data).float().cuda()


class Offsets:
    def __call__(self, boxes, spread=(0.1, 0.2)):
        kept = np.flatnonzero(boxes[:, 0])
        return kept, boxes[kept] / np.array(spread)

    def narrow(self, boxes, spread=(0.1, 0.2)):
        return boxes / np.array(spread, np.float32)


def targets(boxes):
    offsets = Offsets()
    kept, moved = np.flatnonzero(boxes), boxes / np.array(MEAN)
    a = tensor_of(moved)  # expect: PLM043
    # trap: whole numbers
    b = tensor_of(kept)
    c = tensor_of(boxes - np.array(COUNTS))
    # trap: made float32 before it is sent
    d = floats_of(moved)
    # trap: float32 all the way
    e = tensor_of(offsets.narrow(boxes))
    return a, b, c, d, e


class Kept:
    def __init__(self, rows, device):
        self.device = device
        self.seen = np.zeros((rows, 3))
        self.given = np.zeros((rows, 3))
        self.small = np.zeros((rows, 3), dtype=np.float32)

    def restore(self, saved):
        self.seen = saved["seen"]
        self.given = saved["given"].astype(np.float32)
        self.small = saved["small"]

    def sample(self, chosen):
        a = torch.from_numpy(self.seen[chosen]).to(self.device)  # expect: PLM043
        # trap: what is put there later says that it is float32
        b = torch.from_numpy(self.given[chosen]).to(self.device)
        # trap: float32 from the start
        c = torch.from_numpy(self.small[chosen]).to(self.device)
        return a, b, c
