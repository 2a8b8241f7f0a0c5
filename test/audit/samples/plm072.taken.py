import torch
from torch.utils.data import DataLoader

device = torch.device("cuda")


def run(dataset, model, optimizer):
    loader = DataLoader(dataset, batch_size=8, num_workers=2, pin_memory=True)
    batches = iter(loader)
    while True:
        try:
            batch = next(batches)
        except StopIteration:
            batches = iter(loader)
            batch = next(batches)
        x, y = batch
        both = torch.cat([x, x.flip(-1)]).to(device)  # expect: PLM072
        # trap: joined on the device
        labels = torch.cat([y.to(device), y.to(device)])
        loss = model(both, labels)
        loss.backward()
        optimizer.step()
