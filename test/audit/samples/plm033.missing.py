import torch


def train(net, loader, optimizer, measure):
    for x, y in loader:
        out = net(x.cuda())
        loss, pitch, energy = measure(out, y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        # trap: it may always have been measured
        meant = torch.tensor(1.0).to(loss.device) if pitch is None else pitch
        # trap: the same for another
        spent = torch.tensor([0.5, 0.5]).cuda() if energy is None else energy
        rates = torch.tensor([0.1, 0.9]).cuda()  # expect: PLM033
        net.track(meant, spent, rates)


def train_plain(net, loader, optimizer):
    for x in loader:
        optimizer.zero_grad()
        net(x.cuda()).mean().backward()
        optimizer.step()
        # trap: once in a while
        if net.steps % 100 == 0:
            print(torch.tensor([1.0, 2.0]).cuda())
