from contextlib import nullcontext

import torch
import torch.nn as nn


def get_batch(rows, size):
    at = torch.randint(len(rows) - 1, (size,))
    return rows[at], rows[at + 1]


def evaluate(model, rows, size, device, turns=20, ctx=nullcontext()):
    found = []
    for _ in range(turns):
        x, y = get_batch(rows, size)
        x, y = x.to(device), y.to(device)
        with ctx:
            scores = model(x)  # expect: PLM019
        found.append((scores.argmax(-1) == y).float().mean())
    return torch.stack(found).mean().item()


def validate(model, rows, size, recording):
    found = []
    for _ in range(4):
        x, y = get_batch(rows, size)
        # trap: who knows what is handed in here
        with recording:
            found.append((model(x).argmax(-1) == y).float().mean().item())
    return sum(found)


def val_noise(model, rows, size):
    made = rows[:size]
    for _ in range(3):
        # trap: goes on with what it made, and gives that back
        made = model(made)
    return made


def train(rows, device):
    model = nn.Linear(8, 8).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(1000):
        x, y = get_batch(rows, 16)
        loss = nn.functional.mse_loss(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 100 == 0:
            model.eval()
            print(evaluate(model, rows, 16, device))
            validate(model, rows, 16, torch.no_grad())
            val_noise(model, rows, 16)
            model.train()
