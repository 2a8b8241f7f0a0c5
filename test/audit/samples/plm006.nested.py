import torch
import torch.nn.functional as F


def one_chunk(net, x, y, memory):
    out, memory = net(x, memory)
    loss = F.mse_loss(out, y)
    loss.backward(retain_graph=True)
    return loss.item(), memory


def one_batch(net, optimizer, x, y, memory, halves):
    optimizer.zero_grad()
    if halves == 1:
        loss, memory = one_chunk(net, x, y, memory)
    else:
        parts = [one_chunk(net, a, b, memory) for a, b in zip(x.chunk(halves), y.chunk(halves))]
        loss = sum(one for one, _ in parts)
        memory = torch.cat([kept for _, kept in parts])
    optimizer.step()
    return loss, memory


def train(net, optimizer, chunks, memory):
    for x, y in chunks:
        loss, memory = one_batch(net, optimizer, x=x, y=y, memory=memory, halves=1)  # expect: PLM006
    return memory


def cut_batch(net, optimizer, x, y, memory):
    optimizer.zero_grad()
    loss, memory = one_chunk(net, x, y, memory)
    optimizer.step()
    memory = memory.detach()
    return loss, memory


def train_cut(net, optimizer, chunks, memory):
    for x, y in chunks:
        loss, memory = cut_batch(net, optimizer, x, y, memory)  # trap: cut off on its way back
    return memory


def fresh_batch(net, optimizer, x, y, memory):
    optimizer.zero_grad()
    begun = torch.zeros_like(memory)
    loss, memory = one_chunk(net, x, y, begun)
    optimizer.step()
    return loss, memory


def train_fresh(net, optimizer, chunks, memory):
    for x, y in chunks:
        loss, memory = fresh_batch(net, optimizer, x, y, memory)  # trap: begun anew by each step
    return memory
