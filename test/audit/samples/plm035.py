import torch
from torch.autograd import Variable

device = torch.device("cuda")


def make(n, x, dtype, other):
    a = torch.zeros(n, 4).to(device)  # expect: PLM035
    b = torch.ones(n).cuda()  # expect: PLM035
    c = torch.randn(n, 4).to(device=device)  # expect: PLM035
    d = torch.arange(n).to(x.device)  # expect: PLM035
    # trap: a type
    e = torch.zeros(n).to(torch.float16)
    # trap: a type, or a tensor, or a device: nobody knows
    f = torch.zeros(n).to(dtype)
    # trap: made from Python data, the copy is needed
    g = torch.tensor([1.0, 2.0]).to(device)
    # trap: to the host
    h = torch.zeros(n).to("cpu")
    # trap: made there
    i = torch.zeros(n, device=device).to(other)
    # trap: nothing in it, there only to be joined to
    j = torch.zeros(n, 4, 0).to(device)
    return a, b, c, d, e, f, g, h, i, j


def place(tensor):
    return tensor.to(device)


def sent(tensor, where):
    return tensor.to(where)


def kept(tensor):
    return tensor.float()


def more(loader, net, n):
    a = Variable(torch.zeros(n)).cuda()  # expect: PLM035
    b = place(torch.zeros(n))  # expect: PLM035
    # trap: made from Python data, the copy is needed
    c = place(torch.tensor([1.0, n]))
    # trap: where to, nobody knows
    e = sent(torch.zeros(n), net.where)
    # trap: nothing sends it
    d = kept(torch.zeros(n))
    for x in loader:
        noise = torch.randn_like(x).to(device)  # expect: PLM035
        x = x.to(device)
        # trap: the batch is there already
        mask = torch.rand_like(x).to(device)
        net(x, noise, mask)
    return a, b, c, d, e


def masked(loader, net, n):
    for x in loader:
        later = (1 - torch.triu(torch.ones(n, n), diagonal=1)).bool().to(device)  # expect: PLM035
        near = ((torch.arange(n) > 3).float() - 0.5).to(device)  # expect: PLM035
        # trap: what is computed from the batch is on the host with it
        held = (x.cpu() * torch.ones(n)).bool().to(device)
        net(x, later, near, held)


def mixed(loader, net, n, rows):
    for x in loader:
        alpha = torch.FloatTensor(n, 1, 1, 1).uniform_(0, 1).to(device)  # expect: PLM035
        # trap: what the list holds has to be copied
        known = torch.FloatTensor(rows).to(device)
        # trap: made there
        other = torch.empty(n, device=device).uniform_()
        net(x, alpha, known, other)
