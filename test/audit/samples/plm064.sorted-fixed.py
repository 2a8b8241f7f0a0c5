import torch

# trap: sorted by length, but padded to one that is given
torch.backends.cudnn.benchmark = True

LENGTH = 512


def collate(batch):
    batch = sorted(batch, key=lambda one: one[0].size(1), reverse=True)
    inputs = torch.zeros(len(batch), 80, LENGTH)
    for at, (one, _) in enumerate(batch):
        inputs[at, :, : one.size(1)] = one
    return inputs


def collate_scored(batch):
    # trap: by what has nothing to do with its length
    best = max(batch, key=lambda one: one[2])
    return torch.stack([one[0] for one in batch]), best[1]
