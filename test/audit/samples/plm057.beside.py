import torch


def make_optimizers(net, settings):
    net = net.cuda()
    first = torch.optim.AdamW(net.parameters(), foreach=True, **settings["optimizer"])  # expect: PLM057, by hand
    # trap: the settings may ask for the fused one
    second = torch.optim.AdamW(net.parameters(), **settings["optimizer"])
    # trap: one parameter after the other, as asked for
    third = torch.optim.AdamW(net.parameters(), foreach=False, **settings["optimizer"])
    return first, second, third
