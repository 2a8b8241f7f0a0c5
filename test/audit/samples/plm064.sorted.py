import torch

torch.backends.cudnn.benchmark = True  # expect: PLM064


def collate(batch):
    batch.sort(key=lambda one: one[0].size(1), reverse=True)
    inputs = torch.zeros(len(batch), 80, batch[0][0].size(1))
    for at, (one, _) in enumerate(batch):
        inputs[at, :, : one.size(1)] = one
    return inputs
