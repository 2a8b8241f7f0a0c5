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
