import torch


def train(net, loader, optimizer):
    for images, _ in loader:
        loss = net(images.cuda()).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@torch.no_grad()
def neighbours(net, bank, loader, temperature):
    found = []
    for images, labels in loader:
        feature = net(images.cuda())
        similarity = torch.mm(feature, bank)
        scaled = similarity / temperature  # likely: PLM048
        found.append(scaled.exp().topk(k=200, dim=-1).indices.cpu())
    return found


@torch.no_grad()
def narrower(net, bank, loader, temperature):
    found = []
    for images, labels in loader:
        feature = net(images.cuda())
        similarity = torch.mm(feature, bank)
        # trap: the same name
        similarity = similarity / temperature
        found.append(similarity.exp().topk(k=200, dim=-1).indices.cpu())
    return found


@torch.no_grad()
def once(net, bank, images, temperature):
    # trap: once, whenever somebody asks
    similarity = torch.mm(net(images.cuda()), bank)
    scaled = similarity / temperature
    return scaled.exp()


@torch.no_grad()
def grids(rows, bank, temperature):
    for row in rows:
        # trap: of no network's outputs
        similarity = torch.mm(row, bank)
        scaled = similarity / temperature
        print(scaled.max())
