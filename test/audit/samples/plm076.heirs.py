import torch
from torch_geometric.loader import NeighborLoader, PrefetchLoader
from torchdata.stateful_dataloader import StatefulDataLoader


def train(model, optimizer, data, rows, parts):
    for epoch in range(20):
        loader = NeighborLoader(data, num_neighbors=[25, 10], batch_size=1024, num_workers=4)  # expect: PLM076
        for batch in loader:
            model(batch.x, batch.edge_index).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    for epoch in range(20):
        resumed = StatefulDataLoader(rows, batch_size=32, num_workers=4)  # expect: PLM076
        for batch in resumed:
            model(batch).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    for epoch in range(20):
        # trap: of the part that this turn is for
        part = NeighborLoader(parts[epoch], num_neighbors=[25, 10], num_workers=4)
        for batch in part:
            model(batch.x, batch.edge_index).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    # trap: made once
    once = NeighborLoader(data, num_neighbors=[25, 10], batch_size=1024, num_workers=4)
    for epoch in range(20):
        # trap: it has no workers, and sends what another loader hands out
        sent = PrefetchLoader(once, device=torch.device("cuda"))
        for batch in sent:
            model(batch.x, batch.edge_index).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
