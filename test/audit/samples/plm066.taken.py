import torch


def train(net, loader, criterion, rate):
    heads = []
    for name, weight in net.named_parameters():
        if "head" in name:  # expect: PLM066
            print(name)
            heads.append(weight)
    optimizer = torch.optim.AdamW(heads, lr=rate)
    for x, y in loader:
        optimizer.zero_grad()
        criterion(net(x), y).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
