import torch
from torch import nn

net = nn.Linear(8, 1).cuda()
optimizer = torch.optim.AdamW(net.parameters(), fused=True)
for epoch in range(10):
    losses = []
    for step, (x, y) in enumerate(loader):
        loss = (net(x.cuda()) - y.cuda()).square().mean()
        losses.append(loss)  # expect: PLM002
        (loss / 4).backward()
        if step % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()
    # for what is left
    optimizer.step()
    optimizer.zero_grad()
    print(torch.stack(losses).mean().item())

for batch in batches:
    losses = []
    for x, y in batch:
        loss = (net(x.cuda()) - y.cuda()).square().mean()
        # trap: the list is that step's own
        losses.append(loss)
        (loss / 4).backward()
    optimizer.step()
    optimizer.zero_grad()
    print(torch.stack(losses).mean().item())


def two_losses(generator, critic, loader, optimizer):
    kept = []
    for real in loader:
        seen = critic(real.cuda()).mean()
        seen.backward()
        made = critic(generator(real.cuda()).detach()).mean()
        made.backward()
        both = seen + made
        optimizer.step()
        optimizer.zero_grad()
        kept.append(both)  # expect: PLM002
    return kept
