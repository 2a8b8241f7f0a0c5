import torch.nn.functional as F


def train(net, loader, optimizer, names):
    net.cuda()
    for x, y in loader:
        y = y.cuda()
        scores = net(x.cuda())
        loss = F.cross_entropy(scores, y)
        loss.backward()
        optimizer.step()
        shares = [scores[y == c].mean().item() for c in range(10)]  # expect: PLM029
        for c in range(10):
            shares[c] += (y == c).sum().item()  # likely: PLM029
        # trap: no read
        wide = [scores[c].float() for c in range(10)]
        if len(wide) > 3 and len(shares) % 100 == 0:
            # trap: now and then
            shares = [scores[y == c].max().item() for c in range(10)]
