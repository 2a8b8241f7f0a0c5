import torch

device = torch.device("cuda")


def mixed(critic, real, fake):
    share = torch.rand(real.shape[0], 1, 1, 1).to(device)
    share = share.repeat(1, *real.shape[1:])  # expect: PLM045
    between = share * real.data + (1 - share) * fake.data
    between.requires_grad = True
    return critic(between)


def train(critic, generator, loader, optimizer, widen):
    for real in loader:
        real = real.to(device)
        fake = generator(torch.randn(real.shape[0], 64, device=device)).detach()
        scores = mixed(critic, real, fake)
        rows = torch.rand(real.shape[0], 1).cuda().float()
        wide = rows.repeat(1, 64)  # expect: PLM045
        level = widen(real)
        level = level.repeat(1, *real.shape[1:])  # expect: PLM045
        seen = level * real.detach() + (1 - level) * fake
        # trap: longer than one where it is repeated
        pairs = torch.rand(real.shape[0], 2).to(device).repeat(1, 8)
        # trap: longer than one under the star
        halves = torch.rand(real.shape[0], 1, 2, 2).to(device).repeat(1, *real.shape[1:])
        # trap: each copy is written into
        marks = torch.zeros(real.shape[0], 1).to(device).repeat(1, 64)
        marks[:, 3] = 1
        # trap: not met in arithmetic by what it is repeated to
        level = widen(fake)
        other = level.repeat(1, *real.shape[1:])
        loss = scores.mean() + critic(seen).mean() + (wide + pairs).mean() + halves.mean()
        loss = loss + (marks * wide).mean() + (other * fake).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
