import torch


def train(loader, model, optimizer, gpu):
    for x, y in loader:
        x = x.cuda(gpu)
        u = torch.rand(x.shape[0])
        t = (u * 0.999 + 0.001).to(gpu)  # likely: PLM035
        # trap: filled piece by piece on the host
        mask = torch.zeros(x.shape[0])
        for i, length in enumerate(y):
            mask[i] = length
        mask = mask.to(gpu)
        # trap: a type is no place
        half = torch.rand(4).to(torch.float16)
        loss = model(x, t, mask, half).mean()
        loss.backward()
        optimizer.step()


def warp(x, flow, h, w):
    # trap: nothing says that a step runs through it
    rows, columns = torch.arange(0, h).type_as(x), torch.arange(0, w).type_as(x)
    return torch.stack(torch.meshgrid(rows, columns)) + flow


def traced(model, tpu, length):
    # trap: once
    waves = torch.rand(length)
    return torch.jit.trace(model, ((waves * 0.5) + 0.5).to(tpu.gpu_index))
