import torch.distributed as dist


def each(*numbers):
    for number in numbers:
        dist.all_reduce(number)  # expect: PLM071


def one(*numbers):
    # trap: called with one
    for number in numbers:
        dist.all_reduce(number)


def train(model, loader, optimizer):
    for x in loader:
        out = model(x.cuda())
        loss = out.mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        each(loss.detach(), out.norm().detach())
        one(loss.detach())
