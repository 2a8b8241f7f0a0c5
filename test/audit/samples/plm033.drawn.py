# What is drawn anew in every step is no constant.
import torch


def train(model, examples, optimizer, size, device="cuda"):
    drawn = iter(examples)
    while True:
        batch = [next(drawn) for _ in range(size)]
        labels = torch.tensor([example["label"] for example in batch]).to(device)
        weights = torch.tensor([1.0 / (i + 1) for i in range(10)]).to(device)  # expect: PLM033
        loss = (model(labels) * weights).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
