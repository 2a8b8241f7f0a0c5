import dgl
import torch
from torch.utils.data import DataLoader

device = torch.device("cuda")


def train(model, pairs, sampler, optimizer):
    loader = DataLoader(pairs, batch_size=64, collate_fn=sampler.sample, pin_memory=True)
    for block, order, tails, kinds in loader:
        # trap: a graph, which a loader cannot pin
        embedded = model(block[0].to(device))
        ids = block[0].dstdata[dgl.NID]
        # trap: what is picked out is new, and not pinned
        picked = tails[order].to(device)
        kinds = kinds.to(device)  # expect: PLM037
        (embedded * picked * kinds * ids).sum().backward()
        optimizer.step()
