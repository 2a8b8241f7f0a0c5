import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Samples(Dataset):
    def __init__(self):
        self.seen = {}

    def __len__(self):
        return 4000

    def __getitem__(self, index):
        sample = torch.randn(64)
        self.seen[index] = sample  # leak: line
        return sample


model = nn.Linear(64, 64)
optimizer = torch.optim.AdamW(model.parameters())
for batch in DataLoader(Samples(), batch_size=32):
    loss = model(batch).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
