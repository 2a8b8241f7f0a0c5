import numpy as np
import torch

held = torch.from_numpy(np.fromfile("train.bin", dtype=np.uint16).astype(np.int64))  # expect: PLM040
copied = np.memmap("more.bin", dtype=np.uint16, mode="r").astype(np.int64)  # expect: PLM040
# trap: read as it is needed
mapped = np.memmap("val.bin", dtype=np.uint16, mode="r")
# trap: of a file that begins with it
header = np.fromfile("train.bin", dtype=np.int32, count=256)
# trap: not what a batch is cut from
weights = np.fromfile("weights.bin", dtype=np.float32)


def batch(data, size, block):
    at = torch.randint(len(data) - block, (size,))
    return torch.stack([torch.as_tensor(data[i : i + block]) for i in at])


def train(net, optimizer, size, block):
    while True:
        i = int(torch.randint(len(held) - block, (1,)))
        x, z = held[i : i + block].cuda(), torch.from_numpy(copied[i : i + block]).cuda()
        y = mapped[i : i + block]
        loss = net(x, y, z, weights, header[1:3]).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
