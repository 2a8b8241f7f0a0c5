import torch


def train(net, loader, optimizer):
    for step, batch in enumerate(loader):
        kl, mel = net(batch.cuda())
        (kl + mel).backward()
        optimizer.step()
        if step % 100 == 0:
            losses = [kl, mel]
            total = 0
            for one in losses:
                # trap: what one step has
                total += one
            print(total.item())
