import torch


def build(net):
    net.cuda()
    # Who asks for that path by its name has chosen.
    first = torch.optim.AdamW(net.parameters(), lr=1e-4, foreach=True)  # expect: PLM057, by hand
    # trap: the other one, by its name as well
    second = torch.optim.AdamW(net.parameters(), lr=1e-4, foreach=False)
    return first, second
