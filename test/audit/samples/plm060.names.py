import torch


def convert(net, state):
    # trap: wrapped for the names in its state dict, never called
    net = torch.nn.DataParallel(net)
    net.load_state_dict(state)
    return net.module


def export(net, path):
    # trap: the same the other way round
    net = torch.nn.DataParallel(net)
    torch.save({"model": net.state_dict()}, path)


def train(net, loader, optimizer):
    net = torch.nn.DataParallel(net)  # expect: PLM060
    for x in loader:
        net(x).sum().backward()
        optimizer.step()
