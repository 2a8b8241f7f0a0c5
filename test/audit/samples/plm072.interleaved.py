import torch
from torch.utils.data import DataLoader


def interleave(x, size):
    s = list(x.shape)
    return x.reshape([-1, size] + s[1:]).transpose(0, 1).reshape([-1] + s[1:])


def told(x, name):
    print(name, x.shape)
    return torch.zeros(4)


def train(labelled, unlabelled, model, optimizer, device):
    device = torch.device("cuda")
    first = DataLoader(labelled, batch_size=64, num_workers=4, pin_memory=True)
    second = DataLoader(unlabelled, batch_size=448, num_workers=4, pin_memory=True)
    for (x, y), (weak, strong) in zip(first, second):
        inputs = interleave(torch.cat((x, weak, strong)), 15).to(device)  # expect: PLM072
        # trap: what the function hands back is another tensor
        other = told(torch.cat((x, weak)), "seen").to(device)
        # trap: joined on the device
        there = interleave(torch.cat((x.cuda(non_blocking=True), weak.cuda(non_blocking=True))), 2)
        loss = model(inputs).sum() + other.sum() + model(there).sum()
        loss.backward()
        optimizer.step()
        # trap: it stays on the host
        kept = interleave(torch.cat((weak, strong)), 2)
        print(kept.shape, y.shape)
