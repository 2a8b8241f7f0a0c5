import torch


def train(policy, loader, optimizer):
    policy.to("cuda").train()
    accuracy = 0.0
    for batch in loader:
        loss, outputs = policy.forward(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        # trap: counted, not differentiable
        accuracy += outputs["accuracy"]
    print(accuracy / len(loader))
