import torch


def train(task, loader, optimizer, device):
    losses = []
    told = []
    kept = {}
    for step, (images, labels) in enumerate(loader):
        images, labels = images.to(device), labels.to(device)

        def run():
            given = task(images, labels)
            return given["loss"], given

        def back(loss):
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()

        loss, given = run()
        back(loss)
        losses.append(loss)  # expect: PLM002
        told.append(loss.item())  # trap: a number
        kept[step % 50] = (labels, loss.detach())  # trap: cut off
    return torch.stack(losses).std().item()


def spread(net, loader, optimizer, criterion):
    seen = {}
    for step, (images, times) in enumerate(loader):
        out = net(images.cuda())
        loss = criterion(out, images.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen[step % 400] = (times, (out - images.cuda()).abs().mean(dim=1))  # expect: PLM002
    return seen
