import torch
import torch.nn.functional as F


def train(unet, scheduler, loader, optimizer, device):
    learnt = torch.nn.Parameter(torch.ones(3, 1, 1, device=device))
    for clean in loader:
        clean = clean.to(device)
        noise = torch.randn_like(clean)
        steps = torch.randint(0, 1000, (len(clean),), device=device)
        pred = unet(scheduler.add_noise(clean, noise, steps), steps)
        weights = scheduler.weights[steps][:, None, None, None]

        squared = (pred - noise) ** 2
        weighted = weights * squared  # expect: PLM048
        apart = F.l1_loss(pred, noise, reduction="none")
        balanced = apart.mul(weights)  # expect: PLM048

        # trap: under the same name the one before goes
        error = (pred - noise).square()
        error = error * weights
        # trap: a number for each example is small
        summed = (pred - noise).square().mean(dim=(1, 2, 3))
        each = summed * weights.flatten()
        # trap: what learns needs the errors for its own gradient
        plain = (pred - noise).abs()
        tuned = plain * learnt.exp()
        # trap: read again
        kept = (pred - noise).abs()
        scaled = kept * weights

        loss = weighted.mean() + balanced.mean() + error.mean() + each.mean()
        loss = loss + tuned.mean() + scaled.mean() + kept.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
