import numpy as np
import torch
import torch.nn.functional as F


def step(network, graph, rows, others, optimizer):
    drawn = np.random.permutation(rows.size(0))[:64]
    chosen = rows[drawn]  # expect: PLM070
    picked = np.random.permutation(others.size(0))[:64]
    # trap: one of its callers keeps them on the host
    more = others[picked]
    loss = F.cross_entropy(network(graph)[chosen], more.to("cuda"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main(network, source, epochs):
    network = network.to("cuda")
    graph = source.graph.to("cuda")
    optimizer = torch.optim.Adam(network.parameters())
    splits = source.splits()
    rows = splits["train"].to("cuda")
    held = splits["rest"].to("cpu")
    for _ in range(epochs):
        step(network, graph, rows, rows, optimizer)
        step(network, graph, rows, held, optimizer)
