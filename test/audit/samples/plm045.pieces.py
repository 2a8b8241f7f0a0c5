import torch


def in_pieces(net, rows, size=4096):
    for at in range(0, rows.shape[0], size):
        piece = net(rows[at : at + size].cuda())
        whole = piece if at == 0 else torch.cat([whole, piece], 0)  # expect: PLM045
    return whole


def other_way_round(net, rows, size=4096):
    for at in range(0, rows.shape[0], size):
        piece = net(rows[at : at + size].cuda())
        whole = torch.cat([whole, piece], 0) if at > 0 else piece  # expect: PLM045
    return whole


def with_edges(net, rows, edges):
    for at in range(len(rows)):
        # trap: begun anew each turn, and joined once
        piece = net(rows[at].cuda())
        piece = piece if at == 0 else torch.cat([piece, edges], 0)
        yield piece


def generated(net, first):
    for at in range(64):
        made = net(first if at == 0 else whole)
        # trap: each turn needs the whole
        whole = made if at == 0 else torch.cat([whole, made], 1)
    return whole
