import torch


def train(model, loader, optimizer):
    for x in loader:
        noise = torch.normal(torch.zeros(8, 3), torch.ones(8, 3)).cuda()  # expect: PLM035, by hand
        jitter = torch.normal(0.0, 0.1, size=(8, 3)).cuda()  # expect: PLM035
        # trap: a copy of what is there
        means = torch.normal(x.mean(0), x.std(0))
        # trap: made there
        there = torch.normal(0.0, 1.0, (8, 3), device="cuda")
        # trap: stays on the host
        here = torch.normal(0.0, 1.0, (8, 3))
        model(x.cuda() + noise + jitter + there + means.sum() + here.sum().item()).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
