import torch

device = torch.device("cuda")


def train(agent, loader, optimizer, info):
    for samples in loader:
        samples = agent.samples_to_device(samples)
        q1, q2, loss = agent.q(samples)
        loss.backward()
        optimizer.step()
        value = loss.item()  # expect: PLM025
        info.append(q1[::10].numpy())
        info.append(q2[::10].numpy())
        # trap: they are on the host
        info.append(torch.mean(abs(q1 - q2)).item() + value)
