import torch


class Transport:
    def training_losses(self, model, x, t):
        out = model(x, t)
        terms = {}
        terms["loss"] = ((out.double() - x.double()) ** 2).flatten(1)  # expect: PLM074
        # trap: on the host
        terms["size"] = out.detach().cpu().double().sum()
        # trap: counted
        terms["hits"] = (out > 0).double()
        return terms

    def evaluate_losses(self, model, x, t):
        # trap: only judged
        return (model(x, t).double() - x) ** 2


def weighted_losses(out, wanted, weight):
    wide = out.to(torch.float64)  # expect: PLM074
    return weight * (wide - wanted) ** 2


def train(net, transport, loader, optimizer):
    net.cuda().train()
    for x, t in loader:
        loss = transport.training_losses(net, x.cuda(), t.cuda())["loss"].mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
