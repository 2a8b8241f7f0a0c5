import torch


def measure(model, lora, steps):
    model.requires_grad_(False)
    network = lora(model)
    optimizer = torch.optim.AdamW(network.parameters())
    x = torch.randn(8, 8, device="cuda")
    for _ in range(steps):
        optimizer.zero_grad()
        # trap: what is differentiated has something to train
        model(x).sum().backward()
        optimizer.step()
