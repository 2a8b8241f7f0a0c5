import torch.nn.functional as F


def undivided(net, loader, optimizer, device, accumulation_steps=8):
    net.to(device)
    total = 0.0
    for turn, (images, labels) in enumerate(loader):
        loss = F.cross_entropy(net(images.to(device)), labels.to(device))
        loss.backward()  # expect: PLM065
        total += loss.detach()
        if (turn + 1) % accumulation_steps == 0 or turn + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()
            print(total / accumulation_steps)


def divided_before(net, loader, optimizer, device, accumulation_steps=8):
    net.to(device)
    total = 0.0
    for turn, (images, labels) in enumerate(loader):
        loss = F.cross_entropy(net(images.to(device)), labels.to(device)) / accumulation_steps
        loss.backward()  # trap: divided where it is computed
        total += loss.detach()
        if (turn + 1) % accumulation_steps == 0 or turn + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()
            print(total)


def divided_gradients(net, loader, optimizer, device, accumulation_steps=8):
    net.to(device)
    for turn, (images, labels) in enumerate(loader):
        loss = F.cross_entropy(net(images.to(device)), labels.to(device))
        loss.backward()  # trap: the gradients are divided before the step
        if (turn + 1) % accumulation_steps == 0 or turn + 1 == len(loader):
            for parameter in net.parameters():
                parameter.grad.div_(accumulation_steps)
            optimizer.step()
            optimizer.zero_grad()
